"""What-if questions: decisions about hypothetical workloads, and comparisons with and without changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, overload

import msgspec

from kueuepy._core import Answers as CoreAnswers
from kueuepy._core import Question
from kueuepy.cluster.edit import edited_all
from kueuepy.cluster.patch import Existing, patched
from kueuepy.engine.decisions import Decision, Pending
from kueuepy.engine.records import NO_CONDITION
from kueuepy.errors import InvalidSpecError, NotFoundError, checked, checked_methods, counted, shown
from kueuepy.errors.kinds import not_copied
from kueuepy.explain import words
from kueuepy.look.notebook import Sheet, repr_html
from kueuepy.objects import HOSTNAME_LABEL, Configuration, Object, Workload
from kueuepy.session.changes import valid_submissions
from kueuepy.session.session import session_of
from kueuepy.session.submission import question_of_row

if TYPE_CHECKING:
    from typing_extensions import Self

    from kueuepy.cluster import Cluster
    from kueuepy.engine.cycle import Settled
    from kueuepy.session.session import Session
    from kueuepy.session.state import SchedulerState

Edit: TypeAlias = "Object | Configuration | Mapping[str, Any] | Callable[[Any], object]"
"""An edit: an object to apply, a Configuration to use, or a function that changes the Scheduler passed to it.

A mapping with a `kind` is a partial manifest, which is merged as `kubectl apply` does. Any other mapping contains
values by path, as `Cluster.edit_all` accepts them.
"""


# --- a workload ------------------------------------------------------------------------------------------------------


@checked_methods
class Answers(Sequence[Decision]):
    """The decisions about many workloads, each considered independently. A decision object is created on first access.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
        >>> scheduler.try_admit_many([{"name": f"job-{n}", "queue": "team", "cpu": n} for n in (1, 9)]).verdicts
        ('Admitted', 'Pending')
    """

    __slots__ = ("_answered",)
    __reduce__ = not_copied

    def __init__(self, answered: CoreAnswers) -> None:
        """Create Answers from the engine's records."""
        self._answered = answered

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decision, ...]: ...
    def __getitem__(self, index: int | slice) -> Decision | tuple[Decision, ...]:
        """Return one decision, or a tuple of decisions for a slice."""
        indices = range(len(self))[index]
        made = self._answered.__getitem__
        return made(indices) if isinstance(indices, int) else tuple(map(made, indices))

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self._answered)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """`Admitted`, `Preempting` or `Pending` for each workload, without creating decision objects."""
        return self._answered.verdicts

    def __repr__(self) -> str:
        """Return the number of decisions of each kind."""
        return f"<Answers: {dict(Counter(self.verdicts))}>"


def ask(state: SchedulerState, items: Iterable[Any]) -> Answers:
    """Return the decision that a cycle would make about each item, considered independently of the other items.

    Raises:
        InvalidSpecError: `items` is not an iterable of items, or an item is not valid.
    """
    if isinstance(items, Question):
        raise InvalidSpecError("try_admit_many: is one Question; give a list of them, or use try_admit")
    if not isinstance(items, Iterable) or isinstance(items, str | bytes):
        raise InvalidSpecError(f"try_admit_many: {items!r:.99} is not a list of workloads, Questions, jobs or rows")
    subjects = [subject for item in items for subject in _subjects(state, item)]
    return Answers(state.engine.ask(subjects, state.not_modelled))


def ask_one(state: SchedulerState, item: Any) -> Decision:
    """Return the decision that a cycle would make about one item."""
    return state.engine.ask((one(_subjects(state, item)),), state.not_modelled)[0]


def _subjects(state: SchedulerState, item: Any) -> Sequence[Question | Workload | int]:
    """Return the workloads of an item for the engine. A job can have several workloads."""
    if isinstance(item, Question):
        return (item,)
    if isinstance(item, str):
        return (state.id_of(item),)
    # The core reads plain rows itself, which is much faster than making a Workload.
    row = question_of_row(item, state.covered) if type(item) is dict else None
    return _workloads(state, item) if row is None else (row,)


def _workloads(state: SchedulerState, item: Any) -> list[Workload]:
    return [one.workload for one in valid_submissions(state, [item], keep_status=True)]


def question(state: SchedulerState, item: Any) -> Question:
    """Return the parsed workload of an item."""
    if isinstance(item, str):
        return Question(state.workload(item))
    found = one(_subjects(state, item))
    return found if isinstance(found, Question) else Question(found)


