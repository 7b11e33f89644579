"""Time spans as text for display."""

from __future__ import annotations

_MINUTE = 60


def span_text(seconds: float) -> str:
    """Return a time span in its two largest units, such as `1 h 30 min`."""
    if seconds < 0:
        return f"-{span_text(-seconds)}"
    if not seconds < 2**62:
        return "—" if seconds != seconds else "∞"  # noqa: PLR0124 - NaN
    if seconds < _MINUTE:
        return f"{seconds:.3g} s"
    parts = []
    rest = round(seconds)
    for name, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2])
