# ruff: noqa: A002, PYI021 - the names are the core's; the docstrings are for readers of the stub
"""C++ core of kueuepy: Kueue's admission decisions. Not a public API; use the package kueuepy."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from kueuepy.engine.decisions import Decision
from kueuepy.engine.facts import FactsView, ShareView
from kueuepy.engine.records import (
    AdmissionView,
    AssignedFlavor,
    BacklogView,
    ChangeView,
    ClusterQueueView,
    CohortView,
    ConditionView,
    CopyView,
    CycleView,
    DetectedLoop,
    DispatchView,
    EventView,
    ItemView,
    LocalQueueView,
    NodeRow,
    PendingView,
    SimulationStats,
    StatusView,
    TreeView,
    UnadmittedView,
)
from kueuepy.engine.totals import Totals
from kueuepy.objects import Configuration, LimitRange, Object, RuntimeClass, Workload
from kueuepy.objects.status import CheckState, FinishReason

FEATURE_GATES: dict[str, bool]
"""Feature gates that affect decisions, by Kueue's names, with their defaults."""
VERSION: str
"""Version of kueuepy from which the core was compiled."""
EVENT_KINDS: tuple[str, ...]
"""Names of the event kinds."""
RECORDS: dict[str, tuple[str, ...]]
"""The fields of each record that the core returns, by the full name of its class."""

@final
class Quantity:
    """An exact resource quantity in the notation of Kubernetes, e.g. 500m, 64Gi or 1e3."""

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
        """Value in thousandths, as used for cpu: rounded up, clamped to int64."""
    @property
    def as_units(self) -> int:
        """Value in whole units, as used for all resources except cpu: rounded up, clamped to int64."""
    @property
    def format_name(self) -> Literal["DecimalSI", "BinarySI", "DecimalExponent"]:
        """Format of the quantity: DecimalSI, BinarySI or DecimalExponent."""
    def request(self, resource: str) -> int:
        """Return the integer for a request or usage of a resource (pkg/resources/requests.go:ResourceValue)."""
    def quota(self, resource: str) -> int:
        """Return the integer for a quota; 2**63 - 1 is Unlimited (pkg/resources/amount.go:AmountFromQuantity)."""
    @staticmethod
    def format(resource: str, value: int, as_bytes: bool = False) -> str:
        """Format an integer of a resource (pkg/resources/resource_formatter.go:ResourceQuantityString)."""
    @staticmethod
    def printed(text: str) -> str:
        """Return the text that Kubernetes prints for a quantity parsed from `text`; some texts are kept unchanged."""

def pod_requests(
    template: dict[str, Any],
    *,
    runtime_classes: Iterable[RuntimeClass] = (),
    limit_ranges: Iterable[LimitRange] = (),
    configuration: Configuration | None = None,
) -> dict[str, int]:
    """Return the requests of one pod as integers by resource, in the order in which the scheduler visits them.

    Source: `pkg/workload/workload.go:totalRequestsFromPodSets`.
    """

