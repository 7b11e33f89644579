"""How people read the figures of a run."""

from __future__ import annotations

_MINUTE = 60


def span_text(seconds: float) -> str:
    """A time span as people read it: the two largest of days, hours, minutes, seconds."""
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


SPANS = frozenset(
    [f"{wait}_{name}" for wait in ("wait", "first_wait") for name in ("mean", "p50", "p95", "p99")]
    + ["longest_wait", "promise_p95", "makespan", "seconds"]
)
"""The figures that are times, in seconds."""
PARTS = frozenset(["utilisation", "effective_utilisation", "goodput", "useful", "wasted", "borrowing_time"])
"""The figures that are parts of a whole."""


def figure_text(name: str, value: float | None) -> str:
    """A figure as people read it, by its name, which may be followed by a cell: spans, percents, hours, numbers."""
    field = name.partition(" ")[0]
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return "—"
    if field in SPANS:
        return span_text(value)
    if field in PARTS:
        return f"{value:.1%}"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g} h" if field.endswith("_hours") or field == "idle_while_waiting" else f"{value:.4g}"
