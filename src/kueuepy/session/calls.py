"""What a Scheduler is told, call by call, as plain records that are written and done again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import path_text
from kueuepy.objects import NamespacedObject, Object, Workload
from kueuepy.objects.kinds import kind_of
from kueuepy.objects.readable import read_again
from kueuepy.objects.ready import ready
from kueuepy.objects.status import CheckState, FinishReason  # noqa: TC001 - msgspec reads it
from kueuepy.objects.times import decode_time, encode_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

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


class Apply(_Call, frozen=True):
    """An object was created or changed."""

    object: Object

    @property
    def key(self) -> str:
        """Kind and name."""
        return f"{type(self.object).__name__} {self.object.key}"


class _WrittenApply(_Call, frozen=True, tag="apply"):
    """An `Apply` as it is written: with the kind that its object is read as."""

    kind: str
    object: msgspec.Raw
    name: str


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
    def cls(self) -> type[Object]:
        """The class of the object."""
        return kind_of(self.kind)

    @property
    def key(self) -> str:
        """Kind and name."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


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


class Delete(OfWorkload, frozen=True):
    """A workload is gone."""


class SetCheck(OfWorkload, frozen=True):
    """An admission check's controller said something."""

    check: str
    state: CheckState
    message: str | None = None
    requeue_after_seconds: int | None = None
    pod_set_updates: tuple[dict[str, Any], ...] = ()


class PodsReady(OfWorkload, frozen=True):
    """A workload's pods are ready, or not."""

    ready: bool


class StopJob(OfWorkload, frozen=True):
    """The pods of a workload's job end at this time, in nanoseconds since the Unix epoch, if it is evicted."""

    at: int


class AwaitVictims(OfWorkload, frozen=True):
    """A pending workload waits for the workloads that it preempted, so its queue tries it first."""


class Reclaim(OfWorkload, frozen=True):
    """Pods of a workload need their quota no longer."""

    pods: int | dict[str, int]


class Controllers(_Call, frozen=True):
    """Kueue's controllers ran, and those of admission checks are about to answer."""


class Advance(_Call, frozen=True):
    """Time passed; `now` is in nanoseconds since the Unix epoch."""

    now: int


class Cycle(_Call, frozen=True):
    """One scheduling cycle ran."""


class Settle(_Call, frozen=True):
    """Cycles ran until nothing changed."""

    max_cycles: int | None = None


Call: TypeAlias = (
    Submit
    | Apply
    | Remove
    | Finish
    | Delete
    | SetCheck
    | PodsReady
    | StopJob
    | AwaitVictims
    | Reclaim
    | Controllers
    | Advance
    | Cycle
    | Settle
)
"""What may stand in a journal."""

_Written: TypeAlias = (
    Submit
    | _WrittenApply
    | Remove
    | Finish
    | Delete
    | SetCheck
    | PodsReady
    | StopJob
    | AwaitVictims
    | Reclaim
    | Controllers
    | Advance
    | Cycle
    | Settle
)
_encoder = msgspec.json.Encoder(enc_hook=encode_time)
_decoder: msgspec.json.Decoder[_Written] = msgspec.json.Decoder(ready(_Written), dec_hook=decode_time)


def encode(call: Call) -> str:
    """A call as JSON."""
    written: Call | _WrittenApply = call
    if isinstance(call, Apply):
        obj = call.object
        written = _WrittenApply(type(obj).__name__, msgspec.Raw(_encoder.encode(obj)), obj.key)
    return _encoder.encode(written).decode()


def decode(text: str) -> Call:
    """The call that was written as this JSON.

    Raises:
        msgspec.DecodeError: It is none that this release knows.
    """
    written = _decoder.decode(text)
    if isinstance(written, _WrittenApply):
        return Apply(msgspec.json.decode(written.object, type=ready(kind_of(written.kind)), dec_hook=decode_time))
    return written


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
