"""Measure how much the jobs of each group delay the jobs of other groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.lab.exploration.answer import Fact, Guarantee, facts_of
from kueuepy.lab.exploration.runs import NOTHING, in_order
from kueuepy.lab.exploration.sweep import setup_of
from kueuepy.look.numbers import duration, number
from kueuepy.simulation.simulate import Simulation
from kueuepy.tables import Categorical
from kueuepy.tables.columns import categorical

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.model import RunSettings
    from kueuepy.simulation.table import Jobs

_HOUR = 3600
_MOST = 1000
"""The maximum number of groups. Each group needs two simulations."""
_OUTSIDE = (
    "random variation: all simulations run the same jobs once, so that there is no confidence interval",
    "delays of several groups together, which are not the sum of the delays of each",
)


def delays(
    cluster: Cluster,
    jobs: Any,
    by: str = "cluster_queue",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[RunSettings],
) -> Guarantee:
    """Measure how much the jobs of each group delay the jobs of the other groups; see `guarantee`."""
    setup = setup_of(cluster, jobs, settings)
    table = setup.jobs_of(0)
    groups = _groups(cluster, table, by)
    n = len(groups.names)
    if not 1 <= n <= _MOST:
        raise InvalidSpecError(f'guarantee: "{by}" makes {n} groups; there must be 1 to {_MOST:,}')
    options = {**msgspec.structs.asdict(setup.settings), "record": NOTHING}

    def waits(chosen: NDArray[np.bool_], stop: threading.Event) -> Any:
        if not chosen.any() or stop.is_set():
            return np.zeros(n)
        run = Simulation(cluster, table.where(chosen), **options)
        run.run()
        return np.bincount(groups.codes[chosen], run.result().jobs["waited"], minlength=n)

    # All jobs, then the jobs without each group, then each group alone.
    masks = [np.ones(len(table), bool)]
    masks += [groups.codes != code for code in range(n)]
    masks += [groups.codes == code for code in range(n)]
    tell = None if progress is None else lambda done: progress(done, len(masks))
    counts = np.bincount(groups.codes, minlength=n)
    means = np.array(in_order(waits, masks, threads, tell)) / counts
    return _answer(list(groups.names), counts, means[0], means[0] - means[1 : n + 1], means[0] - means[n + 1 :])


def _answer(
    names: list[str],
    counts: NDArray[np.int64],
    waits: NDArray[np.float64],
    caused: NDArray[np.float64],
    by_all: NDArray[np.float64],
) -> Guarantee:
    """Return the answer for mean waits, and the delays in seconds: row r and column c is the delay of c by r."""
    # Without its own jobs, a group has no wait to compare with.
    np.fill_diagonal(caused, 0.0)
    total, alone = caused @ counts / _HOUR, np.diagonal(by_all)
    causes, delayed = (np.argsort(-values, kind="stable").tolist() for values in (total, alone))
    because = ["No group delays the other groups."]
    if is_delayed := bool(total[causes[0]] > 0):
        added = number(float(total[causes[0]]))
        because = [f"{names[causes[0]]} delays the others most: its jobs add {added} h of waiting."]
        if alone[delayed[0]] > 0:
            longer = f"{duration(float(alone[delayed[0]]))} longer on average than without the jobs of the others."
            because.append(f"{names[delayed[0]]} is delayed most: each of its jobs waits {longer}")
    facts = [Fact(names[row], "adds in total", total[row] * _HOUR) for row in causes]
    facts += [Fact(names[row], "delayed by all others", alone[row]) for row in delayed]
    facts += [Fact(names[row], f"delays {names[c]}", caused[row, c]) for row in causes for c in delayed if c != row]
    facts += [Fact(name, "waits", waits[place]) for place, name in enumerate(names)]
    return Guarantee("delays", not is_delayed, tuple(because), facts_of(map(_with_unit, facts)), _OUTSIDE)


def _with_unit(fact: Fact) -> Fact:
    """Return the fact with its time in words; a negative delay means that the group shortens waits."""
    sign = "-" if fact.value < 0 else ""
    return fact._replace(detail=f"{sign}{duration(abs(float(fact.value)))}")


def _groups(cluster: Cluster, jobs: Jobs, by: str) -> Categorical:
    """Return the names of the groups that contain at least one job, and the index of each job's group among them."""
    column = jobs["queue" if by == "cluster_queue" else by]
    if not isinstance(column, Categorical):
        column = categorical(map(str, column.tolist()))
    leads = {queue.key: queue.cluster_queue for queue in cluster.local_queues} if by == "cluster_queue" else {}
    texts = np.array([*(leads.get(name, name) for name in map(str, column.names)), "none"])[column.codes]
    names, codes = np.unique(texts, return_inverse=True)
    return Categorical(codes.astype(np.int32), names.tolist())