class Engine:
    """State and rules of Kueue. Calls on one engine are serialized. Forks share state until one of them changes."""

    def __init__(self, configuration: Configuration | None = None) -> None: ...
    @staticmethod
    def load(data: bytes) -> Engine:
        """Load an engine saved by `save`."""
    def save(self) -> bytes:
        """Return the complete state as bytes."""
    def fork(self) -> Engine:
        """Return an engine with the same state. Later changes of one engine do not affect the other."""
    def check(self) -> list[str]:
        """Return a description of each inconsistency in the state; empty unless there is a bug in kueuepy."""
    # Changes.
    def apply(self, object: Object, changed: bool = True) -> None:
        """Create or replace an object. `changed` tells whether its spec differs from the one applied before."""
    def delete_object(self, kind: str, namespace: str, name: str) -> None:
        """Delete an object. `namespace` is empty for cluster-scoped kinds."""
    def continue_usage(self, namespace: str, name: str, sampled: int, /) -> None:
        """Continue from the usage in the status of a LocalQueue, which Kueue sampled at a time in nanoseconds."""
    def take_up_delayed(self) -> None:
        """Make the workloads in a backoff active, as when Kueue starts and finds them."""
    def drop_topology(self, name: str) -> None:
        """Delete a Topology at once, even if it is in use, as if it had no finalizer."""
    def submit(self, workload: Workload) -> int:
        """Create a workload and return its id."""
    def submit_all(
        self, workloads: list[Workload], single_pods: Sequence[bool], prepared: Sequence[Question | None]
    ) -> list[int]:
        """Create workloads with different keys, all or none, and return their ids.

        `single_pods` tells whether a single pod owns each. `prepared` is each workload without its uid and creation
        time; if it is given, only these two and the status are read from the workload.
        """
    def update(self, id: int, workload: Workload, changed: bool = True) -> None:
        """Replace a workload. `changed` tells whether its spec differs."""
    def finish(self, id: int, reason: FinishReason = "Succeeded", message: str = "") -> None:
        """Finish a workload."""
    def delete(self, id: int) -> None:
        """Delete a workload."""
    def set_check(
        self,
        id: int,
        check: str,
        state: CheckState,
        message: str | None = None,
        requeue_after_seconds: int | None = None,
        pod_set_updates: str | None = None,
    ) -> None:
        """Set the state of an admission check of a workload.

        Omitted values are unchanged. A negative `requeue_after_seconds` or an empty `pod_set_updates` (JSON) clears the
        value.
        """
    def set_pods_ready(self, id: int, ready: bool) -> None:
        """Set whether the pods of a workload's job are ready."""
    def set_job_stop(self, id: int, at: int) -> None:
        """Set the time at which the pods of a workload's job stop after an eviction; it keeps its quota until then."""
    def set_preemptor(self, id: int) -> None:
        """Make a pending workload the one that its queue tries first, because it waits for its preemption victims."""
    def set_reclaimable(self, id: int, reclaimable: Mapping[str, int]) -> None:
        """Set the number of reclaimable pods, which no longer need their quota, by pod set."""
    def set_threads(self, count: int, least_heads: int) -> None:
        """Nominate heads of different cohort trees on `count` threads, in cycles with at least `least_heads` heads."""
    def hold_retries(self, hold: bool) -> None:
        """Set whether notified trees are retried only by `retry`, not by the next cycle."""
    def notified_trees(self) -> list[str]:
        """Return the cohort trees whose inadmissible workloads are to be retried."""
    def retry(self, trees: set[str]) -> None:
        """Requeue the inadmissible workloads of those of the trees that were notified."""
    def set_stop_delay(self, delay: int) -> None:
        """Set the time that the job of an evicted workload takes to stop, in nanoseconds."""
    def set_now(self, now: int) -> None:
        """Set the time, in nanoseconds since the Unix epoch. An earlier time is ignored."""
    @property
    def now(self) -> int:
        """Current time, in nanoseconds since the Unix epoch."""
    def settle(self, all_devices: bool = False) -> None:
        """Run Kueue's controllers until nothing changes. `all_devices` includes all pending workloads with devices."""
    def expired(self) -> list[int]:
        """Return the workloads that Kueue deletes by now according to `retention`."""
    def family_changes(self) -> tuple[list[tuple[int, str]], list[int]]:
        """Return the variants that Kueue creates now, each as parent and flavor, and the variants that it deletes."""
    @property
    def byte_resources(self) -> set[str]:
        """Logical device resources whose amounts are printed with binary suffixes."""
    def cycle(self) -> CycleView:
        """Run one scheduling cycle."""
    @property
    def is_blocked(self) -> bool:
        """Whether a cycle is blocked until pods are ready (`blockAdmission`)."""
    def decide(self, not_modelled: tuple[str, ...] = ()) -> Decisions:
        """Run one scheduling cycle and return the decision about each head."""
    # State.
    def ids(self) -> list[int]:
        """Return the ids of all workloads, in the order of submission."""
    def find(self, key: str) -> int:
        """Return the id of the workload with the key `namespace/name`, or -1 if there is none."""
    def key(self, id: int) -> str:
        """Return the key `namespace/name` of a workload."""
    def condition(self, id: int, type: str) -> ConditionView | None:
        """Return one condition of a workload, or None if it is absent."""
    def conditions(self, id: int) -> dict[str, ConditionView]:
        """Return all conditions of a workload by type."""
    def admission(self, id: int) -> AdmissionView | None:
        """Return the admission of a workload, or None without a quota reservation."""
    def status_details(self, id: int) -> StatusView:
        """Return the fields of a workload's status other than its conditions and its admission."""
    def queues(self) -> dict[str, tuple[list[str], list[str]]]:
        """Return the keys in queue order and the inadmissible keys of each ClusterQueue with pending workloads."""
    def usage(self, active: bool = False) -> dict[str, dict[str, int]]:
        """Return the usage of each `flavor/resource` by ClusterQueue; of active queues only if `active` is true."""
    def shares(self) -> dict[str, float]:
        """Return the nonzero weighted shares of the active ClusterQueues."""
    def consumed(self) -> dict[str, dict[str, str]]:
        """Return the decayed usage and entry penalties of admission fair sharing by LocalQueue, in units of 10^-9."""
    def record_events(self, on: bool) -> None:
        """Set whether events are recorded for `take_events`. Drops the events recorded so far."""
    def take_events(self) -> list[ChangeView]:
        """Return the kind and the ids of each event since the last call, and drop the events."""
    def drain_events(self) -> list[EventView]:
        """Return the complete records of the same events, and drop the events."""
    def cycle_counts(self) -> tuple[int, int]:
        """Return the numbers of cycles with heads that reserved quota and that did not."""
    def cluster_queue_status(self) -> list[ClusterQueueView]:
        """Return the status of all ClusterQueues."""
    def local_queue_status(self) -> list[LocalQueueView]:
        """Return the status of all LocalQueues."""
    def cohort_status(self) -> list[CohortView]:
        """Return all Cohorts, including undeclared Cohorts that only queues name."""
    def backlogs(self) -> list[BacklogView]:
        """Return the backlog of every ClusterQueue."""
    def unadmitted_workloads(self) -> list[UnadmittedView]:
        """Return the number of workloads that are not admitted, by LocalQueue and reason."""
    def pending_workloads(self, cluster_queue: str) -> list[PendingView] | None:
        """Return the pending workloads of a ClusterQueue in order, or None if it does not exist."""
    def pending_checks(self) -> list[tuple[int, str]]:
        """Return (workload, check) for each pending check of workloads that hold quota and are not being evicted."""
    def fingerprint(self) -> int:
        """Return a hash. If it is equal for two states, the same cycles follow as long as the time stands still."""
    # Questions.
    def explain(self, id: int) -> FactsView:
        """Return the facts that explain the state of a workload. Changes nothing."""
    def evaluations(self, ids: Sequence[int]) -> list[tuple[str, str]]:
        """Return (reason, message) that a cycle would write for each workload as its only head. Changes nothing."""
    def topology_tree(self, flavor: str) -> TreeView | None:
        """Return the tree of a flavor's topology, or None if the flavor has no topology or does not exist."""
    def pods_in_domains(self, flavor: str, requests: dict[str, Any]) -> tuple[list[int], list[int]] | None:
        """Return the numbers of pods with these requests that fit in each domain, now and in the empty tree."""
    def ask(self, items: Iterable[Workload | Question | int], not_modelled: tuple[str, ...] = ()) -> Answers:
        """Return the decision that a cycle would make about each workload as its only head. Changes nothing."""
    def ask_one(self, item: object, not_modelled: tuple[str, ...], /) -> Decision | None:
        """Return the decision about a Question or a row of plain values; `None` for any other item. Changes nothing.

        A row with the column `gpu` is not answered either if its queue has quotas for a resource named `gpu` alone.
        """
    def largest_count(self, question: Question, pod_set: int, preempting: bool) -> int:
        """Return a count of the pod set that would be admitted although one more pod would not; 0 if not even one."""
    def must_leave(self) -> list[str]:
        """Return the keys of workloads that would have to be evicted to bring every queue within its quota."""
    # Tables.
    def share_facts(self) -> list[ShareView]:
        """Return the shares of all active ClusterQueues and of all Cohorts."""
    def workload_columns(self) -> dict[str, Any]:
        """Return a table of all workloads, as columns by name."""
    def position_columns(self) -> dict[str, Any]:
        """Return a table of all pending workloads, as columns by name."""

