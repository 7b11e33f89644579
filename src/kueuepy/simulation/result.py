"""The result of a simulation: tables, metrics and warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, StateError, checked_methods, counted, spelled_out
from kueuepy.files import write_files
from kueuepy.look.notebook import Sheet, Sheets, listed, repr_html, repr_text
from kueuepy.look.numbers import duration
from kueuepy.objects import SECOND
from kueuepy.pages.data import MOST_EXPLAINED
from kueuepy.session.session import session_of
from kueuepy.simulation.columns import key_of
from kueuepy.simulation.figures import Kpis, by_column, by_queue, jain_by, kpis_of, preemptions, tidy
from kueuepy.simulation.grouped import BOUND
from kueuepy.simulation.model import time_after
from kueuepy.simulation.pages import words
from kueuepy.simulation.pages.words import warnings_of
from kueuepy.simulation.pictures.catalogue import Plots, drawn, drawn_if_recorded, pictures_in
from kueuepy.simulation.pictures.charts import PictureOptions
from kueuepy.simulation.recorded import (
    FACTS,
    TABLES,
    Recorded,
    Waiter,
    fingerprint_of,
    largest,
    plain,
    table_writer,
    text_of_facts,
)
from kueuepy.tables.columns import Framed, exact, is_named

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from typing_extensions import Unpack

    from kueuepy.files import Write
    from kueuepy.look.svg import Picture
    from kueuepy.objects import QuantityText
    from kueuepy.pages import Page
    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.fragmentation import FragmentationSeries
    from kueuepy.simulation.pictures.charts import PictureName
    from kueuepy.simulation.prepare import Prepared
    from kueuepy.tables import Columns

_LONGEST = 10
# The title of the sentences above the metrics.
_IN_WORDS = "Result"


@checked_methods
class Result(Recorded, Framed):
    """The result of a simulation.

    A Result can be copied and pickled. A Result that was unpickled or loaded by `load_result` contains the same tables
    and metrics, but methods that need a Scheduler raise `StateError`.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 2}}))
    >>> jobs = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)]
    >>> result = simulate(cluster, jobs)
    >>> result
    <Result: 3 of 3 jobs finished in 2 h; wait 19 min 20 s on average, 58 min p95; 0 evictions>
    >>> result.kpis.wait_mean
    1160.0

    Attributes:
        jobs: One row per job; see `JobTable`.
        runs: One row per admission; see `RunsTable`.
        decisions: One row per decision; see `DecisionsTable`.
        usage: Usage, number of waiting jobs and share of each ClusterQueue over time; see `UsageSeries`.
        consumed: Decayed usage of each LocalQueue over time under admission fair sharing; see `ConsumedTable`.
        cycles: One row per scheduling cycle; empty unless the simulation records cycles. See `CyclesTable`.
        idle: Free quota that waiting jobs request, by cohort tree, over time; see `IdleTable`. `idle` is recorded
            together with `usage`.
        blocked: Ratio of used quota to entitled quota for each ClusterQueue with waiting jobs, over time; see
            `BlockedTable`. `blocked` is recorded together with `usage`.
        loops: The preemption loops that were found.
        policy: The name of the policy, which `compare` sets; pictures, pages and reports show it. Empty for none.
        not_modelled: Descriptions of settings in the input that kueuepy does not model and that could change the
            result.
        notes: Notes on input rows that were left out or changed, as pairs (reason, number of rows).
        seconds: Length of the simulation in seconds of virtual time.
        warmup: Length of the warm-up in seconds; metrics exclude the warm-up.
        settings: The arguments of the simulation; a dict if the result was loaded from files.
        stats: The numbers of `workloads`, `cycles`, `admissions`, `evictions` and `finished` jobs.
        wall: A dict that contains the CPU time of `simulate` in seconds, under the key `cpu_s`.
    """

    _tables: ClassVar[tuple[str, ...]] = tuple(TABLES)
    """The names of the tables, which are saved and whose contents determine the fingerprint."""

    @cached_property
    def kpis(self) -> Kpis:
        """The metrics of the whole simulation after the warm-up."""
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
        """Return the metrics for a time window, or for some of the jobs.

        Args:
            start: The beginning of the window, as a time after the first submission such as `2d` or a number of
                seconds; the end of the warm-up by default. Metrics of jobs include only the jobs submitted in the
                window.
            end: The end of the window (exclusive); the end of the simulation by default.
            where: A boolean mask of shape (jobs,), or a function that returns a mask for the table of jobs. The metrics
                include only the jobs for which the mask is true. By default, the metrics include all jobs.
            bound: The smallest runtime for the bounded slowdown, in seconds; 10 by default.
            prices: The price of one unit of a resource for one hour, by flavor, for the metric `cost`. A flavor without
                a price has the price 0.

        Raises:
            StateError: A time window was requested, but the usage was not recorded.
            InvalidSpecError: `start` or `end` is not a time, or `end` is not later than `start`.
        """
        low, high = _window("figures", start, end)
        mask = where(self.jobs) if isinstance(where, Callable) else where  # type: ignore[arg-type]
        return kpis_of(self, low, high, mask, bound=bound, prices=prices)

    @cached_property
    def queues(self) -> Columns:
        """The metrics of the ClusterQueues, with one row per ClusterQueue."""
        return by_queue(self)

    def by(self, column: str, start: Any = None, end: Any = None) -> Columns:
        """Return the metrics of the jobs for each value of a column, such as `user`, `kind` or `cluster_queue`.

        Args:
            column: The name of a column of the table of jobs.
            start: The beginning of the window; only jobs submitted in the window are included. By default, the metrics
                cover the whole simulation.
            end: The end of the window (exclusive); the end of the simulation by default.

        Returns:
            One row per value of the column. Columns `used_hours`, `lost_hours` and `overhead_hours` contain pod
            requests multiplied by time, in hours.

        Raises:
            NotFoundError: The table of jobs does not have the column.
        """
        return by_column(self, column, *_window("by", start, end))

    def jain(self, by: str = "cluster_queue") -> float | None:
        """Return Jain's fairness index over ClusterQueues, or over the values of any column of the table of jobs.

        The index compares the dominant share of each group: the largest fraction of all nominal quota of a resource
        that its jobs held. The share of a ClusterQueue is divided by its fair sharing weight.

        Args:
            by: The name of the column; `cluster_queue` by default.

        Returns:
            A number between 1/n (one of n groups held all quota) and 1 (all shares are equal); `None` if no job held
            quota.

        Raises:
            NotFoundError: The table of jobs does not have the column.
        """
        return self.kpis.jain if by == "cluster_queue" else jain_by(self, by)

    @cached_property
    def waiting(self) -> tuple[Waiter, ...]:
        """The ten jobs with the longest waits among those that still wait at the end, with an explanation of each."""
        if self._run is None:
            # Files and pickles hold the explanations of the time when they were written.
            return tuple(self._waiting)
        rows = largest(np.flatnonzero(is_named(self.jobs["state"], "Waiting")), self.jobs["waited"], _LONGEST)
        return tuple(map(partial(self._waiter, self.scheduler), rows)) if rows else ()

    def _waiter(self, scheduler: Any, row: int) -> Waiter:
        jobs = self.jobs
        queue, reason = jobs["cluster_queue"][row] or "", jobs["reason"][row] or ""
        explanation = self._explanation(scheduler, row)
        return Waiter(self.name_of(row), queue, float(jobs["waited"][row]), reason, explanation)

    def _explanation(self, scheduler: Any, row: int) -> str:
        """Return the explanation why a job waits; empty if there is none."""
        return str(scheduler.explain(key_of(self.jobs, row)))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to read before the metrics, such as a load over 1 or jobs that never finish."""
        return warnings_of(self)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 hash of all tables, as hexadecimal digits; identical simulations have identical hashes."""
        return fingerprint_of({name: exact(getattr(self, name)) for name in self._tables})

    def tidy(self) -> Columns:
        """Return the metrics of the simulation and of each ClusterQueue, with one value per row for plotting libraries.

        Returns:
            Columns `cluster_queue` (`all` for the whole simulation), `figure` (the metric), `flavor_resource` (or
            empty), `value` and `unit`. Values have the units of `Kpis`; for example, waits are in seconds.
        """
        return tidy(self, dict(self.kpis.rows()))

    def to_table(self) -> Columns:
        """Return the result of `tidy()`; other tables are attributes, such as `jobs`, `runs` and `usage`."""
        return self.tidy()

    @property
    def preemptions(self) -> Columns:
        """The number of evictions by the victim's ClusterQueue, the preemptor's ClusterQueue, and the preemption rule.

        Columns are `victim`, `preemptor`, `rule`, `count`, and `lost_hours` for each flavor and resource: the progress
        lost, multiplied by the quota held, in hours. Evictions that are not preemptions have no preemptor and no rule.
        """
        return preemptions(self)

    @property
    def scheduler(self) -> Scheduler:
        """The Scheduler at the end of the simulation.

        Raises:
            StateError: The result was unpickled or loaded from files.
        """
        return self._given().scheduler()

    def shares_and_usage(self) -> tuple[dict[str, float], dict[str, dict[str, int]]]:
        """Return the weighted share and the usage of each ClusterQueue at the end of the simulation.

        Returns:
            The weighted shares by ClusterQueue, and the usage by ClusterQueue and `flavor/resource`, in millicores for
            CPU.

        Raises:
            StateError: The result was unpickled or loaded from files.
        """
        engine = session_of(self.scheduler).engine
        return engine.shares(), engine.usage()

    def at(self, when: Any) -> Scheduler:
        """Return the Scheduler at a given time in the simulation. The method repeats the simulation up to this time.

        Args:
            when: A time after the first submission, such as `2d`, `2d 14:00` or a number of seconds.

        Raises:
            StateError: The result was unpickled or loaded from files.
            InvalidSpecError: `when` is not a time.
        """
        return self._given().until(when).scheduler()

    def fragmentation(
        self, topology: str, sizes: Iterable[Mapping[str, QuantityText]], *, flavor: str | None = None, step: Any = None
    ) -> FragmentationSeries:
        """Return the sizes of the largest jobs that fitted into a topology over time.

        The method repeats the simulation and measures at regular intervals.

        Args:
            topology: The name of the Topology.
            sizes: The requests of one pod for each job size, such as `[{"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 8}]`.
            flavor: The ResourceFlavor whose nodes to consider; required if several flavors use the topology.
            step: The interval, such as `1h` or a number of seconds; 1/100 of the length of the simulation by default.

        Raises:
            NotFoundError: The Topology does not exist, or no flavor uses it.
            InvalidSpecError: A request is not a quantity, or the interval is not a time.
            StateError: The result was unpickled or loaded from files, or the levels of the topology change during the
                simulation.
        """
        from kueuepy.simulation.fragmentation import fragmentation_of  # noqa: PLC0415 - only on use

        return fragmentation_of(self._given(), topology, sizes, flavor=flavor, step=step, end=self.seconds)

    @property
    def plot(self) -> Plots:
        """Pictures as matplotlib Axes: `result.plot()`, or `result.plot.waits()`; one method for each of `picture`."""
        return Plots(self)

    @spelled_out(PictureOptions)
    def picture(self, name: PictureName = "usage", **options: Unpack[PictureOptions]) -> Picture:
        """Return a picture as SVG; no plotting library is needed.

        Args:
            name: `usage` (the default), `queue`, `shares`, `consumed`, `waits`, `gantt`, `preemptions`, or
                `slowdown_by_size`; for a fleet also `clusters` or `dispatch`.
            options: The arguments of the `plot` method with the same name, such as
                `flavor_resource="h100/nvidia.com/gpu"`.

        Raises:
            InvalidSpecError: The picture does not exist.
            StateError: The picture needs a table that was not recorded.
        """
        return drawn(self, name, **options)

    def page(
        self, path: str | os.PathLike[str] | None = None, *, title: str = "", explained: int = MOST_EXPLAINED
    ) -> Page:
        """Return a page that shows the simulation with a time slider: one HTML file without external resources.

        The page shows quota, usage, pending workloads and running workloads at every moment. The page explains the
        workloads that are still pending at the end. For an earlier time, use `result.at(time).explain(name)`, which
        repeats the simulation up to this time.

        Args:
            path: The file to write. By default, no file is written.
            title: The title of the page.
            explained: The maximum number of workloads with a full explanation in the page, among the workloads that
                are pending at the end.

        Returns:
            The page, which a notebook displays inline.

        Raises:
            StateError: The file cannot be written, or the runs or the usage were not recorded.
        """
        from kueuepy.pages import Page  # noqa: PLC0415 - only on use
        from kueuepy.simulation.paged import result_data  # noqa: PLC0415 - only on use

        # A result from files has no Scheduler, and a fleet has several; the page then has no explanations.
        scheduler = None if self._run is None or hasattr(self, "clusters") else self.scheduler
        data = result_data(self, scheduler, title=title, explained=explained)
        data.notes = list(self.warnings)
        return Page.written(data, path)

    def _given(self) -> Prepared:
        run: Prepared | None = self._run
        if run is None:
            raise StateError("result: was loaded from files or unpickled; run the simulation again to get a Scheduler")
        return run

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write the result to a directory: one Parquet file per table, and `result.json`.

        Args:
            directory: The directory, which is created if necessary. Existing files are overwritten, but none of them
                changes before all files are on the disk.

        Raises:
            StateError: A file cannot be written.
            UnsupportedError: pyarrow is not installed.
        """
        folder = Path(directory)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StateError(f"{folder}: cannot be written: {error.strerror}") from error
        contents: dict[str | os.PathLike[str], Write] = {
            folder / f"{name}.parquet": table_writer(exact(getattr(self, name))) for name in self._tables
        }
        facts = {name: getattr(self, name) for name in FACTS} | {"settings": plain(self.settings)}
        facts["notes"] = [(what, rows, getattr(what, "kind", "")) for what, rows in self.notes]
        facts |= ({"policy": self.policy} if self.policy else {}) | self._more_facts()
        text = text_of_facts(facts).encode()
        contents[folder / "result.json"] = lambda file: file.write(text)
        write_files(contents)

    def _more_facts(self) -> dict[str, Any]:
        """Return the data that only some kinds of results contain."""
        return {}

    def _remarks(self) -> list[str]:
        """Return the remarks to read before the metrics: the settings that are not modelled, and the warnings."""
        said = (f"not modelled: {text}" for text in self.not_modelled)
        return [*said, *(f"warning: {text}" for text in self.warnings)]

    def __repr__(self) -> str:
        """Return the settings that are not modelled, the warnings, and a one-line summary."""
        kpis = self.kpis
        finished = f"{kpis.finished} of {counted(kpis.jobs, 'job')} finished in {duration(self.seconds)}"
        wait = f"wait {duration(kpis.wait_mean)} on average, {duration(kpis.wait_p95)} p95"
        numbers = f"<Result: {finished}; {wait}; {counted(kpis.evictions, 'eviction')}>"
        return "\n".join([*self._remarks(), numbers])

    def _metrics(self) -> tuple[Sheet, ...]:
        return tuple(sheet._replace(source=".kpis.rows()") for sheet in self.kpis.sheets())

    def sheets(self) -> tuple[Sheet, ...]:
        """Return the warnings and the metrics as tables for display."""
        return (*self._said(), *self._metrics())

    def _said(self) -> tuple[Sheet, ...]:
        said = (("Not modelled", self.not_modelled), ("Warning", self.warnings), (_IN_WORDS, self._in_words()))
        return tuple(sheet for name, texts in said for sheet in listed(name, texts))

    def _in_words(self) -> list[str]:
        """Return the result in sentences: the waits and the usage, the largest problem, and the next step."""
        return [words.of_run(self), *words.problem(self).lines()] if self.kpis.jobs else []

    def _repr_html_(self) -> str:
        """Return the warnings and the result in words, pictures of usage and waits, and the metrics, for notebooks."""
        shown = [one._repr_html_() for one in drawn_if_recorded(self, pictures_in("notebook")).values()]
        said = [repr_html(Sheets(self._said()))] if self._said() else []
        return "".join([*said, *shown, repr_html(Sheets(self._metrics()))])

    def __str__(self) -> str:
        """Return the warnings and the most important metrics, as a notebook shows them."""
        found = [*listed(_IN_WORDS, self._in_words()), *self._metrics()]
        return "\n".join([*self._remarks(), repr_text(found, self)])


def _window(where: str, start: Any, end: Any) -> tuple[float | None, float | None]:
    """Return the limits of a time window in seconds; `None` for a limit that is not set.

    Raises:
        InvalidSpecError: A limit is not a time, or the end is not later than the start.
    """
    given = (("start", start), ("end", end))
    low, high = (None if when is None else time_after(f"{where}: {name}", when) / SECOND for name, when in given)
    if low is not None and high is not None and high <= low:
        raise InvalidSpecError(f"{where}: end: is {end!r:.99}; it must be later than start, {start!r:.99}")
    return low, high
