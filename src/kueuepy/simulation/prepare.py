"""What a run is made of: its jobs as the core takes them, the objects, and all that is to happen."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy._core import VirtualRun
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.problems import nearest
from kueuepy.errors.words import counted, verb
from kueuepy.manifest import check
from kueuepy.objects import LocalQueue, Object, ResourceFlavor, Workload
from kueuepy.objects.times import LONGEST
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.items import check_names, concat, jobs_of, of_workloads
from kueuepy.simulation.model import Delete, Edit, Evict, Finish, Priority, Settings, delay_options, moment
from kueuepy.simulation.shapes import shapes_of
from kueuepy.simulation.values import span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.base import JobColumns

_NAMED = 5


@checked_methods
class Prepared:
    """A run that is ready to go on, and how far it has come.

    Attributes:
        settings: What was asked for.
        base: The Scheduler from which it began.
        declared: The objects at its start.
        jobs: The jobs, and after them the workloads that were in the Scheduler already.
        notes: What was left out of the jobs.
        zero: The first submission, or when the Scheduler was, in nanoseconds.
        options: What the core was asked for.
        shapes: A Workload without name for all jobs that ask for the same.
        codes: By row, the place of its shape.
        order: The rows in the order of the core.
        core: The run itself.
        reached: Until when it was asked to go on, in nanoseconds.
    """

    def __init__(
        self,
        cluster: Cluster | Scheduler,
        jobs: JobColumns | Iterable[Any],
        settings: Settings,
        *,
        base: Scheduler | None = None,
    ) -> None:
        """Reads all that is given.

        Args:
            cluster: What it begins from.
            jobs: The jobs.
            settings: What is asked for beside.
            base: A Scheduler that was made of the cluster, to begin many runs with it.

        Raises:
            InvalidSpecError: Something is not valid; the message names the row.
            NotFoundError: Jobs name LocalQueues that are not there.
        """
        if settings.on_loop not in ("hold", "stop", "raise"):
            raise InvalidSpecError(f"on_loop: {settings.on_loop!r}; it must be hold, stop or raise")
        self.settings = settings
        self._given = (cluster, jobs)
        self.reached = 0
        there = cluster if isinstance(cluster, Scheduler) else base
        self.base = Scheduler(cluster) if there is None else there.fork()  # type: ignore[arg-type]
        self.declared = self.base.cluster if isinstance(cluster, Scheduler) else cluster
        self.jobs = self._all_jobs(jobs)
        self.options = self._read_options()
        self.shapes, self.codes = self._shapes_of(self.jobs)
        self._later: list[tuple[int, str, Any]] = []
        self.core = self._start()

    def _shapes_of(self, table: JobColumns) -> tuple[list[Workload], Any]:
        gates = dict(self.base.configuration.feature_gates or {})
        return shapes_of(table, self.base.state.store.objects.of(ResourceFlavor), gates)

    def end_of(self, until: Any) -> int:
        """The nanosecond of a time after the first submission; `None`, and what no 64 bits hold, is never."""
        return LONGEST if until is None else min(LONGEST, self.zero + moment("until", until))

    def until(self, when: Any) -> Prepared:
        """The same run from its start on until a moment after the first submission."""
        return next(self.moments((when,)))

    def moments(self, times: Iterable[Any]) -> Iterator[Prepared]:
        """The same run from its start on, at one moment after another; asking for the next lets it go on."""
        twin = Prepared(*self._given, self.settings)
        later = deque(self._later)
        for when in times:
            end = twin.end_of(when)
            while later and later[0][0] <= end:
                at, how, thing = later.popleft()
                twin._reach(at)
                getattr(twin, how)(thing)
            twin._reach(end)
            yield twin

    def _reach(self, time: int) -> None:
        self.reached = max(self.reached, time)
        while self.core.advance(until=self.reached):
            pass

    def copy(self) -> Prepared:
        """Another run from here; what happens to one of the two is not seen by the other."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.core = self.core.copy()
        twin.options, twin._later = dict(self.options), list(self._later)  # noqa: SLF001 - of its own class
        return twin

    @property
    def states(self) -> Any:
        """By row, whether a job is still to come (0), waits (1), runs (2), has finished (3) or is deactivated (4)."""
        return self.core.jobs()["state"][0]

    def _all_jobs(self, given: Any) -> JobColumns:
        """The jobs that have a queue, and the workloads that are there already; sorted by submission for the core."""
        table = jobs_of(given, self.base.job_context())
        table = self._with_queues(table)
        check_names(table)
        known = [key for key in self.base.keys() if self._lives(key)]  # noqa: SIM118 - a Scheduler is no mapping
        self._known: dict[int, str] = {}
        if not known:
            return table
        table = self._with_known(table, known)
        submit = np.array(table["submit"])
        submit[list(self._known)] = np.minimum(submit[list(self._known)], self.base.engine.now)
        return table.moved_to(submit)

    def _with_known(self, table: JobColumns, known: list[str]) -> JobColumns:
        """With the workloads of these keys, of which some may be among the jobs."""
        rows = {f"{str(table['queue'][row]).partition('/')[0]}/{table.name_of(row)}": row for row in range(len(table))}
        others = [key for key in known if key not in rows]
        self._known = {rows[key]: key for key in known if key in rows}
        self._known |= {len(table) + place: key for place, key in enumerate(others)}
        workloads = [self.base.workload(key) for key in others]
        return concat([table, of_workloads(workloads, [None] * len(workloads))]) if others else table

    def _lives(self, key: str) -> bool:
        finished = self.base.engine.condition(self.base.id_of(key), "Finished")
        return finished is None or not finished[0]

    def _with_queues(self, table: JobColumns) -> JobColumns:
        there = {queue.key for queue in self.base.state.store.objects.of(LocalQueue)}
        queue = table["queue"]
        absent = [code for code, name in enumerate(queue.names) if name not in there]
        lost = np.isin(queue.codes, absent)
        self.notes: tuple[tuple[str, int], ...] = table.notes
        if not lost.any():
            return table
        number = int(lost.sum())
        if self.settings.missing == "wait":
            self.notes = (*self.notes, ("wait for a LocalQueue that is not there", number))
            return table
        if self.settings.missing == "skip":
            self.notes = (*self.notes, ("left out: their LocalQueue is not there", number))
            return table.where(~lost)
        counts = np.bincount(queue.codes[lost], minlength=len(queue.names))
        named = [f"{queue.names[code]} ({counted(counts[code], 'job')})" for code in absent if counts[code]]
        close = nearest(queue.names[absent[0]], there)
        hint = f'; did you mean "{close}"?' if close else ""
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        raise NotFoundError(
            f"jobs: {number} of {len(table)} {verb(number, 'name')} LocalQueues that are not in the cluster: "
            f'{", ".join(named[:_NAMED])}{more}{hint}; missing="skip" leaves them out'
        )

    def _read_options(self) -> dict[str, Any]:
        settings = self.settings
        submit = self.jobs["submit"]
        self.zero = max(int(submit.min()) if len(submit) else 0, self.base.engine.now)
        last = int(submit.max(initial=self.zero)) - self.zero
        until = self.end_of(settings.until)
        changes = self._changes(last)
        return {
            **settings.model.options(),
            **settings.clock.options(),
            **settings.record.options(),
            **delay_options(settings.delays, settings.seed, self._changed),
            "changes": changes,
            "until": until,
            "warmup": span("warmup", settings.warmup),
            "on_loop": "hold" if settings.on_loop == "hold" else "stop",
            "as_performance_test": False,
        }

    def _changes(self, last: int) -> list[tuple[int, str, Any, int]]:
        """All that the events come to, in order; an Edit is made of the objects as they are by then."""
        planned: list[tuple[int, int, Any]] = []
        for place, event in enumerate(self.settings.events):
            for at in event.moments(f"events[{place}]", last):
                things = event.what if isinstance(event.what, list | tuple) else [event.what]
                planned += [(at, len(planned) + number, thing) for number, thing in enumerate(things)]
        planned.sort(key=lambda entry: entry[:2])
        self._cluster = self.declared
        rows = self._rows()
        order = np.argsort(np.argsort(self.jobs["submit"], kind="stable"), kind="stable")
        found = []
        for at, _, thing in planned:
            found += [(self.zero + at, *step) for step in self._steps(thing, rows, order)]
        self._cluster = self.declared
        return found

    def _steps(self, thing: Any, rows: dict[str, int], order: Any) -> list[tuple[str, Any, int]]:
        if isinstance(thing, Delete):
            kind, _, rest = thing.what.partition("/")
            namespace, _, name = rest.rpartition("/")
            return [("delete", (kind, namespace or "default" * (kind in ("LocalQueue", "LimitRange")), name), 0)]
        if isinstance(thing, Finish | Evict | Priority):
            row = thing.job if isinstance(thing.job, int) else self._row_named(thing.job, rows)
            if row is None or not 0 <= row < len(self.jobs):
                raise NotFoundError(f"events: {thing}: names no job")
            value = thing.priority if isinstance(thing, Priority) else 0
            return [(type(thing).__name__.lower(), int(order[row]), value)]
        return [("apply", obj, 0) for obj in self._changed(thing)]

    def _row_named(self, name: str, rows: dict[str, int]) -> int | None:
        """The row of a job by its name, or by namespace and name as errors tell it."""
        namespace, _, own = name.rpartition("/")
        row = rows.get(own, _row_of(own))
        if row is None or not namespace or not 0 <= row < len(self.jobs):
            return row
        return row if str(self.jobs["queue"][row]).partition("/")[0] == namespace else None

    def _changed(self, thing: Any) -> list[Object]:
        """The objects that applying an object or an Edit comes to; later ones come on top."""
        if isinstance(thing, Edit):
            edited = self._cluster.edit(thing.path, thing.value)
            before = list(self._cluster.objects())
            self._cluster = edited
            return [obj for obj in edited.objects() if obj not in before]
        if isinstance(thing, Object) and not isinstance(thing, Workload):
            self._cluster = self._cluster.replace(thing)
            return [thing]
        raise InvalidSpecError(f"events: {thing!r}; it must be an object, an Edit, Delete, Finish, Evict or Priority")

    def _rows(self) -> dict[str, int]:
        names = self.jobs["name"].tolist() if "name" in self.jobs.names else ()
        return {str(name): row for row, name in enumerate(names)}

    def _start(self) -> VirtualRun:
        self.order = np.argsort(self.jobs["submit"], kind="stable")
        try:
            core = VirtualRun(self.base.engine, self.shapes, self._columns(), self.options)
        except InvalidSpecError:
            for template in self.jobs.templates:  # the core does not tell whose pods it cannot read
                check(template)
            raise
        if self._known:
            place = np.argsort(self.order, kind="stable")
            core.adopt([(int(place[row]), key) for row, key in sorted(self._known.items())])
        return core

    def _columns(self) -> dict[str, Any]:
        """The columns of all jobs as the core takes them, in its order."""
        table, order = self.jobs, self.order
        columns: dict[str, Any] = {"submit": table["submit"], "runtime": table["runtime"], "shape": self.codes}
        columns |= {name: table[name] for name in ("every", "cost", "restore", "grace") if name in table.names}
        if "elastic" in table.names:
            columns["elastic"] = np.asarray(table["elastic"]).astype(np.uint8)
        if "created" in table.names:
            columns["created"] = table["created"]
        if self._known:
            known = np.zeros(len(table), np.uint8)
            known[list(self._known)] = 1
            columns["known"] = known
        if not bool((order[1:] > order[:-1]).all()):
            columns = {name: column[order] for name, column in columns.items()}
            columns["row"] = order.astype(np.int32)
        if "name" in table.names:
            columns["names"] = list(map(str, table["name"][order].tolist()))
        return {n: np.ascontiguousarray(c) if isinstance(c, np.ndarray) else c for n, c in columns.items()}

    # What is added while it goes on.

    @property
    def now(self) -> int:
        """The moment that it has come to, in nanoseconds: of its last event, or until when it was asked to go on."""
        stats = self.core.stats
        return max(int(stats["now"]), int(stats["start"]), self.reached)

    def apply(self, thing: Any) -> None:
        """Changes something now; it is decided upon when the run goes on."""
        now = self.now
        self._cluster = self.declared
        for at, what, obj, _ in self.options["changes"]:
            if what == "apply" and at <= now:
                self._cluster = self._cluster.replace(obj)
        place = np.argsort(self.order, kind="stable")
        steps = [(now, *step) for step in self._steps(thing, self._rows(), place)]
        self.options["changes"] = sorted([*self.options["changes"], *steps], key=lambda change: change[0])
        for step in steps:
            self.core.plan(step)
        self._later.append((now, "apply", thing))

    def _renumber(self, places: NDArray[np.int64]) -> None:
        """Changes of jobs go with their jobs, which have moved to these places."""
        self.options["changes"] = [
            (at, what, int(places[thing]) if isinstance(thing, int) else thing, value)
            for at, what, thing, value in self.options["changes"]
        ]

    def submit(self, given: Any) -> None:
        """Takes in more jobs; those whose submission is over come now."""
        now, old = self.now, len(self.jobs)
        new = self._with_queues(jobs_of(given, self.base.job_context()))
        new = new.moved_to(np.maximum(new["submit"], now))
        joined = concat([self.jobs, new])
        check_names(joined)
        shapes, codes = self._shapes_of(new)
        codes = codes + np.int32(len(self.shapes))
        self.jobs, self.shapes, self.codes = joined, [*self.shapes, *shapes], np.concatenate([self.codes, codes])
        # Who has come keeps their place; the others are put in order with the new.
        came = self.core.stats["next"]
        rest = np.concatenate([self.order[came:], np.arange(old, len(joined))])
        rest = rest[np.argsort(joined["submit"][rest], kind="stable")]
        before, self.order = self.order, np.concatenate([self.order[:came], rest])
        place = np.argsort(self.order, kind="stable")
        self.core.extend(self.shapes, self._columns(), place[before].tolist())
        self._renumber(place[before])
        self._later.append((now, "submit", given))


def _row_of(name: str) -> int | None:
    return int(name[1:]) if name[:1] == "j" and name[1:].isdigit() else None
