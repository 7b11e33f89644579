"""The calls of a Scheduler as plain records, which a journal writes and repeats."""

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
    """A call of a Scheduler. The property `key` returns the name of the changed object, for readers of the journal."""

    @property
    def key(self) -> str:
        """The key of the workload or object that the call changes; an empty string if there is none."""
        return ""

    def checked(self) -> Self:
        """Return the call with its arguments converted as if it had been written and read again.

        The conversion ensures that every executed call can be written to a journal and repeated.

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
    """Submit a workload; `count` is the number of workloads submitted before it, including rejected ones."""

    workload: Workload
    count: int
    job: dict[str, Any] | None = None
    single_pod: bool = False

    @property
    def key(self) -> str:
        """The key of the workload."""
        return self.workload.key


class Apply(_Call, frozen=True):
    """Create or change an object."""

    object: Object

    @property
    def key(self) -> str:
        """The kind and name of the object."""
        return f"{type(self.object).__name__} {self.object.key}"


class _WrittenApply(_Call, frozen=True, tag="apply"):
    """The serialised form of an `Apply`, with the kind of the object."""

    kind: str
    object: msgspec.Raw
    name: str


class Remove(_Call, frozen=True):
    """Delete an object."""

    kind: str
    name: str
    namespace: str = ""

    @classmethod
    def of(cls, obj: Object) -> Remove:
        """Return the call that deletes an object."""
        return cls(type(obj).__name__, obj.name, obj.namespace if isinstance(obj, NamespacedObject) else "")

    @property
    def cls(self) -> type[Object]:
        """The class of the object that the call changes."""
        return kind_of(self.kind)

    @property
    def key(self) -> str:
        """The kind and name of the object."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class OfWorkload(_Call, frozen=True):
    """A call that changes an existing workload."""

    workload: str

    @property
    def key(self) -> str:
        """The key of the workload."""
        return self.workload


class Finish(OfWorkload, frozen=True):
    """Mark a workload as finished."""

    reason: FinishReason = "Succeeded"
    message: str = ""


class Delete(OfWorkload, frozen=True):
    """Delete a workload."""


class SetCheck(OfWorkload, frozen=True):
    """Set the state of an admission check of a workload."""

    check: str
    state: CheckState
    message: str | None = None
    requeue_after_seconds: int | None = None
    pod_set_updates: tuple[dict[str, Any], ...] = ()


class PodsReady(OfWorkload, frozen=True):
    """Set whether the pods of a workload are ready."""

    ready: bool


class StopJob(OfWorkload, frozen=True):
    """Set the time at which the pods of an evicted workload's job terminate, in nanoseconds since the Unix epoch."""

    at: int


class AwaitVictims(OfWorkload, frozen=True):
    """Mark a pending workload as waiting for workloads that it preempted, so that its queue considers it first."""


class Reclaim(OfWorkload, frozen=True):
    """Set the reclaimable pods of a workload."""

    pods: int | dict[str, int]


class Controllers(_Call, frozen=True):
    """Run Kueue's controllers before the controllers of admission checks are called."""


class Advance(_Call, frozen=True):
    """Set the virtual time to `now`, in nanoseconds since the Unix epoch."""

    now: int


class Cycle(_Call, frozen=True):
    """Run one scheduling cycle."""


class Settle(_Call, frozen=True):
    """Run cycles until nothing changes."""

    max_cycles: int | None = None


_Same: TypeAlias = (
    Submit
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
"""The calls whose serialised form has the same fields."""
Call: TypeAlias = _Same | Apply
"""Any call that a journal can contain."""
_Written: TypeAlias = _Same | _WrittenApply
_encoder = msgspec.json.Encoder(enc_hook=encode_time)
_decoder: msgspec.json.Decoder[_Written] = msgspec.json.Decoder(ready(_Written), dec_hook=decode_time)


def encode(call: Call) -> str:
    """Return a call as JSON."""
    written: Call | _WrittenApply = call
    if isinstance(call, Apply):
        obj = call.object
        written = _WrittenApply(type(obj).__name__, msgspec.Raw(_encoder.encode(obj)), obj.key)
    return _encoder.encode(written).decode()


def decode(text: str) -> Call:
    """Return the call that `encode` wrote as JSON.

    Raises:
        msgspec.DecodeError: The call is unknown to this release.
    """
    written = _decoder.decode(text)
    if isinstance(written, _WrittenApply):
        return Apply(msgspec.json.decode(written.object, type=ready(kind_of(written.kind)), dec_hook=decode_time))
    return written


def each_once(method: str, names: Iterable[str]) -> None:
    """Check that no name occurs twice in a call.

    Args:
        method: The name of the method, for the error message.
        names: The names.

    Raises:
        InvalidSpecError: A name occurs twice.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidSpecError(f"{method}: {name}: is named twice; name each once")
        seen.add(name)
