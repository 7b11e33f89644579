"""Estimate the work of scheduling cycles: heads, flavors and preemption candidates, also for larger clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.engine.nodes import nodes_of, roots
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.errors.settings import spelled_out
from kueuepy.errors.words import plural
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.simulation.measures import percentile
from kueuepy.simulation.model import Recording, SeededSettings
from kueuepy.simulation.simulate import Simulation
from kueuepy.tables import Columns
from kueuepy.tables.columns import Framed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.look.notebook import Sheet
    from kueuepy.simulation.table import Jobs

_COUNTS = ("heads", "evaluations", "candidates")
_PERCENTS = (50, 95, 100)
_OUTSIDE = (
    "the end of a search at the first flavor that fits, and that heads that fit need no candidates; counts are bounds",
    "jobs with several pod sets, for each of which Kueue searches a flavor",
    "seconds, and the other work of a cycle: the snapshot, writes to the API server, topologies",
)


@checked_methods
class CycleCost(msgspec.Struct, Framed, frozen=True):
    """The work of each scheduling cycle of a simulation. `cycle_cost` creates it.

    Attributes:
        cycles: One row per cycle that had heads: `seconds` (the start of the cycle), `heads` (their number),
            `evaluations` (an upper bound on the flavors evaluated) and `candidates` (an upper bound on the preemption
            candidates considered).
        not_modelled: Effects that the result does not consider.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> from kueuepy.lab import cycle_cost
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("q", {"f": {"cpu": 1}}))
        >>> cycle_cost(cluster, [{"queue": "q", "submit": 0, "runtime": 60, "cpu": 1}]).cycles["heads"].tolist()
        [1.0]
    """

    cycles: Columns
    not_modelled: tuple[str, ...] = _OUTSIDE

    def at(self, queues: float = 1, workloads: float = 1) -> Columns:
        """Return the 50th, 95th and 100th percentile of each count for a cluster scaled by given factors.

        Each queue has one head per cycle, so heads and evaluations grow with the number of queues. Candidates are the
        running workloads in the cohort tree of each head. If the number of trees grows with the number of queues, the
        total number of candidates grows with the number of workloads.

        Args:
            queues: The factor for the number of ClusterQueues and of cohort trees. Default: 1.
            workloads: The factor for the total number of running workloads. Default: 1.

        Returns:
            One row per percentile, with the columns `percent`, `heads`, `evaluations` and `candidates`.

        Raises:
            InvalidSpecError: A factor is not greater than 0.
        """
        if not (queues > 0 and workloads > 0):
            raise InvalidSpecError(f"cycle_cost: queues {queues}, workloads {workloads}; both must be more than 0")
        factors = {"heads": queues, "evaluations": queues, "candidates": workloads}
        table = {name: np.sort(self.cycles[name]) * factors[name] for name in _COUNTS}
        return Columns(
            {
                "percent": np.array(_PERCENTS),
                **{name: np.array([percentile(table[name], p) for p in _PERCENTS]) for name in _COUNTS},
            }
        )

    def __str__(self) -> str:
        """Return the percentiles as several lines of text."""
        rows = self.at().rows()
        lines = [f"{len(self.cycles):,} {plural(len(self.cycles), 'cycle')} with heads"]
        for name in _COUNTS:
            half, many, most = (f"{row[name]:,.0f}" for row in rows)
            lines.append(f"{name}: {half} (median), {many} (95th percentile), {most} (maximum)")
        return "\n".join([*lines, *(f"not modelled: {text}" for text in self.not_modelled)])

    def to_table(self) -> Columns:
        """Return `cycles`."""
        return self.cycles

    def sheets(self) -> tuple[Sheet, ...]:
        """Return a table of the percentiles."""
        return self.at().sheets()


@checked
@spelled_out(SeededSettings)
def cycle_cost(cluster: Cluster, jobs: Jobs | Iterable[Any], **settings: Unpack[SeededSettings]) -> CycleCost:
    """Estimate the work of the scheduling cycles for a set of jobs (kubernetes-sigs/kueue#8564).

    The jobs are simulated, and the heads of each cycle are counted. Two upper bounds follow from the number of heads.
    The number of flavors evaluated for a head is at most the largest number of flavors in any ClusterQueue. If any
    queue may preempt, the number of candidates for a head is at most the number of running workloads in the largest
    cohort tree.

    Args:
        cluster: The cluster.
        jobs: The jobs, as `simulate` accepts them.
        settings: Further arguments of `simulate`, such as `clock`. If cycles take time, more heads accumulate for the
            next cycle.

    Returns:
        The counts of each cycle.

    Raises:
        InvalidSpecError: An argument is not valid.
        NotFoundError: A job names a LocalQueue that does not exist.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("q", {"f": {"cpu": 1}}))
        >>> rows = [{"queue": "q", "submit": 0, "runtime": 60, "cpu": 1}] * 3
        >>> cycle_cost(cluster, rows).at(queues=10)["heads"].tolist()
        [10.0, 10.0, 10.0]
    """
    run = Simulation(cluster, jobs, record=Recording(decisions=False, runs=True, usage=False, cycles=True), **settings)
    run.run(progress=False)
    result = run.result()
    table = result.cycles
    there = table["heads"] > 0
    seconds, heads = table["seconds"][there], table["heads"][there].astype(np.float64)
    flavors = max((sum(len(group.flavors) for group in q.resource_groups) for q in cluster.cluster_queues), default=0)
    preempting = any(
        queue.preemption.within_cluster_queue != "Never" or queue.preemption.reclaim_within_cohort != "Never"
        for queue in cluster.cluster_queues
    )
    running = _most_running(cluster, result, seconds) if preempting else np.zeros(len(seconds))
    return CycleCost(
        Columns({"seconds": seconds, "heads": heads, "evaluations": heads * flavors, "candidates": heads * running})
    )


def _most_running(cluster: Cluster, result: Any, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each time, the largest number of workloads with quota in any cohort tree."""
    runs = result.runs
    tree = roots(nodes_of(session_of(Scheduler(cluster, now=0)).engine))
    queue = result.jobs["cluster_queue"]
    of_run = np.array([tree[queue[job]] for job in runs["job"].tolist()], object)
    most = np.zeros(len(seconds))
    for name in dict.fromkeys(tree.values()):
        mine = of_run == name
        begun = np.searchsorted(np.sort(runs["reserved"][mine]), seconds, side="right")
        over = np.searchsorted(np.sort(runs["end"][mine]), seconds, side="left")
        most = np.maximum(most, begun - over)
    return most