def one(found: Sequence[Any]) -> Any:
    """Return the only item of a sequence.

    Raises:
        InvalidSpecError: The sequence does not contain exactly one item.
    """
    if len(found) != 1:
        raise InvalidSpecError(f"try_admit: these are {len(found)} workloads; it must be one: use try_admit_many")
    return found[0]


def largest_count(state: SchedulerState, item: Any, *, pod_set: str | None, preempting: bool) -> int:
    """Return a pod count n such that the pod set would be admitted with n pods, but not with n + 1."""
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
    """Return the largest number of pods in the pod set that would be admitted.

    Raises:
        NotFoundError: The largest count is 0 because the workload's queue does not exist.
    """
    count = state.engine.largest_count(asked, pod_set, preempting)
    # A queue that does not exist also gives 0, but is a mistake in the question.
    if count == 0:
        answer = state.engine.ask_one(asked, ())
        if isinstance(answer, Pending) and not answer.cluster_queue:
            raise NotFoundError(f'Workload "{asked.key}": {answer.message}; it must name a queue that is there')
    return count


# --- an edit ---------------------------------------------------------------------------------------------------------


class Outcome(msgspec.Struct, frozen=True):
    """The outcome for one workload: its status, reason and flavors.

    Attributes:
        status: `Pending` (also after an eviction), `QuotaReserved`, `Admitted`, `Evicted` (while the workload still
            holds quota), `Finished`, or `Gone` if the workload was deleted.
        flavors: The flavor of each resource by pod set; empty if the workload has no quota.
        reason: The reason why the workload is pending, in Kueue's spelling; `preempted and admitted again` if it has
            the same quota as without the edits, but its pods start again; otherwise an empty string.
        pods: The admitted and the requested number of pods, by pod set that is admitted with fewer pods.

    Example:
        >>> Outcome("Pending", reason="WaitingForQuota").flavors
        {}
    """

    status: str
    flavors: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    reason: str = ""
    pods: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)


class Change(msgspec.Struct, frozen=True):
    """A workload whose outcome with the edits differs from the outcome without them.

    Attributes:
        workload: The key of the workload.
        before: The outcome without the edits.
        after: The outcome with the edits.

    Example:
        >>> Change("default/job", Outcome("Pending"), Outcome("Admitted")).after.status
        'Admitted'
    """

    workload: str
    before: Outcome
    after: Outcome


class Runs(Protocol):
    """The methods and attributes of a Scheduler that this module uses."""

    _session: Session

    @property
    def cluster(self) -> Cluster:
        """The declared objects, without Workloads."""

    @property
    def configuration(self) -> Configuration:
        """Kueue's Configuration."""

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """The parts of the input that kueuepy does not model."""

    def workload(self, key: str) -> Workload:
        """Return the Workload with the given key."""

    def fork(self) -> Self:
        """Return an independent copy."""

    def keys(self) -> tuple[str, ...]:
        """Return the keys of all workloads."""

    def apply(self, *objects: Object) -> None:
        """Create or change objects."""

    def settle(self) -> Settled:
        """Run cycles until nothing changes."""

    def advance(self, duration: float) -> None:
        """Advance the virtual time."""

    def try_admit_many(self, items: Iterable[Any]) -> Answers:
        """Return the decision about each workload."""

    def with_configuration(self, configuration: Configuration) -> Self:
        """Return a copy with another Configuration."""


R = TypeVar("R", bound=Runs)
_MOST_UNCHANGED = 5