class Decisions:
    """Decisions of one cycle. Names are resolved on access."""

    def __len__(self) -> int: ...
    def all(self) -> tuple[Decision, ...]: ...
    @property
    def idle(self) -> bool: ...
    @property
    def admitted(self) -> int: ...
    @property
    def evicted(self) -> int: ...
    @property
    def ahead(self) -> int: ...

class Answers:
    """Decisions about hypothetical workloads. Names are resolved on access."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Decision: ...
    @property
    def verdicts(self) -> tuple[Literal["Pending", "Preempting", "Admitted"], ...]: ...

class Question:
    """A hypothetical workload, converted once so that it can be used in many calls."""

    def __init__(self, workload: Workload) -> None: ...
    @property
    def key(self) -> str: ...
    @property
    def local_queue(self) -> str:
        """The key of the LocalQueue, `namespace/name`."""

def ask_session(session: object, item: object, /) -> Decision | None:
    """Return the result of `Engine.ask_one` for the state of a session, while holding the session's lock."""

def question_of_row(row: Mapping[Any, Any]) -> Question | None:
    """Return the workload of a row of plain values that `from_row` accepts; `None` for any other row."""

class Tables:
    """Tables of an engine as NumPy arrays: a row per node of the cohort forest, a column per flavor and resource.

    The arrays share the engine's memory, are read-only and keep it alive. They do not reflect later changes.
    """

    def __init__(self, engine: Engine) -> None: ...
    @property
    def nodes(self) -> list[NodeRow]: ...
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
    """Exclusive right to use an object, held by one thread at a time. The same thread may acquire it repeatedly.

    Args:
        what: Name of the object for the StateError raised while another thread holds the right.
    """

    def __init__(self, what: str) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *exception: object) -> None: ...

