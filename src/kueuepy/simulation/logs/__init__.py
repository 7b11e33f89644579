"""Readers of traces of real clusters, with one module per format."""
