"""What a scheduling cycle has to look at: how many heads, flavors and candidates, now and on a larger cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.engine.nodes import nodes_of, roots
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.errors.words import plural
from kueuepy.notebook import Sheet, repr_html
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.measures import percentile
from kueuepy.simulation.model import Recording
from kueuepy.simulation.simulate import Simulation
from kueuepy.tables import Columns
from kueuepy.tables.framed import Framed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.table import Jobs

_COUNTS = ("heads", "evaluations", "candidates")
_PERCENTS = (50, 95, 100)
_OUTSIDE = (
    "how early a search ends: at the first flavor that will do, and a head that fits seeks nobody; counts are bounds",
    "jobs of several pod sets, for each of which flavors are looked at",
    "seconds, and what a cycle does beside: the snapshot, writing to the API server, topologies",
)


@checked_methods
class CycleCost(msgspec.Struct, Framed, frozen=True):
    """What the cycles of a run had to look at; a value.

    Attributes:
        cycles: A row a cycle that had heads: `seconds`, `heads`, as many as were there; `evaluations`, at most so many
            flavors for them; `candidates`, at most so many workloads that may be preempted for them.
        not_modelled: What the answer does not speak of.
    """

    cycles: Columns
    not_modelled: tuple[str, ...] = _OUTSIDE

    def at(self, queues: float = 1, workloads: float = 1) -> Columns:
        """Percentiles (50, 95, 100) of each count, on a cluster of the same kind.

        Each queue has a head in a cycle: heads and evaluations grow with the queues. Candidates are sought for each
        head among those that run in its tree: of as many trees more as queues, they grow with the workloads.

        Args:
            queues: So many times as many ClusterQueues, in so many times as many trees.
            workloads: So many times as many workloads that run at once, in all.

        Raises:
            InvalidSpecError: A factor is not more than 0.
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
        """The answer in lines."""
        rows = self.at().rows()
        lines = [f"{len(self.cycles):,} {plural(len(self.cycles), 'cycle')} with heads"]
        for name in _COUNTS:
            half, many, most = (f"{row[name]:,.0f}" for row in rows)
            lines.append(f"{name}: {half} (half of the cycles), {many} (95 of 100), {most} at most")
        return "\n".join([*lines, *(f"not modelled: {text}" for text in self.not_modelled)])

    def to_table(self) -> Columns:
        """Return a row for each cycle that had heads, as `cycles`."""
        return self.cycles

    def sheets(self) -> tuple[Sheet, ...]:
        """The percentiles."""
        return self.at().sheets()

    _repr_html_ = repr_html


@checked
def cycle_cost(cluster: Cluster, jobs: Jobs | Iterable[Any], **settings: Any) -> CycleCost:
    """What scheduling cycles have to look at when these jobs come (kubernetes-sigs/kueue#8564).

    The jobs are run; of each cycle its heads are counted. For each head at most all flavors of the ClusterQueue with
    the most of them are looked at, and, where a queue may preempt, at most all workloads that run then in the largest
    tree.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
    >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("q", {"f": {"cpu": 1}}))
    >>> rows = [{"queue": "q", "submit": 0, "runtime": 60, "cpu": 1}] * 3
    >>> cycle_cost(cluster, rows).at(queues=10)["heads"].tolist()
    [10.0, 10.0, 10.0]

    Args:
        cluster: The configuration.
        jobs: As `simulate` takes them.
        settings: What `simulate` takes beside, as `clock`: a cycle that takes time leaves more for the next.

    Raises:
        InvalidSpecError: Something is not valid.
        NotFoundError: Jobs name LocalQueues that are not there.
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
    """By moment, how many workloads hold quota in the tree that has most of them."""
    runs = result.runs
    tree = roots(nodes_of(Scheduler(cluster, now=0).engine))
    queue = result.jobs["cluster_queue"]
    of_run = np.array([tree[queue[job]] for job in runs["job"].tolist()], object)
    most = np.zeros(len(seconds))
    for name in dict.fromkeys(tree.values()):
        mine = of_run == name
        begun = np.searchsorted(np.sort(runs["reserved"][mine]), seconds, side="right")
        over = np.searchsorted(np.sort(runs["end"][mine]), seconds, side="left")
        most = np.maximum(most, begun - over)
    return most
