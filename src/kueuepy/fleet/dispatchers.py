"""Dispatchers, which choose the clusters for a workload, and events that change connections."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import Configuration, Workload, duration_ns
from kueuepy.objects.configuration import ALL_AT_ONCE, INCREMENTAL


class AllAtOnce(msgspec.Struct, frozen=True):
    """A dispatcher that copies each workload to all connected clusters at once.

    >>> from kueuepy import Cluster, ClusterQueue, Fleet, ResourceFlavor
    >>> worker = Cluster(ResourceFlavor("any"), ClusterQueue.of("team", {"any": {"cpu": 4}}))
    >>> Fleet({"w1": worker}, dispatcher=AllAtOnce()).dispatcher
    AllAtOnce()
    """


class Incremental(msgspec.Struct, frozen=True):
    """A dispatcher that copies each workload to a few clusters, and to more clusters after each round.

    >>> Incremental(step=1, round="2m").step
    1

    Attributes:
        step: Number of clusters that a round adds, at least 1; 3 by default.
        round: Duration of a round: a number of seconds, or a string such as `5m`. The default is 5 minutes, the only
            duration that Kueue itself uses.
    """

    step: int = 3
    round: Any = "5m"


class External(msgspec.Struct, frozen=True):
    """A dispatcher that calls a function to choose the clusters for each workload.

    >>> External(lambda workload, clusters, now: list(clusters)[:1]).choose is not None
    True

    Attributes:
        choose: A function of three arguments: the Workload, a mapping from the names of connected clusters to their
            Schedulers, and the time in seconds. `choose` is called for each pending workload that holds quota. `choose`
            returns the names of the clusters to nominate, or `None` to keep the current nominations. Without `choose`,
            clusters must be nominated with `FleetScheduler.nominate`.
    """

    choose: Callable[[Workload, Mapping[str, Any], float], Sequence[str] | None] | None = None


Dispatcher = Union[AllAtOnce, Incremental, External]  # noqa: UP007 - evaluated at run time
DispatcherName = Literal["AllAtOnce", "Incremental", "External"]


class Connect(msgspec.Struct, frozen=True):
    """An event: the connection from the manager to a worker is restored.

    >>> from kueuepy.sim import Event
    >>> Event("3h", Connect("w1")).what.cluster
    'w1'

    Attributes:
        cluster: The name of the worker.
    """

    cluster: str


class Disconnect(msgspec.Struct, frozen=True):
    """An event: the manager loses the connection to a worker, which continues to work on its own.

    >>> from kueuepy.sim import Event
    >>> Event("2h", Disconnect("w1")).what.cluster
    'w1'

    Attributes:
        cluster: The name of the worker.
    """

    cluster: str


class On(msgspec.Struct, frozen=True):
    """An event in one cluster of a fleet. Events that are not wrapped in `On` happen in the manager.

    >>> from kueuepy.sim import Event, Delete
    >>> Event("2h", On("w1", Delete("ClusterQueue/team"))).what.cluster
    'w1'

    Attributes:
        cluster: The name of the cluster.
        what: A Kueue object to create or replace, an `Edit`, or a `Delete`.
    """

    cluster: str
    what: Any


def chosen_names(chosen: Any) -> Sequence[str] | None:
    """Return what the function of an `External` returned.

    Raises:
        InvalidSpecError: It is not a list of names, nor `None`.
    """
    # A mapping, too: the function may return a part of the one that it was given.
    is_names = isinstance(chosen, list | tuple | set | frozenset | Mapping) and all(isinstance(n, str) for n in chosen)
    if chosen is not None and not is_names:
        raise InvalidSpecError(f"dispatcher: chose {chosen!r:.99}; it must be a list of names of clusters, or None")
    return None if chosen is None else list(chosen)


_BY_NAME = {"AllAtOnce": AllAtOnce, "Incremental": Incremental, "External": External}


def dispatcher_of(given: Dispatcher | DispatcherName | None, configuration: Configuration) -> Dispatcher:
    """Return a dispatcher from an argument, or the dispatcher of the manager's Configuration for `None`.

    Raises:
        InvalidSpecError: The argument is not a dispatcher, its step is below 1, or its round is not a duration.
    """
    if given is None:
        return _configured(configuration)
    if isinstance(given, str) and given in _BY_NAME:
        named: Dispatcher = _BY_NAME[given]()
        return named
    if not isinstance(given, AllAtOnce | Incremental | External):
        raise InvalidSpecError(f"dispatcher: is {given!r:.99}; it must be AllAtOnce, Incremental or External")
    if isinstance(given, Incremental):
        if not isinstance(given.step, int) or given.step < 1:
            raise InvalidSpecError(f"dispatcher: step: is {given.step!r:.99}; it must be an integer of at least 1")
        # Only to refuse a wrong duration here, and not in the middle of a run.
        duration_ns(given.round)
    if isinstance(given, External) and given.choose is not None and not callable(given.choose):
        raise InvalidSpecError(f"dispatcher: choose: is {given.choose!r:.99}; it must be a function")
    return given


def _configured(configuration: Configuration) -> Dispatcher:
    settings = configuration.multi_kueue
    if settings.dispatcher_name == ALL_AT_ONCE:
        return AllAtOnce()
    # Any other name is that of a controller outside of Kueue.
    if settings.dispatcher_name != INCREMENTAL:
        return External()
    if settings.step_size is None or not configuration.enabled("MultiKueueIncrementalDispatcherConfig"):
        return Incremental()
    return Incremental(step=settings.step_size)
