"""Recorded scenarios: reading them, and replaying them step by step."""
