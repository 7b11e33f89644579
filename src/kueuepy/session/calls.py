"""The calls of a Scheduler as plain records, which a session executes, and a journal writes and repeats."""

from __future__ import annotations

import re
from functools import partial
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, Any, Union

import msgspec

from kueuepy.engine import cycle as engine_cycle
from kueuepy.errors import InvalidSpecError, path_text
from kueuepy.manifest.validation.update import same_spec
from kueuepy.objects import NamespacedObject, Object, Workload, decode_time, encode_time, ready
from kueuepy.objects.kinds import kind_of
from kueuepy.objects.readable import read_again
from kueuepy.objects.status import CheckState, FinishReason  # noqa: TC001 - msgspec reads it
from kueuepy.session import variants
from kueuepy.session.settling import settle
from kueuepy.session.store import PASSIVE, commit, executed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from typing_extensions import Self

    from kueuepy._core import Question
    from kueuepy.session.state import SchedulerState
    from kueuepy.session.store import Step

_WORD = re.compile("(?<=[a-z])(?=[A-Z])")


class Call(msgspec.Struct, frozen=True, tag_field="call", tag=str.lower, omit_defaults=True, gc=False):
    """A call of a Scheduler. The property `key` returns the name of the changed object, for readers of the journal."""

    def do(self, state: SchedulerState) -> Sequence[engine_cycle.Cycle]:
        """Execute the validated call, for the first time or when a journal is replayed.

        Returns:
            The cycles that the call ran.
        """
        return self.cycles_of(commit(self.steps(state)))

    def steps(self, state: SchedulerState) -> Sequence[Step]:
        """Return the steps that change the engine, and then the objects that are kept with it."""
        raise NotImplementedError

    def cycles_of(self, results: Sequence[Any]) -> Sequence[engine_cycle.Cycle]:  # noqa: ARG002 - most calls run none
        """Return the cycles that the call ran, from the results of its steps."""
        return ()

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


class Submit(Call, frozen=True):
    """Submit a workload; `count` is the number of workloads submitted before it, including rejected ones."""

    workload: Workload
    count: int
    job: dict[str, Any] | None = None
    single_pod: bool = False

    def steps(self, state: SchedulerState) -> Sequence[Step]:
        """Submit the workload."""
        return submitting(state, (self,), (None,))

    @property
    def key(self) -> str:
        """The key of the workload."""
        return self.workload.key


def submitting(state: SchedulerState, submits: Sequence[Submit], prepared: Sequence[Question | None]) -> Sequence[Step]:
    """Return the steps that submit workloads together; `prepared` are those that the core has already read."""
    store, workloads = state.own_store(), [one.workload for one in submits]
    single_pods = [one.single_pod or _is_of_single_pod(one.workload) for one in submits]
    jobs = {one.key: one.job for one in submits if one.job is not None}
    return (
        partial(state.engine.submit_all, workloads, single_pods, prepared),
        *store.workloads.putting({one.key: one for one in workloads}),
        *(store.jobs.putting(jobs) if jobs else ()),
        partial(setattr, state, "count", submits[-1].count + 1),
    )


class Apply(Call, frozen=True):
    """Create or change an object."""

    object: Object

    def steps(self, state: SchedulerState) -> Sequence[Step]:
        """Apply the object."""
        obj, known, store = self.object, state.find(self.object), state.own_store()
        if isinstance(obj, Workload):
            assert isinstance(known, Workload)
            changed, found = with_status_of(known, obj), state.id_of(obj.key)
            # Kueue itself may have deactivated the workload since it was applied.
            active = state.engine.status_details(found).active
            # Kueue queues an inadmissible workload again only after a change of its spec.
            is_new = not same_spec(msgspec.structs.replace(known, active=active), changed)
            update = partial(state.engine.update, found, changed, changed=is_new)
            return (update, *store.workloads.putting({obj.key: changed}))
        put = store.objects.putting({(type(obj), obj.key): obj})
        return put if isinstance(obj, PASSIVE) else (partial(state.engine.apply, obj, known != obj), *put)

    @property
    def key(self) -> str:
        """The kind and name of the object."""
        return f"{type(self.object).__name__} {self.object.key}"


class _WrittenApply(Call, frozen=True, tag="apply"):
    """The serialised form of an `Apply`, with the kind of the object."""

    kind: str
    object: msgspec.Raw
    name: str


