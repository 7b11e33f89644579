"""The example that `gymnasium.make("kueuepy/Quota-v0")` uses without arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy._core import Quantity
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError
from kueuepy.lab.rl.stage import Game
from kueuepy.objects import ClusterQueue, Preemption, ResourceFlavor
from kueuepy.simulation.table import Jobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TEAMS = {"robots": 4, "speech": 8, "vision": 8}
_GPU = "nvidia.com/gpu"


def game_of(
    cluster: Cluster | None, jobs: Any, edit: Sequence[str] | None, options: Mapping[str, Any]
) -> tuple[Game, dict[str, Any]]:
    """Return the arguments of `QuotaEnv`, with the example instead of missing ones, and those of `simulate`.

    Args:
        cluster: The cluster, or `None`.
        jobs: The jobs, or `None`.
        edit: The paths of numeric fields; by default, the nominal quotas of all ClusterQueues unless the actions choose
            among values of other fields.
        options: The keyword arguments of `QuotaEnv`.

    Raises:
        InvalidSpecError: Only the cluster or only the jobs are given.
    """
    if (cluster is None) != (jobs is None):
        raise InvalidSpecError("QuotaEnv: pass both cluster and jobs, or neither to use the example")
    if cluster is None:
        cluster, jobs = example_cluster(), example_jobs
    edit = _nominal_quotas(cluster) if edit is None and not options.get("choose") else edit or ()
    own = {name: value for name, value in options.items() if name in Game._fields}
    return Game(cluster, jobs, edit, **own), {name: value for name, value in options.items() if name not in own}


def _nominal_quotas(cluster: Cluster) -> list[str]:
    """Return the paths of all integer nominal quotas of ClusterQueues."""
    return [
        f"ClusterQueue/{queue.name}:quota[{row.name}/{quota.name}].nominalQuota"
        for queue in cluster.cluster_queues
        for group in queue.resource_groups
        for row in group.flavors
        for quota in row.resources
        if float(Quantity(str(quota.nominal_quota))).is_integer()
    ]


def example_cluster() -> Cluster:
    """Return a cluster of three teams with 20 GPUs in one cohort, each with `reclaimWithinCohort: Any`."""
    reclaim = Preemption(reclaim_within_cohort="Any")
    queues = [
        ClusterQueue.of(team, {"h100": {_GPU: gpus}}, cohort_name="all", preemption=reclaim)
        for team, gpus in _TEAMS.items()
    ]
    return Cluster(ResourceFlavor("h100"), queues)


def example_jobs(seed: int) -> Jobs:
    """Return one day of jobs; the seed also determines the load of each team."""
    rates = [(2 + (seed * 7 + 3 * index) % 8) for index in range(len(_TEAMS))]
    parts = [
        Jobs.poisson(team, f"{rate}/h", "1h", {_GPU: 2}, days=1, seed=seed)
        for team, rate in zip(_TEAMS, rates, strict=True)
    ]
    return Jobs.concat(parts).sort()
