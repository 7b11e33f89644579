"""Kueue's metrics in the Prometheus text format."""

from kueuepy.platform.metrics.watch import Watch

__all__ = ["Watch"]
