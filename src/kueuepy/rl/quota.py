"""The environment: an agent edits a cluster, and a run of jobs goes on under Kueue's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from kueuepy._core import Turn
from kueuepy.errors import UnsupportedError
from kueuepy.errors.settings import spelled_out
from kueuepy.rl.example import cluster_and_jobs, nominal_quotas
from kueuepy.rl.stage import GUESSES, TERMS, EpisodeSettings, Game, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Never, Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.table import Jobs


class QuotaEnv(gymnasium.Env[Any, Any]):
    """The agent is the platform team, not the scheduler: it edits quotas, and Kueue decides.

    So what it learns can be applied to a cluster. An episode is a window of the jobs; it is truncated at its end, and
    never terminated.

    **Observation**, `Box(float32)`: of each ClusterQueue nine numbers: log1p of how many jobs wait, and of how many of
    them with the highest priority that waits there; the age of the oldest, `log1p(s)/log1p(episode)`; used, nominal and
    borrowed, each over all that its tree has, of the flavor and resource of which it uses the largest part; its share,
    weighted; log1p of arrivals and of evictions in the last interval. Then the time of day as sine and cosine.

    **Action** of `edit`, `Box(-1, 1)`: of each path the change of its number, in parts of `step`; kept within bounds,
    and with `conserve` so that the sum of the numbers of one field stays as it is. Of `choose`, `MultiDiscrete`: of
    each path the place of its value in the list. Of both, a `Dict` of `numbers` and `choices`.

    **Reward**: minus the mean number of waiting jobs over the interval by queue, minus a tenth of the part of all
    nominal quota that was lost to evictions meanwhile; its terms are in `info["reward_terms"]`. `info["values"]` has
    what is edited, and at the end of an episode `info["kpis"]` the figures of its run.

    Attributes:
        paths: The paths of the numbers that are edited, and then of the choices.
        queues: The names of the ClusterQueues, in the order of the observation.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    @spelled_out(EpisodeSettings, GUESSES)
    def __init__(
        self,
        cluster: Cluster | None = None,
        jobs: Jobs | Callable[[int], Any] | None = None,
        edit: Sequence[str] | None = None,
        *,
        choose: Mapping[str, Sequence[Any]] | None = None,
        interval: Any = "10m",
        episode: Any = "1d",
        step: float = 4,
        bounds: Mapping[str, tuple[int, int]] | None = None,
        conserve: bool = True,
        reward: Callable[[dict[str, float], dict[str, float]], float] | None = None,
        **settings: Unpack[EpisodeSettings],
    ) -> None:
        """Prepares the environment.

        Args:
            cluster: The configuration at the start of each episode; without it, and without `jobs`, a small example of
                three teams with 20 GPUs.
            jobs: A log, of which an episode is a window that begins at a day that the seed chooses, or at `start` of
                `reset`; or a function that makes an episode's jobs from a seed.
            edit: The paths of what is edited, as `Cluster.edit` takes them, each a whole number of one object. Without
                it, and without `choose`, these are all nominal quotas of ClusterQueues.
            choose: By path the values that a field may have, such as stop policies and strategies; of one object or,
                as `ClusterQueue/*:queueingStrategy`, of several. What the cluster has must be one of them.
            interval: Between two actions.
            episode: How long an episode is.
            step: By how much an action of 1 moves a number.
            bounds: By path the least and the largest.
            conserve: Whether the sum of all numbers of a field, such as `quota[h100/nvidia.com/gpu].nominalQuota`,
                never changes: quota is moved, not made.
            reward: A function of what was before the interval and after it, instead: of `waiting`, `waited`, `lost`,
                `arrivals` and `evictions` of all queues, the last four since the start.
            settings: What `simulate` takes beside, as `model` and `clock`.

        Raises:
            NotFoundError: A path names nothing.
            InvalidSpecError: It names no whole number, or an argument is not valid.
        """
        cluster, jobs = cluster_and_jobs(cluster, jobs)
        edit = nominal_quotas(cluster) if edit is None and not choose else edit or ()
        game = Game(cluster, jobs, edit, choose, interval, episode, step, bounds, conserve, reward)
        self._stage = Stage(1, game, settings)
        self.paths = (*self._stage.knobs.paths, *self._stage.knobs.choices)
        self.queues = self._stage.queues
        self.observation_space = self._stage.observation_space()
        self.action_space = self._stage.action_space()
        self._going = False
        self._turn = Turn("this QuotaEnv")

    def __reduce__(self) -> Never:
        """Is refused.

        Raises:
            UnsupportedError: An environment can be neither copied nor pickled.
        """
        raise UnsupportedError("a QuotaEnv cannot be copied or pickled; make another with the same arguments")

    @property
    def values(self) -> dict[str, int]:
        """What is edited, as it is now; of a choice the place of its value in the list."""
        return self._stage.knobs.by_path(self._stage.values[0].tolist())

    @property
    def start(self) -> float:
        """Where in the log the episode begins, in seconds; or the seed of jobs that a function makes."""
        return self._stage.starts[0]

    @property
    def numbers(self) -> dict[str, int]:
        """Of what is edited the numbers."""
        return {path: self.values[path] for path in self._stage.knobs.paths}

    def action(self, moves: Any) -> Any:
        """The action that moves the numbers by these parts of `step`, and leaves all choices as they are."""
        numbers = np.asarray(moves, np.float32)
        choices = np.array(list(self.values.values())[len(numbers) :], np.int64)
        if not self._stage.knobs.choices:
            return numbers
        return {"numbers": numbers, "choices": choices} if len(numbers) else choices

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: It chooses the window of a log, or is what a function of jobs is given.
            options: `jobs`: others for this episode; `start`: where in them the window begins, as `3d`.
        """
        with self._turn:
            super().reset(seed=seed)
            self._stage.begin(0, lambda: self.np_random, seed, options)
            self._stage.go()
            self._going = True
            return self._stage.observations[0], {"values": self.values}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Edits, and lets the run go on for an interval."""
        with self._turn:
            return self._step(action)

    def _step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        if not self._going:
            raise gymnasium.error.ResetNeeded("reset() begins an episode; step() goes on with it until it is over")
        stage = self._stage
        stage.act((0,), *stage.read(action, 1))
        stage.go()
        over = bool(stage.are_over[0])
        info: dict[str, Any] = {
            "reward_terms": dict(zip(TERMS, stage.facts[0].tolist(), strict=False)),
            "values": self.values,
        }
        if over:
            info["kpis"] = stage.close(0)
            self._going = False
        return stage.observations[0], stage.reward(0), False, over, info
