"""Dispatchers: how the clusters to which a workload is copied are chosen; and changes of connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence  # noqa: TC003 - help() shows signatures
from typing import Any, Literal, Union

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import Configuration, Workload  # noqa: TC001 - help() shows signatures
from kueuepy.objects.configuration import ALL_AT_ONCE, INCREMENTAL
from kueuepy.session.time import duration_ns


class AllAtOnce(msgspec.Struct, frozen=True):
    """Copy each workload to all connected clusters at once."""


class Incremental(msgspec.Struct, frozen=True):
    """Copy each workload to a few clusters, and to a few more after each round.

    Attributes:
        step: Number of clusters that a round adds, at least 1; by default 3.
        round: Duration of a round: seconds, or a text such as `5m`; by default 5 minutes, which real Kueue cannot
            change.
    """

    step: int = 3
    round: Any = "5m"


class External(msgspec.Struct, frozen=True):
    """Let a function choose the clusters of each workload.

    Attributes:
        choose: Called with the Workload, a mapping of connected clusters by name to their Schedulers, and the time in
            seconds, whenever MultiKueue looks at a pending workload that holds quota. It returns the names of the
            clusters to nominate, or `None` to leave the nominations as they are. Without a function,
            `FleetScheduler.nominate` nominates.
    """

    choose: Callable[[Workload, Mapping[str, Any], float], Sequence[str] | None] | None = None


Dispatcher = Union[AllAtOnce, Incremental, External]  # noqa: UP007 - at run time
DispatcherName = Literal["AllAtOnce", "Incremental", "External"]


class Connect(msgspec.Struct, frozen=True):
    """The connection of the manager to a worker is restored; an event of `Event`."""

    cluster: str


class Disconnect(msgspec.Struct, frozen=True):
    """The manager loses the connection to a worker; an event of `Event`. The worker goes on by itself."""

    cluster: str


class On(msgspec.Struct, frozen=True):
    """A change in one cluster of a fleet; an event of `Event`. Without it, events concern the manager.

    Attributes:
        cluster: The cluster.
        what: An object to apply, an Edit or a Delete.
    """

    cluster: str
    what: Any


_BY_NAME = {"AllAtOnce": AllAtOnce, "Incremental": Incremental, "External": External}


def dispatcher_of(given: Dispatcher | DispatcherName | None, configuration: Configuration) -> Dispatcher:
    """Return the dispatcher that is given, or else that of the manager's Configuration.

    Raises:
        InvalidSpecError: It is not a dispatcher, or has a step below 1 or a round that is not a duration.
    """
    if given is None:
        return _configured(configuration)
    if isinstance(given, str) and given in _BY_NAME:
        named: Dispatcher = _BY_NAME[given]()
        return named
    if not isinstance(given, AllAtOnce | Incremental | External):
        raise InvalidSpecError(f"dispatcher: is {given!r}; it must be AllAtOnce, Incremental or External")
    if isinstance(given, Incremental):
        if not isinstance(given.step, int) or given.step < 1:
            raise InvalidSpecError(f"dispatcher: step: is {given.step!r}; it must be an integer of at least 1")
        duration_ns(given.round)
    if isinstance(given, External) and given.choose is not None and not callable(given.choose):
        raise InvalidSpecError(f"dispatcher: choose: is {given.choose!r}; it must be a function")
    return given


def _configured(configuration: Configuration) -> Dispatcher:
    settings = configuration.multi_kueue
    if settings.dispatcher_name == ALL_AT_ONCE:
        return AllAtOnce()
    if settings.dispatcher_name != INCREMENTAL:
        return External()
    if settings.step_size is None or not configuration.enabled("MultiKueueIncrementalDispatcherConfig"):
        return Incremental()
    return Incremental(step=settings.step_size)
