"""Preparation of a simulation: jobs in the form that the core expects, objects, and planned events."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

import kueuepy.objects as kinds
from kueuepy._core import Engine, VirtualRun
from kueuepy.cluster import Cluster
from kueuepy.cluster.planned import Planned
from kueuepy.engine.locks import Asking
from kueuepy.engine.threads import for_cycles
from kueuepy.errors import InvalidSpecError, NotFoundError, checked_methods, counted, expect_one_of, first_of, verb
from kueuepy.errors.arguments import expect_texts
from kueuepy.errors.problems import nearest
from kueuepy.fleet import Fleet
from kueuepy.manifest import check
from kueuepy.objects import LONGEST, LocalQueue, Object, ResourceFlavor, Timestamp, Workload
from kueuepy.scheduler import Scheduler, scheduler_with
from kueuepy.session.provisioning import config_of
from kueuepy.session.session import session_of
from kueuepy.session.state import SchedulerState
from kueuepy.session.store import commit
from kueuepy.simulation.base import JobColumns, expect_complete
from kueuepy.simulation.columns import keys_of, remark, row_of
from kueuepy.simulation.grouped import sums
from kueuepy.simulation.items import Names, check_names, concat, jobs_of, of_workloads
from kueuepy.simulation.model import (
    Delete,
    Edit,
    Evict,
    Finish,
    Priority,
    Settings,
    changed_by,
    delay_options,
    time_after,
)
from kueuepy.simulation.shapes import KnownShapes, shapes_of
from kueuepy.tables.kinds import span

_NAMED = 5


def ordered(columns: dict[str, Any], order: NDArray[np.int64]) -> dict[str, Any]:
    """Reorder the rows of columns for the core; if the order changes, a column `row` is added."""
    # The core wants jobs by submission; sorted jobs are passed on without a copy.
    if not bool((order[1:] > order[:-1]).all()):
        columns = {"row": np.arange(len(order), dtype=np.int32), **columns}
        columns = {name: column[order] for name, column in columns.items()}
    found = {name: np.ascontiguousarray(column) for name, column in columns.items()}
    return found | {name: list(map(str, found[name].tolist())) for name in ("names", "uids") if name in found}


@checked_methods
class Prepared:
    """A simulation and its current state.

    Attributes:
        settings: The arguments of the simulation.
        base: The initial Scheduler.
        bases: The initial Scheduler of each cluster; the first one is `base`.
        declared: The initial objects.
        notes: Notes about jobs that were left out.
        zero: The time of the first submission or the time of the Scheduler, whichever is later, in nanoseconds.
        options: The options for the core.
        shapes: Unnamed Workloads, one for each group of jobs with identical requests.
        core: The simulation in the core.
        reached: The time up to which the simulation has been advanced, in nanoseconds.
        asking: Whether a function of the user is being called, which must not change the simulation.
    """

    def __init__(
        self,
        cluster: Cluster | Scheduler | Fleet,
        jobs: JobColumns | Iterable[Any],
        settings: Settings,
        *,
        threads: int | None = 1,
        base: Scheduler | None = None,
        known: "Prepared | None" = None,
    ) -> None:
        """Read the input and prepare the simulation.

        Args:
            cluster: The initial cluster or fleet.
            jobs: The jobs.
            settings: The arguments of the simulation other than the cluster and the jobs.
            threads: The number of threads; `None` for all available cores.
            base: A Scheduler that was created from the cluster, so that many simulations can share it; optional.
            known: A simulation of the same cluster and jobs, whose shapes are reused; optional.

        Raises:
            InvalidSpecError: The input is invalid; the message names the row.
            NotFoundError: Jobs name LocalQueues that do not exist.
        """
        self.settings, self.threads = settings, threads
        self._given = (cluster, jobs)
        self.reached = 0
        self.asking = Asking()
        self.bases = self._open(cluster, base)
        self.base = self.bases[0]
        table = self._all_jobs(jobs)
        self._tables = [table]
        self.size = len(table)
        self._order = np.argsort(table["submit"], kind="stable")
        self._positions: NDArray[np.int64] | None = None
        self._names: Names | None = None
        self._has_names = "name" in table.names
        self._rows_of_names: dict[str, int] | None = None
        self.options = self._read_options()
        # A Scheduler, or jobs in another form, can have changed since the other simulation read them.
        is_same = isinstance(self._given[0], Cluster) and isinstance(self._given[1], JobColumns)
        again = known if is_same else None
        self._first_shapes: tuple[list[Workload], Any]
        self._first_shapes = self._shapes_of(table) if again is None else again._first_shapes  # noqa: SLF001 - same class
        shapes, codes = self._first_shapes
        self.shapes, self._codes = list(shapes), [codes]
        self._known_shapes: KnownShapes | None = None
        self._later: list[tuple[int, str, Any]] = []
        self.core: Any = self._start()
        self._planned, self._applied = Planned(self.declared), 0

    def _open(self, cluster: Any, base: Scheduler | None) -> list[Scheduler]:
        """Store the initial objects, and return the initial Scheduler of each cluster."""
        there = cluster if isinstance(cluster, Scheduler) else base
        found = Scheduler(cluster) if there is None else there.fork()
        self.declared: Cluster = found.cluster if isinstance(cluster, Scheduler) else cluster
        return [found]

    @property
    def jobs(self) -> JobColumns:
        """The initial jobs, then the workloads of the Scheduler, then the jobs that were submitted later."""
        if len(self._tables) > 1:
            self._tables = [concat(self._tables)]
        return self._tables[0]

    @property
    def codes(self) -> NDArray[np.int32]:
        """For each row of jobs, the index of its shape."""
        if len(self._codes) > 1:
            self._codes = [np.concatenate(self._codes)]
        codes: NDArray[np.int32] = self._codes[0]
        return codes

    def _shapes_of(self, table: JobColumns) -> tuple[list[Workload], Any]:
        gates = dict(self.base.configuration.feature_gates or {})
        return shapes_of(table, session_of(self.base).state.store.objects.of(ResourceFlavor), gates)

    def end_of(self, until: Any) -> int:
        """Convert a time after the first submission to nanoseconds, at most LONGEST; `None` becomes LONGEST."""
        return LONGEST if until is None else min(LONGEST, self.zero + time_after("until", until))

    def until(self, when: Any) -> "Prepared":
        """Repeat the simulation from its start up to a given time, and return the repetition."""
        return next(self.at_times((when,)))

    def at_times(self, times: Iterable[Any]) -> "Iterator[Prepared]":
        """Repeat the simulation from its start, and yield the same object at each given time, advanced to this time."""
        twin = type(self)(*self._given, self.settings, threads=self.threads, known=self)
        later = deque(self._later)
        for when in times:
            end = twin.end_of(when)
            while later and later[0][0] <= end:
                at, how, thing = later.popleft()
                twin.reach(at)
                getattr(twin, how)(thing)
            twin.reach(end)
            yield twin

    def reach(self, time: int) -> None:
        """Advance the simulation to a time in nanoseconds."""
        while self.core.advance(until=max(self.reached, time)):
            pass
        self.reached = max(self.reached, time)

    def copy(self) -> "Prepared":
        """Return an independent copy of the simulation."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        # A function of the user that runs in one copy does not block the other.
        twin.core, twin.asking = self.core.copy(), Asking()
        twin.options = {**self.options, "changes": list(self.options["changes"])}
        for name in ("shapes", "_tables", "_codes", "_later"):
            setattr(twin, name, list(getattr(self, name)))
        # The lookup tables for submissions are mutable, and the copy builds its own.
        twin._names = twin._rows_of_names = twin._known_shapes = None  # noqa: SLF001 - same class
        return twin

    def scheduler(self) -> Scheduler:
        """Return a Scheduler that uses a fork of the simulation's engine, with the current objects and workloads."""
        state = self._state_of(self.base, self.core.fork())
        store = state.store
        for key in store.workloads.keys():  # noqa: SIM118 - not a mapping
            if state.engine.find(key) < 0:
                commit(store.forgetting(key))
        for at, what, thing, _ in self.options["changes"]:
            if at > state.engine.now:
                break
            if what == "apply":
                store.objects.put((type(thing), thing.key), thing)
            elif what == "delete":
                kind, namespace, name = thing
                commit(store.objects.dropping((getattr(kinds, kind), f"{namespace}/{name}" if namespace else name)))
        for row in np.flatnonzero(np.isin(self.states, (1, 2))).tolist():
            workload = self.workload_of(row)
            if state.engine.find(workload.key) >= 0 and store.workloads.get(workload.key) is None:
                store.workloads.put(workload.key, workload)
        return scheduler_with(Scheduler, state)

    def _state_of(self, base: Scheduler, engine: Engine) -> SchedulerState:
        """Return the state of a Scheduler at the current time, with the objects of an initial Scheduler."""
        engine.set_now(self.reached)
        state = session_of(base.fork()).state
        state.own_store()
        return replace(state, engine=engine, count=state.count + len(self.jobs))

    def workload_of(self, row: int) -> Workload:
        """Return the Workload of a job as it was submitted."""
        jobs = self.jobs
        return msgspec.structs.replace(
            self.shapes[int(self.codes[row])],
            name=jobs.name_of(row),
            uid=(str(jobs["uid"][row]) if "uid" in jobs.names else "") or f"{row:012d}",
            creation_timestamp=Timestamp.of(max(int(jobs["submit"][row]), self.zero)),
        )

    @property
    def states(self) -> Any:
        """The state of each job, in row order: 0 not yet submitted, 1 waiting, 2 running, 3 finished, 4 deactivated."""
        return self.core.jobs()["state"][0]

    def _all_jobs(self, given: Any) -> JobColumns:
        """Return the jobs to simulate, followed by the unfinished workloads of the Scheduler."""
        self.notes: tuple[tuple[str, int], ...]
        table, self.notes = self._with_queues(jobs_of(given, session_of(self.base).state.job_context()))
        check_names(table)
        expect_complete(table)
        self._known: dict[int, str] = {}
        return self._with_known(table)

    def _with_known(self, table: JobColumns) -> JobColumns:
        """Append rows for the unfinished workloads of the Scheduler, except for those that have the key of a job."""
        known = [key for key in self.base.keys() if self._lives(key)]  # noqa: SIM118 - a Scheduler is not a mapping
        if not known:
            return table
        rows = {key: row for row, key in enumerate(keys_of(table))}
        others = [key for key in known if key not in rows]
        self._known = {rows[key]: key for key in known if key in rows}
        self._known |= {len(table) + index: key for index, key in enumerate(others)}
        workloads = [self.base.workload(key) for key in others]
        table = concat([table, of_workloads(workloads, [None] * len(workloads))]) if others else table
        submit, indices = np.array(table["submit"]), list(self._known)
        # A workload that exists has arrived, whatever its job says.
        submit[indices] = np.minimum(submit[indices], session_of(self.base).engine.now)
        return table._moved_to(submit)  # noqa: SLF001 - of one room

    def _lives(self, key: str) -> bool:
        finished = session_of(self.base).engine.condition(session_of(self.base).state.id_of(key), "Finished")
        return finished is None or not finished[0]

    def _with_queues(self, table: JobColumns) -> tuple[JobColumns, tuple[tuple[str, int], ...]]:
        """Return the jobs to simulate, and notes about missing LocalQueues, according to `missing`."""
        queue, clusters, lost = table["queue"], self._clusters_of(table), np.zeros(len(table), bool)
        known: set[str] = set()
        for index, base in enumerate(self.bases):
            there = {queue.key for queue in session_of(base).state.store.objects.of(LocalQueue)}
            absent = [code for code, name in enumerate(queue.names) if name not in there]
            lost |= (clusters == index) & np.isin(queue.codes, absent)
            known |= there
        if lost.any():  # a workload that exists waits without its LocalQueue, as in Kueue
            exist = set(self.base.keys())
            lost &= np.array([key not in exist for key in keys_of(table)])
        number = int(lost.sum())
        if not number:
            return table, table.notes
        if self.settings.missing == "wait":
            return table, (*table.notes, (remark("warning", "wait for a LocalQueue that does not exist"), number))
        if self.settings.missing == "skip":
            left = remark("warning", "left out: their LocalQueue does not exist")
            return table.where(~lost), (*table.notes, (left, number))
        names = (self._text_of_queue(str(queue[row]), clusters[row]) for row in np.flatnonzero(lost))
        counts = sums((name, 1) for name in names)
        named = [f"{name} ({counted(jobs, 'job')})" for name, jobs in counts.items()]
        # One suggestion, for the first job, keeps the message short.
        close = nearest(str(queue[int(lost.argmax())]), known)
        hint = f'; did you mean "{close}"?' if close else ""
        raise NotFoundError(
            f"jobs: {number} of {len(table)} {verb(number, 'name')} LocalQueues that are not in the cluster: "
            f'{first_of(named, _NAMED)}{hint}; --missing skip (in Python missing="skip") leaves them out'
        )

    def _clusters_of(self, table: JobColumns) -> Any:
        """Return the index of the cluster to which each job is submitted."""
        return np.zeros(len(table), np.int32)

    def _text_of_queue(self, name: str, cluster: int) -> str:  # noqa: ARG002 - as FleetPrepared has it
        """Return the description of a LocalQueue for error messages."""
        return name

    def _read_options(self) -> dict[str, Any]:
        common, settings, changes = self._common_options(), self.settings, self._changes(self._last())
        return {
            **settings.model.options(),
            **settings.clock.options(),
            **self._delays(settings.delays, self.declared, session_of(self.base).state.related),
            **common,
            "changes": changes,
        }

    def _delays(self, delays: Any, cluster: Cluster, related: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
        """Return the delays of a cluster in the core's form, each check with its ProvisioningRequestConfig."""
        found = delay_options(delays, self.settings.seed, cluster)
        for one in found["checks"]:
            one["config"] = config_of(one["check"], cluster.admission_checks, related)
        return found

    def _common_options(self) -> dict[str, Any]:
        """Return the options that all clusters of a fleet have in common, and store the time of the start."""
        expect_one_of("on_loop", self.settings.on_loop, ("hold", "stop", "raise"))
        submit = self.jobs["submit"]
        # A Scheduler that has a clock of its own is not set back.
        self.zero = max(int(submit.min()) if len(submit) else 0, session_of(self.base).engine.now)
        return {
            **self.settings.record.options(),
            "until": self.end_of(self.settings.until),
            "warmup": span("warmup", self.settings.warmup),
            "on_loop": "hold" if self.settings.on_loop == "hold" else "stop",
            "controllers": True,
            "threads": for_cycles(self.threads),
        }

    def _last(self) -> int:
        """Return the time from the start to the last submission, in nanoseconds."""
        return int(self.jobs["submit"].max(initial=self.zero)) - self.zero

    def _changes(self, last: int) -> list[tuple[int, str, Any, int]]:
        """Return the changes of all events in chronological order; each Edit takes account of all earlier changes."""
        planned, found = Planned(self.declared), []
        # The steps of objects and Edits that would not change the planned objects, so that a repeated event does not
        # validate and compare them again.
        contained: dict[int, list[tuple[str, Any, int]]] = {}
        for at, thing in self._in_order(last):
            steps = contained.get(id(thing))
            if steps is None:
                steps = self._steps(thing, planned)
                if any(step[0] == "apply" for step in steps):
                    contained = {}
                if isinstance(thing, Object) or (isinstance(thing, Edit) and not steps):
                    contained[id(thing)] = steps
            found += [(min(LONGEST, self.zero + at), *step) for step in steps]
        return found

    def _in_order(self, last: int) -> list[tuple[int, Any]]:
        """Return what all events do, with its time, in chronological order."""
        planned: list[tuple[int, Any]] = []
        for index, event in enumerate(self.settings.events):
            for at in event.occurrences(f"events[{index}]", last):
                things = event.what if isinstance(event.what, list | tuple) else [event.what]
                planned += [(at, thing) for thing in things]
        return sorted(planned, key=lambda entry: entry[0])

    def _steps(self, thing: Any, cluster: Planned) -> list[tuple[str, Any, int]]:
        if isinstance(thing, Delete | Edit):
            expect_texts("events", thing)
        if isinstance(thing, Delete):
            kind, _, rest = thing.what.partition("/")
            namespace, _, name = rest.rpartition("/")
            namespace = namespace or "default" * (kind in ("LocalQueue", "LimitRange"))
            cluster.expect(kind, f"{namespace}/{name}" if namespace else name)
            return [("delete", (kind, namespace, name), 0)]
        if isinstance(thing, Finish | Evict | Priority):
            row = int(thing.job) if isinstance(thing.job, Integral) else self._row_named(str(thing.job))
            if row is None or not 0 <= row < self.size:
                raise NotFoundError(f"events: {thing}: names no job")
            value: Any = thing.priority if isinstance(thing, Priority) else 0
            if not isinstance(value, Integral) or isinstance(value, bool) or not -(2**31) <= int(value) < 2**31:
                raise InvalidSpecError(
                    f"events: {thing}: priority: is {value!r:.99}; it must be a whole number of 32 bits"
                )
            return [(type(thing).__name__.lower(), self._position_of(row), int(value))]
        return [("apply", obj, 0) for obj in changed_by(thing, cluster)]

    def _position_of(self, row: int) -> int:
        """Return the index of a job in the core; for jobs that were submitted later, the index is the row number."""
        if self._positions is None:
            self._positions = np.argsort(self._order, kind="stable")
        return int(self._positions[row]) if row < len(self._positions) else row

    def _row_named(self, name: str) -> int | None:
        namespace, _, own = name.rpartition("/")
        if self._rows_of_names is None:
            # Of several namespaces with the name, the last row counts.
            names = self.jobs["name"].tolist() if "name" in self.jobs.names else ()
            self._rows_of_names = {str(own): row for row, own in enumerate(names)}
        row = self._rows_of_names.get(own, row_of(own))
        if row is None or not namespace or not 0 <= row < self.size:
            return row
        return row if str(self.jobs["queue"][row]).partition("/")[0] == namespace else None

    def _start(self) -> Any:
        """Return the simulation in the core."""
        known = np.zeros(self.size, np.uint8)
        known[list(self._known)] = 1
        (core,) = self._runs({"known": known} if self._known else {}, [self.options])
        if self._known:
            core.adopt([(self._position_of(row), key) for row, key in sorted(self._known.items())])
        return core

    def _runs(self, more: dict[str, Any], options: list[dict[str, Any]]) -> list[VirtualRun]:
        """Return a simulation of each cluster in the core, with its options; `more` are further columns of the jobs."""
        columns = ordered(self._columns(self.jobs, self.codes) | more, self._order)
        pairs = zip(self.bases, options, strict=True)
        try:
            return [VirtualRun(session_of(base).engine, self.shapes, columns, own) for base, own in pairs]
        except InvalidSpecError:
            for template in self.jobs.templates:  # the error of the core does not name the Workload
                check(template)
            raise

    @staticmethod
    def _columns(table: JobColumns, codes: NDArray[np.int32]) -> dict[str, Any]:
        columns: dict[str, Any] = {"submit": table["submit"], "runtime": table["runtime"], "shape": codes}
        columns |= table.having("every", "cost", "restore", "grace")
        if "elastic" in table.names:
            columns["elastic"] = np.asarray(table["elastic"]).astype(np.uint8)
        return columns | {f"{name}s": column for name, column in table.having("name", "uid").items()}

    @property
    def now(self) -> int:
        """The current time in nanoseconds: the time of the last event or, if later, the time reached by advancing."""
        return int(max(self.core.now, self.core.start, self.reached))

    def apply(self, thing: Any) -> None:
        """Apply a change at the current time."""
        now, changes, applied = self.now, self.options["changes"], self._applied
        planned = self._planned.copy()
        while applied < len(changes) and changes[applied][0] <= now:
            _, what, obj, _ = changes[applied]
            if what == "apply":
                planned.apply(obj)
            applied += 1
        steps = [(now, *step) for step in self._steps(thing, planned)]
        commit(
            (
                *(partial(self.core.plan, *step) for step in steps),
                partial(changes.__setitem__, slice(applied, applied), steps),
                partial(self.__dict__.update, _applied=applied + len(steps), _planned=planned),
                partial(self._later.append, (now, "apply", thing)),
            )
        )

    def submit(self, given: Any) -> None:
        """Add jobs; a job whose submission time has already passed is submitted at the current time."""
        now = self.now
        new, notes = self._with_queues(jobs_of(given, session_of(self.base).state.job_context()))
        # The past cannot change any more.
        new = new._moved_to(np.maximum(new["submit"], now))  # noqa: SLF001 - of one room
        if not len(new):
            return
        shapes, own_codes = self._shapes_of(new)
        known, names = self._known_shapes or KnownShapes(self.shapes), self._names
        # After an exception, the lookup tables, which can be ahead of the simulation, are built again.
        self._known_shapes = self._names = None
        fresh, indices = known.find(shapes)
        codes = indices[own_codes]
        has_names = self._has_names or "name" in new.names
        if has_names:
            names = names or Names(self._tables)
            names.add(new)
        columns = self._columns(new, codes)
        columns["row"] = np.arange(self.size, self.size + len(new), dtype=np.int32)
        known.add(fresh)
        commit(
            (
                partial(self.core.extend, fresh, ordered(columns, np.arange(len(new)))),
                partial(self.shapes.extend, fresh),
                partial(self._tables.append, new),
                partial(self._codes.append, codes),
                partial(self._later.append, (now, "submit", given)),
                partial(
                    self.__dict__.update,
                    notes=tuple(sums((*self.notes, *notes)).items()),
                    size=self.size + len(new),
                    _known_shapes=known,
                    _names=names,
                    _has_names=has_names,
                    _rows_of_names=None,
                ),
            )
        )
