"""Time spans as text for display."""

from __future__ import annotations

from kueuepy.look.numbers import duration as span_text

__all__ = ["span_text"]