@checked_methods
@dataclass(frozen=True)
class Difference(Generic[R]):
    """The workloads whose outcomes with and without the edits differ, compared after both Schedulers have settled.

    A pickle contains both Schedulers as `save` writes them, without functions that answer admission checks.

    Attributes:
        changes: The workloads whose outcomes with and without the edits differ, in the order of submission.
        before: The Scheduler without the edits, after it has settled.
        after: The Scheduler with the edits, after it has settled.
        remarks: One sentence per node that the edits make unready or remove, with the workloads that had pods on it.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
        >>> keys = scheduler.submit({"name": "job", "queue": "team", "cpu": 6})
        >>> scheduler.whatif({"ClusterQueue/team:quota[f/cpu].nominalQuota": 8}).admitted
        ('default/job',)
    """

    changes: tuple[Change, ...]
    before: R
    after: R
    remarks: tuple[str, ...] = ()

    @property
    def admitted(self) -> tuple[str, ...]:
        """The keys of the workloads that have quota only with the edits."""
        return tuple(c.workload for c in self.changes if c.after.flavors and not c.before.flavors)

    @property
    def lost(self) -> tuple[str, ...]:
        """The keys of the workloads that have quota only without the edits."""
        return tuple(c.workload for c in self.changes if c.before.flavors and not c.after.flavors)

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """Parts of the input that kueuepy does not model and that could change a decision."""
        sides = (self.before, self.after)
        return tuple(dict.fromkeys(text for side in sides for text in side.not_modelled))

    def unchanged(self) -> tuple[str, ...]:
        """Return a sentence for each workload that is pending with and without the edits, with the reason."""
        changed, state = {change.workload for change in self.changes}, session_of(self.after).state
        keys = [one for one in self.after.keys() if outcome(state, one).status == "Pending" and one not in changed]  # noqa: SIM118
        return tuple(map(_still_pending, self.after.try_admit_many(keys)))

    def __len__(self) -> int:
        """Return the number of workloads whose outcomes with and without the edits differ."""
        return len(self.changes)

    def __str__(self) -> str:
        """Return the parts of the input that kueuepy does not model, followed by the changes and the remarks."""
        said = [f"not modelled: {text}" for text in self.not_modelled]
        lines = [f"{c.workload}: {outcome_text(c.before)} → {outcome_text(c.after)}" for c in self.changes]
        lines = lines or ["nothing changes", *self.unchanged()[:_MOST_UNCHANGED]]
        return "\n".join([*said, *lines, *self.remarks])

    def sheets(self) -> tuple[Sheet]:
        """Return a table with one row per change."""
        rows = [(c.workload, outcome_text(c.before), outcome_text(c.after)) for c in self.changes]
        return (Sheet(("workload", "before", "after"), rows),)

    _repr_html_ = repr_html


def _still_pending(answer: Decision) -> str:
    if isinstance(answer, Pending):
        return f"{answer.workload} stays pending: {answer.reason}: {answer.message}"
    return f"{answer.workload} fits, but stays pending: {words.untried()}"


def outcome_text(outcome: Outcome) -> str:
    """Format the outcome of a workload, with its flavors and missing pods or the reason why it is pending."""
    flavors = sorted({flavor for flavors in outcome.flavors.values() for flavor in flavors.values()})
    fewer = [f"{count} of {counted(most, 'pod')}" for count, most in outcome.pods.values()]
    detail = "; ".join(filter(None, [", ".join(fewer), ", ".join(flavors), outcome.reason]))
    return f"{outcome.status} ({detail})" if detail else outcome.status


def outcome(state: SchedulerState, key: str) -> Outcome:
    """Return the current outcome for a workload."""
    engine = state.engine
    found = engine.find(key)
    if found < 0:
        return Outcome("Gone")
    conditions, admission = engine.conditions(found), engine.admission(found)
    holds = {name for name, condition in conditions.items() if condition.is_true}
    if "Finished" in holds:
        return Outcome("Finished")
    if admission is None:
        return Outcome("Pending", reason=conditions.get("QuotaReserved", NO_CONDITION).reason)
    # An evicted workload stays Admitted until its pods have stopped.
    status = next((name for name in ("Evicted", "Admitted") if name in holds), "QuotaReserved")
    flavors = {one.name: {r: flavor for r, (flavor, _) in one.resources.items()} for one in admission.pod_sets}
    most = {one.name: one.count for one in state.known(found).pod_sets}
    fewer = {one.name: (one.pods, most[one.name]) for one in admission.pod_sets if one.pods < most[one.name]}
    return Outcome(status, flavors, pods=fewer)


_FREED_AFTER = 10
"""Seconds after which Kueue has tried workloads again that wait for the capacity of ended pods.

Source: `pkg/controller/tas/pod_usage_controller.go`.
"""


_REPLACED_AFTER = 40
"""Seconds after which Kueue has handled a failed node: after 30 s without readiness, and the retry that follows.

Source: `pkg/controller/tas/node_controller.go`.
"""


def difference(scheduler: R, edits: Iterable[Edit]) -> Difference[R]:
    """Compare the settled states with and without edits; 10 s later if the edits change pods, 40 s if nodes fail."""
    before, after = scheduler.fork(), scheduler.fork()
    for edit in edits:
        after = edited(after, edit)
    # Without this, changes that the next cycles make anyway would count as effects of the edits.
    preempted = [set(side.settle().preempted) for side in (before, after)]
    failed = _ready(before) - _ready(after)
    on_nodes = _on_nodes(before, failed)
    if on_nodes or before.cluster.pods != after.cluster.pods:
        for side, known in zip((before, after), preempted, strict=True):
            side.advance(_REPLACED_AFTER if on_nodes else _FREED_AFTER)
            known.update(side.settle().preempted)
    keys = dict.fromkeys((*before.keys(), *after.keys()))
    pairs = [(key, outcome(session_of(before).state, key), outcome(session_of(after).state, key)) for key in keys]
    again = preempted[1] - preempted[0]
    pairs = [(key, one, _again(one, other) if key in again else other) for key, one, other in pairs]
    remarks = (
        f"node {node} is removed or not ready, with pods of {', '.join(names)}: Kueue replaces them on another node or "
        f"evicts the workload within {_REPLACED_AFTER} s, or later, when they have terminated"
        for node, names in on_nodes.items()
    )
    changes = tuple(Change(*pair) for pair in pairs if _differs(*pair[1:]))
    return Difference(changes, before, after, tuple(remarks))


