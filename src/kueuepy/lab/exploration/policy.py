"""Policies: values by path that change the cluster, the jobs or the settings of a simulation, and samples of them."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, NotFoundError, checked, checked_methods, expect_one_of, imported, nearest
from kueuepy.errors.arguments import checked_fields
from kueuepy.fleet import Fleet
from kueuepy.fleet.value import check_path as check_cluster_path
from kueuepy.simulation.distributions import draws
from kueuepy.simulation.model import Settings
from kueuepy.simulation.table import Jobs

Policy = Mapping[str, Any]
"""Values by path."""
S = TypeVar("S", bound=msgspec.Struct)

# The transformations of `jobs:` paths, in the order in which they are applied.
_JOBS: dict[str, Callable[[Jobs, Any, int], Jobs]] = {
    "shuffle_days": lambda jobs, value, _: jobs.shuffle_days(value),
    "thin": lambda jobs, value, seed: jobs.thin(value, seed),
    "scale_runtime": lambda jobs, value, _: jobs.scale_runtime(value),
    "scale_load": lambda jobs, value, _: jobs.scale_load(value),
}
# Not a transformation: it selects the jobs before the others are applied.
_SEED = "seed"
_DELAY = re.compile(r"delays\[(\d+)\]", re.ASCII)


class Setup(msgspec.Struct, frozen=True):
    """The cluster, jobs and settings that all simulations of a sweep share.

    Attributes:
        cluster: The cluster or the fleet that policies change.
        jobs: The jobs, or a function that returns them for a seed.
        settings: Further arguments of `simulate`.
    """

    cluster: Cluster | Fleet
    jobs: Jobs | Callable[[int], Jobs]
    settings: Settings

    def jobs_of(self, seed: int) -> Jobs:
        """Return the jobs for a seed."""
        return self.jobs if isinstance(self.jobs, Jobs) else self.jobs(seed)


class JobsBySeed:
    """A function that returns jobs for a seed, called once per seed."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        """Create the object from a function whose result `Jobs.of` accepts."""
        self._make = make
        self._made: dict[int, Jobs] = {}

    def __call__(self, seed: int) -> Jobs:
        """Return the jobs for a seed."""
        if seed not in self._made:
            self._made[seed] = Jobs.of(self._make(seed))
        return self._made[seed]


def applied(setup: Setup, policy: Policy, seed: int = 0) -> Setup:
    """Return the setup with a policy applied, and the jobs for a seed.

    Raises:
        NotFoundError: A path does not match anything.
        InvalidSpecError: A value is not valid for its field.
    """
    settings = setup.settings
    of_jobs: dict[str, Any] = {}
    of_objects: dict[str, Any] = {}
    for path, value in policy.items():
        target, _, field = path.partition(":")
        if target == "jobs":
            of_jobs[_known(path, field, {*_JOBS, _SEED})] = value
        elif _is_setting(target):
            settings = _with_setting(settings, path, target, field, value)
        else:
            of_objects[path] = value
    # All objects are changed at once, because a step in between may not be valid.
    cluster = setup.cluster.edit_all(of_objects)
    return Setup(cluster, _changed(setup, of_jobs, seed), msgspec.structs.replace(settings, seed=seed))


def check_path(setup: Setup, path: str) -> None:
    """Check that a path exists, without validating values.

    Raises:
        NotFoundError: The path does not match anything. The error message suggests a similar name.
        InvalidSpecError: The path is malformed.
    """
    target, _, field = path.partition(":")
    if target == "jobs":
        _known(path, field, {*_JOBS, _SEED})
    elif _is_setting(target):
        _with_setting(setup.settings, path, target, field, None)
    elif isinstance(setup.cluster, Fleet):
        setup.cluster.check_path(path)
    else:
        check_cluster_path(setup.cluster, path)


def _is_setting(target: str) -> bool:
    return target in ("model", "clock") or _DELAY.fullmatch(target) is not None


def _known(path: str, field: str, fields: set[str]) -> str:
    if field not in fields:
        close = nearest(field, fields)
        hint = f'did you mean "{close}"?' if close else f"it must be one of {', '.join(sorted(fields))}"
        raise NotFoundError(f'over: "{path}": "{field}" names no field; {hint}')
    return field


def _with_setting(settings: Settings, path: str, target: str, field: str, value: Any) -> Settings:
    """Return the settings with one changed field of the model, the clock or a delay; the value is not validated."""
    delay = _DELAY.fullmatch(target)
    if delay is None:
        return msgspec.structs.replace(settings, **{target: _replaced(getattr(settings, target), path, field, value)})
    delays, index = list(settings.delays), int(delay[1])
    if index >= len(delays):
        raise NotFoundError(f'over: "{path}": there are {len(delays)} delays, counted from 0')
    delays[index] = _replaced(delays[index], path, field, value)
    return msgspec.structs.replace(settings, delays=tuple(delays))


def _replaced(before: S, path: str, field: str, value: Any) -> S:
    return msgspec.structs.replace(before, **{_known(path, field, set(before.__struct_fields__)): value})


def _changed(setup: Setup, of_jobs: Mapping[str, Any], seed: int) -> Jobs:
    if _SEED in of_jobs and isinstance(setup.jobs, Jobs):
        raise InvalidSpecError('over: "jobs:seed": the jobs are a table; give a function that makes them from a seed')
    jobs = setup.jobs_of(of_jobs.get(_SEED, seed))
    for name, change in _JOBS.items():
        if name in of_jobs:
            jobs = change(jobs, of_jobs[name], seed)
    return jobs


MOST = 10_000
"""The default maximum number of simulations of a sweep."""


@checked_methods
class Uniform(msgspec.Struct, frozen=True):
    """A uniform distribution between two numbers.

    Attributes:
        low: The smallest number.
        high: The largest number.
        step: The distance between allowed numbers, which start at `low`. Default: all numbers are allowed.
        log: Whether the logarithm is uniformly distributed; `low` must then be greater than 0. Default: False.

    Example:
        >>> Uniform(0, 64, step=16).at(0.5)
        32
    """

    low: float
    high: float
    step: float | None = None
    log: bool = False

    @checked_fields
    def __post_init__(self) -> None:
        """Validate the bounds.

        Raises:
            InvalidSpecError: `low` exceeds `high`, a bound is not finite, `step` is not greater than 0, or `log` is set
                and `low` is not greater than 0.
        """
        if (
            not -math.inf < self.low <= self.high < math.inf
            or (self.step is not None and not self.step > 0)
            or (self.log and not self.low > 0)
        ):
            raise InvalidSpecError(
                f"Uniform: {self.low} to {self.high}, step {self.step}; low must be at most high, both finite, a step "
                f"more than 0, and low more than 0 for log"
            )

    def at(self, u: float) -> float:
        """Return a quantile of the distribution.

        Args:
            u: The quantile, in the interval [0, 1).
        """
        if self.log:
            value = float(self.low * (self.high / self.low) ** u)
            return value if self.step is None else self.low + self.step * round((value - self.low) / self.step)
        if self.step is None:
            return self.low + u * (self.high - self.low)
        return self.low + self.step * math.floor(u * (math.floor((self.high - self.low) / self.step) + 1))


# The number of distinct fractions to which the points of the Sobol sequence are rounded.
_DIGITS = 1 << 30

Space = Mapping[str, "Uniform | Sequence[Any]"]
"""For each path, a range or a list of equally likely values."""


@checked
def sample(
    space: Space, n: int, *, seed: int = 0, how: Literal["sobol", "random"] = "sobol"
) -> tuple[dict[str, Any], ...]:
    """Draw policies from a space.

    `random` draws the values of each path independently. `sobol` takes the first `n` points of the Sobol sequence with
    a random digital shift per path, which covers the space more evenly. Each sampling method gives the same policies
    for the same seed on every platform.

    Args:
        space: For each path, a `Uniform` range or a list of values.
        n: The number of policies.
        seed: The seed. Default: 0.
        how: `sobol`, which requires scipy, or `random`. Default: `sobol`.

    Returns:
        The policies, each a dict of values by path.

    Raises:
        InvalidSpecError: The space or a list of values is empty, or `n` is less than 1.
        UnsupportedError: `how` is `sobol`, and scipy is not installed.

    Example:
        >>> sample({"ClusterQueue/a:queueingStrategy": ["StrictFIFO", "BestEffortFIFO"]}, 2, how="random")
        ({'ClusterQueue/a:queueingStrategy': 'StrictFIFO'}, {'ClusterQueue/a:queueingStrategy': 'StrictFIFO'})
    """
    if not space or n < 1 or not all(isinstance(v, Uniform) or _is_list(v) for v in space.values()):
        raise InvalidSpecError(f"sample: {n} of {dict(space)}; give n > 0, and for each path a Uniform or values")
    expect_one_of("sample: how", how, ("sobol", "random"))
    # One stream per path: another path in the space does not change the values of the others.
    parts = np.column_stack([draws(seed, path, n) for path in space])
    if how == "sobol":
        # A digital shift (exclusive or) preserves the sequence's even distribution over boxes.
        shifts = [draws(seed, f"shift {path}", 1)[0] for path in space]
        parts = (
            (_sobol(len(space), n) * _DIGITS).astype(np.int64) ^ (np.array(shifts) * _DIGITS).astype(np.int64)
        ) / _DIGITS
    return tuple(
        {path: _value(values, u) for (path, values), u in zip(space.items(), row, strict=True)}
        for row in parts.tolist()
    )


def _is_list(values: Any) -> bool:
    return not isinstance(values, str | bytes) and len(values) > 0


def _sobol(dimensions: int, n: int) -> NDArray[np.float64]:
    qmc = imported("scipy.stats.qmc", 'sample: how "sobol"', ', or sample with how="random"')
    # The sequence is balanced for powers of two only; scipy warns about other numbers.
    points: NDArray[np.float64] = qmc.Sobol(dimensions, scramble=False).random_base2(math.ceil(math.log2(n)))
    return points[:n]


def _value(values: Uniform | Sequence[Any], u: float) -> Any:
    return values.at(u) if isinstance(values, Uniform) else values[math.floor(u * len(values))]


def policies_of(over: Any) -> tuple[dict[str, Any], ...]:
    """Return the policies of a sweep; a dict stands for all combinations, and the last path varies fastest.

    Raises:
        InvalidSpecError: The argument is neither a dict of lists nor a list of policies, or a path has no values.

    Example:
        >>> [tuple(policy.values()) for policy in policies_of({"a": [1, 2], "b": [3, 4]})]
        [(1, 3), (1, 4), (2, 3), (2, 4)]
    """
    if isinstance(over, Mapping):
        for path, values in over.items():
            if isinstance(values, Uniform):
                raise InvalidSpecError(f'over: "{path}": a Uniform has no list of values; give kueuepy.lab.sample(...)')
            if isinstance(values, str | bytes) or not isinstance(values, Iterable) or not list(values):
                raise InvalidSpecError(f'over: "{path}": {values!r:.99}; it must be a list of one value or more')
        return tuple(dict(zip(over, chosen, strict=True)) for chosen in product(*map(list, over.values())))
    found = tuple(over) if isinstance(over, Iterable) and not isinstance(over, str | bytes) else (over,)
    for index, policy in enumerate(found):
        if not isinstance(policy, Mapping):
            raise InvalidSpecError(f"over: policy {index} is {policy!r:.99}; it must be values by path")
    return tuple(map(dict, found))
