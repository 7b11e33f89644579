"""Parallel episodes of one or several environments in the core."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, product
from typing import Any, NamedTuple, TypedDict

import gymnasium
import numpy as np
from numpy.typing import NDArray

from kueuepy._core import Environments
from kueuepy.cluster import Cluster
from kueuepy.cluster.edit import edited_all, named, value_at
from kueuepy.engine.locks import Asking
from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.objects import SECOND, Object
from kueuepy.objects.base import whole
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.figures import Kpis
from kueuepy.simulation.model import Clock, Delay, Event, Missing, OnLoop, Recording, RunModel, Settings, Time
from kueuepy.simulation.prepare import Prepared
from kueuepy.simulation.simulate import result_of
from kueuepy.simulation.table import Jobs
from kueuepy.tables.kinds import span

# Maximum number of combinations of an object's bounds to validate.
_CORNERS = 256


class Knobs:
    """Settings of a cluster by path: numeric fields first, then choices.

    Attributes:
        paths: The paths of the numeric fields.
        choices: The allowed values of each choice, by path.
        start: Initial values, read from the cluster: the value of each numeric field and, for each choice, the index of
            the cluster's value among the allowed values.
        low: Minimum of each numeric field.
        high: Maximum of each numeric field.
        sums: Index of the sum to which each numeric field belongs; empty if sums are not conserved.
        places: For each object, the indices of its settings.
    """

    def __init__(
        self,
        cluster: Cluster,
        paths: Sequence[str],
        choices: Mapping[str, Sequence[Any]],
        bounds: Mapping[str, tuple[int, int]],
        *,
        conserve: bool,
    ) -> None:
        """Read the settings from a cluster.

        Args:
            cluster: The cluster.
            paths: Paths of integer fields; each path must select exactly one object.
            choices: Allowed values by path. A path may match several objects. Each list must contain the value that the
                cluster has.
            bounds: Minimum and maximum by path. The default minimum is 0. With `conserve`, the default maximum is the
                sum of the initial values of the field; otherwise, it is twice the initial value.
            conserve: Whether to keep the sum of all values of a field constant, such as the nominal quotas of a flavor.

        Raises:
            NotFoundError: A path matches no field.
            InvalidSpecError: The value of a numeric field is not an integer or is out of bounds, or an object is not
                valid with some allowed values.
        """
        if isinstance(paths, str) or not (paths or choices):
            raise InvalidSpecError(f"edit: {paths!r:.99}; it must be a list with at least one path")
        self.paths, self.choices = tuple(paths), {path: tuple(values) for path, values in choices.items()}
        self._all = (*self.paths, *self.choices)
        if len(set(self._all)) < len(self._all):
            raise InvalidSpecError(f"edit: paths must be unique: {', '.join(self._all)}")
        self._configuration = cluster.configuration
        objects = list(cluster.objects())
        found: dict[int, list[int]] = {}
        for position, path in enumerate(self._all):
            for obj in named(objects, path):
                found.setdefault(id(obj), []).append(position)
        self._objects = [obj for obj in objects if id(obj) in found]
        self.places = [found[id(obj)] for obj in self._objects]
        numbers = [whole(f'edit: "{path}"', value_at(objects, path)) for path in self.paths]
        fields = [path.partition(":")[2] for path in self.paths]
        self.sums = [list(dict.fromkeys(fields)).index(field) for field in fields] if conserve else []
        totals = {field: sum(n for n, other in zip(numbers, fields, strict=True) if other == field) for field in fields}
        self.low, self.high = [], []
        for path, field, number in zip(self.paths, fields, numbers, strict=True):
            low, high = _bounds(path, bounds.get(path, (0, totals[field] if conserve else 2 * number)))
            if not low <= number <= high:
                raise InvalidSpecError(f'edit: "{path}": {number} is not within its bounds, {low} to {high}')
            self.low.append(low)
            self.high.append(high)
        for path in bounds:
            if path not in self.paths:
                raise InvalidSpecError(f'bounds: "{path}" is not a path in edit')
        self.start = [*numbers, *(self._chosen(path) for path in self.choices)]
        self._check()

    def made(self, position: int, values: Sequence[int]) -> Object:
        """Return an object with changed settings.

        Args:
            position: Index of the object.
            values: Values of the object's settings; for a choice, the index of the value.

        Raises:
            InvalidSpecError: The changed object is not valid.
        """
        known = len(self.paths)
        settings: dict[str, Any] = {}
        for at, value in zip(self.places[position], values, strict=True):
            path = self._all[at]
            settings[path] = value if at < known else self.choices[path][value]
        ((obj,), _) = edited_all([self._objects[position]], self._configuration, settings)
        return obj

    def by_path(self, values: Iterable[int]) -> dict[str, int]:
        """Return a dict of values by path; the value of a choice is its index in the list of allowed values."""
        return dict(zip(self._all, values, strict=True))

    def _chosen(self, path: str) -> int:
        """Validate all values, and return the index of the value that the cluster has."""
        values = self.choices[path]
        before = named(self._objects, path)
        same = [edited_all(before, self._configuration, {path: value})[0] == before for value in values]
        if True not in same:
            raise InvalidSpecError(f'choose: "{path}": {list(values)}; it must include the value in the cluster')
        return same.index(True)

    def _check(self) -> None:
        """Validate each object at its bounds, so that no step can create an invalid object."""
        known = len(self.paths)
        for position, settings in enumerate(self.places):
            ranges = [
                (self.low[at], self.high[at]) if at < known else range(len(self.choices[self._all[at]]))
                for at in settings
            ]
            # Fields are valid between their bounds if they are valid at all corners, of which there may be too many.
            for values in islice(product(*ranges), _CORNERS):
                self.made(position, values)


def _bounds(path: str, given: Any) -> tuple[int, int]:
    try:
        low, high = (whole("bounds", value) for value in given)
    except (TypeError, ValueError):
        raise InvalidSpecError(f'bounds: "{path}": {given!r:.99}; it must be the minimum and the maximum') from None
    return low, high


# The core sums up what the reward needs; tables would only take time.
_NOTHING = Recording(decisions=False, runs=False, usage=False)
_DAY = 86400 * SECOND
# Gymnasium needs a bound for an observation; logarithms of counts stay far below it.
_LARGEST = np.float32(1e6)
# In the order in which the core stores them after the terms.
_SUMS = ("waiting", "waited", "arrivals", "evictions", "lost")
TERMS = ("waiting", "lost")
OBSERVED = ("waiting", "first_waiting", "oldest", "used", "nominal", "borrowed", "share", "arrivals", "evictions")
"""The names of the numbers of a ClusterQueue in an observation, in the order in which the core writes them."""


GUESSES = {"quotas": "edit", "paths": "edit", "choices": "choose", "seed": "reset(seed=...)", "until": "episode"}
"""Wrong keywords that users often try, and the correct ones."""


class EpisodeSettings(TypedDict, total=False):
    """Keyword arguments of `simulate` that an environment passes on to the simulation of each episode."""

    model: RunModel
    events: Sequence[Event]
    clock: Clock
    delays: Sequence[Delay]
    warmup: Time
    on_loop: OnLoop
    missing: Missing


class QuotaOptions(EpisodeSettings, total=False):
    """Keyword arguments of `QuotaEnv` and `QuotaVectorEnv`, in addition to those of `simulate`.

    Attributes:
        choose: Allowed values of fields, such as stop policies or queueing strategies, by path. A path may match
            several objects, as in `ClusterQueue/*:queueingStrategy`. Each list must contain the value that the
            cluster has.
        interval: Time between two actions. Default: 10 minutes.
        episode: Duration of an episode. Default: 1 day.
        step: Amount by which an action of 1 changes a number. Default: 4.
        bounds: Minimum and maximum by path. The default minimum is 0. With `conserve`, the default maximum is the
            sum of the initial values of the field; otherwise, it is twice the initial value.
        conserve: Whether to keep the sum of all values of a field, such as
            `quota[h100/nvidia.com/gpu].nominalQuota`, constant, so that actions only move quota between objects.
            Default: True.
        reward: A function that replaces the default reward. The function receives two dicts, before and after the
            interval, with the keys `waiting` (current number of waiting jobs) and, accumulated since the start of
            the episode, `waited` (job-seconds), `arrivals`, `evictions` and `lost` (lost quota, as seconds of the
            total nominal quota). Each value is a total over all queues.
    """

    choose: Mapping[str, Sequence[Any]] | None
    interval: Any
    episode: Any
    step: float
    bounds: Mapping[str, tuple[int, int]] | None
    conserve: bool
    reward: Callable[[dict[str, float], dict[str, float]], float] | None


class Game(NamedTuple):
    """The arguments of `QuotaEnv` that define an episode."""

    cluster: Cluster
    jobs: Jobs | Callable[[int], Any]
    edit: Sequence[str] = ()
    choose: Mapping[str, Sequence[Any]] | None = None
    interval: Any = "10m"
    episode: Any = "1d"
    step: float = 4
    bounds: Mapping[str, tuple[int, int]] | None = None
    conserve: bool = True
    reward: Callable[[dict[str, float], dict[str, float]], float] | None = None


class Stage:
    """Parallel simulations with independent virtual times; each seat holds one simulation.

    Attributes:
        knobs: The settings to edit.
        queues: The names of the ClusterQueues, in the order of an observation.
        observation_names: A name for each number of an observation, such as `vision.waiting`.
        observations: Observations, one row per simulation.
        facts: One row per simulation: the terms of the reward, and the totals before and after the last interval.
        starts: For each simulation, the start of the episode in the log, in seconds, or the seed passed to the function
            that generates the jobs.
    """

    def __init__(self, size: int, game: Game, settings: Mapping[str, Any], threads: int = 1) -> None:
        """Create an empty seat for each simulation.

        Raises:
            NotFoundError: A path matches no field.
            InvalidSpecError: A path does not refer to an integer, or an argument is not valid.
        """
        self._game, self._threads = game, threads
        self._settings: dict[str, Any] = {
            name: tuple(value) if name in ("events", "delays") else value for name, value in settings.items()
        }
        self.knobs = Knobs(game.cluster, game.edit, game.choose or {}, game.bounds or {}, conserve=game.conserve)
        self._low, self._high = np.array(self.knobs.low, np.int64), np.array(self.knobs.high, np.int64)
        interval, self._episode = span("interval", game.interval), span("episode", game.episode)
        if not 0 < interval <= self._episode:
            raise InvalidSpecError(
                f"interval {game.interval!r:.99}: it must be greater than 0 and at most the duration of the episode"
            )
        if not math.isfinite(game.step):
            raise InvalidSpecError(f"step {game.step!r:.99}: it must be a number")
        self.queues = tuple(queue.name for queue in game.cluster.cluster_queues)
        of_queues = (f"{queue}.{name}" for queue in self.queues for name in OBSERVED)
        self.observation_names = (*of_queues, "sin_of_day", "cos_of_day")
        options: dict[str, Any] = {"interval": interval, "episode": self._episode, "step": float(game.step)}
        options |= {name: getattr(self.knobs, name) for name in ("low", "high", "sums", "start")}
        options["objects"] = self.knobs.places
        self._environments = Environments(size, list(self.queues), options)
        # Episodes begin with forks of it, which is faster than to build the cluster again.
        self._base = Scheduler(game.cluster)
        self._runs: list[Prepared | None] = [None] * size
        self._is_moving = False
        self._asking = Asking()
        self.starts = [0.0] * size
        self.observations = np.zeros((size, self._environments.width), np.float32)
        self.facts = np.zeros((size, self._environments.facts))

    # Observations and actions.

    def observation_space(self) -> gymnasium.spaces.Box:
        """Return the observation space of a single simulation."""
        low = np.zeros(self._environments.width, np.float32)
        high = np.full(len(low), _LARGEST, np.float32)
        # The sine and the cosine of the time of day.
        low[-2:], high[-2:] = -1, 1
        return gymnasium.spaces.Box(low, high, dtype=np.float32)

    def action_space(self) -> gymnasium.Space[Any]:
        """Return the action space of a single simulation."""
        numbers = gymnasium.spaces.Box(-1, 1, (len(self.knobs.paths),), np.float32)
        choices = gymnasium.spaces.MultiDiscrete([len(values) for values in self.knobs.choices.values()] or [1])
        if not self.knobs.choices:
            return numbers
        return gymnasium.spaces.Dict({"numbers": numbers, "choices": choices}) if self.knobs.paths else choices

    def read(self, action: Any, rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Split actions into the changes of the numbers and the indices of the choices, one row per action.

        Raises:
            InvalidSpecError: The actions are not in the action space.
        """
        many, paths = list(self.knobs.choices.values()), len(self.knobs.paths)
        try:
            moved, chosen = (action["numbers"], action["choices"]) if many and paths else (action, action)
            moves = _rows(moved if paths else np.empty((rows, 0)), rows, paths).astype(np.float64, casting="same_kind")
            choices = _rows(chosen if many else np.empty((rows, 0), int), rows, len(many))
            choices = choices.astype(np.int64, casting="same_kind")
        except (TypeError, ValueError, KeyError, IndexError):
            allowed = f"it must be in the action space{'' if rows > 1 else f', {self.action_space()}'}"
            raise InvalidSpecError(f"action: is {action!r:.99}; {allowed}") from None
        if not (np.abs(moves) <= 1).all():
            raise InvalidSpecError(f"action: is {action!r:.99}; each number must be between -1 and 1")
        if many and ((choices < 0) | (choices >= [len(values) for values in many])).any():
            raise InvalidSpecError(f"action: is {action!r:.99}; a choice must be an index in its list of values")
        return moves, choices

    # Episodes.

    def begin(
        self, seat: int, random: np.random.Generator, seed: int | None, options: Mapping[str, Any] | None
    ) -> None:
        """Start an episode; `go` computes its first observation."""
        self._expect_no_function()
        options = options or {}
        if unknown := options.keys() - {"jobs", "start"}:
            raise InvalidSpecError(f"reset: options: {sorted(map(str, unknown))}; allowed are jobs and start")
        jobs = options.get("jobs", self._game.jobs)
        number = int(random.integers(2**31)) if seed is None else seed
        if callable(jobs):
            made = self._asking.call(jobs, number)
            table = made if isinstance(made, Jobs) else Jobs.of(made)
            start = float(number)
        else:
            jobs = jobs if isinstance(jobs, Jobs) else Jobs.of(jobs)
            start, end = self._window(jobs, options.get("start"), random)
            table = jobs.window(start, end)
        settings = Settings(record=_NOTHING, seed=number, until=self._episode / SECOND, **self._settings)
        run = Prepared(self._game.cluster, table, settings, base=self._base)
        self._runs[seat] = None  # an interruption before the last line leaves no episode
        self._is_moving = True
        self._environments.begin(seat, run.core, run.zero, self.knobs.start)
        self.starts[seat] = start
        self._runs[seat] = run

    def _expect_no_function(self) -> None:
        if self._asking.is_open():
            raise StateError("this environment is in use by a function that it called, which may only read it")

    def _window(self, jobs: Jobs, start: Any, random: np.random.Generator) -> tuple[float, float]:
        if start is None:
            # Windows begin whole days after the start of the log, so that the time of day keeps its meaning.
            days = max(1, math.floor((jobs.span * SECOND - self._episode) / _DAY) + 1)
            begin = int(random.integers(days)) * _DAY
        else:
            begin = span("start", start)
            if not 0 <= begin <= jobs.span * SECOND:
                whole = f"{jobs.span * SECOND / _DAY:.4g} days"
                raise InvalidSpecError(f"start: {start!r:.99} is not within the log, which spans {whole}")
        return begin / SECOND, (begin + self._episode) / SECOND

    def act(self, seats: Sequence[int], moves: NDArray[np.float64], choices: NDArray[np.int64]) -> None:
        """Apply one action to each of the given simulations; `go` continues them.

        Raises:
            InvalidSpecError: An action is not valid.
        """
        environments = self._environments
        for position, values in environments.plan(seats, moves, choices):
            environments.learn(position, values, self.knobs.made(position, values))
        self._is_moving = True
        environments.start(seats)

    def acting(self, *, restarts: bool = False) -> NDArray[np.bool_]:
        """Return whether the episode of each simulation is running, after what an interrupted call has started.

        Raises:
            gymnasium.error.ResetNeeded: A seat is empty, or an episode has ended and does not start again by itself.
        """
        self._expect_no_function()
        if self._is_moving:
            self.go()
        over = self.are_over
        if None in self._runs or (over.any() and not restarts):
            raise gymnasium.error.ResetNeeded(
                "reset() must be called before step() and after the end of an episode; reset_mask selects environments"
            )
        return ~over

    def go(self) -> None:
        """Simulate the current interval of each simulation that has started or received an action."""
        # Arrays that a caller has got before must not change.
        observations, facts = self.observations.copy(), self.facts.copy()
        while not self._environments.go(self._threads, observations, facts):
            pass
        self.observations, self.facts, self._is_moving = observations, facts, False

    @property
    def values(self) -> NDArray[np.int64]:
        """The current values, one row per simulation: numbers, then the indices of choices."""
        found: NDArray[np.int64] = self._environments.values()
        return found[:, :-1]

    def info(self, seat: int) -> dict[str, Any]:
        """Return the terms of the default reward of the last interval, and the current values, of a simulation."""
        terms = dict(zip(TERMS, self.facts[seat].tolist(), strict=False))
        return {"reward_terms": terms, **self.settings(seat)}

    def settings(self, seat: int) -> dict[str, Any]:
        """Return the current values of a simulation, and whether an action can decrease and increase each number."""
        values = self.values[seat]
        return {"values": self.knobs.by_path(values.tolist()), "action_mask": self.masks(values)}

    def masks(self, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each number of the given values whether an action can decrease and increase it."""
        numbers = values[..., : len(self.knobs.paths)]
        found = np.empty((*numbers.shape, 2), bool)
        np.greater(numbers, self._low, out=found[..., 0])
        np.less(numbers, self._high, out=found[..., 1])
        return found

    @property
    def elapsed(self) -> NDArray[np.int64]:
        """The virtual time since the start of each episode, in nanoseconds."""
        return np.asarray(self._environments.values()[:, -1])

    @property
    def are_over(self) -> NDArray[np.bool_]:
        """Whether the episode of each simulation has ended."""
        return self.elapsed >= self._episode

    def rewards(self, seats: Sequence[int]) -> NDArray[np.float64]:
        """Return the rewards of simulations in the last interval; 0 for the other seats."""
        found, first, last = np.zeros(len(self.facts)), len(TERMS), len(TERMS) + len(_SUMS)
        found[seats] = self.facts[seats, :first].sum(axis=1)
        if (own := self._game.reward) is not None:
            for seat in seats:
                facts = self.facts[seat].tolist()
                before, after = (dict(zip(_SUMS, part, strict=True)) for part in (facts[first:last], facts[last:]))
                found[seat] = self._asking.call(own, before, after)
        return found

    def run(self, seat: int) -> Prepared | None:
        """Return the current simulation in a seat; `None` if the seat is empty."""
        run = self._runs[seat]
        if run is not None:
            run.reached = run.zero + int(self.elapsed[seat])
        return run

    def close(self, seat: int) -> Kpis:
        """Finish the simulation in a seat, and return its metrics.

        Raises:
            gymnasium.error.ResetNeeded: No episode was started.
        """
        run = self.run(seat)
        if run is None:
            raise gymnasium.error.ResetNeeded("reset() must be called first")
        return result_of(run).kpis


def _rows(given: Any, rows: int, wide: int) -> NDArray[Any]:
    """Convert actions to an array with one row per simulation; a single action may be a one-dimensional array."""
    found = np.asarray(given)
    if found.shape != (rows, wide) and (rows > 1 or found.shape != (wide,)):
        raise ValueError(given)
    return found.reshape(rows, wide)
