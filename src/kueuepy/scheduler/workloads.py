"""What happens to the Workloads of a Scheduler once they are there: they finish, go, and are reported on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.errors.arguments import checked_methods
from kueuepy.objects import SECOND, Object
from kueuepy.scheduler.questions import SchedulerQuestions
from kueuepy.session import calls
from kueuepy.session.base import changing
from kueuepy.session.checks import check_updates
from kueuepy.session.status import live_workload
from kueuepy.session.time import Duration, later

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kueuepy.objects.status import CheckState, FinishReason

W = TypeVar("W", bound=calls.OfWorkload)


@checked_methods
class SchedulerWorkloads(SchedulerQuestions):
    """What one tells a Scheduler of Workloads that it has.

    Each call is held to the types that it is written with before anything changes.
    """

    @changing
    def finish(self, *keys: str, reason: FinishReason = "Succeeded", message: str = "") -> None:
        """The jobs of these workloads are done, and their quota is free; either all of them, or none.

        Args:
            keys: The workloads.
            reason: `Succeeded`, `Failed`, or `FailedToStart` where `start_patch` found no way to start the job.
            message: What the condition says; the usual words if empty.

        Raises:
            NotFoundError: There is no such workload.
            StateError: It is finished already.
            InvalidSpecError: An argument has a wrong type, there is no such reason, or a workload is named twice.
        """
        done = [self._resolved(calls.Finish(key, reason, message)) for key in keys]
        each_once("finish", (f'Workload "{call.workload}"' for _, call in done))
        for found, call in done:
            finished = self._engine.condition(found, "Finished")
            if finished is not None and finished[0]:
                raise StateError(f'Workload "{call.workload}": is finished already')
        self._touch()
        for found, call in done:
            self._engine.finish(found, call.reason, call.message)
            self._tell(call)

    @changing
    def delete(self, *keys: str) -> None:
        """The workloads are gone; either all of them, or none.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: A key is no text, or a workload is named twice.
        """
        gone = [self._resolved(calls.Delete(key)) for key in keys]
        each_once("delete", (f'Workload "{call.workload}"' for _, call in gone))
        self._touch()
        for found, call in gone:
            self._engine.delete(found)
            self._store.forget(call.workload)
            self._tell(call)

    @changing
    def set_check(
        self,
        key: str,
        check_name: str,
        state: CheckState,
        *,
        message: str | None = None,
        requeue_after: Duration | None = None,
        pod_set_updates: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """An admission check's controller says something of a workload.

        Args:
            key: The workload.
            check_name: The AdmissionCheck.
            state: `Ready` lets it start, `Retry` and `Rejected` evict it.
            message: What the status says beside it; unchanged if not given.
            requeue_after: With `Retry`, how long it keeps its quota before it is evicted and queues again.
            pod_set_updates: What the check adds to pod sets when the job starts, as in the manifest:
                `{"name": "main", "nodeSelector": {…}}`. Eviction forgets it.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: An argument has a wrong type, there is no such state or pod set, or a check that is Ready
                changes its updates.
        """
        after = None if requeue_after is None else (later(self._engine.now, requeue_after) - self._engine.now) // SECOND
        updates: Any = pod_set_updates  # made a tuple of dicts by the check
        found, call = self._resolved(calls.SetCheck(key, check_name, state, message, after, updates))
        added = call.pod_set_updates
        check_updates(live_workload(self._engine, found, self._known(found)), call.check, call.state, added)
        self._touch()
        text = msgspec.json.encode(added).decode() if added else ""
        self._engine.set_check(found, call.check, call.state, call.message, -1 if after is None else after, text)
        self._tell(call)

    @changing
    def pods_ready(self, key: str, ready: bool = True) -> None:  # noqa: FBT001, FBT002 - reads well in either form
        """All pods of the workload's job are ready, or not all of them any more.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: `ready` is neither true nor false.
        """
        found, call = self._resolved(calls.PodsReady(key, ready))
        self._touch()
        self._engine.set_pods_ready(found, call.ready)
        self._tell(call)

    @changing
    def reclaim(self, key: str, pods: int | Mapping[str, int]) -> None:
        """Pods of the workload no longer need their quota.

        Args:
            key: The workload.
            pods: How many in all so far, by pod set; a number alone is of the only pod set.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: A number is none, a pod set is unknown, or has fewer pods; or fewer than before, or none
                any more, are reclaimable while the workload holds quota.
        """
        counted: Any = pods  # made a dict by the check, if it is any mapping
        found, call = self._resolved(calls.Reclaim(key, counted))
        counts = {pod_set.name: pod_set.count for pod_set in self._known(found).pod_sets}
        by_name = {next(iter(counts)): call.pods} if isinstance(call.pods, int) and len(counts) == 1 else call.pods
        if isinstance(by_name, int):
            raise InvalidSpecError(f'Workload "{call.workload}": has {len(counts)} pod sets; name them')
        for name, count in by_name.items():
            if not 0 <= count <= counts.get(name, -1):
                raise InvalidSpecError(
                    f'Workload "{call.workload}": reclaimable pods of "{name}": is {count}; '
                    f"it must be a pod set's name and 0 to its count, of {counts}"
                )
        if self._engine.admission(found) is not None:
            for name, before in self._engine.life(found)["reclaimable"].items():
                if by_name.get(name, 0) < before:
                    raise InvalidSpecError(
                        f'Workload "{call.workload}": reclaimable pods of "{name}": is '
                        f"{by_name.get(name, 0)}; it must be {before} at least, as before, while quota is held"
                    )
        self._touch()
        self._engine.set_reclaimable(found, by_name)
        self._tell(call)

    def _resolved(self, call: W) -> tuple[int, W]:
        """The engine's id of the workload of a call, and the call with its full key, held to its types."""
        call = call.checked()
        found = self.id_of(call.workload)
        return found, msgspec.structs.replace(call, workload=self._engine.key(found))


def each_once(method: str, names: Iterable[str]) -> None:
    """Nothing is named twice: what is done with all or with none of them cannot be done twice.

    Raises:
        InvalidSpecError: Something is.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidSpecError(f"{method}: {name}: is named twice; name each once")
        seen.add(name)


def expect_object(method: str, obj: object) -> None:
    """This is an object, with a name.

    Raises:
        InvalidSpecError: It isn't.
    """
    if not isinstance(obj, Object):
        raise InvalidSpecError(f"{method}: {obj!r} is no object; it must be one, such as a LocalQueue")
    if not isinstance(obj.name, str):
        raise InvalidSpecError(f"{method}: {type(obj).__name__}: name: is {obj.name!r}; it must be a text")
