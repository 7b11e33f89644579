"""A rack map as a matplotlib figure, in the colours that all figures of kueuepy share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.errors import UnsupportedError
from kueuepy.look.colours import DARK_THEME, LIGHT_THEME, colour_of
from kueuepy.look.escapes import plain
from kueuepy.topology import drawing as kinds

if TYPE_CHECKING:
    import os

    from kueuepy.topology.drawing import Drawing


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
    theme = DARK_THEME if dark else LIGHT_THEME
    margin, head = 12, 26
    width, height = drawing.width + 2 * margin, drawing.height + head + 2 * margin
    made = Figure(figsize=(width / _PIXELS, height / _PIXELS), dpi=_PIXELS, facecolor=theme.paper)
    axes = made.add_axes((0, 0, 1, 1))
    axes.set_xlim(-margin, drawing.width + margin)
    axes.set_ylim(drawing.height + margin, -head - margin)
    axes.axis("off")
    others = theme.others
    fills = {kinds.FREE: theme.soft, kinds.NONE: theme.paper, kinds.OTHER: others, kinds.OUTSIDE: others}
    for box in (box for bar in drawing.bars for box in (bar.frame, *bar.parts)):
        face = colour_of(box.kind, dark=dark) if isinstance(box.kind, int) else fills[box.kind]
        shape = Rectangle(box[:2], box.width, box.height, facecolor=face, linewidth=0)
        if box.kind in (kinds.FREE, kinds.NONE):
            shape.set(edgecolor=theme.others, linewidth=0.5, linestyle=":" if box.kind == kinds.NONE else "-")
        elif box.kind == kinds.OUTSIDE:
            shape.set(hatch="/////", edgecolor=theme.paper)
        axes.add_patch(shape)
    points = 72 / _PIXELS
    axes.text(0, -head + 13, plain(title or drawing.title), color=theme.ink, fontsize=13 * points, fontweight="bold")
    for label in drawing.labels:
        axes.text(
            label.x,
            label.y,
            plain(label.text),
            color=theme.ink,
            fontsize=label.size * points,
            ha="center" if label.centred else "left",
            fontweight="bold" if label.bold else "normal",
        )
    if path is not None:
        made.savefig(path, dpi=2 * _PIXELS, facecolor=theme.paper)
    return made
