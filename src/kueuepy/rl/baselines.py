"""What a learned policy must beat: three that learn nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.rl.quota import QuotaEnv
    from kueuepy.simulation.figures import Kpis

_PER_QUEUE = 9
_WAITING, _USED = 0, 3


class Baseline(Protocol):
    """Chooses an action of an environment, given what it sees and its last reward; `None` at the start."""

    def act(self, env: QuotaEnv, observation: NDArray[np.float32], reward: float | None) -> Any:
        """The next action."""
        ...


class DoNothing:
    """Leaves all as it is."""

    def act(self, env: QuotaEnv, observation: NDArray[np.float32], reward: float | None) -> Any:  # noqa: ARG002
        """No change."""
        return env.action(np.zeros(len(env.numbers)))


class Proportional:
    """Moves each number towards its queue's part of what all queues use and wait for."""

    def act(self, env: QuotaEnv, observation: NDArray[np.float32], reward: float | None) -> Any:  # noqa: ARG002
        """Up where a queue has less than its part, down where it has more."""
        rows = observation[:-2].reshape(-1, _PER_QUEUE)
        waiting = np.expm1(rows[:, _WAITING])
        load = rows[:, _USED] + waiting / max(1.0, float(waiting.sum()))
        by_queue = dict(zip(env.queues, load / max(float(load.sum()), 1e-9), strict=True))
        names = [path.partition(":")[0].partition("/")[2] for path in env.numbers]
        values = np.array(list(env.numbers.values()), np.float64)
        parts = np.array([by_queue.get(name, 0.0) for name in names])
        wanted = parts / max(float(parts.sum()), 1e-9) * values.sum()
        return env.action(np.clip((wanted - values) / max(float(values.max(initial=0)), 1.0) * 4, -1, 1))


class HillClimber:
    """Goes on in a direction while the reward grows, and takes another at random when it does not."""

    def __init__(self, seed: int = 0) -> None:
        """Takes the seed of its directions."""
        self._rng = np.random.Generator(np.random.PCG64(seed))
        self._direction: NDArray[np.float64] | None = None
        self._best = -np.inf

    def act(self, env: QuotaEnv, observation: NDArray[np.float32], reward: float | None) -> Any:  # noqa: ARG002
        """The direction of before, or another one, after what was worse was taken back."""
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
    """What came of an episode.

    Attributes:
        reward: The sum of all rewards.
        kpis: The figures of the run.
        values: What was edited, as it was at the end.
    """

    reward: float
    kpis: Kpis
    values: dict[str, int]


def play(env: QuotaEnv, agent: Baseline, seed: int = 0, *, start: Any = None) -> Played:
    """An episode of an environment with an agent.

    Args:
        env: The environment.
        agent: The agent.
        seed: Chooses the day of a log at which the episode begins, by chance: two seeds may choose the same day.
        start: Where in the log the episode begins, such as `3d`, instead.
    """
    observation, info = env.reset(seed=seed, options=None if start is None else {"start": start})
    total, reward, over = 0.0, None, False
    while not over:
        observation, reward, _, over, info = env.step(agent.act(env, observation, reward))
        total += reward
    found: dict[str, Any] = info
    return Played(total, found["kpis"], found["values"])
