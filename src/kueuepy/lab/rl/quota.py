"""The environments, in which agents edit a cluster while jobs are simulated: a single one, and several in parallel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from kueuepy._core import Quantity, Turn
from kueuepy.cluster import Cluster
from kueuepy.engine.threads import cores
from kueuepy.errors import InvalidSpecError, imported, not_copied, spelled_out
from kueuepy.lab.rl.stage import GUESSES, OBSERVED, TERMS, Game, QuotaOptions, Stage
from kueuepy.look.chart import Axis, Box, Chart, Key, Label, Mark, names_axis
from kueuepy.look.notebook import Sheet, repr_text
from kueuepy.look.numbers import duration, share
from kueuepy.look.plot import draw
from kueuepy.objects import SECOND, ClusterQueue, Preemption, ResourceFlavor, quotas_of
from kueuepy.simulation.table import Jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Unpack


# 20 GPUs: few enough that teams must share, and enough that an agent can learn to.
_TEAMS = {"robots": 4, "speech": 8, "vision": 8}
_GPU = "nvidia.com/gpu"
_WAITING, _USED, _NOMINAL = (OBSERVED.index(name) for name in ("waiting", "used", "nominal"))


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
        f"ClusterQueue/{queue.name}:quota[{flavor}/{quota.name}].nominalQuota"
        for queue in cluster.cluster_queues
        for flavor, quota in quotas_of(queue)
        # The values of an episode are whole numbers, which a quota such as 500m is not.
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
    # 7 and 3 share no factor with 8, so that each seed loads the teams differently.
    rates = [(2 + (seed * 7 + 3 * index) % 8) for index in range(len(_TEAMS))]
    parts = [
        Jobs.poisson(team, f"{rate}/h", "1h", {_GPU: 2}, days=1, seed=seed)
        for team, rate in zip(_TEAMS, rates, strict=True)
    ]
    return Jobs.concat(parts).sort()


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
    default reward. `info["values"]` contains the current values, `info["action_mask"]` whether each number can decrease
    and increase, and `info["kpis"]` the metrics of the simulation at the end of an episode.

    **Rendering**: `ansi` is a table of the queues as text, and `rgb_array` a chart of their quota and usage.

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
        observation_names: A name for each number of the observation, such as `vision.waiting`. After `gymnasium.make`,
            read `env.unwrapped.observation_names`.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012 - as Gymnasium declares it
    __reduce__ = not_copied

    @spelled_out(QuotaOptions, GUESSES)
    def __init__(
        self,
        cluster: Cluster | None = None,
        jobs: Jobs | Callable[[int], Any] | None = None,
        edit: Sequence[str] | None = None,
        render_mode: str | None = None,
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
            render_mode: What `render` returns: `ansi`, `rgb_array`, or nothing by default.
            options: The arguments that `kueuepy.lab.rl.stage.QuotaOptions` lists, and those of `simulate`, such as
                `model` and `clock`.

        Raises:
            NotFoundError: A path matches no field.
            InvalidSpecError: A path does not refer to an integer, or an argument is not valid.
        """
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidSpecError(f"render_mode: is {render_mode!r:.99}; it must be ansi, rgb_array or None")
        self.render_mode = render_mode
        self._stage = Stage(1, *game_of(cluster, jobs, edit, options))
        self.paths = (*self._stage.knobs.paths, *self._stage.knobs.choices)
        self.queues, self.observation_names = self._stage.queues, self._stage.observation_names
        self.observation_space = self._stage.observation_space()
        self.action_space = self._stage.action_space()
        self._turn = Turn("this QuotaEnv")
        self._steps, self._reward = 0, 0.0

    @property
    def values(self) -> dict[str, int]:
        """The current values by path; the value of a choice is its index in the list of allowed values."""
        return self._stage.knobs.by_path(self._stage.values[0].tolist())

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

        Raises:
            InvalidSpecError: An option is unknown, or `start` is after the last submission of the log.
        """
        with self._turn:
            super().reset(seed=seed)
            self._stage.begin(0, self.np_random, seed, options)
            self._stage.go()
            self._steps, self._reward = 0, 0.0
            return self._stage.observations[0], self._stage.settings(0)

    def render(self) -> Any:
        """Return the queues after the last interval as text, or as an image of 480 times 360 pixels.

        Both begin with the number of the step, the virtual time since the start of the episode, and the last reward.

        Raises:
            UnsupportedError: matplotlib is not installed, which `rgb_array` needs.
        """
        if self.render_mode is None:
            return None
        rows = dict(zip(self.queues, self._stage.observations[0][:-2].reshape(-1, len(OBSERVED)), strict=True))
        now = duration(float(self._stage.elapsed[0]) / SECOND)
        title = f"Step {self._steps}, {now} of the episode: reward {self._reward:.4g}"
        if self.render_mode == "rgb_array":
            return _image(title, rows)
        cells = [
            (name, _waiting(row), share(float(row[_USED])), share(float(row[_NOMINAL]))) for name, row in rows.items()
        ]
        return repr_text([Sheet(("ClusterQueue", "Waiting jobs", "Used", "Nominal quota"), cells, title)]) + "\n"

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
            stage = self._stage
            stage.acting()
            stage.act((0,), *stage.read(action, 1))
            stage.go()
            over = bool(stage.are_over[0])
            info = stage.info(0)
            if over:
                info["kpis"] = stage.close(0)
            self._steps, self._reward = self._steps + 1, float(stage.rewards([0])[0])
            return stage.observations[0], self._reward, False, over, info


def _waiting(row: NDArray[np.float32]) -> int:
    return round(float(np.expm1(row[_WAITING])))


def _image(title: str, rows: Mapping[str, NDArray[np.float32]]) -> NDArray[np.uint8]:
    """Return a chart of the used and the nominal quota of each queue, and its waiting jobs, as an image."""
    marks: list[Mark] = [
        Box(at + left, 0.0, 0.35, float(row[column]), colour)
        for at, row in enumerate(rows.values())
        for left, column, colour in ((0.15, _NOMINAL, "others"), (0.5, _USED, 0))
    ]
    for at, row in enumerate(rows.values()):
        marks.append(
            Label(at + 0.5, max(row[_NOMINAL], row[_USED]), f"{_waiting(row)} waiting", 13, "middle", shift=(0, -6))
        )
    keys = (Key("nominal quota", "others"), Key("used quota", 0))
    axes = names_axis("", list(rows)), Axis("Fraction of the cohort's quota", (0.0, 1.1), kind="share")
    figure = imported("matplotlib.figure", "render").Figure((4.8, 3.6), dpi=100, layout="constrained")
    canvas = imported("matplotlib.backends.backend_agg", "render").FigureCanvasAgg(figure)
    draw(Chart(title, *axes, tuple(marks), keys), figure.add_subplot())
    canvas.draw()
    return np.array(np.asarray(canvas.buffer_rgba())[..., :3], np.uint8)


class QuotaVectorEnv(VectorEnv[Any, Any, Any]):
    """A vector of `QuotaEnv` environments with independent episodes and the same results as single environments.

    A step runs all simulations in parallel on `threads` threads, without holding Python's global interpreter lock. Only
    one thread may call the vector environment at a time; concurrent calls raise `StateError`.

    >>> import kueuepy.lab.rl as rl
    >>> envs = rl.QuotaVectorEnv(2, threads=1)
    >>> observations, info = envs.reset(seed=0)  # the environments have the seeds 0 and 1
    >>> observations.shape
    (2, 29)

    Attributes:
        paths: The paths of the numeric fields that actions change, followed by the paths of the choices.
        queues: The names of the ClusterQueues, in the order of the observation.
        observation_names: A name for each number of an observation.
    """

    __reduce__ = not_copied

    @spelled_out(QuotaOptions, GUESSES)
    def __init__(
        self,
        num_envs: int,
        cluster: Cluster | None = None,
        jobs: Jobs | Callable[[int], Any] | None = None,
        edit: Sequence[str] | None = None,
        *,
        threads: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **options: Unpack[QuotaOptions],
    ) -> None:
        """Create the environments.

        Args:
            num_envs: Number of environments.
            cluster: The cluster, as for `QuotaEnv`.
            jobs: The jobs, as for `QuotaEnv`.
            edit: Paths of the numeric fields that actions change, as for `QuotaEnv`.
            threads: Number of threads of a step; by default one per core.
            autoreset_mode: Gymnasium's autoreset mode: after the end of an episode, a new one starts in the next step,
                in the same step, or only when `reset` is called.
            options: Keyword arguments of `QuotaEnv`.

        Raises:
            NotFoundError: A path matches no field.
            InvalidSpecError: A path does not refer to an integer, or an argument is not valid.
        """
        if num_envs < 1 or (threads is not None and threads < 1):
            raise InvalidSpecError(f"{num_envs} environments on {threads} threads: each must be 1 or more")
        self._stage = Stage(num_envs, *game_of(cluster, jobs, edit, options), threads or cores())
        self.num_envs = num_envs
        self.paths = (*self._stage.knobs.paths, *self._stage.knobs.choices)
        self.queues, self.observation_names = self._stage.queues, self._stage.observation_names
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.single_observation_space = self._stage.observation_space()
        self.single_action_space = self._stage.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._random = [seeding.np_random()[0] for _ in range(num_envs)]
        self._turn = Turn("this QuotaVectorEnv")

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start a new episode in all environments.

        Args:
            seed: Seed of the first environment, with consecutive seeds for the other environments; or a list with a
                seed for each.
            options: Options of `QuotaEnv.reset`, and `reset_mask`, a boolean array of the environments to reset.

        Returns:
            The observations, one row per environment, and the info.
        """
        with self._turn:
            number = self.num_envs
            seeds = [seed + i for i in range(number)] if isinstance(seed, int) else list(seed or [None] * number)
            if len(seeds) != number:
                raise InvalidSpecError(f"seed: has {len(seeds)} items; it must have {number}")
            rest = dict(options or {})
            mask = self._mask(rest.pop("reset_mask", np.ones(number, bool)))
            self._begin(np.flatnonzero(mask).tolist(), seeds, rest)
            self._stage.go()
            return self._stage.observations.copy(), self._values({}, mask)

    def _mask(self, given: Any) -> NDArray[np.bool_]:
        mask, number = np.asarray(given), self.num_envs
        if mask.shape != (number,) or mask.dtype != bool or not mask.any():
            raise InvalidSpecError(
                f"reset_mask: is {mask!r:.99}; it must be an array of {number} booleans, at least one of them True"
            )
        return mask

    def _begin(self, seats: Sequence[int], seeds: Sequence[int | None], options: dict[str, Any]) -> None:
        for seat in seats:
            if seeds[seat] is not None:
                self._random[seat] = seeding.np_random(seeds[seat])[0]
            self._stage.begin(seat, self._random[seat], seeds[seat], options)

    def step(
        self, actions: Any
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply an action to each environment and continue the simulations for one interval.

        Args:
            actions: The actions, one row per environment.

        Returns:
            The observations, the rewards, whether each episode is terminated (always false), whether it is truncated,
            and the info.

        Raises:
            InvalidSpecError: An action is not in the action space.
            gymnasium.error.ResetNeeded: An environment has no running episode.
        """
        with self._turn:
            number, stage = self.num_envs, self._stage
            moves, choices = stage.read(actions, number)
            acting = stage.acting(restarts=self._mode == AutoresetMode.NEXT_STEP)
            seats = np.flatnonzero(acting).tolist()
            # First, because a function of the user that generates jobs may fail.
            self._begin(np.flatnonzero(~acting).tolist(), [None] * number, {})
            stage.act(seats, moves[seats], choices[seats])
            stage.go()
            rewards, over = stage.rewards(seats), stage.are_over
            infos = self._infos(acting, over)
            return stage.observations.copy(), rewards, np.zeros(number, bool), over, infos

    def _infos(self, acting: NDArray[np.bool_], over: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the info of `QuotaEnv`, in Gymnasium's format for vector environments."""
        stage, infos = self._stage, dict[str, Any]()
        facts, ended = stage.facts, np.flatnonzero(over).tolist()
        if ended and self._mode == AutoresetMode.SAME_STEP:
            acting = acting & ~over
            infos = self._ended(ended)
        elif ended:
            infos["kpis"], infos["_kpis"] = np.full(self.num_envs, None, object), over.copy()
            for seat in ended:
                infos["kpis"][seat] = stage.close(seat)
        if acting.any():
            terms = {name: np.where(acting, facts[:, position], 0.0) for position, name in enumerate(TERMS)}
            infos["reward_terms"] = _masked(terms, acting)
            infos["_reward_terms"] = acting
        return self._values(infos)

    def _ended(self, seats: list[int]) -> dict[str, Any]:
        """Return the info of ended episodes, and start new ones in the same step."""
        infos = dict[str, Any]()
        for seat in seats:
            stage = self._stage
            last = {**stage.info(seat), "kpis": stage.close(seat)}
            infos = self._add_info(infos, {"final_obs": stage.observations[seat].copy(), "final_info": last}, seat)
        self._begin(seats, [None] * self.num_envs, {})
        self._stage.go()
        return infos

    def _values(self, infos: dict[str, Any], mask: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        values = self._stage.values
        columns, masks = values.T.copy(), self._stage.masks(values)
        if mask is not None:
            columns, masks = np.where(mask, columns, 0), masks & mask[:, None, None]
        mask = np.ones(self.num_envs, bool) if mask is None else mask.copy()
        infos["values"], infos["_values"] = _masked(dict(zip(self.paths, columns, strict=True)), mask), mask
        infos["action_mask"], infos["_action_mask"] = masks, mask
        return infos


def _masked(columns: dict[str, Any], mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the columns and, for each column, the mask of the environments whose info contains it."""
    return {**columns, **dict.fromkeys((f"_{name}" for name in columns), mask)}
