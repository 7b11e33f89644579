# ruff: noqa: A002, PYI021 - the names are the core's; the docstrings are for readers of the stub
"""Kueue's admission, in C++. Use it through kueuepy."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from kueuepy.engine.facts import (
    ConditionRecord,
    DecisionRecord,
    FactsView,
    PodSetAdmissionRecord,
    ShareView,
    StatusRecord,
)
from kueuepy.engine.inventory import EventView, PendingView
from kueuepy.engine.places import TreeRecord
from kueuepy.objects import Configuration, LimitRange, Object, RuntimeClass, Workload
from kueuepy.objects.status import CheckState, FinishReason

FEATURE_GATES: dict[str, bool]
EVENT_KINDS: tuple[str, ...]
"""The feature gates that change decisions, by Kueue's names, and whether each is on by default."""

@final
class Quantity:
    """An exact amount of a resource, as Kubernetes writes it: 500m, 64Gi, 1e3."""

    def __init__(self, value: str | int) -> None: ...
    def __add__(self, other: Quantity, /) -> Quantity: ...
    def __sub__(self, other: Quantity, /) -> Quantity: ...
    def __mul__(self, other: int) -> Quantity: ...
    def __neg__(self) -> Quantity: ...
    def __bool__(self) -> bool: ...
    def __float__(self) -> float: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Quantity, /) -> bool: ...
    def __le__(self, other: Quantity, /) -> bool: ...
    def __gt__(self, other: Quantity, /) -> bool: ...
    def __ge__(self, other: Quantity, /) -> bool: ...
    @property
    def as_cpu(self) -> int:
        """Thousandths, as a request of cpu counts: rounded up, clamped to int64."""
    @property
    def as_units(self) -> int:
        """Whole units, as a request of anything but cpu counts: rounded up, clamped to int64."""
    @property
    def format_name(self) -> Literal["DecimalSI", "BinarySI", "DecimalExponent"]:
        """DecimalSI, BinarySI or DecimalExponent."""
    def request(self, resource: str) -> int:
        """The integer of a request or of usage (pkg/resources/requests.go:ResourceValue)."""
    def quota(self, resource: str) -> int:
        """The integer of a quota; 2**63 - 1 is Unlimited (pkg/resources/amount.go:AmountFromQuantity)."""
    @staticmethod
    def format(resource: str, value: int, as_bytes: bool = False) -> str:
        """The text of a scheduler's integer (pkg/resources/resource_formatter.go:ResourceQuantityString)."""
    @staticmethod
    def printed(text: str) -> str:
        """The text that Kubernetes prints for a quantity read from `text`: some odd spellings are kept."""

def pod_requests(
    template: dict[str, Any],
    *,
    runtime_classes: Iterable[RuntimeClass] = (),
    limit_ranges: Iterable[LimitRange] = (),
    configuration: Configuration | None = None,
) -> dict[str, int]:
    """What one pod of the template counts as: the scheduler's integer of each resource, in the order of visits."""

def pod_errors(
    template: dict[str, Any],
    *,
    path: str = "template",
    runtime_classes: Iterable[RuntimeClass] = (),
    limit_ranges: Iterable[LimitRange] = (),
) -> tuple[list[str], list[str]]:
    """Why a pod of the template could not be created: requests above limits, and what LimitRanges forbid."""

def pod_shape(
    template: dict[str, Any],
    *,
    runtime_classes: Iterable[RuntimeClass] = (),
    limit_ranges: Iterable[LimitRange] = (),
) -> bytes:
    """What makes two templates alike for the scheduler; equal only for those that are."""

