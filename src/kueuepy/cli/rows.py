"""Tables and logs of jobs, read as Workloads."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from kueuepy.errors import KueueError
from kueuepy.errors.words import counted
from kueuepy.jobs import Submission
from kueuepy.objects import Configuration, ResourceFlavor
from kueuepy.objects.times import Seconds, Timestamp
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.columns import NEVER, SPANS, is_known
from kueuepy.simulation.logs import ROW, read
from kueuepy.simulation.read import Source
from kueuepy.simulation.shapes import shapes_of

_NO_POLICY = Configuration()


class Rows(list[Submission]):
    """The jobs of a table.

    Attributes:
        table: The table.
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
) -> Iterator[Rows]:
    """Read the Workloads of a table or a log of jobs; errors raised inside the context name file and line.

    A job without a name gets the name that a simulation gives it. Columns that only a simulation uses are ignored, with
    a note.

    Raises:
        KueueError: The file cannot be read or a row is not valid, or the error was raised inside the context.
    """
    source = Source(name, by_location=True)
    table = read(source, "auto", None, {}, namespace)
    shapes, codes = shapes_of(table, tuple(flavors), dict(configuration.feature_gates or {}))
    found, rows = Rows(), dict[str, int]()
    found.table = table
    found.notes = tuple(
        f"{name}: {counted(count, 'row')}: {what}" for what, count in table.notes if not what.startswith("runtime")
    )
    for row, code in enumerate(codes.tolist()):
        submit, runtime = int(table["submit"][row]), int(table["runtime"][row])
        workload = msgspec.structs.replace(
            shapes[code],
            name=table.name_of(row),
            uid=str(table["uid"][row]) if "uid" in table.names else "",
            creation_timestamp=Timestamp.of(submit) if submit else None,
        )
        found.append(Submission(workload, None if runtime == NEVER else Seconds.of(runtime)))
        rows[workload.key] = row
    ignored = [name for name in table.names if name != ROW and (name in SPANS[2:] or not is_known(name))]
    if ignored:
        verb = "is" if len(ignored) == 1 else "are"
        found.notes += (f"{name}: {', '.join(ignored)}: {verb} ignored here",)

    try:
        yield found
    except KueueError as error:
        if isinstance(error.about, str) and error.about in rows:
            row = rows[error.about]
            error.locate(source.location(int(table[ROW][row])) if ROW in table.names else name)
        raise
