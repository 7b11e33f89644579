"""The kinds of jobs that Kueue manages, one file each."""
