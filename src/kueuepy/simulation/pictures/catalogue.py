"""The list of charts of a run, and functions that draw them by name."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError, StateError, suggestion
from kueuepy.look.chart import Chart, alike
from kueuepy.look.colours import MOST_NAMES, OTHERS, places
from kueuepy.look.numbers import busiest, unit_of
from kueuepy.look.plot import draw
from kueuepy.look.svg import Picture, picture
from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.grouped import sums
from kueuepy.simulation.recorded import Recorded
from kueuepy.tables.columns import Categorical, as_names

View = Literal["notebook", "report", "comparison"]
_MOST_PIECES = 100_000
SINCE = "Time after the first submission"
"""The title of the time axis."""


class Kind(NamedTuple):
    """A chart of a run.

    Attributes:
        data: The function that returns the chart.
        caption: The caption in a report, which describes what the chart shows.
        views: Where the chart appears by default: in notebooks, in the report of a run, or in the report of a
            comparison (there with the same axes for each policy).
    """

    data: Callable[..., Chart]
    caption: str
    views: tuple[View, ...] = ()


class Plots:
    """The charts of a simulation as matplotlib Axes.

    Each method draws on `ax`, or on a new figure if `ax` is not given, and returns the Axes. The other arguments are
    those of `Result.picture`. Text and lines use the colours of the current matplotlib style, and the colours of
    ClusterQueues suit its background. The styles `kueuepy.look.light` and `kueuepy.look.dark` have the colours of
    reports and pages: `with matplotlib.style.context("kueuepy.look.dark"): result.plot.usage()`.

    Each method raises `StateError` if its table was not recorded, and `UnsupportedError` without matplotlib.
    """

    def __init__(self, run: Recorded) -> None:
        """Create the charts of a recorded simulation."""
        self._run = run

    def __call__(self, name: str = "usage", *, ax: Any = None, **options: Any) -> Any:
        """Draw the chart with the given name; the options are those of `Result.picture`."""
        return draw(chart_of(self._run, name, options), ax)

    if TYPE_CHECKING:  # `shown` adds the methods

        def __getattr__(self, name: str) -> Callable[..., Any]:
            """Return a method that draws a chart."""


PICTURES: dict[str, Kind] = {}
"""All charts by name; `Plots` has a method for each."""


def shown(caption: str, *views: View) -> Callable[[Callable[..., Chart]], Callable[..., Chart]]:
    """Add a function to the list of charts, and a method of the same name and with the same options to `Plots`."""

    def add(build: Callable[..., Chart]) -> Callable[..., Chart]:
        name: Any = build.__name__
        PICTURES[name] = Kind(build, caption, views)

        @wraps(build)
        def method(self: Plots, *args: Any, ax: Any = None, **options: Any) -> Any:
            known = [option for option in inspect.signature(build).parameters if option != "run"]
            return self(name, ax=ax, **options | dict(zip(known, args, strict=False)))

        of_build = inspect.signature(build)
        run, *others = of_build.parameters.values()
        # help() and completion in notebooks read this signature.
        own = [run.replace(name="self", annotation=run.empty), *others]
        last = inspect.Parameter("ax", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
        method.__signature__ = of_build.replace(parameters=[*own, last], return_annotation=Any)  # type: ignore[attr-defined]
        setattr(Plots, name, method)
        return build

    return add


def pictures_in(view: View) -> list[str]:
    """Return the names of the pictures that appear in a notebook, in a report or in a comparison."""
    return [name for name, kind in PICTURES.items() if view in kind.views]


def chart_of(run: Recorded, name: str, options: Mapping[str, Any]) -> Chart:
    """Return a chart of a run.

    Args:
        run: The run.
        name: The name of the picture.
        options: Options of the picture, such as `flavor_resource` of `usage`.

    Raises:
        InvalidSpecError: No picture has the given name, the picture does not have an option, or an option is invalid.
        StateError: The picture needs a table that was not recorded.
    """
    if name not in PICTURES:
        raise InvalidSpecError(f'picture: "{name}" is not a picture; {suggestion(name, PICTURES)}')
    known = [option for option in inspect.signature(PICTURES[name].data).parameters if option != "run"]
    for option, value in options.items():
        if option not in known:
            allowed = f"it must be one of {', '.join(known)}" if known else "the picture has no options"
            raise InvalidSpecError(f"picture: {name}: {option}: is not an option; {allowed}")
        if option in ("jobs", "pieces") and not (isinstance(value, int) and 1 <= value <= _MOST_PIECES):
            raise InvalidSpecError(
                f"picture: {option}: is {value!r:.99}; it must be a number from 1 to {_MOST_PIECES:,}"
            )
        if option == "start" and not (isinstance(value, int | float) and abs(value) < math.inf):
            raise InvalidSpecError(f"picture: start: is {value!r:.99}; it must be a number of seconds")
    return msgspec.structs.replace(PICTURES[name].data(run, **options), policy=run.policy)


def drawn(run: Recorded, name: str, **options: Any) -> Picture:
    """Draw a picture of a run as SVG; the arguments and errors are those of `chart_of`."""
    return picture(chart_of(run, name, options))


def drawn_if_recorded(run: Recorded, names: Iterable[str]) -> dict[str, Picture]:
    """Draw the pictures whose tables were recorded."""
    found = {}
    for name in names:
        with suppress(StateError):
            found[name] = drawn(run, name)
    return found


def data_alike(runs: Sequence[Recorded], name: str, **options: Any) -> list[Chart]:
    """Return the same chart for several runs, with the same units and axis ranges; the policies are not named.

    Raises:
        InvalidSpecError: No picture has the given name.
        StateError: The picture needs a table that was not recorded.
    """
    # Policies of one cluster must show the same resource, even if each has its own busiest one.
    if name == "usage" and all(runs[0].totals["nominal"].keys() == run.totals["nominal"].keys() for run in runs):
        options = {"flavor_resource": pair_of(runs[0], None), **options}
    found = []
    for run in runs:
        twin = copy(run)
        # Equal time axes: a shorter run ends in an empty part of its chart.
        twin.seconds, twin.policy = max(one.seconds for one in runs), ""
        found.append(chart_of(twin, name, options))
    return found if any(chart.y.ticks == () or chart.y.names for chart in found) else alike(found)


_UNITS = (("s", 1.0, 180.0), ("min", 60.0, 3 * 3600.0), ("h", 3600.0, 4 * 86400.0), ("d", 86400.0, np.inf))
_GIB = 2**30


def colours(run: Recorded) -> dict[str, int]:
    """Return the colour indices of the ClusterQueues whose jobs request the most.

    Requests do not depend on the policy, so a queue has the same colour under all policies.
    """
    return largest(run.jobs["cluster_queue"], work(run))


def in_order(run: Recorded, queues: Iterable[str]) -> list[str]:
    """Return ClusterQueues in the order of all charts and tables: those with their own colour first, the rest by name.

    Args:
        run: The run.
        queues: The names of the ClusterQueues.
    """
    known = colours(run)
    return sorted(queues, key=lambda name: (known.get(name, len(known)), name))


def workers_of(run: Recorded) -> dict[str, int]:
    """Return the colour indices of the workers of a fleet that have their own colour, in the order of the workers.

    Raises:
        StateError: The run is not the simulation of a fleet.
    """
    workers = getattr(run, "clusters", None)
    if workers is None:
        raise StateError("picture: needs a simulation of a Fleet")
    # The last colour stands for all others together.
    most = MOST_NAMES if len(workers) <= MOST_NAMES else MOST_NAMES - 1
    return {name: index for index, name in enumerate(workers[:most])}


def groups(run: Recorded, by: str) -> tuple[Categorical, dict[str, int]]:
    """Return a column of the table of jobs as names, and the colour indices of the names that the chart shows."""
    if by in ("queue", "cluster_queue"):
        return run.jobs["cluster_queue"], colours(run)
    values = as_names(run.jobs[by])
    return values, largest(values, work(run))


def work(run: Recorded) -> Any:
    """Return each job's fraction of all requested work, summed over resources; 1 if the jobs request nothing."""
    jobs = run.jobs
    runtime = np.nan_to_num(jobs["runtime"])
    found = np.zeros(len(jobs))
    for name in (name for name in jobs.names if is_resource(name)):
        asked = runtime * jobs["pods"] * jobs[name]
        total = float(asked.sum())
        # As fractions of each resource, bytes do not outweigh GPUs.
        found += asked / total if total else 0.0
    return found if found.any() else np.ones(len(jobs))


