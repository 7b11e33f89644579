"""Baselines that a learned policy should outperform, and a function that plays an episode."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kueuepy.lab.rl.quota import QuotaEnv
from kueuepy.lab.rl.stage import OBSERVED
from kueuepy.simulation.figures import Kpis

_WAITING, _USED = OBSERVED.index("waiting"), OBSERVED.index("used")


class Baseline(Protocol):
    """An agent, which chooses actions from observations and rewards."""

    def act(self, env: QuotaEnv, observation: NDArray[np.float32], reward: float | None) -> Any:
        """Return the next action. `reward` is the reward of the previous action; `None` at the start of an episode."""
        ...


class DoNothing:
    """An agent that never changes anything."""

    def act(self, env: QuotaEnv, observation: NDArray[np.float32], reward: float | None) -> Any:  # noqa: ARG002
        """Return the action that changes nothing."""
        return env.action(np.zeros(len(env.numbers)))


class Proportional:
    """An agent that assigns quota in proportion to the load of each queue: its usage and waiting jobs."""

    def act(self, env: QuotaEnv, observation: NDArray[np.float32], reward: float | None) -> Any:  # noqa: ARG002
        """Return the action that moves each number towards its proportional share."""
        rows = observation[:-2].reshape(-1, len(OBSERVED))
        # The observation has log1p of the number.
        waiting = np.expm1(rows[:, _WAITING])
        load = rows[:, _USED] + waiting / max(1.0, float(waiting.sum()))
        by_queue = dict(zip(env.queues, load / max(float(load.sum()), 1e-9), strict=True))
        names = [path.partition(":")[0].partition("/")[2] for path in env.numbers]
        values = np.array(list(env.numbers.values()), np.float64)
        parts = np.array([by_queue.get(name, 0.0) for name in names])
        wanted = parts / max(float(parts.sum()), 1e-9) * values.sum()
        return env.action(np.clip((wanted - values) / max(float(values.max(initial=0)), 1.0) * 4, -1, 1))


class HillClimber:
    """An agent that repeats a change while the reward does not fall, and otherwise tries a random change."""

    def __init__(self, seed: int = 0) -> None:
        """Create the agent; `seed` initialises its random number generator."""
        self._rng = np.random.Generator(np.random.PCG64(seed))
        self._direction: NDArray[np.float64] | None = None
        self._best = -np.inf

    def act(self, env: QuotaEnv, observation: NDArray[np.float32], reward: float | None) -> Any:  # noqa: ARG002
        """Return the previous change or a new one; undo the previous change if it lowered the reward."""
        if reward is None:
            self._direction, self._best = None, -np.inf
        elif self._direction is not None and reward < self._best:
            back, self._direction = -self._direction, None
            return env.action(back)
        self._best = self._best if reward is None else reward
        if self._direction is None:
            self._direction = self._rng.uniform(-1, 1, len(env.numbers))
        return env.action(self._direction)


class Played(NamedTuple):
    """The result of an episode.

    Attributes:
        reward: Sum of all rewards.
        kpis: Metrics of the simulation.
        values: Final values by path.
    """

    reward: float
    kpis: Kpis
    values: dict[str, int]


def play(env: QuotaEnv, agent: Baseline, seed: int = 0, *, start: Any = None) -> Played:
    """Play one episode of an environment with an agent.

    Args:
        env: The environment.
        agent: The agent.
        seed: Seed of the episode. If the jobs are a log, the seed selects a random start day; two seeds can select the
            same day.
        start: Start of the episode in the log, such as `3d`, instead of a random day.

    Returns:
        The total reward, the metrics and the final values.

    Raises:
        InvalidSpecError: `start` is not within the log.
    """
    observation, info = env.reset(seed=seed, options=None if start is None else {"start": start})
    total, reward, over = 0.0, None, False
    while not over:
        observation, reward, _, over, info = env.step(agent.act(env, observation, reward))
        total += reward
    found: dict[str, Any] = info
    return Played(total, found["kpis"], found["values"])
