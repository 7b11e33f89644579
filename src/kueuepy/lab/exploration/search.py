"""Search for the best policy; the results of previous trials determine the next trial."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from kueuepy.errors import InvalidSpecError, checked, imported, spelled_out
from kueuepy.lab.exploration.grid import SelectedPolicy, Sweep
from kueuepy.lab.exploration.measure import Promise, promise
from kueuepy.lab.exploration.policy import Space, Uniform, sample
from kueuepy.lab.exploration.sweep import SweepSettings, sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.fleet import Fleet

# The number of policies per round, which does not depend on the number of cores.
_AT_ONCE = 4


class Search(Sweep):
    """The results of a search: a `Sweep` of all trials in order. `search` creates it.

    Attributes:
        objective: The metric that was minimised or maximised.
        subject_to: The conditions that a policy had to satisfy.
        study: Optuna's study; `None` for a random search.
        largest: Whether the metric was maximised.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> from kueuepy.lab import search
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
        >>> jobs = [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}]
        >>> space = {"ClusterQueue/team:quota[f/cpu].nominalQuota": [1, 2]}
        >>> search(cluster, jobs, space, "wait_mean", trials=2, sampler="random").found.figures["wait_mean"]
        0.0
    """

    objective: str
    subject_to: tuple[str, ...]
    study: Any = None
    largest = False

    @property
    def found(self) -> SelectedPolicy | None:
        """The best trial that satisfies the conditions; `None` if no trial does."""
        return self.best(self.objective, where=" and ".join(self.subject_to) or None, largest=self.largest)


@checked
@spelled_out(SweepSettings)
def search(
    cluster: Cluster | Fleet,
    jobs: Any,
    space: Space,
    objective: str = "wait_p95",
    *,
    subject_to: Sequence[str] = (),
    largest: bool = False,
    trials: int = 200,
    sampler: Literal["tpe", "random"] = "tpe",
    seed: int = 0,
    **options: Unpack[SweepSettings],
) -> Search:
    """Search for the policy that minimises a metric, or maximises it, subject to conditions.

    The same seed gives the same trials on any number of threads.

    Args:
        cluster: The cluster or the fleet that the policies change. The paths of a fleet begin with the name of a
            cluster; see `Fleet.edit_all`.
        jobs: The jobs, as `sweep` accepts them.
        space: For each path, a `Uniform` range or a list of values.
        objective: The metric, such as `wait_p95(team-a)`. Default: `wait_p95`.
        subject_to: Conditions that the policy must satisfy, such as `["evictions <= 200"]`. Default: none.
        largest: Whether to maximise the metric. Default: False.
        trials: The number of policies to try. Default: 200.
        sampler: `tpe` uses Optuna's TPE sampler, which learns from previous trials and from how far they violate the
            conditions. `random` draws policies at random. Default: `tpe`.
        seed: The seed of the sampler. Default: 0.
        options: Further arguments of `sweep`: `seeds`, `threads`, `on`, `storage`, `progress`, and settings of the
            simulations.

    Returns:
        All trials; `found` is the best one.

    Raises:
        InvalidSpecError: The space is empty, or a condition is malformed.
        NotFoundError: A path or a metric does not exist.
        UnsupportedError: `sampler` is `tpe`, and Optuna is not installed.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
        >>> jobs = [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}] * 2
        >>> space = {"ClusterQueue/team:quota[f/cpu].nominalQuota": [2]}
        >>> search(cluster, jobs, space, "wait_mean", trials=1, sampler="random").found.edits
        {'ClusterQueue/team:quota[f/cpu].nominalQuota': 2}
    """
    if isinstance(subject_to, str):
        raise InvalidSpecError(f"search: subject_to {subject_to!r:.99}; it must be a list of conditions")
    if trials < 1 or not space:
        raise InvalidSpecError(f"search: {trials} trials in {dict(space)}; give one at least, and a path")
    conditions = [promise(text) for text in subject_to]
    figures = list(dict.fromkeys([objective, *(str(condition.measure) for condition in conditions)]))
    if sampler not in ("tpe", "random"):
        raise InvalidSpecError(f"search: sampler {sampler!r:.99}; it must be tpe or random")
    asked = _Study(space, seed, largest) if sampler == "tpe" else None
    if asked is None:
        grids = [sweep(cluster, jobs, sample(space, trials, seed=seed, how="random"), figures=figures, **options)]
    else:
        grids = []
        # Policies of a round run in parallel; the sampler learns from each round.
        for begin in range(0, trials, _AT_ONCE):
            proposals = asked.ask(min(_AT_ONCE, trials - begin))
            grids.append(sweep(cluster, jobs, [policy for _, policy in proposals], figures=figures, **options))
            asked.report([trial for trial, _ in proposals], grids[-1], objective, conditions)
    policies = [policy for grid in grids for policy in grid.policies]
    found = Search(grids[0].setup, policies, grids[0].seeds, [row for grid in grids for row in grid.rows])
    found.objective, found.subject_to, found.largest = objective, tuple(subject_to), largest
    found.study = None if asked is None else asked.study
    return found


class _Study:
    def __init__(self, space: Space, seed: int, largest: bool) -> None:  # noqa: FBT001
        optuna = imported("optuna", 'search: sampler "tpe"', ', or search with sampler="random"')
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._fail = optuna.trial.TrialState.FAIL
        self._space = space
        self._distributions = {path: _distribution(optuna.distributions, path, v) for path, v in space.items()}
        sampler = optuna.samplers.TPESampler(seed=seed)
        self.study = optuna.create_study(sampler=sampler, direction="maximize" if largest else "minimize")

    def ask(self, n: int) -> list[tuple[Any, dict[str, Any]]]:
        """Return the next `n` trials with their policies."""
        trials = [self.study.ask(self._distributions) for _ in range(n)]
        return [(trial, {path: self._value(path, trial.params[path]) for path in self._space}) for trial in trials]

    def _value(self, path: str, asked: Any) -> Any:
        values = self._space[path]
        return asked if isinstance(values, Uniform) else values[asked]

    def report(self, trials: Sequence[Any], grid: Sweep, objective: str, conditions: Sequence[Promise]) -> None:
        """Report the results of the trials to Optuna; a trial without a value of the metric is reported as failed."""
        values = grid.means[grid.named(objective)].tolist()
        for index, trial in enumerate(trials):
            for condition in conditions:
                value = float(grid.means[str(condition.measure)][index])
                trial.set_constraint(condition.text, _violation(condition, value))
            # Optuna accepts no NaN as the value of a trial.
            if math.isnan(values[index]):
                self.study.tell(trial, state=self._fail)
            else:
                self.study.tell(trial, values[index])


def _violation(condition: Promise, value: float) -> float:
    """Return by how much a value violates a condition; 0 if it satisfies the condition."""
    if condition.holds(value):
        return 0.0
    # An undefined metric is worse than any defined one.
    return 1e9 if math.isnan(value) else max(abs(value - condition.value), 1e-9)


def _distribution(kinds: Any, path: str, values: Uniform | Sequence[Any]) -> Any:
    if not isinstance(values, Uniform):
        if not len(values):
            raise InvalidSpecError(f'search: "{path}": no values; give one at least')
        return kinds.CategoricalDistribution(range(len(values)))
    whole = all(isinstance(number, int) for number in (values.low, values.high, values.step))
    if whole and not values.log:
        return kinds.IntDistribution(values.low, values.high, step=values.step)
    return kinds.FloatDistribution(values.low, values.high, log=values.log, step=None if values.log else values.step)
