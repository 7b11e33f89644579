"""What if: questions about workloads that are not there, and about changes that nobody has made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, overload

import msgspec

from kueuepy._core import Answers as CoreAnswers
from kueuepy._core import Engine, Question
from kueuepy.cluster.edit import edited_all
from kueuepy.cluster.patch import patched
from kueuepy.decisions import Decision, Pending
from kueuepy.engine.decided import from_record
from kueuepy.engine.workloads import NO_CONDITION, admission_of, conditions_of
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.errors.problems import shown
from kueuepy.notebook import Sheet, repr_html
from kueuepy.objects import Configuration, Object, Workload
from kueuepy.session.workloads import valid_submissions

if TYPE_CHECKING:
    from typing_extensions import Self

    from kueuepy.cluster import Cluster
    from kueuepy.engine.facts import DecisionRecord
    from kueuepy.session.state import SchedulerState

Edit: TypeAlias = "Object | Configuration | Mapping[str, Any] | Callable[[Any], object]"
"""An object to apply, a Configuration to run under, or a function that changes the Scheduler which it is given.

A mapping with a `kind` is a manifest with the fields to change, which is merged as `kubectl apply` does; any other
mapping has values by path, as `Cluster.edit_all` takes them.
"""


# --- a workload ------------------------------------------------------------------------------------------------------


@checked_methods
class Answers(Sequence[Decision]):
    """What would be decided about each of many workloads alone; a decision is made when it is looked at."""

    __slots__ = ("_answered", "_not_modelled")

    def __init__(self, answered: CoreAnswers, not_modelled: Mapping[int, tuple[str, ...]] | None = None) -> None:
        """Holds what the engine has answered, and what is not modelled of whom, by position."""
        self._answered = answered
        self._not_modelled = not_modelled or {}

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decision, ...]: ...
    def __getitem__(self, index: int | slice) -> Decision | tuple[Decision, ...]:
        """One decision, or several."""
        places = range(len(self))[index]
        return self._made(places) if isinstance(places, int) else tuple(map(self._made, places))

    def _made(self, place: int) -> Decision:
        return _decision(self._answered[place], self._not_modelled.get(place, ()))

    def __len__(self) -> int:
        """How many were asked about."""
        return len(self._answered)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """`Admitted`, `Preempting` or `Pending` for each, without making the decisions."""
        return tuple(self._answered.verdict(place) for place in range(len(self)))

    def __repr__(self) -> str:
        """The answers in numbers."""
        return f"<Answers: {dict(Counter(self.verdicts))}>"


def ask(state: SchedulerState, items: Iterable[Any]) -> Answers:
    """What a cycle would answer about each item alone.

    Raises:
        InvalidSpecError: They are nothing that has items.
    """
    if isinstance(items, Question):
        raise InvalidSpecError("try_admit_many: is one Question; give a list of them, or use try_admit")
    if not isinstance(items, Iterable) or isinstance(items, str | bytes):
        raise InvalidSpecError(f"try_admit_many: {items!r} is no list of workloads, Questions, jobs or rows")
    subjects = [subject for item in items for subject in _subjects(state, item)]
    outside = ((place, _not_modelled(state, subject)) for place, subject in enumerate(subjects))
    return Answers(state.engine.ask(subjects), {place: texts for place, texts in outside if texts})


def ask_one(state: SchedulerState, item: Any) -> Decision:
    """What a cycle would answer about one item alone."""
    subject = one(_subjects(state, item))
    return _decision(state.engine.ask_one(subject), _not_modelled(state, subject))


def _decision(record: DecisionRecord, not_modelled: tuple[str, ...]) -> Decision:
    return from_record(record, {record[1]: not_modelled})


def _not_modelled(state: SchedulerState, subject: Question | Workload | int) -> tuple[str, ...]:
    asked = state.store.workloads.get(state.engine.key(subject)) if isinstance(subject, int) else subject
    return () if asked is None else asked.not_modelled


def _subjects(state: SchedulerState, item: Any) -> Sequence[Question | Workload | int]:
    """What the engine is to be asked about: a job may be several workloads."""
    if isinstance(item, Question):
        return (item,)
    if isinstance(item, str):
        return (state.id_of(item),)
    return _workloads(state, item)


def _workloads(state: SchedulerState, item: Any) -> list[Workload]:
    """The workloads of an item, as valid as they must be to be submitted; with the status that they have."""
    return [one.workload for one in valid_submissions(state, [item], keep_status=True)]


def question(state: SchedulerState, item: Any) -> Question:
    """The one workload of an item, read once."""
    if isinstance(item, Question):
        return item
    if isinstance(item, str):
        return Question(state.workload(item))
    return Question(one(_workloads(state, item)))


def one(found: Sequence[Any]) -> Any:
    """The only item of several.

    Raises:
        InvalidSpecError: There are none, or several.
    """
    if len(found) != 1:
        raise InvalidSpecError(f"try_admit: these are {len(found)} workloads; it must be one: use try_admit_many")
    return found[0]


def largest_count(state: SchedulerState, item: Any, *, pod_set: str | None, preempting: bool) -> int:
    """A number of pods that would be admitted while one more would not."""
    if isinstance(item, Question):
        if pod_set is not None:
            raise InvalidSpecError("largest_count: of a Question only the first pod set grows; give the workload")
        return _largest(state, item, 0, preempting=preempting)
    workload = state.workload(item) if isinstance(item, str) else None
    workload = workload or one(_workloads(state, item))
    names = [known.name for known in workload.pod_sets]
    if pod_set is not None and pod_set not in names:
        raise NotFoundError(f'Workload "{workload.key}": "{pod_set}" names no pod set; it must be one of {names}')
    index = 0 if pod_set is None else names.index(pod_set)
    return _largest(state, Question(workload), index, preempting=preempting)


def _largest(state: SchedulerState, asked: Question, pod_set: int, *, preempting: bool) -> int:
    """The number, unless it is none as there is nobody to give quota."""
    count = state.engine.largest_count(asked, pod_set, preempting)
    if count == 0:
        answer = from_record(state.engine.ask_one(asked))
        if isinstance(answer, Pending) and not answer.cluster_queue:
            raise NotFoundError(f'Workload "{asked.key}": {answer.message}; it must name a queue that is there')
    return count


# --- an edit ---------------------------------------------------------------------------------------------------------


class Outcome(msgspec.Struct, frozen=True):
    """How it ends for one workload.

    Attributes:
        status: `Pending`, also after an eviction; `QuotaReserved`, `Admitted`, or `Evicted` as long as it holds its
            quota; `Finished`; or `Gone` if it was deleted.
        flavors: The flavor of each resource, by pod set; empty without quota.
        reason: Why it waits, in Kueue's word; empty if it doesn't.
    """

    status: str
    flavors: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    reason: str = ""


class Change(msgspec.Struct, frozen=True):
    """A workload for which something else is decided.

    Attributes:
        workload: Its key.
        before: How it ends without the edit.
        after: How it ends with it.
    """

    workload: str
    before: Outcome
    after: Outcome


class Runs(Protocol):
    """What is asked of a Scheduler here."""

    @property
    def engine(self) -> Engine:
        """The engine."""

    @property
    def cluster(self) -> Cluster:
        """The declared objects, without Workloads."""

    @property
    def configuration(self) -> Configuration:
        """The policies."""

    def workload(self, key: str) -> Workload:
        """The Workload of a key."""

    def fork(self) -> Self:
        """One with the same state."""

    def keys(self) -> tuple[str, ...]:
        """The keys of all workloads."""

    def apply(self, *objects: Object) -> None:
        """Creates the objects, or changes those that are there."""

    def settle(self) -> object:
        """Runs cycles until nothing changes."""

    def with_configuration(self, configuration: Configuration) -> Self:
        """One with the same objects and workloads under another Configuration."""


R = TypeVar("R", bound=Runs)


@checked_methods
@dataclass(frozen=True)
class Difference(Generic[R]):
    """What an edit changes, both sides settled.

    A pickle of it has both Schedulers as they were saved, without functions that answer checks.

    Attributes:
        changes: The workloads for which something else is decided, in the order of submission.
        before: The Scheduler without the edit, settled.
        after: The Scheduler with it, settled.
    """

    changes: tuple[Change, ...]
    before: R
    after: R

    @property
    def admitted(self) -> tuple[str, ...]:
        """The workloads that have quota with the edit only."""
        return tuple(c.workload for c in self.changes if c.after.flavors and not c.before.flavors)

    @property
    def lost(self) -> tuple[str, ...]:
        """The workloads that have quota without the edit only."""
        return tuple(c.workload for c in self.changes if c.before.flavors and not c.after.flavors)

    def __len__(self) -> int:
        """For how many workloads something else is decided."""
        return len(self.changes)

    def __str__(self) -> str:
        """A line for each change."""
        lines = [f"{c.workload}: {_describe(c.before)} → {_describe(c.after)}" for c in self.changes]
        return "\n".join(lines) or "nothing changes"

    def sheets(self) -> tuple[Sheet]:
        """The changes, one a row."""
        rows = [(c.workload, _describe(c.before), _describe(c.after)) for c in self.changes]
        return (Sheet(("workload", "before", "after"), rows),)

    _repr_html_ = repr_html


def _describe(outcome: Outcome) -> str:
    flavors = sorted({flavor for flavors in outcome.flavors.values() for flavor in flavors.values()})
    return f"{outcome.status} ({', '.join(flavors) or outcome.reason})" if flavors or outcome.reason else outcome.status


def outcome(engine: Engine, key: str) -> Outcome:
    """Where a workload is now."""
    found = engine.find(key)
    if found < 0:
        return Outcome("Gone")
    conditions, admission = conditions_of(engine, found), admission_of(engine, found)
    holds = {name for name, condition in conditions.items() if condition.is_true}
    if "Finished" in holds:
        return Outcome("Finished")
    if admission is None:
        return Outcome("Pending", reason=conditions.get("QuotaReserved", NO_CONDITION).reason)
    status = next((name for name in ("Evicted", "Admitted") if name in holds), "QuotaReserved")
    flavors = {one.name: {r: flavor for r, (flavor, _) in one.resources.items()} for one in admission.pod_sets}
    return Outcome(status, flavors)


def difference(scheduler: R, edits: Iterable[Edit]) -> Difference[R]:
    """What is decided otherwise after the edits, both sides settled."""
    before, after = scheduler.fork(), scheduler.fork()
    for edit in edits:
        after = edited(after, edit)
    before.settle()
    after.settle()
    keys = dict.fromkeys((*before.keys(), *after.keys()))
    pairs = [(key, outcome(before.engine, key), outcome(after.engine, key)) for key in keys]
    return Difference(tuple(Change(*pair) for pair in pairs if pair[1] != pair[2]), before, after)


def edited(scheduler: R, edit: Edit) -> R:
    """The Scheduler after an edit; the same one, but under another Configuration.

    Raises:
        InvalidSpecError: It is no edit.
    """
    if isinstance(edit, Configuration):
        return scheduler.with_configuration(edit)
    if isinstance(edit, Object):
        scheduler.apply(edit)
    elif isinstance(edit, Mapping):
        return _edited_by(scheduler, edit)
    elif callable(edit):
        edit(scheduler)
    else:
        raise InvalidSpecError(
            f"whatif: {shown(edit)} is no edit; it must be an object, a Configuration, a manifest of the fields to "
            "change, values by path, or a function"
        )
    return scheduler


def _edited_by(scheduler: R, edit: Mapping[str, Any]) -> R:
    """Return the Scheduler after a partial manifest, or after values by path."""
    objects = objects_of(scheduler)
    if "kind" in edit:
        scheduler.apply(patched(objects, edit).object)
        return scheduler
    changed, configuration = edited_all(objects, scheduler.configuration, edit)
    found = scheduler.with_configuration(configuration) if configuration else scheduler
    found.apply(*changed)
    return found


def objects_of(scheduler: Runs) -> list[Object]:
    """Return the declared objects, and the Workloads with the status that they have now."""
    return [*scheduler.cluster.objects(), *map(scheduler.workload, scheduler.keys())]


@checked
def workloads_over_quota(scheduler: Runs, *edits: Edit) -> tuple[str, ...]:
    """The workloads that would have to leave for every queue to be within its quota after edits.

    Kueue evicts nobody when quota shrinks: usage stays above quota until workloads finish (kubernetes-sigs/kueue#5176).
    These are the ones that a preemptor would choose: of queues that borrow first, then lower priority, then later
    reservation; none of them can be spared.

    Returns:
        Their keys, in the order in which they would be drained.
    """
    trial = scheduler.fork()
    for edit in edits:
        trial = edited(trial, edit)
    return tuple(trial.engine.must_leave())
