"""Fragmentation over time: the largest job that a topology could have placed, moment by moment of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.objects import SECOND
from kueuepy.simulation.moments import scheduler_of
from kueuepy.simulation.pictures.chart import chart
from kueuepy.simulation.pictures.names import time_unit
from kueuepy.simulation.pictures.plot import draw
from kueuepy.simulation.pictures.shown import Line, Lines
from kueuepy.simulation.pictures.svg import svg
from kueuepy.simulation.spans import span
from kueuepy.tables import Categorical, Columns
from kueuepy.topology.fragments import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from kueuepy.objects import QuantityText
    from kueuepy.simulation.picture import Picture
    from kueuepy.simulation.prepare import Prepared

_STEPS = 100
_MOST_STEPS = 100_000


class FragmentationSeries(msgspec.Struct, frozen=True):
    """The largest jobs that had a place, over time; a notebook shows its picture.

    Attributes:
        topology: The Topology's name.
        flavor: The ResourceFlavor's name.
        levels: Levels of the topology, widest first, and then empty for all domains together.
        sizes: What the pods of a job ask for, in words.
        table: A row for each moment, size and level: `seconds` after the first submission, `pod`, `level`, `largest`
            (the most pods that had a place together), and `if_empty` (the same if no workload was there).
    """

    topology: str
    flavor: str
    levels: tuple[str, ...]
    sizes: tuple[str, ...]
    table: Columns

    @property
    def seconds(self) -> NDArray[np.float64]:
        """The moments."""
        moments: NDArray[np.float64] = np.unique(self.table["seconds"])
        return moments

    def largest(self, level: str = "", *, empty: bool = False) -> NDArray[np.int64]:
        """By size and moment, the largest job of a level; empty for all domains together.

        Args:
            level: A level of the topology.
            empty: If no workload was there.

        Raises:
            InvalidSpecError: The topology has no such level.
        """
        if level not in self.levels:
            known = ", ".join(map(repr, self.levels))
            raise InvalidSpecError(f"fragmentation: level: {level!r}; it must be one of {known}")
        values = self.table["if_empty" if empty else "largest"].reshape(-1, len(self.sizes), len(self.levels))
        found: NDArray[np.int64] = values[:, :, self.levels.index(level)].T
        return found

    def plot(self, level: str = "", *, ax: Any = None) -> Any:
        """The picture as Axes of matplotlib.

        Raises:
            InvalidSpecError: The topology has no such level.
            UnsupportedError: matplotlib is not installed.
        """
        return draw(self._shown(level), ax)

    def chart(self, level: str = "") -> Any:
        """The picture as a chart of altair.

        Raises:
            InvalidSpecError: The topology has no such level.
            UnsupportedError: altair is not installed.
        """
        return chart(self._shown(level))

    def picture(self, level: str = "") -> Picture:
        """The picture as SVG, without a library.

        Raises:
            InvalidSpecError: The topology has no such level.
        """
        return svg(self._shown(level))

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()

    def _shown(self, level: str) -> Lines:
        largest, seconds = self.largest(level), self.seconds
        unit, size = time_unit(float(seconds[-1]))
        lines = tuple(
            Line(name, place, seconds / size, values)
            for place, (name, values) in enumerate(zip(self.sizes, largest, strict=True))
        )
        where = f"in one {level}" if level else "in all"
        title = f"largest job with a place {where} of {self.topology}, by what a pod asks for"
        return Lines(title, f"{unit} after the first submission", "pods", lines, steps=True)


def fragmentation_of(
    run: Prepared,
    topology: str,
    sizes: Iterable[Mapping[str, QuantityText]],
    *,
    flavor: str | None,
    step: Any,
    end: float,
) -> FragmentationSeries:
    """Runs again until the end, in seconds, and asks after each step; see `Result.fragmentation`."""
    asked = [dict(size) for size in sizes]
    if not asked:
        raise InvalidSpecError("fragmentation: sizes: is empty; it must say what a pod asks for")
    width = max(end, 1.0) / _STEPS if step is None else span("fragmentation: step", step) / SECOND
    if not end / _MOST_STEPS <= width or width <= 0:
        raise InvalidSpecError(f"fragmentation: step: makes more than {_MOST_STEPS:,} of a run of {end:g} s")
    moments = np.arange(0.0, end + width * 1e-9, width)
    largest: list[int] = []
    empty: list[int] = []
    known: tuple[str, ...] | None = None
    for twin in run.moments(moments.tolist()):
        racks = scheduler_of(twin).topology(topology, flavor=flavor)
        if known not in (None, racks.levels):
            raise StateError(f'fragmentation: the levels of Topology "{topology}" change in the run')
        known = racks.levels
        for size in asked:
            largest += racks.largest(size).values()
            empty += racks.largest(size, empty=True).values()
    levels, texts = (*racks.levels, ""), tuple(map(text_of, asked))
    shape = (len(moments), len(texts), len(levels))
    at, pod, level = (places.ravel() for places in np.indices(shape))
    table = Columns(
        {
            "seconds": moments[at],
            "pod": Categorical(pod.astype(np.int32), list(texts)),
            "level": Categorical(level.astype(np.int32), list(levels)),
            "largest": np.array(largest, dtype=np.int64),
            "if_empty": np.array(empty, dtype=np.int64),
        }
    )
    return FragmentationSeries(racks.topology, racks.flavor, levels, texts, table)
