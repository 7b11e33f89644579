"""The kinds of jobs that Kueue supports."""
