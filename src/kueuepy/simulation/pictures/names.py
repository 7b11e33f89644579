"""Who is shown under a name and a colour of its own, and the units in which people read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.pictures.shown import MOST_NAMES, OTHERS
from kueuepy.simulation.sums import sums
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    from kueuepy.simulation.recorded import Recorded

_UNITS = (("s", 1.0, 180.0), ("min", 60.0, 3 * 3600.0), ("hours", 3600.0, 4 * 86400.0), ("days", 86400.0, np.inf))
_GIB = 2**30


def colours(run: Recorded) -> dict[str, int]:
    """The ClusterQueues that have a colour of their own: whose jobs ask for most.

    What jobs ask for does not depend on the policy, so that a queue has one colour under all of them.
    """
    return _largest(run.jobs["cluster_queue"], work(run))


def groups(run: Recorded, by: str) -> tuple[Categorical, dict[str, int]]:
    """A column of jobs as names, and the places of those that are shown."""
    if by in ("queue", "cluster_queue"):
        return run.jobs["cluster_queue"], colours(run)
    values = run.jobs[by]
    if not isinstance(values, Categorical):
        known, codes = np.unique(values, return_inverse=True)
        values = Categorical(codes.astype(np.int32), [str(value) for value in known.tolist()])
    return values, _largest(values, work(run))


def work(run: Recorded) -> Any:
    """By job, the part of all that is asked for; 1 each if jobs ask for nothing."""
    jobs = run.jobs
    runtime = np.nan_to_num(jobs["runtime"])
    found = np.zeros(len(jobs))
    for name in (name for name in jobs.names if is_resource(name)):
        asked = runtime * jobs["pods"] * jobs[name]
        total = float(asked.sum())
        found += asked / total if total else 0.0
    return found if found.any() else np.ones(len(jobs))


def _largest(names: Categorical, weight: Any) -> dict[str, int]:
    totals = np.bincount(names.codes[names.codes >= 0], weights=weight[names.codes >= 0], minlength=len(names.names))
    order = sorted(range(len(names.names)), key=lambda code: (-totals[code], names.names[code]))
    most = MOST_NAMES if len(order) <= MOST_NAMES else MOST_NAMES - 1
    return {names.names[code]: place for place, code in enumerate(order[:most])}


def shown_as(name: str, places: dict[str, int]) -> tuple[str, int]:
    """The name under which something is shown, and the place of its colour."""
    return (name, places[name]) if name in places else ("others", OTHERS)


def time_unit(seconds: float) -> tuple[str, float]:
    """In what a span is counted, and how many seconds that is."""
    return next((name, size) for name, size, most in _UNITS if seconds <= most)


def cell_of(run: Recorded, flavor_resource: str | None) -> str:
    """The flavor and resource that are meant: named, a resource that only one flavor has, or what is used most.

    Raises:
        InvalidSpecError: There is none of the name, or several.
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
    """By flavor_resource, what all ClusterQueues used."""
    cells = [item for queue in run.totals["queues"].values() for item in queue["cells"].items()]
    return dict.fromkeys(run.totals["nominal"], 0.0) | sums(
        (flavor_resource, used) for flavor_resource, (used, *_) in cells
    )


def amounts_of(flavor_resource: str) -> tuple[str, float]:
    """What an axis of this resource counts, and how many of a table's units make one."""
    resource = flavor_resource.partition("/")[2]
    if resource == "cpu":
        return "cores", 1000.0
    if resource in ("memory", "ephemeral-storage"):
        return f"GiB of {resource}", float(_GIB)
    return resource, 1.0