def _ready(scheduler: Runs) -> frozenset[str]:
    return frozenset(node.name for node in scheduler.cluster.nodes if node.ready)


def _on_nodes(scheduler: Runs, nodes: frozenset[str]) -> dict[str, list[str]]:
    """Return the admitted workloads with pods on each of the nodes."""
    found: dict[str, list[str]] = {}
    for key in scheduler.keys() if nodes else ():
        status = scheduler.workload(key).status
        admitted = status.admission.pod_set_assignments if status and status.admission else ()
        places = (one.topology_assignment for one in admitted if one.topology_assignment)
        # Kueue handles failures only where a topology ends with nodes.
        domains = (domain for place in places if place.levels[-1] == HOSTNAME_LABEL for domain in place.domains)
        for node in sorted({domain.values[-1] for domain in domains} & nodes):
            found.setdefault(node, []).append(key)
    return found


def _again(before: Outcome, after: Outcome) -> Outcome:
    """Return the outcome of a workload that is preempted only with the edits, and may have the same quota again."""
    is_back = before == after and after.flavors
    return Outcome(after.status, after.flavors, "preempted and admitted again", after.pods) if is_back else after


def _differs(before: Outcome, after: Outcome) -> bool:
    """Return whether two outcomes differ; a pending workload that a cycle evaluated on one side only is as pending."""
    is_pending = before.status == after.status == "Pending"
    return before != after and not (is_pending and not (before.reason and after.reason))


def edited(scheduler: R, edit: Edit) -> R:
    """Return the Scheduler after an edit: a new Scheduler if the Configuration changes, otherwise the given one.

    Raises:
        InvalidSpecError: The edit is not valid.
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
            f"whatif: {shown(edit)} is not an edit; it must be an object, a Configuration, a manifest of the fields to "
            "change, values by path, or a function"
        )
    return scheduler


def _edited_by(scheduler: R, edit: Mapping[str, Any]) -> R:
    """Return the Scheduler after a partial manifest or values by path have been applied."""
    if "kind" in edit:
        scheduler.apply(patched(existing_in(scheduler), edit).object)
        return scheduler
    objects = existing_in(scheduler).all()
    changed, configuration = edited_all(objects, scheduler.configuration, edit)
    found = scheduler.with_configuration(configuration) if configuration else scheduler
    found.apply(*changed)
    return found


def existing_in(scheduler: Runs) -> Existing:
    """Return the declared objects, and the Workloads with their current status."""
    store = session_of(scheduler).state.store

    def find(cls: type[Object], key: str) -> Object | None:
        if cls is Workload:
            return scheduler.workload(key) if store.workloads.get(key) else None
        return store.objects.get((cls, key))

    return Existing(find, lambda: [*scheduler.cluster.objects(), *map(scheduler.workload, scheduler.keys())])


@checked
def workloads_over_quota(scheduler: Runs, *edits: Edit) -> tuple[str, ...]:
    """Return the workloads that would have to be removed after edits so that every queue is within its quota.

    Kueue does not evict workloads when quota is reduced: usage stays above quota until workloads finish
    (kubernetes-sigs/kueue#5176). The workloads are chosen in the order in which a preemptor would choose them: first
    workloads of queues that borrow, then workloads with lower priority, then workloads with a later quota reservation.
    The result is minimal: if any of these workloads were kept, some queue would exceed its quota.

    Args:
        scheduler: The Scheduler, which does not change.
        edits: The edits, as `Scheduler.whatif` accepts them. Default: none.

    Returns:
        The keys of the workloads, in the order in which to drain them.

    Raises:
        InvalidSpecError: An edit is not valid.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
        >>> _ = scheduler.submit({"name": "job", "queue": "team", "cpu": 4}), scheduler.settle()
        >>> workloads_over_quota(scheduler, {"ClusterQueue/team:quota[f/cpu].nominalQuota": 2})
        ('default/job',)
    """
    trial = scheduler.fork()
    for edit in edits:
        trial = edited(trial, edit)
    return tuple(session_of(trial).engine.must_leave())
