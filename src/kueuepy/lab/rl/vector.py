"""A vector environment, whose environments are stepped in parallel by the core."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from kueuepy._core import Turn
from kueuepy.engine.threads import cores
from kueuepy.errors import InvalidSpecError, UnsupportedError
from kueuepy.errors.settings import spelled_out
from kueuepy.lab.rl.example import game_of
from kueuepy.lab.rl.stage import GUESSES, TERMS, QuotaOptions, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Never, Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.table import Jobs


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
    """

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
        self.queues = self._stage.queues
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.single_observation_space = self._stage.observation_space()
        self.single_action_space = self._stage.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._random: list[np.random.Generator | None] = [None] * num_envs
        self._over = np.zeros(num_envs, bool)
        self._begun = np.zeros(num_envs, bool)
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

    def __reduce__(self) -> Never:
        """Reject copying and pickling.

        Raises:
            UnsupportedError: An environment cannot be copied or pickled; create another environment instead.
        """
        raise UnsupportedError(
            "a QuotaVectorEnv cannot be copied or pickled; create another one with the same arguments"
        )

    def _mask(self, given: Any) -> NDArray[np.bool_]:
        mask, number = np.asarray(given), self.num_envs
        if mask.shape != (number,) or mask.dtype != bool or not mask.any():
            raise InvalidSpecError(
                f"reset_mask: is {mask!r}; it must be an array of {number} booleans, at least one of them True"
            )
        return mask

    def _begin(self, seats: Sequence[int], seeds: Sequence[int | None], options: dict[str, Any]) -> None:
        for seat in seats:
            if seeds[seat] is not None:
                self._random[seat] = seeding.np_random(seeds[seat])[0]
            self._stage.begin(seat, partial(self._draws, seat), seeds[seat], options)
            self._over[seat], self._begun[seat] = False, True

    def _draws(self, seat: int) -> np.random.Generator:
        found = self._random[seat]
        if found is None:
            found = self._random[seat] = seeding.np_random()[0]
        return found

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
            acting = ~self._over
            self._check_begun(acting)
            seats = np.flatnonzero(acting).tolist()
            stage.act(seats, moves[seats], choices[seats])
            self._begin(np.flatnonzero(self._over).tolist(), [None] * number, {})
            stage.go()
            rewards = self._rewards(seats)
            self._over = stage.are_over & acting
            ended, infos = self._over.copy(), self._infos(acting)
            return stage.observations.copy(), rewards, np.zeros(number, bool), ended, infos

    def _check_begun(self, acting: NDArray[np.bool_]) -> None:
        if not self._begun.all() or (self._mode != AutoresetMode.NEXT_STEP and not acting.all()):
            raise gymnasium.error.ResetNeeded(
                "reset() must be called before step(); use reset_mask to reset some environments"
            )

    def _rewards(self, seats: list[int]) -> NDArray[np.float64]:
        stage, found = self._stage, np.zeros(self.num_envs)
        own = stage.has_own_reward
        found[seats] = [stage.reward(seat) for seat in seats] if own else stage.facts[seats, : len(TERMS)].sum(axis=1)
        return found

    def _infos(self, acting: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the info of `QuotaEnv`, in Gymnasium's format for vector environments."""
        stage, infos = self._stage, dict[str, Any]()
        facts, ended = stage.facts, np.flatnonzero(self._over).tolist()
        if ended and self._mode == AutoresetMode.SAME_STEP:
            acting = acting & ~self._over
            infos = self._ended(ended)
        elif ended:
            infos["kpis"], infos["_kpis"] = np.full(self.num_envs, None, object), self._over.copy()
            for seat in ended:
                infos["kpis"][seat] = stage.close(seat)
        if acting.any():
            terms = {name: np.where(acting, facts[:, place], 0.0) for place, name in enumerate(TERMS)}
            infos["reward_terms"] = _masked(terms, acting)
            infos["_reward_terms"] = acting.copy()
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
        mask = np.ones(self.num_envs, bool) if mask is None else mask
        columns = np.where(mask[:, None], self._stage.values, 0).T.copy()
        infos["values"] = _masked(dict(zip(self.paths, columns, strict=True)), mask)
        infos["_values"] = mask.copy()
        return infos


def _masked(columns: dict[str, Any], mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the columns and, for each column, a mask of the environments whose info contains it."""
    return {**columns, **{f"_{name}": mask.copy() for name in columns}}