class VirtualRun:
    """A simulation on a copy of an engine. A call while another thread is inside a call raises StateError.

    Args:
        engine: Initial state.
        shapes: Workloads without name, UID and creation time.
        columns: Arrays with one value per job, in the order of submission. Required: `submit` and `runtime` (int64,
            nanoseconds; runtime -1: unlimited), `shape` (int32, index in `shapes`). Optional: `created`, `every`,
            `cost`, `restore`, `grace` (int64, nanoseconds; -1: value of the options), `row` (int32, number for names,
            UIDs and tables), `elastic` and `known` (uint8). Also `names` and `uids`, or `prefix`, `digits` and
            `uid_digits` to generate them.
        options: `on_eviction`, `every`, `cost`, `restore`, `grace`, `cycle`, `per_head`, `until`, `warmup`, `on_loop`,
            `decisions`, `runs`, `usage`, `cycles`, `controllers` (whether Kueue's controllers run, which they do not in
            Kueue's performance test); optional `start` (nanoseconds), `threads` (the arguments of
            `Engine.set_threads`) and `metrics` (default: True; if False, `figures` and the columns `borrowed` and
            `promised` of `jobs` are not collected and must not be read); list `changes` (time, kind, object or index
            of a job, value); lists of dicts `checks` (`check`, `delay`, `fails`, `failing`, `capacity`), `startups`
            (`flavor`, `delay`) and `failures` (`flavor`, `resource`, `unit`, `gap`, `place`, `repair`, `mtbf`,
            `lowers_quota`).
    """

    def __init__(
        self, engine: Engine, shapes: list[Workload], columns: dict[str, Any], options: dict[str, Any]
    ) -> None: ...
    @staticmethod
    def of(run: SharedRun) -> VirtualRun:
        """Return an object for reading the tables of a run that a fleet controls."""
    def advance(self, work: int = ..., until: int = ...) -> bool:
        """Process about `work` heads and events, up to the time `until`. Return whether anything is left."""
    def step(self, work: int = ..., until: int = ...) -> int:
        """Process one time. Return 0 if no events are left, 1 if the time is not finished, 2 if it is."""
    def plan(self, time: int, kind: str, subject: Any, value: int) -> None:
        """Schedule a change as one of `changes`, at the current time or later."""
    def extend(self, shapes: list[Workload], columns: dict[str, Any]) -> None:
        """Add jobs in any order. Their indexes, and those of the new shapes, follow the existing ones."""
    def adopt(self, known: list[tuple[int, str]]) -> None:
        """Assign workloads that the engine already has to jobs, given as (index of the job, key)."""
    def close(self) -> None:
        """Finish the simulation: extend all metrics to the current time and record unfinished runs."""
    def fork(self) -> Engine: ...
    def copy(self) -> VirtualRun: ...
    @property
    def stats(self) -> SimulationStats: ...
    @property
    def now(self) -> int:
        """Current time, in nanoseconds."""
    @property
    def start(self) -> int:
        """Time of the first submission or change, or the given start, in nanoseconds."""
    @property
    def stopped(self) -> bool:
        """Whether the run ended early because of a loop or because no job makes progress."""
    @property
    def fruitless(self) -> int:
        """Number of consecutive evictions if the run stopped because no job makes progress; 0 otherwise."""
    def jobs(self) -> dict[str, Any]:
        """Return columns by name: arrays, or codes with their names. Arrays may share the memory of the run.

        `first_start` and `end` are nanoseconds after the start, or -1 for never; `held` is a duration in nanoseconds.
        """
    def runs(self) -> dict[str, Any]: ...
    def decisions(self) -> dict[str, Any]: ...
    def usage(self) -> dict[str, Any]: ...
    def idle(self) -> dict[str, Any]: ...
    def blocked(self) -> dict[str, Any]: ...
    def consumed(self) -> dict[str, Any]: ...
    def cycles(self) -> dict[str, Any]: ...
    def figures(self) -> Totals: ...
    def assigned(self) -> list[list[AssignedFlavor]]:
        """Return the admission for each code of the column `flavors`."""
    def loops(self) -> list[DetectedLoop]:
        """Return the preemption loops."""
    @property
    def simulation(self) -> SharedRun:
        """The run, to be passed to a fleet."""

