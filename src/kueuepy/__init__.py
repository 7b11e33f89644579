"""Kueue's admission decisions, exactly, without a cluster."""
