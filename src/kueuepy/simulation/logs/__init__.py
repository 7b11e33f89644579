"""Readers of logs of real clusters; one module per format."""
