"""Kueue's metrics, in the text format of Prometheus."""

from kueuepy.metrics.watch import Watch

__all__ = [
    "Watch",
]