class Engine:
    """The engine: all state and every rule. Calls on one are serialised; forks share their state until one changes."""

    def __init__(self, configuration: Configuration | None = None) -> None: ...
    @staticmethod
    def load(data: bytes) -> Engine:
        """The engine that `save` has written."""
    def save(self) -> bytes:
        """All of its state."""
    def fork(self) -> Engine:
        """An engine with the same state; what happens to one of the two is not seen by the other."""
    def check(self) -> list[str]:
        """What is inconsistent in its state; nothing, unless there is a bug."""
    # What happens to it.
    def apply(self, object: Object, changed: bool = True) -> None:
        """An object is created or changed; `changed` tells whether its spec differs from what was applied before."""
    def apply_node(self, node: dict[str, Any]) -> None:
        """A Node is so from now on, as `kubectl get -o json` prints it."""
    def apply_pod(self, pod: dict[str, Any]) -> None:
        """A Pod of the cluster is so from now on, in the same form; only what runs on nodes counts."""
    def delete_object(self, kind: str, namespace: str, name: str) -> None:
        """An object is deleted; the namespace is empty for kinds without one."""
    def submit(self, workload: Workload, single_pod: bool = False) -> int:
        """A workload is created, perhaps as that of one pod alone; the answer is its id."""
    def update(self, id: int, workload: Workload, changed: bool = True) -> None:
        """A workload was written; `changed` tells whether its spec differs."""
    def finish(self, id: int, reason: FinishReason = "Succeeded", message: str = "") -> None:
        """A workload's job is done."""
    def delete(self, id: int) -> None:
        """A workload is deleted."""
    def set_check(
        self,
        id: int,
        check: str,
        state: CheckState,
        message: str | None = None,
        requeue_after_seconds: int | None = None,
        pod_set_updates: str | None = None,
    ) -> None:
        """An admission check says something of a workload.

        What is not given stays as it is; seconds below 0 and updates without text (they are JSON) are none.
        """
    def set_pods_ready(self, id: int, ready: bool) -> None:
        """The pods of a workload's job are ready, or not."""
    def set_job_stop(self, id: int, at: int) -> None:
        """Set when the pods of a workload's job end after an eviction; until then it keeps its quota."""
    def set_preemptor(self, id: int) -> None:
        """Make a pending workload the one that its queue tries first, because it waits for preempted workloads."""
    def set_reclaimable(self, id: int, reclaimable: Mapping[str, int]) -> None:
        """So many pods of each pod set no longer need their quota."""
    def hold_retries(self, hold: bool) -> None:
        """Choose whether notified trees wait for `retry`, instead of being retried by the next cycle."""
    def notified_trees(self) -> list[str]:
        """Return the trees of cohorts whose inadmissible workloads are to be retried."""
    def retry(self, trees: set[str]) -> None:
        """Return the inadmissible workloads of these trees, if they were notified, to their queues."""
    def set_stop_delay(self, delay: int) -> None:
        """For how long, in nanoseconds, the job of an evicted workload takes to stop."""
    def set_now(self, now: int) -> None:
        """The time, in nanoseconds since the Unix epoch; it never goes back."""
    @property
    def now(self) -> int:
        """The time."""
    def settle(self, all_devices: bool = False) -> None:
        """Kueue's controllers run until nothing changes."""
    @property
    def byte_resources(self) -> set[str]:
        """Logical resources of devices whose amounts are printed with binary suffixes."""
    def cycle(self) -> tuple[bool, int, int, bool]:
        """One scheduling cycle: whether it was idle, how many were admitted and evicted, whether anything moved."""
    @property
    def is_blocked(self) -> bool:
        """Whether a cycle is under way that waits for pods to be ready (`blockAdmission`)."""
    def decide(self) -> Decisions:
        """One scheduling cycle, with what it decided about each head."""
    # What it knows.
    def ids(self) -> list[int]:
        """The ids of all workloads, in the order of submission."""
    def find(self, key: str) -> int:
        """The id of a workload by its `namespace/name`; -1 if there is none."""
    def key(self, id: int) -> str:
        """The `namespace/name` of a workload."""
    def condition(self, id: int, type: str) -> ConditionRecord | None:
        """One condition of a workload."""
    def conditions(self, id: int) -> dict[str, ConditionRecord]:
        """All conditions of a workload."""
    def admission(self, id: int) -> tuple[str, tuple[PodSetAdmissionRecord, ...]] | None:
        """The ClusterQueue of a workload's admission, and what each pod set got."""
    def unhealthy_nodes(self, id: int) -> list[str]:
        """Nodes of a workload's topology assignment that failed."""
    def status_details(self, id: int) -> StatusRecord:
        """What a workload's status says beside its conditions and its admission."""
    def queues(self) -> dict[str, tuple[list[str], list[str]]]:
        """By ClusterQueue where somebody waits: the keys in order, and those that are inadmissible."""
    def usage(self, active: bool = False) -> dict[str, dict[str, int]]:
        """By ClusterQueue, or active ones alone: the amount in use of each `flavor/resource`."""
    def shares(self) -> dict[str, float]:
        """By active ClusterQueue: its weighted share, where it is not 0."""
    def consumed(self) -> dict[str, dict[str, str]]:
        """By LocalQueue: the decayed usage and the entry penalties of admission fair sharing, in 10^-9 units."""
    def record_events(self, on: bool) -> None:
        """Whether events are kept for `take_events`; those so far are forgotten."""
    def take_events(self) -> list[tuple[str, int, int, str, str]]:
        """Kind, workload and preemptor (or -1) of each event since the last time."""
    def drain_events(self) -> list[EventView]:
        """The same events with all that is known of them; they are forgotten."""
    def cycle_counts(self) -> tuple[int, int]:
        """How many cycles with heads gave quota, and how many did not."""
    def cluster_queue_status(self) -> list[tuple[Any, ...]]:
        """The fields of `kueuepy.engine.inventory.ClusterQueueView`, of each."""
    def local_queue_status(self) -> list[tuple[Any, ...]]:
        """The fields of `kueuepy.engine.inventory.LocalQueueView`, of each."""
    def cohort_status(self) -> list[tuple[Any, ...]]:
        """The fields of `kueuepy.engine.inventory.CohortView`, of each."""
    def backlogs(self) -> list[tuple[Any, ...]]:
        """The fields of `kueuepy.engine.inventory.BacklogView`, of each."""
    def unadmitted_workloads(self) -> list[tuple[Any, ...]]:
        """The fields of `kueuepy.engine.inventory.UnadmittedView`, of each."""
    def pending_workloads(self, cluster_queue: str) -> list[PendingView] | None:
        """Who waits in a ClusterQueue, in order; nothing for one that is not there."""
    def pending_checks(self) -> list[tuple[int, str]]:
        """The checks that wait for an answer: workload and name, of those that hold quota and are not evicted."""
    def fingerprint(self) -> int:
        """Equal for states from which the same cycles follow while the clock stands still."""
    # Questions.
    def explain(self, id: int) -> FactsView:
        """The facts of an explanation; nothing changes."""
    def evaluations(self, ids: Sequence[int]) -> list[tuple[str, str]]:
        """Reason and message of what a cycle would answer about each of these workloads alone; nothing changes."""
    def topology_tree(self, flavor: str) -> TreeRecord | None:
        """The tree of a flavor's topology; None if there is none."""
    def pods_in_domains(self, flavor: str, requests: dict[str, Any]) -> tuple[list[int], list[int]] | None:
        """How many pods of these requests each domain of the tree would hold: now, and with no workload there."""
    def ask(self, items: Iterable[Workload | Question | int]) -> Answers:
        """What a cycle would answer about each workload alone; nothing changes."""
    def ask_one(self, item: Workload | Question | int) -> DecisionRecord:
        """The same about one workload."""
    def largest_count(self, question: Question, pod_set: int, preempting: bool) -> int:
        """A count of the pod set that would be admitted while one more would not; 0 if not even one would."""
    def must_leave(self) -> list[str]:
        """Who would have to leave for every queue to be within its quota."""
    # Tables.
    def share_facts(self) -> list[ShareView]:
        """The shares of all active ClusterQueues and of the Cohorts."""
    def workload_columns(self) -> dict[str, Any]:
        """All workloads, as columns."""
    def position_columns(self) -> dict[str, Any]:
        """All that wait, as columns."""