class Remove(Call, frozen=True):
    """Delete an object."""

    kind: str
    name: str
    namespace: str = ""

    @classmethod
    def of(cls, obj: Object) -> Remove:
        """Return the call that deletes an object."""
        return cls(type(obj).__name__, obj.name, obj.namespace if isinstance(obj, NamespacedObject) else "")

    def steps(self, state: SchedulerState) -> Sequence[Step]:
        """Delete the object."""
        cls = kind_of(self.kind)
        key = f"{self.namespace}/{self.name}" if self.namespace else self.name
        drop = state.own_store().objects.dropping((cls, key))
        if issubclass(cls, PASSIVE):
            return drop
        return (partial(state.engine.delete_object, self.kind, self.namespace, self.name), *drop)

    @property
    def key(self) -> str:
        """The kind and name of the object."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class OfWorkload(Call, frozen=True):
    """A call that changes an existing workload."""

    workload: str

    def steps(self, state: SchedulerState) -> Sequence[Step]:
        """Change the workload."""
        return self.changing(state, state.engine.find(self.workload))

    def changing(self, state: SchedulerState, found: int) -> Sequence[Step]:
        """Return the steps that change the workload with the given id of the engine."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """The key of the workload."""
        return self.workload


class Finish(OfWorkload, frozen=True):
    """Mark a workload as finished."""

    reason: FinishReason = "Succeeded"
    message: str = ""

    def changing(self, state: SchedulerState, found: int) -> Sequence[Step]:
        """Finish the workload."""
        return (partial(state.engine.finish, found, self.reason, self.message),)


class Delete(OfWorkload, frozen=True):
    """Delete a workload."""

    def changing(self, state: SchedulerState, found: int) -> Sequence[Step]:
        """Delete the workload."""
        return (partial(state.engine.delete, found), *state.own_store().forgetting(self.workload))


def _expiring(state: SchedulerState) -> list[Step]:
    """Return the steps that delete the workloads whose retention is over."""
    configuration = state.configuration
    if configuration.object_retention_policies is None or not configuration.gates.get("ObjectRetentionPolicies", True):
        return []
    found = {number: state.engine.key(number) for number in state.engine.expired()}
    return [step for number, key in found.items() for step in Delete(key).changing(state, number)]


def _of_families(state: SchedulerState) -> list[Step]:
    """Return the steps that label parents, and create and delete variants (concurrent admission)."""
    if not state.configuration.gates.get(variants.GATE, False):
        return []
    engine, store = state.engine, state.own_store()
    steps: list[Step] = []
    for number in engine.family_changes()[1]:
        steps += Delete(engine.key(number)).changing(state, number)
    for number, variant in variants.missing_variants(engine, state.configuration, state.known):
        parent = state.known(number)
        if not variants.is_parent(parent):
            parent = variants.labelled(parent, active=variant.active)
            steps.append(partial(engine.update, number, parent, changed=False))
        made = msgspec.structs.replace(variant, creation_timestamp=state.now())
        steps.append(partial(engine.submit_all, [made], [False], (None,)))
        steps += store.workloads.putting({parent.key: parent, made.key: made})
    return steps


class SetCheck(OfWorkload, frozen=True):
    """Set the state of an admission check of a workload."""

    check: str
    state: CheckState
    message: str | None = None
    requeue_after_seconds: int | None = None
    pod_set_updates: tuple[dict[str, Any], ...] = ()

    def changing(self, state: SchedulerState, found: int) -> Sequence[Step]:
        """Set the state of the check."""
        updates = msgspec.json.encode(self.pod_set_updates).decode() if self.pod_set_updates else ""
        after = -1 if self.requeue_after_seconds is None else self.requeue_after_seconds
        return (partial(state.engine.set_check, found, self.check, self.state, self.message, after, updates),)


class PodsReady(OfWorkload, frozen=True):
    """Set whether the pods of a workload are ready."""

    ready: bool

    def changing(self, state: SchedulerState, found: int) -> Sequence[Step]:
        """Set whether the pods are ready."""
        return (partial(state.engine.set_pods_ready, found, self.ready),)


class StopJob(OfWorkload, frozen=True):
    """Set the time at which the pods of an evicted workload's job terminate, in nanoseconds since the Unix epoch."""

    at: int

    def changing(self, state: SchedulerState, found: int) -> Sequence[Step]:
        """Set the time of termination."""
        return (partial(state.engine.set_job_stop, found, self.at),)


