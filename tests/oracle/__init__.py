"""The rules in plain Python, by their definitions and without shortcuts: what the core must equal."""
