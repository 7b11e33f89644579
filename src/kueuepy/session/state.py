"""The state of a running cluster: the engine, and the Python objects kept with it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

import kueuepy.objects as api
from kueuepy._core import Decisions, Engine
from kueuepy.cluster import Cluster
from kueuepy.cluster.unmodelled import unmodelled
from kueuepy.engine.decisions import Admitted
from kueuepy.errors import InvalidSpecError, NotFoundError, StateError, suggestion
from kueuepy.errors.arguments import is_text
from kueuepy.objects.times import EPOCH, Timestamp
from kueuepy.session.checks import Check
from kueuepy.session.status import live_workload
from kueuepy.session.store import Store
from kueuepy.session.submission import JobContext, uid_of

# A key is compared with as many others for a suggestion, which takes some milliseconds.
_COMPARED = 1000
_KEY = "a key is namespace/name"


@dataclass(slots=True)
class SchedulerState:
    """The complete state of a running cluster. If you change an attribute of the state, you change the cluster.

    Attributes:
        engine: The C++ engine.
        configuration: Kueue's Configuration.
        related: Manifests of other kinds that jobs refer to.
        store: Objects and Workloads in their submitted form; `own_store` returns it for a change.
        count: The number of submitted workloads, including rejected ones. `count` determines the uid of the next
            workload that is submitted without a uid.
        checks: The functions and controllers that answer admission checks, by controllerName.
        known_not_modelled: The value of `not_modelled`; `None` if the value has to be computed.
        decided: What the steps of the latest cycles returned; the next change of the store adds the admissions to it.
    """

    engine: Engine
    configuration: api.Configuration
    related: tuple[dict[str, Any], ...]
    store: Store
    count: int = 0
    checks: Mapping[str, Check] = field(default_factory=dict)
    _searched: tuple[tuple[Any, ...], tuple[str, ...]] = ((), ())
    known_not_modelled: tuple[str, ...] | None = None
    decided: list[Decisions | None] = field(default_factory=list)
    _now: Timestamp = EPOCH

    def fork(self) -> "SchedulerState":
        """Return an independent copy, which shares data with this state until one of them changes."""
        self.add_admissions()
        # `dataclasses.replace` takes longer than all the rest.
        return SchedulerState(
            self.engine.fork(),
            self.configuration,
            self.related,
            self.store.lend(),
            self.count,
            self.checks,
            self._searched,
            self.known_not_modelled,
            _now=self._now,
        )

    def own_store(self) -> Store:
        """Return the store in order to change it. If forks share the store, it is first replaced by a copy.

        Call this method before each change, so that `not_modelled` is computed again after the change.
        """
        self.known_not_modelled = None
        self.store = self.store.for_change()
        self.add_admissions()
        return self.store

    def add_admissions(self) -> None:
        """Store the admissions of the latest cycles, for later explanations; to store them twice changes nothing."""
        if not (decided := self.decided):
            return
        # Most cycles admit nothing; they must not copy a store that forks share.
        if any(decisions is not None and decisions.admitted for decisions in decided):
            self.store = self.store.for_change()
            for decision in chain.from_iterable(decisions.all() for decisions in decided if decisions is not None):
                if isinstance(decision, Admitted):
                    self.store.admitted.put(decision.workload, decision)
        decided.clear()

    def id_of(self, key: str) -> int:
        """Return the engine's id of a workload, by its key or, in the namespace `default`, by its name.

        The name or the `generateName` of the workload's job is also accepted if it is unique.

        Raises:
            NotFoundError: No workload has this key.
            InvalidSpecError: The key is not a string.
        """
        if not isinstance(key, str) or not is_text(key):
            raise InvalidSpecError(f"Workload: {key!r:.99} is not a key; it must be a string such as namespace/name")
        full = key if "/" in key else f"default/{key}"
        found = self.engine.find(full)
        if found >= 0:
            return found
        # The name of a Workload has a suffix that few users know; they know the name of the job.
        named = [known for known in self.store.jobs.keys() if full in self._names_of_job(known)]  # noqa: SIM118
        if len(named) == 1:
            return self.engine.find(named[0])
        last = full[full.index("/") :]
        alike = [key for key in self.keys() if any(one.endswith(last) for one in (key, *self._names_of_job(key)))]
        hint = suggestion(full, self.keys()[:_COMPARED], _KEY)
        if alike:
            hint = f"its job has {', '.join(named[:9])}" if named else f"did you mean {' or '.join(alike[:9])}?"
        raise NotFoundError(f'Workload "{key}": there is no such workload; {hint}')

    def keys(self) -> tuple[str, ...]:
        """Return the keys of all workloads, including finished workloads, in the order of submission."""
        return self.store.workloads.keys()

    def _names_of_job(self, key: str) -> tuple[str, ...]:
        """Return the names by which a workload's job can be found."""
        metadata = (self.store.jobs.get(key) or {}).get("metadata") or {}
        namespace = metadata.get("namespace") or "default"
        return tuple(f"{namespace}/{metadata[part]}" for part in ("name", "generateName") if metadata.get(part))

    def known(self, found: int) -> api.Workload:
        """Return the Workload with the given engine id, as it was submitted.

        Raises:
            StateError: The workload was added directly to the engine.
        """
        known = self.store.workloads.get(self.engine.key(found))
        if known is None:
            raise StateError(f'Workload "{self.engine.key(found)}": was given to the engine directly')
        return known

    def workload(self, key: str) -> api.Workload:
        """Return a Workload with its current status.

        Raises:
            NotFoundError: No workload has this key.
        """
        return self.live(self.id_of(key))

    def live(self, found: int) -> api.Workload:
        """Return the Workload with the given engine id, with its current status.

        Raises:
            StateError: The workload was added directly to the engine.
        """
        return live_workload(self.engine, found, self.known(found))

    def now(self) -> Timestamp:
        """Return the current virtual time."""
        now = self.engine.now
        if self._now.value != now:
            self._now = Timestamp.of(now)
        return self._now

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """The parts of the objects and the Configuration that kueuepy does not model and that could change a decision.

        The result is cached until the store changes.
        """
        if self.known_not_modelled is None:
            objects = self.store.objects
            given = (self.configuration, objects.of(api.ClusterQueue), objects.of(api.Cohort))
            # Objects are immutable, so comparing identities is enough, and faster than searching them again.
            if not self._searched[0] or any(a is not b for a, b in zip(self._searched[0], given, strict=True)):
                self._searched = (given, tuple(map(str, unmodelled(*given))))
            self.known_not_modelled = self._searched[1]
        return self.known_not_modelled

    def find(self, obj: api.Object) -> api.Object | None:
        """Return the stored object with the same kind and name as an object; `None` if no such object is stored."""
        if isinstance(obj, api.Workload):
            return self.store.workloads.get(obj.key)
        return self.store.objects.get((type(obj), obj.key))

    def cluster(self) -> Cluster:
        """Return the declared objects in their current form, without Workloads."""
        return Cluster(tuple(self.store.objects.values()), configuration=self.configuration, names=False)

    def job_context(self) -> JobContext:
        """Return the objects and settings that determine how a job is converted into a Workload."""
        objects, now = self.store.objects, self.now()
        return JobContext(
            self.configuration,
            (*objects.of(api.WorkloadPriorityClass), *objects.of(api.PriorityClass)),
            objects.of(api.Namespace),
            objects.of(api.LocalQueue),
            self.related,
            self.covered,
            count(self.count + 1),
            ((uid_of(number), now) for number in count(self.count)),
        )

    def cluster_queue_of(self, local_queue: str) -> api.ClusterQueue | str:
        """Return the ClusterQueue of a LocalQueue, or a description of the object that does not exist.

        Args:
            local_queue: The key of the LocalQueue, `namespace/name`.
        """
        local = self.store.objects.get((api.LocalQueue, local_queue))
        if not isinstance(local, api.LocalQueue):
            return f"LocalQueue {local_queue}"
        queue = self.store.objects.get((api.ClusterQueue, local.cluster_queue))
        return queue if isinstance(queue, api.ClusterQueue) else f"ClusterQueue {local.cluster_queue}"

    def covered(self, local_queue: str) -> Collection[str]:
        """Return the resources covered by the ClusterQueue of a LocalQueue, `namespace/name`."""
        queue = self.cluster_queue_of(local_queue)
        if isinstance(queue, str):
            return ()
        return {resource for group in queue.resource_groups for resource in group.covered_resources}
