"""Logs of real clusters, read as tables of jobs: one module a format."""
