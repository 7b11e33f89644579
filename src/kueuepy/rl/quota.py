"""The environment: an agent edits numbers of a cluster, and a run of jobs goes on under Kueue's rules."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.rl.knobs import Knobs
from kueuepy.simulation.gather import result_of
from kueuepy.simulation.model import Record, Settings
from kueuepy.simulation.prepare import Prepared
from kueuepy.simulation.table import Jobs
from kueuepy.simulation.values import span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from kueuepy.cluster import Cluster

_NOTHING = Record(decisions=False, runs=False, usage=False)
_DAY = 86400.0
_LOST = 0.1
_COLUMNS = 9
_LARGEST = np.float32(1e6)
_WAITING, _TOP, _OLDEST, _USED, _NOMINAL, _BORROWED, _SHARE, _ARRIVALS, _EVICTIONS, _WAITED = range(10)


class QuotaEnv(gymnasium.Env[Any, Any]):
    """The agent is the platform team, not the scheduler: it edits quotas, and Kueue decides.

    So what it learns can be applied to a cluster. An episode is a window of the jobs; it is truncated at its end, and
    never terminated.

    **Observation**, `Box(float32)`: of each ClusterQueue nine numbers: log1p of how many jobs wait, and of how many of
    them with the highest priority that waits there; the age of the oldest, `log1p(s)/log1p(episode)`; used, nominal and
    borrowed, each over all that its tree has, of the flavor and resource of which it uses the largest part; its share,
    weighted; log1p of arrivals and of evictions in the last interval. Then the time of day as sine and cosine.

    **Action**, `Box(-1, 1)`: of each path the change of its number, in parts of `step`; kept within bounds, and with
    `conserve` so that the sum stays as it is.

    **Reward**: minus the mean number of waiting jobs over the interval by queue, minus a tenth of the part of all
    nominal quota that was lost to evictions meanwhile; its terms are in `info["reward_terms"]`.

    Attributes:
        paths: The paths of what is edited.
        queues: The names of the ClusterQueues, in the order of the observation.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        cluster: Cluster,
        jobs: Jobs | Callable[[int], Any],
        edit: Sequence[str],
        *,
        interval: Any = "10m",
        episode: Any = "1d",
        step: float = 4,
        bounds: Mapping[str, tuple[int, int]] | None = None,
        conserve: bool = True,
        reward: Callable[[dict[str, float], dict[str, float]], float] | None = None,
        **settings: Any,
    ) -> None:
        """Prepares the environment.

        Args:
            cluster: The configuration at the start of each episode.
            jobs: A log, of which an episode is a window that begins at a day that the seed chooses; or a function that
                makes an episode's jobs from a seed.
            edit: The paths of what is edited, as `Cluster.edit` takes them, each a whole number of one object.
            interval: Between two actions.
            episode: How long an episode is.
            step: By how much an action of 1 moves a number.
            bounds: By path the least and the largest.
            conserve: Whether the sum of all numbers never changes: quota is moved, not made.
            reward: A function of what was before the interval and after it, instead: of `waiting`, `waited`, `lost`,
                `arrivals` and `evictions` of all queues, the last four since the start.
            settings: What `simulate` takes beside, as `model` and `clock`.

        Raises:
            NotFoundError: A path names nothing.
            InvalidSpecError: It names no whole number, or an argument is not valid.
        """
        self._cluster, self._jobs, self._settings = cluster, jobs, settings
        self._knobs = Knobs(cluster, edit, bounds or {}, conserve=conserve)
        self._interval, self._episode = span("interval", interval) / SECOND, span("episode", episode) / SECOND
        if not 0 < self._interval <= self._episode:
            raise InvalidSpecError(f"interval {interval!r}: it must be more than 0, and at most the episode")
        self._step, self._reward = step, reward
        self.paths = self._knobs.paths
        self.queues = tuple(queue.name for queue in cluster.cluster_queues)
        low = np.zeros(len(self.queues) * _COLUMNS + 2, np.float32)
        low[-2:] = -1
        high = np.full(len(low), _LARGEST, np.float32)
        high[-2:] = 1
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.action_space = gymnasium.spaces.Box(-1, 1, (len(self.paths),), np.float32)
        self._run: Prepared | None = None

    @property
    def values(self) -> dict[str, int]:
        """What is edited, as it is now."""
        return dict(zip(self.paths, self._values.tolist(), strict=True))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: It chooses the window of a log, or is what a function of jobs is given.
            options: `jobs`: others for this episode; `start`: where in them the window begins, as `3d`.
        """
        super().reset(seed=seed)
        options = options or {}
        jobs = options.get("jobs", self._jobs)
        number = int(self.np_random.integers(2**31)) if seed is None else seed
        if callable(jobs):
            made = jobs(number)
            table = made if isinstance(made, Jobs) else Jobs.of(made)
        else:
            table = jobs.window(*self._window(jobs, options.get("start")))
        self._values = self._knobs.start.copy()
        self._time = 0.0
        settings: dict[str, Any] = {
            name: tuple(v) if name in ("events", "delays") else v for name, v in self._settings.items()
        }
        self._run = Prepared(
            self._cluster, table, Settings(record=_NOTHING, seed=number, until=self._episode, **settings)
        )
        names, self._view, self._lost = self._go_on(self._run)
        self._order = [names.index(name) for name in self.queues]
        return self._observation(self._view), {"values": self.values}

    def _window(self, jobs: Jobs, start: Any) -> tuple[float, float]:
        if start is None:
            days = max(1, math.floor((jobs.span - self._episode) / _DAY) + 1)
            begin = float(self.np_random.integers(days)) * _DAY
        else:
            begin = span("start", start) / SECOND
        return begin, begin + self._episode

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Edits, and lets the run go on for an interval."""
        run = self._run
        if run is None:
            raise gymnasium.error.ResetNeeded("reset() begins an episode; step() goes on with it")
        moved = self._knobs.moved(self._values, np.clip(np.asarray(action, np.float64), -1, 1) * self._step)
        now = run.end_of(self._time)
        for thing in self._knobs.objects(self._values, moved):
            run.core.steer(now, thing)
        self._values = moved
        self._time = min(self._time + self._interval, self._episode)
        before, lost = self._view, self._lost
        _, self._view, self._lost = self._go_on(run)
        terms = self._terms(before, lost)
        reward = sum(terms.values())
        if self._reward is not None:
            reward = float(self._reward(_sums(before, lost), _sums(self._view, self._lost)))
        over = self._time >= self._episode
        info: dict[str, Any] = {"reward_terms": terms, "values": self.values}
        if over:
            info["kpis"] = result_of(run.copy()).kpis
        return self._observation(self._view, before), reward, False, over, info

    def _go_on(self, run: Prepared) -> tuple[list[str], NDArray[np.float64], float]:
        """Lets a run go on to now; its ClusterQueues by name, ten values of each, and what was lost."""
        run.reached = run.end_of(self._time)
        while run.core.advance(until=run.reached):
            pass
        names, values, lost = run.core.queue_views(run.reached)
        return names, values.reshape(len(names), -1), lost

    def _terms(self, before: NDArray[np.float64], lost: float) -> dict[str, float]:
        waited = float((self._view[:, _WAITED] - before[:, _WAITED]).sum()) / self._interval
        return {
            "waiting": -waited / len(self.queues),
            "lost": -_LOST * (self._lost - lost) / self._interval,
        }

    def _observation(self, view: NDArray[np.float64], before: NDArray[np.float64] | None = None) -> NDArray[np.float32]:
        since = view if before is None else view - before
        rows = np.empty((len(view), _COLUMNS))
        rows[:, 0:2] = np.log1p(view[:, _WAITING : _TOP + 1])
        rows[:, 2] = np.log1p(view[:, _OLDEST]) / math.log1p(self._episode)
        rows[:, 3:7] = view[:, _USED : _SHARE + 1]
        rows[:, 7:9] = np.log1p(since[:, _ARRIVALS : _EVICTIONS + 1])
        angle = 2 * math.pi * self._time / _DAY
        found = np.concatenate([rows[self._order].ravel(), [math.sin(angle), math.cos(angle)]])
        told: NDArray[np.float32] = np.minimum(found, _LARGEST).astype(np.float32)
        return told


def _sums(view: NDArray[np.float64], lost: float) -> dict[str, float]:
    """What a reward may be made of."""
    names = {"waiting": _WAITING, "waited": _WAITED, "arrivals": _ARRIVALS, "evictions": _EVICTIONS}
    return {name: float(view[:, place].sum()) for name, place in names.items()} | {"lost": lost}


def vector(n: int, *arguments: Any, **options: Any) -> gymnasium.vector.SyncVectorEnv:
    """So many environments as one, with the arguments of `QuotaEnv`; `reset(seed=s)` gives them seeds from s on."""
    return gymnasium.vector.SyncVectorEnv([partial(QuotaEnv, *arguments, **options) for _ in range(n)])
