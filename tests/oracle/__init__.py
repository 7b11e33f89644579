"""The rules of Kueue in plain Python, by definition and without shortcuts, for comparison with the core."""
