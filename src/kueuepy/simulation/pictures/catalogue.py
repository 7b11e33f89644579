"""The list of pictures of a run, and where each picture is shown."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import msgspec

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.simulation.pictures import data, jobs
from kueuepy.simulation.pictures.names import cell_of
from kueuepy.simulation.pictures.shown import Lines, Stack
from kueuepy.simulation.pictures.svg import Picture, picture, ranges, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kueuepy.simulation.pictures.shown import Shown
    from kueuepy.simulation.recorded import Recorded

Place = Literal["notebook", "report", "comparison"]
PictureName = Literal[
    "usage",
    "queue",
    "shares",
    "consumed",
    "waits",
    "gantt",
    "preemptions",
    "slowdown_by_size",
    "clusters",
    "dispatch",
]


class Kind(NamedTuple):
    """A picture of a run.

    Attributes:
        data: The function that returns the data of the picture.
        caption: The caption in a report, which describes what the picture shows.
        places: Where the picture appears by default: in notebooks, in the report of a run, or in the report of a
            comparison (there with the same axes for each policy).
    """

    data: Callable[..., Shown]
    caption: str
    places: tuple[Place, ...] = ()


PICTURES: dict[PictureName, Kind] = {
    "usage": Kind(
        data.usage,
        "Usage, stacked by ClusterQueue. Hatched areas are borrowed quota, and the line is the nominal quota.",
        ("notebook", "report", "comparison"),
    ),
    "queue": Kind(data.queue, "Number of waiting jobs, stacked by ClusterQueue.", ("report", "comparison")),
    "shares": Kind(data.shares, "Weighted share of each ClusterQueue."),
    "consumed": Kind(data.consumed, "Decayed usage of each LocalQueue under admission fair sharing."),
    "waits": Kind(
        jobs.waits,
        "Cumulative distribution: the fraction of jobs that waited for at most the time on the x axis.",
        ("notebook", "report", "comparison"),
    ),
    "gantt": Kind(jobs.gantt, "Runs of the first jobs. Hatched parts were lost by an eviction."),
    "preemptions": Kind(
        jobs.preemptions,
        "Number of evictions. Rows are the queues of victims, columns the queues of preemptors.",
    ),
    "slowdown_by_size": Kind(jobs.slowdown_by_size, "Bounded slowdown of jobs by their size."),
    "clusters": Kind(
        data.clusters,
        "Usage, stacked by worker of a fleet. The line is the nominal quota of all workers.",
        ("notebook", "report"),
    ),
    "dispatch": Kind(
        jobs.dispatch,
        "Workers on which the first jobs of a fleet ran. Hatched parts were lost by an eviction.",
        ("report",),
    ),
}
"""All pictures by name; `Plots` has a method for each."""


class PictureOptions(TypedDict, total=False):
    """Options of pictures; each picture accepts the options of the `result.plot` method with the same name.

    Attributes:
        flavor_resource: The flavor and resource that `usage` and `clusters` show, such as `h100/nvidia.com/gpu`.
        by: The column of the table of jobs by which `waits` groups the jobs.
        flavor: The flavor whose runs `gantt` shows.
        jobs: The largest number of jobs that `gantt` and `dispatch` show.
        start: The time at which `gantt` and `dispatch` begin, in seconds.
        resource: The resource that `consumed` and `slowdown_by_size` use.
        pieces: The number of time intervals of `usage`, `queue`, `shares`, `consumed` and `clusters`.
    """

    flavor_resource: str | None
    by: str
    flavor: str | None
    jobs: int
    start: float
    resource: str | None
    pieces: int


def pictures_in(place: Place) -> list[PictureName]:
    """Return the names of the pictures that appear in a notebook, in a report or in a comparison."""
    return [name for name, kind in PICTURES.items() if place in kind.places]


def drawn_if_recorded(run: Recorded, names: Iterable[PictureName]) -> dict[PictureName, Picture]:
    """Draw the pictures whose tables were recorded."""
    found = {}
    for name in names:
        with suppress(StateError):
            found[name] = drawn(run, name)
    return found


def drawn(run: Recorded, name: PictureName, **options: Any) -> Picture:
    """Draw a picture of a run as SVG.

    Args:
        run: The run.
        name: Name of the picture.
        options: Options of the picture, such as `flavor_resource` of `usage`.

    Raises:
        InvalidSpecError: No picture has the given name.
        StateError: The picture needs a table that was not recorded.
    """
    return picture(msgspec.structs.replace(_data(run, name, options), policy=run.policy))


def data_alike(runs: Sequence[Recorded], name: PictureName, **options: Any) -> list[Shown]:
    """Return the data of the same picture for several runs, with the same units and axis ranges.

    Raises:
        InvalidSpecError: No picture has the given name.
        StateError: The picture needs a table that was not recorded.
    """
    if name == "usage" and all(runs[0].totals["nominal"].keys() == run.totals["nominal"].keys() for run in runs):
        options = {"flavor_resource": cell_of(runs[0], None), **options}
    found = []
    for run in runs:
        twin = copy(run)
        twin.seconds = max(one.seconds for one in runs)
        found.append(_data(twin, name, options))
    over_axes = [one for one in found if isinstance(one, Stack | Lines)]
    if len(over_axes) < len(found):
        return found
    ends = list(map(ranges, over_axes))
    across, rising = ((min(low for low, _ in axis), max(high for _, high in axis)) for axis in zip(*ends, strict=True))
    return [msgspec.structs.replace(one, ends=(across, rising)) for one in over_axes]


def drawn_beside(runs: Mapping[str, Recorded], name: PictureName, **options: Any) -> Picture:
    """Draw the same picture for several runs side by side, with the same units and axis ranges.

    Raises:
        InvalidSpecError: No picture has the given name.
        StateError: The picture needs a table that was not recorded.
    """
    return side_by_side(dict(zip(runs, data_alike(list(runs.values()), name, **options), strict=True)))


def _data(run: Recorded, name: PictureName, options: dict[str, Any]) -> Shown:
    if name not in PICTURES:
        raise InvalidSpecError(f'picture: "{name}"; it must be one of {", ".join(PICTURES)}')
    return PICTURES[name].data(run, **options)
