"""A rack map as a matplotlib figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kueuepy.errors import UnsupportedError
from kueuepy.topology import drawing as kinds

if TYPE_CHECKING:
    import os

    from kueuepy.topology.drawing import Drawing


class _Theme(NamedTuple):
    """Colours of the page, text, free capacity, edges and workloads."""

    page: str
    ink: str
    free: str
    edge: str
    workloads: tuple[str, ...]


_LIGHT = _Theme(
    "#ffffff",
    "#111827",
    "#e5e7eb",
    "#9ca3af",
    ("#2563eb", "#ea580c", "#16a34a", "#a855f7", "#0891b2", "#e11d48", "#a16207", "#475569"),
)
_DARK = _Theme(
    "#111827",
    "#e5e7eb",
    "#1f2937",
    "#6b7280",
    ("#60a5fa", "#fb923c", "#4ade80", "#c084fc", "#22d3ee", "#fb7185", "#eab308", "#94a3b8"),
)
_PIXELS = 100  # pixels per inch


def figure(drawing: Drawing, path: str | os.PathLike[str] | None, *, dark: bool, title: str | None) -> Any:
    """Return the figure, and write it to a file if a path is given.

    Raises:
        UnsupportedError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - only on use
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - only on use
    except ImportError as error:
        install = "pip install 'kueuepy[plot]'"
        raise UnsupportedError(f"plot: matplotlib is not installed; install it with: {install}") from error
    theme = _DARK if dark else _LIGHT
    margin, head = 12, 26
    width, height = drawing.width + 2 * margin, drawing.height + head + 2 * margin
    made = Figure(figsize=(width / _PIXELS, height / _PIXELS), dpi=_PIXELS, facecolor=theme.page)
    axes = made.add_axes((0, 0, 1, 1))
    axes.set_xlim(-margin, drawing.width + margin)
    axes.set_ylim(drawing.height + margin, -head - margin)
    axes.axis("off")
    fills: dict[int | str, str] = {
        kinds.FREE: theme.free,
        kinds.NONE: theme.page,
        kinds.OTHER: theme.workloads[-1],
        kinds.OUTSIDE: theme.edge,
        **dict(enumerate(theme.workloads)),
    }
    for box in (box for bar in drawing.bars for box in (bar.frame, *bar.parts)):
        shape = Rectangle(box[:2], box.width, box.height, facecolor=fills[box.kind], linewidth=0)
        if box.kind in (kinds.FREE, kinds.NONE):
            shape.set(edgecolor=theme.edge, linewidth=0.5, linestyle=":" if box.kind == kinds.NONE else "-")
        elif box.kind == kinds.OUTSIDE:
            shape.set(hatch="/////", edgecolor=theme.page)
        axes.add_patch(shape)
    points = 72 / _PIXELS
    axes.text(0, -head + 13, title or drawing.title, color=theme.ink, fontsize=13 * points, fontweight="bold")
    for label in drawing.labels:
        axes.text(
            label.x,
            label.y,
            label.text,
            color=theme.ink,
            fontsize=label.size * points,
            ha="center" if label.centred else "left",
            fontweight="bold" if label.bold else "normal",
        )
    if path is not None:
        made.savefig(path, dpi=2 * _PIXELS, facecolor=theme.page)
    return made
