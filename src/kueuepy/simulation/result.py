"""What came of a run: tables, figures, warnings."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.errors.words import counted
from kueuepy.notebook import Sheet, repr_html
from kueuepy.objects import SECOND
from kueuepy.simulation.figures import Kpis, kpis_of
from kueuepy.simulation.groups import by_column, by_queue, jain_by, tidy
from kueuepy.simulation.measures import BOUND
from kueuepy.simulation.model import moment
from kueuepy.simulation.moments import scheduler_of
from kueuepy.simulation.pictures.chart import Charts
from kueuepy.simulation.pictures.plot import Plots
from kueuepy.simulation.pictures.svg import drawn
from kueuepy.simulation.recorded import (
    TABLES,
    BlockedTable,
    ConsumedTable,
    CyclesTable,
    DecisionsTable,
    IdleTable,
    JobTable,
    PreemptionLoop,
    Recorded,
    RunsTable,
    UsageSeries,
)
from kueuepy.simulation.saved import read_facts, text_of_facts
from kueuepy.simulation.text import span_text
from kueuepy.simulation.waiting import Waiter, beside_recorded, longest_waiting, smallest_waiting
from kueuepy.simulation.warn import warnings_of
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.framed import Framed

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from kueuepy.objects import QuantityText
    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.picture import Picture
    from kueuepy.simulation.pictures.svg import PictureName
    from kueuepy.simulation.places import FragmentationSeries
    from kueuepy.simulation.prepare import Prepared

_LONGEST = 10


@checked_methods
class Result(Recorded, Framed):
    """What came of a run; a value.

    A Result can be copied and pickled. Unpickled, it answers as one that `load_result` has read: it has no Scheduler.

    Attributes:
        jobs: A row a job.
        runs: A row an admission.
        decisions: A row a decision.
        usage: How usage, waiting and shares went.
        consumed: The ledger of admission fair sharing.
        cycles: A row a scheduling cycle, where they were recorded.
        idle: What was free while somebody asked for it, by tree of cohorts; recorded with the usage.
        blocked: How much of what it is entitled to a ClusterQueue used while jobs waited there; the same.
        loops: Endless preemption that was found.
        notes: What was left out, and how many rows.
        seconds: How long the run took, in virtual time.
        warmup: Where figures begin, in seconds.
        settings: What was asked for.
        stats: How many cycles, admissions and evictions there were.
        wall: What it cost, in seconds of CPU.
    """

    def __init__(
        self,
        tables: Mapping[str, Columns],
        totals: dict[str, Any],
        loops: tuple[PreemptionLoop, ...],
        facts: dict[str, Any],
        run: Prepared | None = None,
    ) -> None:
        """Holds what `result_of` or `load_result` has gathered, and the run that it came of."""
        super().__init__(tables, totals, loops, facts)
        self._run = run

    @cached_property
    def kpis(self) -> Kpis:
        """The figures of the whole run, from the warm-up on."""
        return kpis_of(self)

    def figures(
        self,
        start: Any = None,
        end: Any = None,
        where: Any = None,
        *,
        bound: float = BOUND,
        prices: Mapping[str, float] | None = None,
    ) -> Kpis:
        """The figures of a window, or of some jobs.

        Args:
            start: From when on; jobs count that were submitted then or later.
            end: Until when.
            where: A mask of jobs, or a function of the table of jobs.
            bound: The least runtime of a bounded slowdown, in seconds.
            prices: By flavor, the price of an hour and unit, for `cost`.

        Raises:
            StateError: A window needs the usage, which was not recorded.
        """
        low, high = _seconds("figures: start", start), _seconds("figures: end", end)
        mask = where(self.jobs) if isinstance(where, Callable) else where  # type: ignore[arg-type]
        return kpis_of(self, low, high, mask, bound=bound, prices=prices)

    @cached_property
    def queues(self) -> Columns:
        """The figures of each ClusterQueue."""
        return by_queue(self)

    def by(self, column: str, start: Any = None, end: Any = None) -> Columns:
        """The figures of jobs for each value of a column of jobs, as `user`, `kind` or `cluster_queue`.

        Args:
            column: The column.
            start: From when on; jobs count that were submitted then or later.
            end: Until when.

        Raises:
            NotFoundError: There is no such column.
        """
        return by_column(self, column, _seconds("by: start", start), _seconds("by: end", end))

    def jain(self, by: str = "cluster_queue") -> float | None:
        """Jain's index over ClusterQueues or any column of jobs: from 1, all got alike, to 1 over their number.

        Compared is the dominant part of all quota that somebody's jobs held; of a ClusterQueue over its weight.
        """
        return self.kpis.jain if by == "cluster_queue" else jain_by(self, by)

    def smallest_waiting(self, resource: str | None = None) -> Columns:
        """By ClusterQueue over time, the least that a waiting job asks for: `seconds`, `cluster_queue`, `amount`.

        An amount is of all pods of a job, in thousandths for cpu; -1 while nobody waits.

        Raises:
            StateError: The runs were not recorded.
        """
        return smallest_waiting(self, resource)

    def compare_recorded(self) -> Columns:
        """First waits beside those of the log that the jobs come from: `recorded_wait`, `first_wait`, `difference`.

        Raises:
            StateError: The log does not say when jobs started.
        """
        return beside_recorded(self)

    @cached_property
    def waiting(self) -> tuple[Waiter, ...]:
        """The ten jobs that have waited for longest at the end, and why."""
        if self._run is None:
            return tuple(self._waiting)
        rows = longest_waiting(self, _LONGEST)
        return tuple(map(partial(self._waiter, self.scheduler), rows)) if rows else ()

    def _waiter(self, scheduler: Scheduler, row: int) -> Waiter:
        jobs, name = self.jobs, self.name_of(row)
        explanation = str(scheduler.explain(f"{str(jobs['queue'][row]).partition('/')[0]}/{name}"))
        queue, reason = jobs["cluster_queue"][row] or "", jobs["reason"][row] or ""
        return Waiter(name, queue, float(jobs["waited"][row]), reason, explanation)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What to know before one trusts a figure."""
        return warnings_of(self, self.kpis)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of all columns of all tables: equal for equal runs."""
        digest = hashlib.sha256()
        for name in TABLES:
            table: Columns = getattr(self, name)
            for column in table.names:
                values = table[column]
                digest.update(f"{name}.{column}".encode())
                digest.update(b"".join(_bytes_of(values)))
        return digest.hexdigest()

    def tidy(self) -> Columns:
        """Return the figures of the run and of each ClusterQueue, one value a row, as plotting libraries take them.

        Columns are `cluster_queue` (`all` for the whole run), `figure`, `cell` (flavor/resource, or empty), `value` and
        `unit`. Values are in the units of `Kpis`, also where a notebook shows others: waits in seconds.
        """
        return tidy(self, dict(self.kpis.rows()))

    def to_table(self) -> Columns:
        """Return `tidy()`; the single tables are `jobs`, `runs`, `decisions`, `usage` and so on."""
        return self.tidy()

    @property
    def preemptions(self) -> Columns:
        """Who evicted whom: victim and preemptor (ClusterQueues), rule, count, and what was lost by cell, in hours."""
        from kueuepy.simulation.groups import preemptions  # noqa: PLC0415 - only on use

        return preemptions(self)

    @property
    def scheduler(self) -> Scheduler:
        """The Scheduler at the end of the run.

        Raises:
            StateError: The result was read from files.
        """
        return scheduler_of(self._given())

    def shares_and_usage(self) -> tuple[dict[str, float], dict[str, dict[str, int]]]:
        """The weighted share and the usage by cell of each ClusterQueue at the end of the run."""
        engine = self.scheduler.engine
        return engine.shares(), engine.usage()

    def at(self, when: Any) -> Scheduler:
        """The Scheduler of a moment of the run, to ask and explain: it is run again until then.

        Args:
            when: After the first submission, as `2d`, `2d 14:00` or seconds.

        Raises:
            StateError: The result was read from files.
        """
        return scheduler_of(self._given().until(when))

    def fragmentation(
        self, topology: str, sizes: Iterable[Mapping[str, QuantityText]], *, flavor: str | None = None, step: Any = None
    ) -> FragmentationSeries:
        """The largest jobs that a topology could have placed, over time: it is run again, and asked after each step.

        Args:
            topology: The Topology.
            sizes: What each pod of a job asks for, such as `[{"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 8}]`.
            flavor: Which ResourceFlavor's nodes, where several have the topology.
            step: As `1h` or seconds; a hundredth of the run without it.

        Raises:
            NotFoundError: No flavor has the topology, or it is not there.
            InvalidSpecError: A request is no amount, or the step no time.
            StateError: The result was read from files, or the levels of the topology change in the run.
        """
        from kueuepy.simulation.places import fragmentation_of  # noqa: PLC0415 - only on use

        return fragmentation_of(self._given(), topology, sizes, flavor=flavor, step=step, end=self.seconds)

    # Pictures.

    @property
    def plot(self) -> Plots:
        """Pictures as Axes of matplotlib: `result.plot.usage()`, `waits`, `queue`, `gantt`, `shares`, `preemptions`."""
        return Plots(self)

    @property
    def chart(self) -> Charts:
        """The same pictures as charts of altair."""
        return Charts(self)

    def picture(self, name: PictureName = "usage", **options: Any) -> Picture:
        """A picture as SVG, without a library.

        Args:
            name: `usage`, `queue`, `shares`, `waits`, `gantt`, `preemptions` or `slowdown_by_size`.
            options: As `result.plot` takes them, as `flavor_resource="h100/nvidia.com/gpu"` or `by="user"`.

        Raises:
            InvalidSpecError: There is no such picture.
            StateError: It needs a table that was not recorded.
        """
        return drawn(self, name, **options)

    def _given(self) -> Prepared:
        if self._run is None:
            raise StateError("result: was read from files or unpickled; run it again to ask for a Scheduler")
        return self._run

    # Files.

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes a Parquet file for each table, and `result.json`.

        Raises:
            StateError: They cannot be written.
            UnsupportedError: pyarrow is not installed.
        """
        from kueuepy.simulation.arrow import write_table  # noqa: PLC0415 - only on use

        folder = Path(directory)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StateError(f"{folder}: cannot be written: {error.strerror}") from error
        for name in TABLES:
            write_table(getattr(self, name), folder / f"{name}.parquet")
        facts = {
            "seconds": self.seconds,
            "warmup": self.warmup,
            "notes": self.notes,
            "settings": plain(self.settings),
            "stats": self.stats,
            "weights": self.weights,
            "trees": self.trees,
            "totals": self.totals,
            "loops": [msgspec.to_builtins(loop) for loop in self.loops],
            "waiting": [msgspec.to_builtins(waiter) for waiter in self.waiting],
            "fingerprint": self.fingerprint,
        }
        try:
            (folder / "result.json").write_text(text_of_facts(facts), encoding="utf-8")
        except OSError as error:
            raise StateError(f"{folder}: result.json: cannot be written: {error.strerror}") from error

    def __repr__(self) -> str:
        """Warnings first, then what came of it in numbers."""
        kpis = self.kpis
        finished = f"{kpis.finished} of {counted(kpis.jobs, 'job')} finished in {span_text(self.seconds)}"
        wait = f"wait {span_text(kpis.wait_mean)} on average, {span_text(kpis.wait_p95)} p95"
        numbers = f"<Result: {finished}; {wait}; {counted(kpis.evictions, 'eviction')}>"
        return "\n".join([*(f"warning: {text}" for text in self.warnings), numbers])

    def sheets(self) -> tuple[Sheet, ...]:
        """Warnings first, then the figures."""
        warned = [Sheet(("to know before",), [(text,) for text in self.warnings])] if self.warnings else []
        return (*warned, *self.kpis.sheets())

    def _repr_html_(self) -> str:
        """For notebooks: usage and waits as pictures, warnings and figures."""
        shown = [self.picture(name)._repr_html_() for name in ("usage", "waits") if name == "waits" or len(self.usage)]
        return "".join([*shown, repr_html(self)])

    def __str__(self) -> str:
        """Warnings, and a line for each figure."""
        return "\n".join([*(f"warning: {text}" for text in self.warnings), str(self.kpis)])


