"""What a Scheduler is told, call by call, as plain records that are written and done again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import path_text
from kueuepy.objects import NamespacedObject, Object, Workload
from kueuepy.objects.readable import read_again
from kueuepy.objects.ready import ready
from kueuepy.objects.status import CheckState, FinishReason  # noqa: TC001 - msgspec reads it
from kueuepy.session.submission import Submitted

if TYPE_CHECKING:
    from typing_extensions import Self

    from kueuepy.journal import JournaledScheduler

_WORD = re.compile("(?<=[a-z])(?=[A-Z])")


class _Call(msgspec.Struct, frozen=True, tag_field="call", tag=str.lower, omit_defaults=True):
    """A call; `key` names what it is about, for readers of the journal."""

    @property
    def key(self) -> str:
        """The workload or object that it is about."""
        return ""

    def checked(self) -> Self:
        """The call as it will be read once it is written: whatever is done and written can be done again.

        Raises:
            InvalidSpecError: An argument has a wrong type.
        """
        try:
            return read_again(self)
        except ValueError as error:
            path, detail = error.args
            where = ": ".join(filter(None, (_WORD.sub("_", type(self).__name__).lower(), path_text(path))))
            raise InvalidSpecError(f"{where}: {detail}") from None

    def do(self, scheduler: JournaledScheduler) -> None:
        """Does it again."""
        raise NotImplementedError


class Submit(_Call, frozen=True):
    """A workload came; `count` is how many came before it, refused ones included."""

    workload: Workload
    count: int
    job: dict[str, Any] | None = None
    single_pod: bool = False

    @property
    def key(self) -> str:
        """The workload."""
        return self.workload.key

    def do(self, scheduler: JournaledScheduler) -> None:
        """Submits it with the same number."""
        scheduler.resubmit(Submitted(self.workload, self.job, self.single_pod), self.count)


class Apply(_Call, frozen=True):
    """An object was created or changed."""

    kind: str
    object: msgspec.Raw
    name: str

    @classmethod
    def of(cls, obj: Object) -> Apply:
        """The call for an object."""
        return cls(type(obj).__name__, msgspec.Raw(msgspec.json.encode(obj)), obj.key)

    @property
    def key(self) -> str:
        """Kind and name."""
        return f"{self.kind} {self.name}"

    def do(self, scheduler: JournaledScheduler) -> None:
        """Applies it without checks, which it has passed."""
        from kueuepy.session.persist import kind_of  # noqa: PLC0415 - it knows the Scheduler, which knows calls

        scheduler.reapply(msgspec.json.decode(self.object, type=ready(kind_of(self.kind))))


class Remove(_Call, frozen=True):
    """An object was deleted."""

    kind: str
    name: str
    namespace: str = ""

    @classmethod
    def of(cls, obj: Object) -> Remove:
        """The call for an object."""
        return cls(type(obj).__name__, obj.name, obj.namespace if isinstance(obj, NamespacedObject) else "")

    @property
    def key(self) -> str:
        """Kind and name."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def do(self, scheduler: JournaledScheduler) -> None:
        """Removes the object of that name."""
        from kueuepy.session.persist import kind_of  # noqa: PLC0415 - it knows the Scheduler, which knows calls

        fields = {"namespace": self.namespace} if self.namespace else {}
        found = scheduler.declared(kind_of(self.kind), f"{self.namespace}/{self.name}" if fields else self.name)
        scheduler.remove(found)


class OfWorkload(_Call, frozen=True):
    """A call about a workload that is there."""

    workload: str

    @property
    def key(self) -> str:
        """The workload."""
        return self.workload


class Finish(OfWorkload, frozen=True):
    """A workload's job is done."""

    reason: FinishReason = "Succeeded"
    message: str = ""

    def do(self, scheduler: JournaledScheduler) -> None:
        """Finishes it."""
        scheduler.finish(self.workload, reason=self.reason, message=self.message)


class Delete(OfWorkload, frozen=True):
    """A workload is gone."""

    def do(self, scheduler: JournaledScheduler) -> None:
        """Deletes it."""
        scheduler.delete(self.workload)


class SetCheck(OfWorkload, frozen=True):
    """An admission check's controller said something."""

    check: str
    state: CheckState
    message: str | None = None
    requeue_after_seconds: int | None = None
    pod_set_updates: tuple[dict[str, Any], ...] = ()

    def do(self, scheduler: JournaledScheduler) -> None:
        """Says it."""
        scheduler.set_check(
            self.workload,
            self.check,
            self.state,
            message=self.message,
            requeue_after=self.requeue_after_seconds,
            pod_set_updates=self.pod_set_updates,
        )


class PodsReady(OfWorkload, frozen=True):
    """A workload's pods are ready, or not."""

    ready: bool

    def do(self, scheduler: JournaledScheduler) -> None:
        """Says so."""
        scheduler.pods_ready(self.workload, self.ready)


class Reclaim(OfWorkload, frozen=True):
    """Pods of a workload need their quota no longer."""

    pods: int | dict[str, int]

    def do(self, scheduler: JournaledScheduler) -> None:
        """Says so."""
        scheduler.reclaim(self.workload, self.pods)


class Controllers(_Call, frozen=True):
    """Kueue's controllers ran, and those of admission checks are about to answer."""

    def do(self, scheduler: JournaledScheduler) -> None:
        """Lets them run."""
        scheduler.engine.settle()


class Advance(_Call, frozen=True):
    """Time passed; `now` is in nanoseconds since the Unix epoch."""

    now: int

    def do(self, scheduler: JournaledScheduler) -> None:
        """Sets the clock."""
        scheduler.engine.set_now(self.now)


class Cycle(_Call, frozen=True):
    """One scheduling cycle ran."""

    def do(self, scheduler: JournaledScheduler) -> None:
        """Runs one."""
        scheduler.cycle()


class Settle(_Call, frozen=True):
    """Cycles ran until nothing changed."""

    max_cycles: int | None = None

    def do(self, scheduler: JournaledScheduler) -> None:
        """Runs them."""
        scheduler.settle(max_cycles=self.max_cycles)


Call: TypeAlias = (
    Submit | Apply | Remove | Finish | Delete | SetCheck | PodsReady | Reclaim | Controllers | Advance | Cycle | Settle
)
"""What may stand in a journal."""

encoder = msgspec.json.Encoder()
decoder: msgspec.json.Decoder[Call] = msgspec.json.Decoder(ready(Call))
