"""The environment, in which an agent edits a cluster while jobs are simulated under Kueue's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from kueuepy._core import Turn
from kueuepy.errors import UnsupportedError
from kueuepy.errors.settings import spelled_out
from kueuepy.lab.rl.example import game_of
from kueuepy.lab.rl.stage import GUESSES, QuotaOptions, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Never, Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.table import Jobs


class QuotaEnv(gymnasium.Env[Any, Any]):
    """A Gymnasium environment in which an agent edits quotas and Kueue's rules make the decisions.

    The agent acts as the platform team, not as the scheduler, so a learned policy can be applied to a real cluster.
    Each episode simulates the jobs of one time window. Episodes end by truncation, never by termination.

    **Observation**, `Box(float32)`, shape `(9 * queues + 2,)`. Each ClusterQueue has nine numbers:

    - log1p of the number of waiting jobs;
    - log1p of the number of waiting jobs with the highest priority among them;
    - the age of the oldest waiting job, as `log1p(seconds) / log1p(episode)`;
    - used, nominal and borrowed quota of the queue, each divided by the total of its cohort tree, for the flavor and
      resource with the largest used fraction;
    - its weighted share;
    - log1p of the number of arrivals in the last interval;
    - log1p of the number of evictions in the last interval.

    The last two numbers are the sine and the cosine of the time of day.

    **Action**. With `edit`, `Box(-1, 1)` contains the change of each number as a fraction of `step`. Numbers stay
    within their bounds and, with `conserve`, the sum of the numbers of each field stays constant. With `choose`,
    `MultiDiscrete` contains the index of the value of each path. With `edit` and `choose`, the action is a `Dict` of
    `numbers` and `choices`.

    **Reward**: minus the number of waiting jobs per queue, averaged over the interval, minus 0.1 times the fraction of
    all nominal quota that was lost to evictions in the interval. `info["reward_terms"]` contains the two terms of the
    default reward. `info["values"]` contains the current values, and `info["kpis"]` the metrics of the simulation at
    the end of an episode.

    >>> import kueuepy.lab.rl as rl
    >>> env = rl.QuotaEnv()  # an example with three teams
    >>> observation, info = env.reset(seed=0)
    >>> env.queues, observation.shape
    (('robots', 'speech', 'vision'), (29,))
    >>> observation, reward, terminated, truncated, info = env.step(env.action([0.5, 0, -0.5]))
    >>> list(info["values"].values())
    [6, 8, 6]

    Attributes:
        paths: The paths of the numeric fields that actions change, followed by the paths of the choices.
        queues: The names of the ClusterQueues, in the order of the observation.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    @spelled_out(QuotaOptions, GUESSES)
    def __init__(
        self,
        cluster: Cluster | None = None,
        jobs: Jobs | Callable[[int], Any] | None = None,
        edit: Sequence[str] | None = None,
        **options: Unpack[QuotaOptions],
    ) -> None:
        """Create the environment.

        Args:
            cluster: The cluster configuration at the start of each episode. Without `cluster` and `jobs`, the
                environment uses an example of three teams with 20 GPUs.
            jobs: A log, or a function that generates the jobs of an episode from a seed. An episode of a log is a
                window that starts at a random day or at the option `start` of `reset`.
            edit: Paths of the numeric fields that actions change, in the syntax of `Cluster.edit`; each path must
                select an integer field of exactly one object. Without `edit` and `choose`, the actions change the
                nominal quotas of all ClusterQueues.
            options: The arguments that `kueuepy.lab.rl.stage.QuotaOptions` lists, and those of `simulate`, such as
                `model` and `clock`.

        Raises:
            NotFoundError: A path matches no field.
            InvalidSpecError: A path does not refer to an integer, or an argument is not valid.
        """
        self._stage = Stage(1, *game_of(cluster, jobs, edit, options))
        self.paths = (*self._stage.knobs.paths, *self._stage.knobs.choices)
        self.queues = self._stage.queues
        self.observation_space = self._stage.observation_space()
        self.action_space = self._stage.action_space()
        self._going = False
        self._turn = Turn("this QuotaEnv")

    def __reduce__(self) -> Never:
        """Reject copying and pickling.

        Raises:
            UnsupportedError: An environment cannot be copied or pickled; create another environment instead.
        """
        raise UnsupportedError("a QuotaEnv cannot be copied or pickled; create another one with the same arguments")

    @property
    def values(self) -> dict[str, int]:
        """The current values by path; the value of a choice is its index in the list of allowed values."""
        return self._stage.values_by_path(0)

    @property
    def start(self) -> float:
        """Start of the episode in the log, in seconds, or the seed passed to the function that generates the jobs."""
        return self._stage.starts[0]

    @property
    def numbers(self) -> dict[str, int]:
        """The current numbers by path, without the choices."""
        return {path: self.values[path] for path in self._stage.knobs.paths}

    def action(self, moves: Any) -> Any:
        """Return the action that changes the numbers by the given fractions of `step` and keeps all choices.

        Args:
            moves: A fraction from -1 to 1 for each number.
        """
        numbers = np.asarray(moves, np.float32)
        choices = np.array(list(self.values.values())[len(numbers) :], np.int64)
        if not self._stage.knobs.choices:
            return numbers
        return {"numbers": numbers, "choices": choices} if len(numbers) else choices

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start a new episode.

        Args:
            seed: Seed that selects the window of a log, or that is passed to the function that generates jobs.
            options: `jobs`, jobs that replace the environment's jobs in this episode; `start`, the start of the window
                in a log, such as `3d`.

        Returns:
            The observation, and the info with `values`.
        """
        with self._turn:
            super().reset(seed=seed)
            self._stage.begin(0, lambda: self.np_random, seed, options)
            self._stage.go()
            self._going = True
            return self._stage.observations[0], {"values": self.values}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Apply an action and continue the simulation for one interval.

        Returns:
            The observation, the reward, whether the episode is terminated (always false), whether it is truncated, and
            the info.

        Raises:
            InvalidSpecError: The action is not in the action space.
            gymnasium.error.ResetNeeded: No episode is running.
        """
        with self._turn:
            if not self._going:
                raise gymnasium.error.ResetNeeded(
                    "reset() must be called before step() and after the end of an episode"
                )
            stage = self._stage
            stage.act((0,), *stage.read(action, 1))
            stage.go()
            over = bool(stage.are_over[0])
            info = stage.info(0)
            if over:
                info["kpis"] = stage.close(0)
                self._going = False
            return stage.observations[0], stage.reward(0), False, over, info