class AwaitVictims(OfWorkload, frozen=True):
    """Mark a pending workload as waiting for workloads that it preempted, so that its queue considers it first."""

    def changing(self, state: SchedulerState, found: int) -> Sequence[Step]:
        """Mark the workload."""
        return (partial(state.engine.set_preemptor, found),)


class Reclaim(OfWorkload, frozen=True):
    """Set the reclaimable pods of a workload."""

    pods: int | dict[str, int]

    def changing(self, state: SchedulerState, found: int) -> Sequence[Step]:
        """Set the reclaimable pods."""
        names = [pod_set.name for pod_set in state.known(found).pod_sets]
        pods = {names[0]: self.pods} if isinstance(self.pods, int) else self.pods
        return (partial(state.engine.set_reclaimable, found, pods),)


class Controllers(Call, frozen=True):
    """Run Kueue's controllers before the controllers of admission checks are called."""

    def steps(self, state: SchedulerState) -> Sequence[Step]:
        """Run the controllers."""
        return (partial(state.engine.settle),)


class Advance(Call, frozen=True):
    """Set the virtual time to `now`, in nanoseconds since the Unix epoch."""

    now: int

    def steps(self, state: SchedulerState) -> Sequence[Step]:
        """Set the time."""
        return (partial(state.engine.set_now, self.now),)


class Cycle(Call, frozen=True):
    """Run one scheduling cycle."""

    def steps(self, state: SchedulerState) -> Sequence[Step]:
        """Run Kueue's controllers and one cycle, and keep the decisions for later explanations."""
        state.add_admissions()
        engine, decided = state.engine, state.decided
        # The steps run only in `commit`, which lets no signal come between the cycle and its decisions.
        run = executed((partial(engine.settle), partial(engine.decide, state.not_modelled)))
        if own := [*_expiring(state), *_of_families(state)]:
            run = chain(filterfalse(None, executed(own)), run)  # without the removed values
        return (partial(decided.extend, run), partial(decided.__getitem__, -1))

    def cycles_of(self, results: Sequence[Any]) -> Sequence[engine_cycle.Cycle]:
        """Return the cycle."""
        return [engine_cycle.Cycle(results[1])]


class Settle(Call, frozen=True):
    """Run cycles until nothing changes."""

    max_cycles: int | None = None

    def steps(self, state: SchedulerState) -> Sequence[Step]:
        """Run the cycles; this step alone executes Python."""
        waits = state.configuration.wait_for_pods_ready
        # Admission in one cohort tree then waits for the pods of another.
        apart = waits is None or not waits.block_admission
        return (partial(settle, state.engine, lambda: Cycle().do(state)[0], self.max_cycles, apart=apart),)

    def cycles_of(self, results: Sequence[Any]) -> Sequence[engine_cycle.Cycle]:
        """Return the cycles, a `Settled`."""
        settled: engine_cycle.Settled = results[0]
        return settled


def _is_of_single_pod(workload: Workload) -> bool:
    """Return whether one Pod without a group owns the workload (`pkg/workload/workload.go:OwnedBySinglePod`)."""
    if len(workload.owner_references) != 1:
        return False
    from kueuepy.jobs import keys  # noqa: PLC0415 - only jobs need it

    (owner,) = workload.owner_references
    grouped = workload.annotations.get(keys.IS_GROUP_WORKLOAD) == "true"
    return (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Pod") and not grouped


def with_status_of(known: Workload, obj: Workload) -> Workload:
    """Return a changed Workload with the previous status and creation time, as an API server stores it."""
    created = known.creation_timestamp
    return msgspec.structs.replace(obj, uid=obj.uid or known.uid, creation_timestamp=created, status=known.status)


def _kinds(of: type[Call]) -> Iterator[type[Call]]:
    """Yield the classes of calls as they are written; an `Apply` is written as a `_WrittenApply`."""
    for kind in of.__subclasses__():
        # An Apply contains an object of any kind, which no decoder can choose by itself.
        if kind not in (Apply, OfWorkload):
            yield kind
        yield from _kinds(kind)


_encoder = msgspec.json.Encoder(enc_hook=encode_time)
_decoder: msgspec.json.Decoder[Call] = msgspec.json.Decoder(
    ready(Union[tuple(_kinds(Call))]),  # noqa: UP007 - made of a tuple
    dec_hook=decode_time,
)


def encode(call: Call) -> str:
    """Return a call as JSON."""
    written = call
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