class Decisions:
    """The decisions of one cycle, named when they are looked at."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> DecisionRecord: ...
    @property
    def idle(self) -> bool: ...
    @property
    def admitted(self) -> int: ...
    @property
    def evicted(self) -> int: ...
    @property
    def ahead(self) -> int: ...

class Answers:
    """Answers to questions, named when they are looked at."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> DecisionRecord: ...
    def verdict(self, index: int) -> Literal["Pending", "Preempting", "Admitted"]: ...

class Question:
    """A workload read once, to be asked about again and again."""

    def __init__(self, workload: Workload) -> None: ...
    @property
    def key(self) -> str: ...
    @property
    def not_modelled(self) -> tuple[str, ...]: ...

class Tables:
    """The engine's tables as NumPy arrays: a row for each node of the forest, a column for each cell.

    The arrays lie in the engine's memory, are read-only and keep it alive; what happens later is not seen in them.
    """

    def __init__(self, engine: Engine) -> None: ...
    @property
    def nodes(self) -> list[tuple[str, Literal["ClusterQueue", "Cohort"], int, bool, bool]]: ...
    @property
    def cells(self) -> list[tuple[str, str]]: ...
    @property
    def nominal_quota(self) -> NDArray[np.int64]: ...
    @property
    def borrowing_limit(self) -> NDArray[np.int64]: ...
    @property
    def lending_limit(self) -> NDArray[np.int64]: ...
    @property
    def subtree_quota(self) -> NDArray[np.int64]: ...
    @property
    def guaranteed(self) -> NDArray[np.int64]: ...
    @property
    def potential(self) -> NDArray[np.int64]: ...
    @property
    def usage(self) -> NDArray[np.int64]: ...
    @property
    def available(self) -> NDArray[np.int64]: ...