@final
class SharedRun:
    """Handle of a run."""

@final
class Environments:
    """A set of runs that are controlled together. Each run has a seat, numbered from 0.

    A call while another thread is inside a call raises StateError.

    Args:
        size: Number of seats.
        queues: Names of the ClusterQueues, in the order of an observation.
        options: `interval` and `episode` in nanoseconds; `step`, the change of a parameter for a move of 1; `low` and
            `high`, the bounds of each numeric parameter; `sums`, the number of the sum that each of them belongs to,
            empty without constant sums; `start`, the initial values of the numeric parameters and choices; `objects`,
            for each object the indexes of its parameters.
    """

    facts: ClassVar[int]
    def __init__(self, size: int, queues: list[str], options: dict[str, Any]) -> None: ...
    def begin(self, seat: int, run: VirtualRun, zero: int, values: list[int]) -> None:
        """Assign a run to a seat, with the values of its parameters at the start."""
    def plan(self, seats: Sequence[int], moves: Any, choices: Any) -> list[tuple[int, list[int]]]:
        """Set the next actions of seats, one row each. Return the objects that are not known yet, with their values."""
    def learn(self, object: int, values: list[int], made: Any) -> None:
        """Store the object for these values of its parameters."""
    def start(self, seats: Sequence[int]) -> None:
        """Start the next interval of seats with the planned actions."""
    def go(self, threads: int, observations: Any, facts: Any) -> bool:
        """Advance all started seats on up to `threads` threads. Return whether all have reached their time.

        Seats that have reached it write their rows of `observations` (float32) and `facts` (float64). A row of facts
        contains two terms of the reward (minus the mean number of pending jobs by queue; minus a tenth of the lost
        fraction of all nominal quota) and five sums before and after the interval: pending jobs, time without quota,
        arrivals, evictions, lost work.
        """
    def values(self) -> Any:
        """Return a row for each seat: its parameter values, and the nanoseconds since the start of its episode."""
    @property
    def width(self) -> int:
        """Length of an observation."""