def largest(names: Categorical, weight: Any) -> dict[str, int]:
    """Return the colour indices of the names with the largest total weight; each of these names has its own colour."""
    totals = np.bincount(names.codes[names.codes >= 0], weights=weight[names.codes >= 0], minlength=len(names.names))
    return places(dict(zip(names.names, totals.tolist(), strict=True)))


def shown_as(name: str, numbers: dict[str, int]) -> tuple[str, int]:
    """Return the name of a group in the legend, and its colour index."""
    return (name, numbers[name]) if name in numbers else ("others", OTHERS)


def time_unit(seconds: float) -> tuple[str, float]:
    """Return the unit in which to show a time span, and the length of this unit in seconds."""
    return next((name, size) for name, size, most in _UNITS if seconds <= most)


def pair_of(run: Recorded, flavor_resource: str | None) -> str:
    """Find the flavor and resource to show.

    Args:
        run: The run.
        flavor_resource: `flavor/resource`, or a flavor or a resource that occurs in only one pair. `None` selects the
            flavor and resource with the highest utilisation.

    Raises:
        InvalidSpecError: The name matches no pair of flavor and resource, or several pairs.
    """
    used = _used(run)
    if flavor_resource is None:
        if not used:
            raise InvalidSpecError("picture: there is no quota of any resource")
        nominal = run.totals["nominal"]
        return busiest({name: amount / nominal[name] if nominal.get(name) else 0.0 for name, amount in used.items()})
    found = [name for name in used if flavor_resource in (name, *name.split("/", 1))]
    if flavor_resource in found or len(found) == 1:
        return flavor_resource if flavor_resource in found else found[0]
    raise InvalidSpecError(f'picture: flavor_resource: "{flavor_resource}"; it must be one of {", ".join(used)}')


def _used(run: Recorded) -> dict[str, float]:
    pairs = [item for queue in run.totals["queues"].values() for item in queue["cells"].items()]
    return dict.fromkeys(run.totals["nominal"], 0.0) | sums((pair, used) for pair, (used, *_) in pairs)


def amounts_of(flavor_resource: str) -> tuple[str, float]:
    """Return the display unit of a resource, and the number of internal units per display unit."""
    resource = flavor_resource.partition("/")[2]
    if resource == "cpu":
        return "cores", 1000.0
    if resource in ("memory", "ephemeral-storage"):
        return f"GiB of {resource}", float(_GIB)
    unit = unit_of(resource)
    return f"{unit}s" if unit.isupper() else unit, 1.0