def _seconds(where: str, when: Any) -> float | None:
    return None if when is None else moment(where, when) / SECOND


def plain(value: Any) -> Any:
    """A setting as JSON holds it."""
    if isinstance(value, msgspec.Struct):
        return {"kind": type(value).__name__, **{name: plain(getattr(value, name)) for name in value.__struct_fields__}}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):  # an array or number of NumPy, or a column of a frame: all of its values
        return plain(value.tolist())
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _bytes_of(values: Any) -> tuple[bytes, ...]:
    """What a column holds: of names those that occur, sorted, and the place of each row among them."""
    if not isinstance(values, Categorical):
        texts = values.dtype == object
        return ("\0".join(map(str, values.tolist())).encode() if texts else values.tobytes(),)
    used = np.unique(values.codes)
    names = sorted({str(values.names[code]) for code in used if code >= 0})
    places = {name: place for place, name in enumerate(names)}
    table = np.array([*(places.get(str(name), -1) for name in values.names), -1], np.int32)
    return ("\0".join(names).encode(), table[values.codes].tobytes())


@checked
def load_result(directory: str | os.PathLike[str]) -> Result:
    """The result that `Result.save` has written.

    Raises:
        InvalidSpecError: There is none, or it is damaged.
        UnsupportedError: pyarrow is not installed.
    """
    from kueuepy.simulation.arrow import read_table  # noqa: PLC0415 - only on use
    from kueuepy.simulation.read import Source  # noqa: PLC0415 - only on use

    folder = Path(directory)
    facts: Any = read_facts(folder, Source(folder / "result.json").text())
    kinds = (JobTable, RunsTable, DecisionsTable, UsageSeries, ConsumedTable, CyclesTable, IdleTable, BlockedTable)
    tables = {name: kind(read_table(folder / f"{name}.parquet")) for name, kind in zip(TABLES, kinds, strict=True)}
    found = Result(tables, facts["totals"], tuple(facts["loops"]), facts)
    if found.fingerprint != facts["fingerprint"]:
        raise InvalidSpecError(f"{folder}: is damaged: its fingerprint does not match")
    return found
