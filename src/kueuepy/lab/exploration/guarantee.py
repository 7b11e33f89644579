"""`guarantee`: questions about what a cluster guarantees, with one form of answer."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.errors.settings import spelled_out
from kueuepy.lab.exploration.delays import delays
from kueuepy.lab.exploration.limits import limits
from kueuepy.lab.exploration.safety import safety
from kueuepy.lab.exploration.shrink import shrink
from kueuepy.lab.exploration.starvation import starvation
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.model import RunSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.explain.whatif import Edit
    from kueuepy.lab.exploration.answer import Guarantee
    from kueuepy.simulation.model import Edit as FieldEdit

_ANALYSES: dict[str, Callable[..., Guarantee]] = {
    "safety": safety,
    "limits": limits,
    "starvation": starvation,
    "shrink": shrink,
    "delays": delays,
}


class GuaranteeOptions(RunSettings, total=False):
    """Keyword arguments of `guarantee`, in addition to those of `simulate`.

    `starvation` (without `delays` and `events`), `shrink` and `delays` accept the arguments of `simulate`.

    Attributes:
        cluster_queue: The name of the ClusterQueue, for `safety`.
        amounts: The required amount of each ClusterQueue, as a number or a Kubernetes quantity, for `limits`.
        flavor_resource: The flavor and resource, such as `h100/nvidia.com/gpu`, for `limits`.
        jobs: For `delays`, the jobs. For `starvation`, the jobs of every period, whose `submit` times count from the
            start of the period and lie within it.
        once: The jobs that are submitted once, for `starvation`; `submit` counts from the start of the first period.
            Default: none.
        period: The length of a period, as seconds or a string such as `24h`, for `starvation`.
        periods: The maximum number of periods to simulate, at least 2, for `starvation`. Default: 100.
        edits: For `shrink`: objects with less quota, field edits as `kueuepy.sim.Edit(path, value)`, a Configuration,
            or functions that change a Scheduler.
        runtimes: The expected runtimes, as `eta` accepts them, for `shrink`.
        future: Jobs that will arrive, or a function that returns them for a seed, for `shrink`; `submit` times count
            from now. Default: none.
        horizon: The time span to simulate, for `shrink`. Default: 30 days.
        by: The column that defines the groups, for `delays`: `cluster_queue`, or a column of jobs such as `queue` or
            `user`. Default: `cluster_queue`.
        n: The number of random series, for `safety`, or of simulated futures, for `shrink`. Default: 50.
        seed: The seed of the first series or future, for `safety` and `shrink`. Default: 0.
        threads: The number of simulations to run in parallel, for `shrink` and `delays`. Default: the number of
            available cores.
        progress: A function that is called with the number of finished simulations and their total number, at most ten
            times per second, for `shrink` and `delays`.
    """

    cluster_queue: str
    amounts: Mapping[str, str | int | float]
    flavor_resource: str
    jobs: Any
    once: Any
    period: Any
    periods: int
    edits: Sequence[Edit | FieldEdit]
    runtimes: Any
    future: Any
    horizon: Any
    by: str
    n: int
    seed: int
    threads: int | None
    progress: Callable[[int, int], None] | None


@checked
@spelled_out(GuaranteeOptions)
def guarantee(
    question: Literal["safety", "limits", "starvation", "shrink", "delays"],
    cluster: Cluster | Scheduler,
    **options: Unpack[GuaranteeOptions],
) -> Guarantee:
    """Determine whether a cluster guarantees something, by a proof, a counterexample or simulations.

    The question selects the analysis:

    - `safety`: No submission can evict workloads of `cluster_queue`, such as notebooks or services. The proof needs
      `withinClusterQueue: Never`, and that the queue can never use more than its nominal quota of any flavor and
      resource that another queue of its cohort tree may reclaim. Without a proof, series of submissions are simulated:
      first series that fill the queue and then submit a workload to each queue that may preempt, and then `n` random
      series. A Cohort whose usage stays within its quota also protects its queues, but this is not accepted as a proof:
      while evicted workloads terminate, a Cohort can temporarily exceed its quota.
    - `limits`: Each ClusterQueue in `amounts` always gets its amount of `flavor_resource`, whatever the other queues
      do. The guaranteed amount is simulated: all other ClusterQueues take as much as they can, the nearest in the
      cohort tree first, and then the queue requests quota at the lowest priority. Quota that the queue reclaims by
      preemption is part of the guaranteed amount. `edits` of the answer contains the largest lending limits that
      establish the guarantee.
    - `starvation`: No job in `once` waits indefinitely if `jobs` are submitted in every period
      (kubernetes-sigs/kueue#754). A state consists of the order of the pending jobs, the running jobs with their start
      times, and the progress of each job. If a state repeats at the end of a period, all following states repeat as
      well, so a one-time job that still waits starves, and no periodic job ever waits longer than before.
    - `shrink`: Usage is within quota before `horizon` after `edits` that reduce quota. Kueue does not evict workloads
      when quota is reduced (kubernetes-sigs/kueue#5176). Each of `n` simulated futures draws the remaining runtimes of
      running workloads.
    - `delays`: No group of jobs lengthens the waits of the other groups. All jobs are simulated, then the jobs without
      each group, and then each group alone.

    Args:
        question: The analysis.
        cluster: The cluster, whose workloads are ignored except for `shrink`, or a Scheduler, which is not modified.
        options: The arguments of the question, as `GuaranteeOptions` lists them.

    Returns:
        The verdict, the reasons and the facts. The measures in `facts` are: `evicts` for `safety`; `guaranteed`,
        `required`, `lendingLimit` and `borrowingLimit` for `limits`; `waited`, `overtaken` (jobs submitted later that
        have started), `first period` and `periods` of the repeated states, and `longest wait` for `starvation`; `order
        of removal`, `above quota`, `p10`, `p50`, `p90` and `within quota after` for `shrink`; `adds in total` (the sum
        over all jobs of other groups), `delayed by all others`, `delays GROUP` and `waits` for `delays`.

    Raises:
        NotFoundError: A ClusterQueue, a column or a path does not exist, or `runtimes` does not cover a queue.
        InvalidSpecError: An argument is missing, is not valid, or does not belong to the question.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, Quota, ResourceFlavor
        >>> quotas = {"f": {"cpu": Quota(9, borrowing_limit=0)}}
        >>> teams = [ClusterQueue.of(name, quotas, cohort_name="all") for name in ("a", "b")]
        >>> guarantee("safety", Cluster(ResourceFlavor("f"), *teams), cluster_queue="a").holds
        True
    """
    if question not in _ANALYSES:
        raise InvalidSpecError(f"guarantee: question: is {question!r}; it must be one of {', '.join(_ANALYSES)}")
    _check(question, options)
    state: Cluster | Scheduler = cluster.cluster if isinstance(cluster, Scheduler) else cluster
    # Only the answer to `shrink` depends on the workloads that run now.
    if question == "shrink":
        state = cluster if isinstance(cluster, Scheduler) else Scheduler(cluster)
    return _ANALYSES[question](state, **options)


def _check(question: str, options: Mapping[str, Any]) -> None:
    """Check that the arguments belong to the question, and that none is missing."""
    accepted = list(signature(_ANALYSES[question]).parameters.values())[1:]
    names = [one.name for one in accepted if one.kind is not Parameter.VAR_KEYWORD]
    settings = RunSettings.__annotations__ if len(names) < len(accepted) else {}
    for name in options:
        if name not in names and name not in settings:
            raise InvalidSpecError(f"guarantee: {name}: {question} does not accept it; it accepts {', '.join(names)}")
    for one in accepted:
        if one.default is Parameter.empty and one.name in names and one.name not in options:
            raise InvalidSpecError(f"guarantee: {question} needs {one.name}; it accepts {', '.join(names)}")
