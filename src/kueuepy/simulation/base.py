"""Validated columns of jobs, and the methods that derive other tables from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError, briefly, checked_methods, counted, first_of
from kueuepy.look.notebook import MOST_ROWS, Named, Sheet
from kueuepy.look.numbers import duration
from kueuepy.objects import LATEST, LONGEST, SECOND, format_time
from kueuepy.simulation.columns import (
    ALIASES,
    EPOCHAL,
    NEVER,
    SPANS,
    by_name,
    change_notes,
    check_columns,
    cleaned,
    expect_columns,
    is_about,
    is_resource,
    name_notes,
    name_of,
    read_column,
    read_templates,
)
from kueuepy.simulation.distributions import Exponential, draws
from kueuepy.simulation.grouped import Flags, Groups, Ints
from kueuepy.simulation.values import Column, is_unicode
from kueuepy.tables.columns import Categorical, Columns, as_names, table_of
from kueuepy.tables.kinds import span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from typing_extensions import Self

    from kueuepy.objects import Workload
    from kueuepy.simulation.columns import Note
    from kueuepy.simulation.distributions import Distribution


@checked_methods
class JobColumns(Columns):
    """The columns of a table of jobs; the public class is `kueuepy.Jobs`.

    Attributes:
        notes: Notes on input rows that were left out or changed, as pairs (reason, number of rows).
        header: The description that the file of a log contains.
        templates: Workloads with several pod sets. The column `template` contains the index of the job's Workload in
            `templates`, or -1.
    """

    __slots__ = ("header", "notes", "templates")
    notes: tuple[Note, ...]
    header: str
    templates: tuple[Workload, ...]

    def __init__(
        self, columns: Mapping[str, Any], *, where: Callable[[int], str] | None = None, notes: Iterable[Note] = ()
    ) -> None:
        """Create a table from columns of equal length.

        Args:
            columns: Arrays, lists or DataFrame columns, by name.
            where: A function that returns the description of a row for error messages, given its number; `jobs row N`
                by default.
            notes: Notes about rows that the file reader has skipped.

        Raises:
            InvalidSpecError: A column is missing, has a different length or contains an invalid value; the message
                names the row.
        """
        if not hasattr(columns, "items"):
            raise InvalidSpecError(
                f"Jobs: columns: is {briefly(columns)}; it must be a mapping of columns by name; Jobs.of reads rows"
            )
        for name in columns:
            if not isinstance(name, str) or not is_unicode(name):
                raise InvalidSpecError(
                    f"Jobs: columns: {name!r:.99} is not the name of a column; it must be text in UTF-8"
                )
        location = where or (lambda row: f"jobs row {row}")
        named = by_name(columns)
        expect_columns(named, columns)
        said = list(notes)
        found = {name: read_column(Column(name, values, location), said) for name, values in named.items()}
        lengths = {name: len(column) for name, column in found.items()}
        if len(set(lengths.values())) > 1:
            raise InvalidSpecError(f"jobs: columns of different length: {lengths}; all must be equally long")
        check_columns(found, location)
        templates = read_templates(found, location)
        self._hold(found, (*said, *name_notes(found), *_small_memory(found)), templates=templates)

    def _hold(
        self,
        columns: Mapping[str, Any],
        notes: tuple[Note, ...],
        header: str = "",
        templates: tuple[Workload, ...] = (),
    ) -> None:
        Columns.__init__(self, columns)
        for column in columns.values():
            # Derived tables share their columns, so the columns are read-only.
            (column.codes if isinstance(column, Categorical) else column).flags.writeable = False
        self.notes, self.header, self.templates = notes, header, templates

    @classmethod
    def _like(cls, table: JobColumns, columns: Mapping[str, Any] | None = None, **other: Any) -> Self:
        """Return a table of this class with the notes and templates of another table, and its columns by default."""
        found = cls.__new__(cls)
        kept = {name: getattr(table, name) for name in JobColumns.__slots__}
        found._hold(table._columns if columns is None else columns, **{**kept, **other})  # noqa: SLF001 - same class
        return found

    def _with(self, columns: Mapping[str, Any] | None = None, **other: Any) -> Self:
        """Return this table with other columns, which must be valid, or with other notes or templates."""
        return self._like(self, columns, **other)

    # Properties.

    def exact(self) -> JobColumns:
        """Return the internal columns, with times in integer nanoseconds (-1 if missing) and CPU in millicores."""
        return self if type(self) is JobColumns else JobColumns._like(self)

    def _changed(self, **columns: Any) -> Self:
        """Return a table in which some columns are replaced with the given columns, which must be valid."""
        return self._with({**dict(self._columns), **columns})

    @property
    def resources(self) -> tuple[str, ...]:
        """The names of the columns that contain pod requests."""
        return tuple(name for name in self.names if is_resource(name))

    @property
    def span(self) -> float:
        """The time from the first submission to the last, in seconds; 0 for an empty table."""
        submit = self._columns["submit"]
        return float(submit.max() - submit.min()) / SECOND if len(submit) else 0.0

    def name_of(self, row: int) -> str:
        """Return the name of a job's Workload.

        Args:
            row: The row number of the job.

        Raises:
            NotFoundError: The row does not exist.
        """
        return name_of(self, row)

    def having(self, *names: str) -> dict[str, Any]:
        """Return the columns of these names that the table has, in internal units."""
        return {name: self._columns[name] for name in names if name in self._columns}

    def column(self, name: str, default: int) -> Ints:
        """Return a column of integers; if the column is missing, return the default value for each row.

        Args:
            name: The name of the column.
            default: The default value.
        """
        return self._columns[name] if name in self.names else np.broadcast_to(np.int64(default), len(self))

    def assign(self, **columns: Any) -> Self:
        """Return a table with additional or replaced columns.

        Args:
            columns: For each column, one value for all rows, an array with one value per row, or a function of this
                table. Pass names that are not Python identifiers as `**{"nvidia.com/gpu": 2}`.

        Raises:
            InvalidSpecError: A value is invalid for its column, or an array has a different length.
        """
        found = dict(self._columns)
        said = list(self.notes)
        for name, values in columns.items():
            given = values(self) if callable(values) else values
            if isinstance(given, str | bytes) or not hasattr(given, "__len__"):
                given = [given] * len(self)
            if len(given) != len(self):
                raise InvalidSpecError(
                    f'jobs: column "{name}" has {counted(len(given), "row")}; it must have {len(self)}'
                )
            final = ALIASES.get(name, name)
            found[final] = read_column(Column(final, given, lambda row: f"jobs row {row}"), said)
        check_columns(found, lambda row: f"jobs row {row}")
        templates = read_templates(found, lambda row: f"jobs row {row}") if "template" in columns else self.templates
        return self._with(found, notes=tuple(said), templates=templates)

    def head(self, n: int) -> Self:
        """Return the first `n` rows."""
        return self.take(np.arange(min(n, len(self))))

    def window(self, start: Any, end: Any = None) -> Self:
        """Return the jobs submitted in a time window, with submission times counted from the beginning of the window.

        Args:
            start: The beginning of the window, as the time since the first submission.
            end: The end of the window (exclusive), as the time since the first submission; no limit by default.

        Raises:
            InvalidSpecError: `start` or `end` is not a time.
        """
        first = int(self._columns["submit"].min()) if len(self) else 0
        # A sum beyond the latest time would overflow 64 bits.
        low = min(LONGEST, first + span("window: start", start))
        high = LONGEST if end is None else min(LONGEST, first + span("window: end", end))
        submit = self._columns["submit"]
        found = self.where((submit >= low) & (submit < high))
        moved = {name: own - low for name, own in found.having("submit", "recorded_start").items()}
        return found._changed(**moved)  # noqa: SLF001 - of its own class

    def scale_load(self, factor: float) -> Self:
        """Divide the times between submissions by a factor, which multiplies the arrival rate by the factor.

        Args:
            factor: The factor, greater than 0; 2 doubles the load. Times are rounded to nanoseconds.

        Raises:
            InvalidSpecError: The factor is not greater than 0, or a job would end after the latest representable time.
        """
        _check_factor("scale_load", factor)
        first = self._columns["submit"].min() if len(self) else 0
        # Only the gaps are divided: dates keep the day of the first submission.
        gaps = np.round((self._columns["submit"] - first) / factor)
        self._expect(gaps < LONGEST - np.maximum(self._columns["runtime"], 0) - first, "scale_load", "submit", factor)
        return self._moved_to(first + gaps.astype(np.int64))

    def scale_runtime(self, factor: float) -> Self:
        """Return the jobs with runtimes multiplied by a factor; jobs that never end do not change.

        Args:
            factor: The factor, greater than 0.

        Raises:
            InvalidSpecError: The factor is not greater than 0, or a job would end after the latest representable time.
        """
        _check_factor("scale_runtime", factor)
        runtime = self._columns["runtime"]
        scaled = np.where(runtime < 0, 0, np.round(runtime * float(factor)))
        self._expect(scaled < LONGEST - self._columns["submit"], "scale_runtime", "runtime", factor)
        return self._changed(runtime=np.where(runtime < 0, runtime, scaled.astype(np.int64)))

    def _expect(self, allowed: Flags, method: str, column: str, factor: object) -> None:
        """Check that all times are still representable after multiplication by a factor.

        Args:
            allowed: A mask of the rows that are valid.
            method: The name of the method, for the error message.
            column: The name of the column.
            factor: The factor.

        Raises:
            InvalidSpecError: A row is not valid.
        """
        if not allowed.all():
            row = int((~allowed).argmax())
            seconds = int(self._columns[column][row]) / SECOND
            raise InvalidSpecError(
                f'{method}: {factor!r:.99}: jobs row {row}, column "{column}": {seconds:g} s '
                f"becomes too large; the job must end by {LATEST}"
            )

    def thin(self, p: float, seed: int = 0) -> Self:
        """Return a random sample of the jobs, each kept independently with probability `p`.

        Args:
            p: The probability, between 0 and 1.
            seed: Seed of the random number generator; 0 by default.

        Raises:
            InvalidSpecError: `p` is not between 0 and 1.
        """
        if not 0 <= p <= 1:
            raise InvalidSpecError(f"thin: {p!r:.99}; it must be from 0 to 1")
        return self.where(draws(seed, "thin", len(self)) < p)

    def shuffle_days(self, seed: int = 0) -> Self:
        """Return the jobs with the days in random order; each job keeps the time of day of its submission.

        Args:
            seed: Seed of the random number generator; 0 by default. Days are 24-hour periods after the first
                submission.
        """
        first = int(self._columns["submit"].min()) if len(self) else 0
        day, rest = np.divmod(self._columns["submit"] - first, 86400 * SECOND)
        # The rank of each day among random numbers is a permutation of the days.
        ranks = np.argsort(np.argsort(draws(seed, "shuffle_days", int(day.max(initial=-1)) + 1)))
        return self._moved_to(first + ranks[day] * 86400 * SECOND + rest).sort()

    def with_runtime(self, distribution: Distribution, by: str | None = None, seed: int = 0) -> Self:
        """Return the jobs with random runtimes.

        Args:
            distribution: The distribution of the runtimes.
            by: The name of a column; each value in the column has its own random stream, and jobs without a value share
                one. By default, all jobs share one random stream.
            seed: Seed of the random number generator; 0 by default.

        Raises:
            InvalidSpecError: A job would end after the latest representable time.
        """
        runtime = np.empty(len(self), np.int64)
        column = as_names(self[by]) if by is not None else Categorical(np.full(len(self), -1), [])
        parts = Groups.by(column.codes + 1, len(column.names) + 1).parts()
        for name, rows in zip(("", *column.names), parts, strict=True):
            runtime[rows] = distribution.nanoseconds(draws(seed, f"runtime {name}", len(rows)))
        twin = self._changed(runtime=runtime)
        twin._expect(runtime < LONGEST - self._columns["submit"], "with_runtime", "runtime", distribution)  # noqa: SLF001 - of its own class
        return twin

    def where(self, mask: Any) -> Self:
        """Return the jobs that satisfy a condition.

        Args:
            mask: A boolean mask with one value per row, or a function of this table that returns a mask. Instead of a
                mask, row numbers are accepted.

        Raises:
            InvalidSpecError: The mask has the wrong length or type.
        """
        return self.take(self._rows("where", mask(self) if callable(mask) else mask))

    def clean(self) -> Self:
        """Return the jobs with unique names, and with names of jobs, queues and flavors that Kubernetes accepts.

        Letters become lower case, and characters other than letters, digits, `-` and `.` become `-`. A job name that
        already exists in its namespace gets a suffix such as `-2`. Two different names of queues or flavors never
        become the same name. The `notes` of the result contain the number of changed rows, and `cleaning()` lists every
        change.

        >>> from kueuepy import Jobs
        >>> jobs = Jobs({"name": ["A_1", "a 1"], "queue": ["Team A"] * 2, "submit": [0, 0], "runtime": [1, 1]})
        >>> [row["after"] for row in jobs.cleaning().rows()]
        ['default/team-a', 'a-1', 'a-1-2']
        >>> jobs.clean().name_of(1)
        'a-1-2'
        """
        columns, changes = cleaned(self)
        # Cleaning settles the notes that ask for it.
        kept = [note for note in self.notes if not is_about(note, "name")]
        return self._changed(**columns)._with(notes=(*kept, *change_notes(changes)))  # noqa: SLF001 - same class

    def cleaning(self) -> Columns:
        """Return the changes that `clean` makes, in columns `column`, `before`, `after` and `rows` (row count)."""
        return table_of(("column", "before", "after", "rows"), cleaned(self)[1])

    def sort(self) -> Self:
        """Return the jobs sorted by submission time; jobs with equal times keep their order."""
        submit = self._columns["submit"]
        # Most logs are sorted, and are then not copied.
        return self if (submit[1:] >= submit[:-1]).all() else self.take(np.argsort(submit, kind="stable"))

    def moved_to(self, submit: Any) -> Self:
        """Return the jobs with the given submission times.

        Args:
            submit: The submission times: an array of seconds or datetimes, of shape (jobs,), as in `jobs["submit"]`.

        Raises:
            InvalidSpecError: `submit` has the wrong type or shape, a time is negative, or a job would end after the
                latest representable time.
        """
        if not isinstance(submit, np.ndarray) or submit.dtype.kind not in "iufM" or submit.shape != (len(self),):
            raise InvalidSpecError(
                f"Jobs.moved_to: submit: is {submit!r:.99}; it must be an array of {len(self)} numbers or datetimes"
            )
        return self._moved_to(read_column(Column("submit", submit, lambda row: f"Jobs.moved_to: row {row}"), []))

    def _moved_to(self, submit: Ints) -> Self:
        """Return the jobs with the given submission times, in nanoseconds."""
        bad = (submit < 0) | (submit > LONGEST - np.maximum(self._columns["runtime"], 0))
        if bad.any():
            row = int(bad.argmax())
            raise InvalidSpecError(
                f"Jobs.moved_to: submit: row {row} is {submit[row]}; it must be 0 or more, and the job must end by "
                f"{LATEST}"
            )
        return self._changed(submit=submit)

    def sheets(self) -> tuple[Sheet]:
        """Return the first 20 rows as a table for display, with times as text, CPU in cores and memory in GiB."""
        return (sheet_of(self.exact()),)

    def __repr__(self) -> str:
        """Return the number of jobs, the number of queues, the time span and the notes."""
        queues = len(np.unique(self["queue"].codes)) if len(self) else 0
        left = "".join(f"; {counted(rows, 'row')}: {what}" for what, rows in self.notes)
        number = f"{counted(len(self), 'job')} of {counted(queues, 'queue')}"
        return f"<Jobs: {number} in {duration(self.span)}{left}>"


def _check_factor(method: str, factor: float) -> None:
    if not 0 < factor < LONGEST:
        raise InvalidSpecError(f"{method}: {factor!r:.99}; it must be more than 0, and at most {LONGEST}")


def _small_memory(columns: Mapping[str, Any]) -> list[Note]:
    """Return a note if no job requests more than a mebibyte, as in logs whose memory is in megabytes or gigabytes."""
    memory = columns.get("memory", np.zeros(0, np.int64))
    number = int((memory > 0).sum())
    what = "memory is below 1 MiB and taken for bytes; map memory to COLUMN:GB for gigabytes"
    return [(what, number)] if number and int(memory.max()) < _MIB else []


_MIB, _GIB = 2**20, 2**30
# The titles of columns whose name is not a title in lower case.
_TITLES = {"name": "Job", "queue": "LocalQueue", "submit": "Submitted", "min_pods": "Fewest pods"}
_UNITS = {"cpu": "cores", "memory": "GiB", "ephemeral-storage": "GiB"}


def sheet_of(jobs: Columns) -> Sheet:
    """Return the first 20 rows of the internal columns, with times such as `1 h 30 min`, and the number of rows."""
    head = [_title(name) for name in jobs.names]
    rows = [[_text(name, row[name]) for name in jobs.names] for row in jobs.rows(MOST_ROWS)]
    return Sheet(tuple(head), rows, counted(len(jobs), "job"), len(jobs))


def _title(name: str) -> str | Named:
    """Return the title of a column in words, with its name for Python if the title does not say it."""
    if is_resource(name):
        return Named(f"{name} per pod", f"{name} ({_UNITS[name]})") if name in _UNITS else f"{name} per pod"
    title = _TITLES.get(name) or name.replace("_", " ").capitalize()
    return title if title.lower().replace(" ", "_") == name else Named(title, name)


def _text(name: str, value: Any) -> Any:
    if value is None:
        return ""
    if name in ("submit", "recorded_start"):
        at = int(value.astype("M8[ns]").astype(np.int64)) if isinstance(value, np.datetime64) else int(value)
        return "" if at < 0 else format_time(at) if at >= EPOCHAL else duration(at / SECOND)
    if name in SPANS:
        never = "never ends" if name == "runtime" else ""
        return never if value == NEVER else duration(value / SECOND)
    if name == "min_pods":
        return "" if value == NEVER else value
    if name == "cpu":
        return f"{value / 1000:g}"
    return f"{value / _GIB:.4g}" if name in _UNITS else value


CENSORED = "censored"
# The number of queues that a note names.
_TOLD = 3
# The number of samples that are drawn for a job before the rest of its runtime is drawn without its past.
_TRIES = 64


def censored_rows(table: JobColumns) -> Flags:
    """Return a mask of the jobs whose runtime is only a lower bound."""
    column = table[CENSORED] if CENSORED in table.names else None
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "biuf":
        return np.zeros(len(table), bool)
    return np.asarray(np.nan_to_num(column) != 0)


def expect_complete(table: JobColumns) -> None:
    """Check that every job has a runtime.

    Raises:
        InvalidSpecError: The runtimes of some jobs are only lower bounds.
    """
    left = int(censored_rows(table).sum())
    if left:
        raise InvalidSpecError(
            f"jobs: {counted(left, 'job')} had not finished when observed (column {CENSORED}), so the runtime is "
            'only a lower bound; simulate(censored=...) or Jobs.complete(...) must get "drop", "exponential" or '
            "a distribution"
        )


def completed(table: JobColumns, how: Any, seed: int) -> JobColumns:
    """Return the jobs with estimates of the full runtimes of unfinished jobs; see `Jobs.complete`."""
    rows = censored_rows(table)
    if how == "drop":
        lost = sorted({*table["queue"][rows].tolist()} - {*table["queue"][~rows].tolist()})
        what = "not finished; dropped" + (f", which leaves no job in {first_of(lost, _TOLD)}" if lost else "")
        notes = (*table.notes, *([(what, int(rows.sum()))] if rows.any() else []))
        return table.take(np.flatnonzero(~rows))._with(notes=notes)  # noqa: SLF001 - same package
    runtime = np.array(table["runtime"])
    if how == "exponential":
        means, queue = _means(table, rows), table["queue"]
        of_queues = Groups.by(np.where(rows, queue.codes, -1), len(queue.names)).parts()
        for code, mean in means.items():
            chosen = of_queues[code]
            rest = Exponential(mean / SECOND).nanoseconds(draws(seed, f"censored {code}", len(chosen)))
            # Half of the range is left for the time of submission.
            runtime[chosen] = np.minimum(runtime[chosen] + rest, LONGEST // 2)
    elif hasattr(how, "nanoseconds"):
        chosen = np.flatnonzero(rows)
        runtime[chosen] = _beyond(how, runtime[chosen], seed)
    else:
        raise InvalidSpecError(f'censored: {how!r:.99}; it must be "drop", "exponential" or a distribution')
    return table._changed(runtime=runtime, **{CENSORED: np.zeros(len(table), bool)})  # noqa: SLF001 - same package


def _means(table: JobColumns, rows: Flags) -> dict[int, float]:
    """Return the mean runtime in nanoseconds of each queue with unfinished jobs, by the code of the queue.

    The maximum likelihood estimate for exponential runtimes with censoring is the total observed time divided by the
    number of finished jobs. For a queue without finished jobs, the function uses the mean of all queues.

    Raises:
        InvalidSpecError: No job has finished.
    """
    runtime, codes = table["runtime"], table["queue"].codes
    done = ~rows & (runtime >= 0)
    if rows.any() and not done.any():
        raise InvalidSpecError('censored: "exponential" needs at least one finished job; it must be a distribution')
    known = runtime >= 0
    # A queue without finished jobs has no estimate of its own.
    overall = float(runtime[known].sum()) / max(1, int(done.sum()))
    of_queues = Groups.by(np.where(known, codes, -1), len(table["queue"].names))
    totals, counts = of_queues.sums(runtime[of_queues.rows]).tolist(), of_queues.sums(done[of_queues.rows]).tolist()
    return {
        code: max(1.0, float(totals[code]) / counts[code] if counts[code] else overall)
        for code in np.unique(codes[rows]).tolist()
    }


def _beyond(distribution: Any, lower: Ints, seed: int) -> Ints:
    """Return samples of a distribution that exceed the lower bounds.

    Samples that do not exceed the bound are rejected and drawn again. If 64 samples are rejected, the last one is added
    to the lower bound instead.
    """
    found = np.zeros(len(lower), np.int64)
    left = np.arange(len(lower))
    for attempt in range(_TRIES):
        if not len(left):
            return found
        found[left] = distribution.nanoseconds(draws(seed, f"censored {attempt}", len(left)))
        # Only the rejected samples are drawn again, each round from its own stream.
        left = left[found[left] <= lower[left]]
    found[left] = np.minimum(lower[left] + np.maximum(found[left], 1), LONGEST // 2)
    return found
