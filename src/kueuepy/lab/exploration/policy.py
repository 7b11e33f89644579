"""Policies: values by path that change the cluster, the jobs or the settings of a simulation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from kueuepy.cluster.edit import edited
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.problems import nearest
from kueuepy.fleet import Fleet
from kueuepy.simulation.table import Jobs

if TYPE_CHECKING:
    from kueuepy.cluster import Cluster
    from kueuepy.simulation.model import Settings

Policy = Mapping[str, Any]
"""Values by path."""
S = TypeVar("S", bound=msgspec.Struct)

_JOBS: dict[str, Callable[[Jobs, Any, int], Jobs]] = {
    "shuffle_days": lambda jobs, value, _: jobs.shuffle_days(value),
    "thin": lambda jobs, value, seed: jobs.thin(value, seed),
    "scale_runtime": lambda jobs, value, _: jobs.scale_runtime(value),
    "scale_load": lambda jobs, value, _: jobs.scale_load(value),
}
"""The transformations of `jobs:` paths, in the order in which they are applied."""
_SEED = "seed"
_DELAY = re.compile(r"delays\[(\d+)\]")


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
            of_objects[path] = _plain(value)
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
        try:
            edited(setup.cluster.objects(), setup.cluster.configuration, path, None)
        except NotFoundError:
            raise
        except InvalidSpecError:
            if not field:
                raise


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
    delays, place = list(settings.delays), int(delay[1])
    if place >= len(delays):
        raise NotFoundError(f'over: "{path}": there are {len(delays)} delays, counted from 0')
    delays[place] = _replaced(delays[place], path, field, value)
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


def _plain(value: Any) -> Any:
    """Return a value in the form of a manifest: fractions as strings, and Python numbers instead of NumPy numbers."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return int(value) if value.is_integer() else repr(value)
    return value
