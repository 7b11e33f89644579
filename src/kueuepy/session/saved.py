"""Save and load the complete state of a Scheduler, as versioned data with a checksum."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from kueuepy._core import Engine
from kueuepy.engine.decisions import Admitted
from kueuepy.engine.threads import for_cycles
from kueuepy.errors import InvalidSpecError, NotFoundError, UnsupportedError, checked
from kueuepy.files import SAVED, begins_saved_state, write_file
from kueuepy.objects import Configuration, Object, Workload, decode_time, encode_time, ready
from kueuepy.objects.kinds import KINDS
from kueuepy.session.session import Session
from kueuepy.session.state import SchedulerState
from kueuepy.session.store import Store

T = TypeVar("T")
VERSION = 1


class _Envelope(msgspec.Struct, array_like=True, frozen=True):
    format: str
    version: int
    sha256: bytes
    payload: bytes


class _Whole(msgspec.Struct, frozen=True):
    """The parts of a saved state that are decoded immediately."""

    engine: bytes
    configuration: Configuration
    count: int
    related: tuple[dict[str, Any], ...]
    objects: list[tuple[str, msgspec.Raw]]


class _Saved(_Whole, frozen=True):
    workloads: list[Workload]
    jobs: dict[str, dict[str, Any]]
    admitted: list[Admitted]


class _Read(_Whole, frozen=True):
    """A saved state, for reading.

    The long lists in the state are decoded item by item, so that Ctrl-C can interrupt the decoding.
    """

    workloads: list[msgspec.Raw]
    jobs: dict[str, msgspec.Raw]
    admitted: list[msgspec.Raw]


def to_bytes(session: Session) -> bytes:
    """Return the complete state of a Scheduler as MessagePack.

    Schedulers with the same history are saved as the same bytes.

    Raises:
        InvalidSpecError: An object contains a number that does not fit into 64 bits, in a field that admission does not
            read.
    """
    try:
        with session.lock:
            saved = _saved(session.state)
        payload = msgspec.msgpack.encode(saved, enc_hook=encode_time)
    except (OverflowError, UnicodeEncodeError) as error:
        raise InvalidSpecError(f"Scheduler: cannot be written: {error}") from None
    return msgspec.msgpack.encode(_Envelope(SAVED, VERSION, hashlib.sha256(payload).digest(), payload))


def _saved(state: SchedulerState) -> _Saved:
    state.add_admissions()
    return _Saved(
        engine=state.engine.save(),
        configuration=state.configuration,
        count=state.count,
        related=state.related,
        objects=[(type(obj).__name__, encode(obj)) for obj in state.store.objects.values()],
        workloads=list(state.store.workloads.values()),
        jobs={w.key: job for w in state.store.workloads.values() if (job := state.store.jobs.get(w.key)) is not None},
        admitted=list(state.store.admitted.values()),
    )


def from_bytes(data: bytes, *, name: str = "saved state") -> SchedulerState:
    """Return the state that `to_bytes` has saved. It is safe to read untrusted bytes.

    Raises:
        InvalidSpecError: The bytes are not a saved state, or they are damaged.
        UnsupportedError: A later version of kueuepy wrote the bytes.
    """
    payload = _payload(data, name)
    try:
        saved = msgspec.msgpack.decode(payload, type=ready(_Read), dec_hook=decode_time)
        store = _store(saved)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidSpecError(f"{name}: is damaged: {error}") from None
    engine = Engine.load(saved.engine)
    # The number of threads belongs to the machine, not to the state.
    engine.set_threads(*for_cycles(None))
    return SchedulerState(engine, saved.configuration, saved.related, store, saved.count)


def _payload(data: bytes, name: str) -> bytes:
    """Return the contents of the envelope after checking its format, version and checksum."""
    try:
        envelope = msgspec.msgpack.decode(data, type=ready(_Envelope))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise InvalidSpecError(f"{name}: is not a saved state of a Scheduler, or is cut off") from None
    if envelope.format != SAVED:
        raise InvalidSpecError(f'{name}: is "{envelope.format}"; it must be "{SAVED}"')
    if envelope.version != VERSION:
        raise UnsupportedError(f"{name}: has version {envelope.version}; this release reads version {VERSION}")
    if hashlib.sha256(envelope.payload).digest() != envelope.sha256:
        raise InvalidSpecError(f"{name}: is damaged; its checksum does not match")
    return envelope.payload


@checked
def is_saved(path: str | os.PathLike[str]) -> bool:
    """Return whether the start of a file has the form of a saved state. Only the beginning of the file is read."""
    with suppress(OSError), Path(path).open("rb") as file:
        return begins_saved_state(file.read(64))
    return False


def save(session: Session, path: str | os.PathLike[str]) -> None:
    """Execute `Scheduler.save`."""
    write_file(path, to_bytes(session), mode=0o600, regular=True)  # jobs can contain secrets


def load(path: str | os.PathLike[str]) -> SchedulerState:
    """Return the state that `save` wrote; see `Scheduler.load`."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise NotFoundError(f"{path}: cannot be read: {error.strerror}") from error
    return from_bytes(data, name=str(path))


def encode(obj: Object) -> msgspec.Raw:
    """Return an object as MessagePack."""
    return msgspec.Raw(msgspec.msgpack.encode(obj, enc_hook=encode_time))


def decode(kind: str, raw: msgspec.Raw) -> Object:
    """Return an object of the given kind from MessagePack."""
    if kind not in KINDS:
        raise msgspec.ValidationError(f"`{kind}` is not a kind of object")
    return msgspec.msgpack.decode(raw, type=ready(KINDS[kind]), dec_hook=decode_time)


def _store(saved: _Read) -> Store:
    store = Store()
    for kind, raw in saved.objects:
        obj = decode(kind, raw)
        store.objects.put((type(obj), obj.key), obj)
    for workload in _each(saved.workloads, Workload):
        store.workloads.put(workload.key, workload)
    for key, job in zip(saved.jobs, _each(saved.jobs.values(), dict[str, Any]), strict=True):
        store.jobs.put(key, job)
    for decision in _each(saved.admitted, Admitted):
        store.admitted.put(decision.workload, decision)
    return store


def _each(raws: Iterable[msgspec.Raw], cls: type[T]) -> Iterator[T]:
    return map(msgspec.msgpack.Decoder(ready(cls), dec_hook=decode_time).decode, raws)