def arrow_stream(columns: dict[str, Any]) -> Any:
    """Return a PyCapsule `arrow_array_stream` of arrays, lists of strings, or (codes, names) pairs, without copying."""

@final
class FastReader:
    """Fast parser for YAML and JSON as printed by kubectl. None means that the exact parser must be used."""
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
        """Parse up to the first item. Return false after parsing the whole document if it is not a list object."""
    def items(self, size: int) -> list[ItemView] | None:
        """Return the next items, about `size` bytes; empty at the end of the list."""
    def pass_over(self) -> tuple[int, int, int] | None:
        """Skip an unsupported item and return its (start, stop, line)."""
    @property
    def value(self) -> Any:
        """The document without its items, or the complete value."""
    @property
    def is_json(self) -> bool:
        """Whether the document is JSON."""
    @property
    def is_in_list(self) -> bool:
        """Whether there may be more items."""

def has_controls(data: bytes) -> bool:
    """Return whether the data contains control characters other than tabs and line breaks."""

def marks(data: bytes) -> tuple[list[int], int | None]:
    """Return the offsets of document separator lines, and the offset of the first line starting with %, or None."""

class Dispatch:
    """MultiKueue controllers between the engine of a manager and the engines of its numbered workers.

    Args:
        manager: Engine of the manager.
        clusters: Name and engine of each cluster; the engine is `None` for a cluster that is never connected.
        checks: Name of each MultiKueue check, and the numbers of its clusters in the order of its MultiKueueConfig;
            `None` instead of the numbers if the MultiKueueConfig does not exist.
        options: `kind`, `step`, `round` and `worker_lost_timeout` (nanoseconds), `in_config_order`.
    """

    def __init__(
        self,
        manager: Engine,
        clusters: Sequence[tuple[str, Engine | None]],
        checks: Sequence[tuple[str, Sequence[int] | None]],
        options: dict[str, Any],
    ) -> None: ...
    def look(self, jobs: Sequence[tuple[int, str, tuple[str, Sequence[str]]]] = ()) -> list[tuple[str, str, str]]:
        """Reconcile all workloads until nothing changes. Return (action, cluster, workload) for each action.

        Args:
            jobs: For workloads whose jobs are not batch Jobs, or that share a job: when the status of the job is copied
                from the worker (`UnlessSuspended`, `Always` or `Never`), the part of the workload in the choice of a
                cluster (`Alone`, `Leads`, `Follows` or `Waits`), and the keys of the other workloads of the job.
        """
    def collect(self) -> list[tuple[str, str, str]]:
        """Delete the copies of deleted workloads. Return (action, cluster, workload) for each action."""
    def set_connected(self, cluster: int, connected: bool) -> None: ...
    def refresh_checks(self) -> None: ...
    def set_clusters(self, names: Sequence[str], checks: Sequence[tuple[str, Sequence[int] | None]]) -> None:
        """Replace the clusters of the checks. Clusters with new names are added, and are never connected."""
    def set_declared(self, declared: Sequence[bool]) -> None: ...
    def nominate(self, id: int, clusters: Sequence[int]) -> None: ...
    def status(self, id: int) -> DispatchView | None:
        """Return the MultiKueue check of a workload and its clusters; None without a check."""
    def copies(self, id: int) -> list[CopyView]:
        """Return the copies of a workload on the clusters."""
    def fork(self, manager: Engine, workers: Sequence[Engine]) -> Dispatch: ...

class FleetRun:
    """A simulation of a fleet, composed of the VirtualRuns of its manager and workers."""

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
    def stats(self) -> SimulationStats: ...
    @property
    def now(self) -> int:
        """Current time, in nanoseconds."""
    @property
    def start(self) -> int:
        """Time of the first submission or change, or the given start, in nanoseconds."""
    @property
    def stopped(self) -> bool:
        """Whether the run ended early because of a loop or because no job makes progress."""
    @property
    def fruitless(self) -> int:
        """Number of consecutive evictions if the run stopped because no job makes progress; 0 otherwise."""
    @property
    def dispatch_wait(self) -> int: ...