class Turn:
    """The right to use an object, which one thread at a time has; the thread that has it may take it again.

    Args:
        what: The object, for the message of the StateError that a thread gets while another one has the right.
    """

    def __init__(self, what: str) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *exception: object) -> None: ...

class VirtualRun:
    """A run of virtual time on a copy of an engine. A call while another thread is in one raises StateError.

    Args:
        engine: What it goes on from.
        shapes: Workloads without name, UID and creation time.
        columns: By job in the order of submission, arrays of int64: `submit`, `runtime` (nanoseconds; -1: never ends),
            and where they differ `created`, `every`, `cost`, `restore`, `grace` (-1: as the options say); of int32
            `shape` and `row` (the number for names, UIDs and tables); of uint8 `elastic`, `known`; and `names` and
            `uids`, or `prefix`, `digits`, `uid_digits` to make them.
        options: `on_eviction`, `every`, `cost`, `restore`, `grace`, `cycle`, `per_head`, `until`, `warmup`, `on_loop`,
            `decisions`, `runs`, `usage`, `cycles`, `as_performance_test`; lists `changes` (time, what, object or place
            of a job, value), `checks` (name, times, draws, bound, objects), `startups` (flavor, times), `failures`.
    """

    def __init__(
        self, engine: Engine, shapes: list[Workload], columns: dict[str, Any], options: dict[str, Any]
    ) -> None: ...
    @staticmethod
    def of(run: SharedRun) -> VirtualRun:
        """A cluster of a fleet, which leads the run; to read its tables."""
    def advance(self, work: int = ..., until: int = ...) -> bool:
        """Runs for about so many heads and events, not beyond a time; whether anything is left."""
    def step(self, work: int = ..., until: int = ...) -> int:
        """Goes on to the end of a moment: 0, nothing happens any more; 1, it is under way; 2, it is over."""
    def plan(self, change: tuple[int, str, Any, int]) -> None:
        """Plans a change as in `changes`, not before now."""
    def extend(self, shapes: list[Workload], columns: dict[str, Any]) -> None:
        """Adds jobs in any order; their places, and those of the new shapes, follow the ones that there are."""
    def adopt(self, known: list[tuple[int, str]]) -> None:
        """Workloads that the engine knows already are these jobs."""
    def close(self) -> None:
        """Brings all figures to now, and records the runs under way; nothing goes on after that."""
    def fork(self) -> Engine: ...
    def copy(self) -> VirtualRun: ...
    @property
    def stats(self) -> dict[str, Any]: ...
    def jobs(self) -> dict[str, Any]:
        """Columns by name: arrays, or codes with their names. Those of a run lie in its memory.

        `first_start`, `end` and `held` are nanoseconds, the moments after the start; -1: never.
        """
    def runs(self) -> dict[str, Any]: ...
    def decisions(self) -> dict[str, Any]: ...
    def usage(self) -> dict[str, Any]: ...
    def idle(self) -> dict[str, Any]: ...
    def blocked(self) -> dict[str, Any]: ...
    def consumed(self) -> dict[str, Any]: ...
    def cycles(self) -> dict[str, Any]: ...
    def figures(self) -> dict[str, Any]:
        """Integrals, in amounts times nanoseconds."""
    def assigned(self) -> list[list[tuple[str, str, str, int]]]:
        """By code of the `flavors` of a run: pod set, resource, flavor and amount of all that was given."""
    def loops(self) -> list[tuple[float, int, int, list[int]]]:
        """When each was found first, its period, how often, and the rows of its jobs."""
    @property
    def simulation(self) -> SharedRun:
        """The run itself, for a fleet."""

@final
class SharedRun:
    """A run as the core holds it."""

