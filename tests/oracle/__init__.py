"""The rules in plain Python, from their definitions and without any of the core's shortcuts: what the core must equal."""
