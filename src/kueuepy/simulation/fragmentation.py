"""Fragmentation over time: the largest job that fits into a topology at regular times in a simulation."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.look.chart import Axis, Chart, Key, Line, ends_of
from kueuepy.look.plot import draw
from kueuepy.look.svg import Picture, picture
from kueuepy.objects import SECOND, QuantityText
from kueuepy.simulation.grouped import Floats, Ints
from kueuepy.simulation.pictures.catalogue import SINCE, time_unit
from kueuepy.simulation.prepare import Prepared
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.kinds import span
from kueuepy.topology.rackmap import text_of

_STEPS = 100
_MOST_STEPS = 100_000


class FragmentationSeries(msgspec.Struct, frozen=True):
    """The largest jobs that fit into a topology over time; a notebook shows them as a picture.

    Attributes:
        topology: The name of the Topology.
        flavor: The name of the ResourceFlavor.
        levels: The levels of the topology, from the widest to the narrowest, and an empty string for all domains
            together.
        sizes: Descriptions of the pod requests.
        table: One row per time, size and level. The columns are `seconds` after the first submission, `pod`, `level`,
            `largest` (the largest number of pods that fit together) and `if_empty` (the largest number of pods without
            any workloads).
    """

    topology: str
    flavor: str
    levels: tuple[str, ...]
    sizes: tuple[str, ...]
    table: Columns

    @property
    def seconds(self) -> Floats:
        """The times of the table, in seconds after the first submission."""
        return np.unique(self.table["seconds"])

    def largest(self, level: str = "", *, empty: bool = False) -> Ints:
        """Return the size of the largest job that fits into one domain of a level, over time.

        Args:
            level: A level of the topology; empty (the default) for all domains together.
            empty: Whether to ignore the workloads in the cluster; `False` by default.

        Returns:
            Numbers of pods, of shape (sizes, times).

        Raises:
            InvalidSpecError: The topology does not have the level.
        """
        if level not in self.levels:
            known = ", ".join(map(repr, self.levels))
            raise InvalidSpecError(f"fragmentation: level: {level!r:.99}; it must be one of {known}")
        values = self.table["if_empty" if empty else "largest"].reshape(-1, len(self.sizes), len(self.levels))
        found: Ints = values[:, :, self.levels.index(level)].T
        return found

    def plot(self, level: str = "", *, ax: Any = None) -> Any:
        """Draw the picture on matplotlib Axes.

        Args:
            level: A level of the topology; empty (the default) for all domains together.
            ax: The Axes to draw on; by default, the Axes of a new figure.

        Raises:
            InvalidSpecError: The topology does not have the level.
            UnsupportedError: matplotlib is not installed.
        """
        return draw(self._shown(level), ax)

    def picture(self, level: str = "") -> Picture:
        """Return the picture as SVG; no plotting library is needed.

        Args:
            level: A level of the topology; empty (the default) for all domains together.

        Raises:
            InvalidSpecError: The topology does not have the level.
        """
        return picture(self._shown(level))

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()

    def _shown(self, level: str) -> Chart:
        largest, seconds = self.largest(level), self.seconds
        unit, size = time_unit(float(seconds[-1]))
        # Steps, not slopes: a value lasts until the next measurement.
        x = np.repeat(seconds / size, 2)[1:]
        lines = tuple(
            Line(x, np.repeat(values, 2)[:-1], index, name)
            for index, (name, values) in enumerate(zip(self.sizes, largest, strict=True))
        )
        where = f"in one {level}" if level else "in all"
        title = f"Largest job that fits {where} of {self.topology}, by pod requests"
        keys = tuple(Key(line.title, line.colour, "line") for line in lines)
        across = Axis(SINCE, (float(x[0]), float(x[-1]) or 1.0), unit=unit)
        return Chart(title, across, Axis("Pods", ends_of(largest, zero=True), kind="whole"), lines, keys)


def fragmentation_of(
    run: Prepared,
    topology: str,
    sizes: Iterable[Mapping[str, QuantityText]],
    *,
    flavor: str | None,
    step: Any,
    end: float,
) -> FragmentationSeries:
    """Repeat a simulation and measure the largest jobs at regular intervals; see `Result.fragmentation`.

    Args:
        run: The simulation.
        topology: The name of the Topology.
        sizes: The requests of one pod for each job size.
        flavor: The ResourceFlavor, or `None` if only one flavor uses the topology.
        step: The interval, or `None` for 1/100 of the length of the simulation.
        end: The end of the simulation, in seconds.
    """
    asked = [dict(size) for size in sizes]
    if not asked:
        raise InvalidSpecError("fragmentation: sizes: is empty; it must have the requests of a pod")
    width = max(end, 1.0) / _STEPS if step is None else span("fragmentation: step", step) / SECOND
    if not end / _MOST_STEPS <= width or width <= 0:
        raise InvalidSpecError(f"fragmentation: step: makes more than {_MOST_STEPS:,} of a run of {end:g} s")
    # The tiny addend keeps the end itself in spite of rounding.
    times = np.arange(0.0, end + width * 1e-9, width)
    largest: list[int] = []
    empty: list[int] = []
    known: tuple[str, ...] | None = None
    for twin in run.at_times(times.tolist()):
        racks = twin.scheduler().topology(topology, flavor=flavor)
        if known not in (None, racks.levels):
            raise StateError(f'fragmentation: the levels of Topology "{topology}" change in the run')
        known = racks.levels
        for size in asked:
            largest += racks.largest(size).values()
            empty += racks.largest(size, empty=True).values()
    levels, texts = (*racks.levels, ""), tuple(map(text_of, asked))
    shape = (len(times), len(texts), len(levels))
    at, pod, level = (indices.ravel() for indices in np.indices(shape))
    table = Columns(
        {
            "seconds": times[at],
            "pod": Categorical(pod.astype(np.int32), list(texts)),
            "level": Categorical(level.astype(np.int32), list(levels)),
            "largest": np.array(largest, dtype=np.int64),
            "if_empty": np.array(empty, dtype=np.int64),
        }
    )
    return FragmentationSeries(racks.topology, racks.flavor, levels, texts, table)
