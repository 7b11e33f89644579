"""Names and colours of the queues in a chart, and the units of its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.look.colours import MOST_NAMES, OTHERS, places
from kueuepy.look.numbers import unit_of
from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.grouped import sums
from kueuepy.tables.columns import as_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.simulation.recorded import Recorded
    from kueuepy.tables import Categorical

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
    most = MOST_NAMES if len(workers) <= MOST_NAMES else MOST_NAMES - 1
    return {name: place for place, name in enumerate(workers[:most])}


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


def cell_of(run: Recorded, flavor_resource: str | None) -> str:
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
        return max(used, key=lambda name: used[name] / nominal if (nominal := run.totals["nominal"].get(name)) else 0.0)
    found = [
        name
        for name in used
        if name == flavor_resource
        or name.partition("/")[2] == flavor_resource
        or name.partition("/")[0] == flavor_resource
    ]
    if flavor_resource in found or len(found) == 1:
        return flavor_resource if flavor_resource in found else found[0]
    raise InvalidSpecError(f'picture: flavor_resource: "{flavor_resource}"; it must be one of {", ".join(used)}')


def _used(run: Recorded) -> dict[str, float]:
    cells = [item for queue in run.totals["queues"].values() for item in queue["cells"].items()]
    return dict.fromkeys(run.totals["nominal"], 0.0) | sums(
        (flavor_resource, used) for flavor_resource, (used, *_) in cells
    )


def amounts_of(flavor_resource: str) -> tuple[str, float]:
    """Return the display unit of a resource, and the number of internal units per display unit."""
    resource = flavor_resource.partition("/")[2]
    if resource == "cpu":
        return "cores", 1000.0
    if resource in ("memory", "ephemeral-storage"):
        return f"GiB of {resource}", float(_GIB)
    unit = unit_of(resource)
    return f"{unit}s" if unit.isupper() else unit, 1.0