@final
class Fleet:
    """Runs that are steered together; a seat is the place of one.

    A call while another thread is in one raises StateError.

    Args:
        size: How many seats.
        queues: The names of the ClusterQueues, in the order of an observation.
        options: `interval` and `episode` in nanoseconds; `step`, by how much a move of 1 moves a number; of each number
            `low` and `high`, and in `sums` of which sum it is a part, empty where no sum is kept; `start`, the numbers
            and the places of choices at the start; `objects`, by object the places of its settings in it.
    """

    facts: ClassVar[int]
    def __init__(self, size: int, queues: list[str], options: dict[str, Any]) -> None: ...
    def begin(self, seat: int, run: VirtualRun, zero: int, values: list[int]) -> None:
        """A run takes a seat, from its start on."""
    def plan(self, seats: Sequence[int], moves: Any, choices: Any) -> list[tuple[int, list[int]]]:
        """What seats do next, a row each; the objects that it takes and that are not known, with their settings."""
    def learn(self, object: int, values: list[int], made: Any) -> None:
        """An object as it is with these settings."""
    def start(self, seats: Sequence[int]) -> None:
        """Begins what was planned, an interval long."""
    def go(self, threads: int, observations: Any, facts: Any) -> bool:
        """Goes on with all seats that begin or act, on so many threads; whether all have come to their time.

        Those that have write their rows of float32 and float64. Facts are two terms of the reward (minus the mean of
        those who waited by queue; minus a tenth of what was lost of all nominal quota) and five sums before the
        interval and after it: waiting, waited, arrivals, evictions, lost.
        """
    def values(self) -> Any:
        """A row of settings for each seat, of int64."""
    def times(self) -> Any:
        """Of each seat the nanoseconds since its episode began."""
    @property
    def width(self) -> int:
        """Of an observation."""

def arrow_stream(columns: dict[str, Any]) -> Any:
    """A PyCapsule `arrow_array_stream` of arrays, lists of texts, or pairs of codes and names; nothing is copied."""

@final
class FastReader:
    """The fast reader of YAML and JSON as kubectl prints them; None stands for what is left to the exact reader."""
    def __init__(
        self,
        data: bytes,
        start: int,
        stop: int,
        line: int,
        resolve: Callable[[str], Any],
        depth: int,
        scalar_bytes: int,
    ) -> None: ...
    def open(self) -> bool | None:
        """Reads up to the first item of a list object; false where the document is none, which is then read whole."""
    def items(self, size: int) -> list[tuple[int, int, int, Any]] | None:
        """The next items, of so many bytes or a few more: start, stop, line and value; at the end of the list, none."""
    def pass_over(self) -> tuple[int, int, int] | None:
        """Goes on behind an unsupported item: its start, stop and line."""
    @property
    def value(self) -> Any:
        """What was read beside the items."""
    @property
    def is_json(self) -> bool:
        """Whether it is JSON."""
    @property
    def is_in_list(self) -> bool:
        """Whether there may be more items."""

def has_controls(data: bytes) -> bool:
    """Whether there are control characters beside tabs and line breaks."""

def marks(data: bytes) -> tuple[list[int], int | None]:
    """Where lines start that separate documents, and where one starts with %."""

class Dispatch:
    """MultiKueue's controllers between the engine of a manager and those of its workers, by number.

    Args:
        manager: The manager.
        clusters: Name and engine of each cluster; `None` for one that is never connected.
        checks: Name of each MultiKueue check, and the numbers of its clusters in the order of its MultiKueueConfig.
        options: `kind`, `step`, `round` and `worker_lost_timeout` in nanoseconds, `in_config_order`.
    """

    def __init__(
        self,
        manager: Engine,
        clusters: Sequence[tuple[str, Engine | None]],
        checks: Sequence[tuple[str, Sequence[int]]],
        options: dict[str, Any],
    ) -> None: ...
    def look(self) -> list[tuple[str, str, str]]:
        """Looks at all workloads until nothing changes; (what, cluster, workload) of what was done."""
    def collect(self) -> list[tuple[str, str, str]]:
        """One run of the garbage collector."""
    def set_connected(self, cluster: int, connected: bool) -> None: ...
    def refresh_checks(self) -> None: ...
    def nominate(self, id: int, clusters: Sequence[int]) -> None: ...
    def status(self, id: int) -> tuple[str, str, str, list[int], int] | None:
        """(check, state, message, nominated clusters, cluster or -1) of a workload; `None` without a check."""
    def copies(self, id: int) -> list[tuple[int, int, bool, bool]]:
        """(cluster, id there, whether it has a job, whether that has pods) of each copy."""
    def fork(self, manager: Engine, workers: Sequence[Engine]) -> Dispatch: ...

class FleetRun:
    """A fleet in virtual time, made of the VirtualRuns of its manager and workers."""

    def __init__(self, runs: list[VirtualRun], options: dict[str, Any]) -> None: ...
    def advance(self, work: int = ..., until: int = ...) -> bool: ...
    def step(self, work: int = ..., until: int = ...) -> int: ...
    def close(self) -> None: ...
    def copy(self) -> FleetRun: ...
    def fork(self, site: int) -> Engine: ...
    def fates(self) -> dict[str, Any]: ...
    def copies(self) -> dict[str, Any]: ...
    def dispatch_loops(self) -> list[int]: ...
    @property
    def sites(self) -> list[SharedRun]: ...
    @property
    def stats(self) -> dict[str, Any]: ...
