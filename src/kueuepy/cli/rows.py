"""Tables and logs of jobs, read as Workloads."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from kueuepy.errors import KueueError, counted, verb
from kueuepy.jobs import Submission
from kueuepy.objects import Configuration, ResourceFlavor, Seconds, Timestamp, Workload
from kueuepy.simulation.base import CENSORED, JobColumns
from kueuepy.simulation.columns import NEVER, SPANS, is_about, is_known, keys_of
from kueuepy.simulation.logs import ROW, read
from kueuepy.simulation.read import Source
from kueuepy.simulation.shapes import shapes_of
from kueuepy.simulation.table import Jobs

if TYPE_CHECKING:
    from kueuepy.cli.logs import Log

_NO_POLICY = Configuration()


class Rows(list[Submission]):
    """The jobs of a table; none if a simulation runs the table itself.

    Attributes:
        table: The table, which a simulation runs.
        notes: The columns and rows that are ignored.
    """

    table: JobColumns
    notes: tuple[str, ...] = ()


@contextmanager
def rows_of(
    name: str,
    *,
    namespace: str = "default",
    flavors: Iterable[ResourceFlavor] = (),
    configuration: Configuration = _NO_POLICY,
    log: "Log | None" = None,
) -> Iterator[Rows]:
    """Read the Workloads of a table or a log of jobs; errors raised inside the context name file and line.

    A job without a name gets the name that a simulation gives it. Columns that only a simulation uses are ignored, with
    a note. `log` has the options of a command that simulates the jobs of the log.

    Raises:
        KueueError: The file cannot be read or a row is not valid, or the error was raised inside the context.
    """
    source = Source(name, by_location=True)
    options = ("auto", None) if log is None else (log.format_, log.columns)
    table = read(source, *options, {}, namespace)
    if log is not None:
        table = log.chosen(Jobs.concat([table]), name).exact()
    found, rows = Rows(), {key: row for row, key in enumerate(keys_of(table))}
    found.table = table._with({own: column for own, column in table._columns.items() if own != ROW})  # noqa: SLF001
    found.notes = tuple(
        f"{name}: {counted(note[1], 'row')}: {note[0]}"
        for note in table.notes
        if log is not None or not is_about(note, "runtime")
    )
    if log is None:
        shapes, codes = shapes_of(table, tuple(flavors), dict(configuration.feature_gates or {}))
        found += [_submission(table, row, shapes[code]) for row, code in enumerate(codes.tolist())]
        # Only a table, whose reader numbers the rows, has columns that its author may expect to have an effect.
        ignored = [own for own in found.table.names if own in SPANS[2:] or not (is_known(own) or own == CENSORED)]
        if ignored and ROW in table.names:
            found.notes += (f"{name}: {', '.join(ignored)}: {verb(len(ignored), 'are')} ignored here",)

    try:
        yield found
    except KueueError as error:
        if isinstance(error.about, str) and error.about in rows:
            row = rows[error.about]
            error.locate(source.location(int(table[ROW][row])) if ROW in table.names else name)
        raise


def _submission(table: JobColumns, row: int, shape: Workload) -> Submission:
    """Return the Workload of a row, with its running time."""
    submit, runtime = int(table["submit"][row]), int(table["runtime"][row])
    workload = msgspec.structs.replace(
        shape,
        name=table.name_of(row),
        uid=str(table["uid"][row]) if "uid" in table.names else "",
        creation_timestamp=Timestamp.of(submit) if submit else None,
    )
    return Submission(workload, None if runtime == NEVER else Seconds.of(runtime))
