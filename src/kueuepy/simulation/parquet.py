"""Parquet files of jobs and of results, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.libraries import imported
from kueuepy.files import write_files
from kueuepy.simulation.columns import SPANS
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from kueuepy.files import Write
    from kueuepy.tables import Columns


_TIMES = ("submit", "recorded_start")


def read_parquet(path: str | os.PathLike[str], extra: str) -> Any:
    """Return the pyarrow table of a Parquet file, or of a directory of Parquet files.

    Args:
        path: The file or the directory.
        extra: The optional dependency group that contains pyarrow, for the error message.

    Raises:
        InvalidSpecError: The file cannot be read, or is not a Parquet file that contains a table.
        UnsupportedError: pyarrow is not installed.
    """
    path = Path(path)
    parquet, failures = _pyarrow("pyarrow.parquet", extra), _pyarrow("pyarrow", extra).ArrowException
    try:
        if path.is_dir():
            return parquet.read_table(path)
        with path.open("rb") as file:  # pyarrow opens no path that is not UTF-8
            return parquet.read_table(file)
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, OverflowError, NotImplementedError, failures) as error:
        raise InvalidSpecError(f"{path}: is not a Parquet file of a table: {error}") from None


def write_jobs(jobs: Columns, path: str | os.PathLike[str]) -> None:
    """Write the internal columns of a table of jobs, so that `read` can read them.

    Times become timestamps and durations, and CPU is in cores.

    Raises:
        StateError: The file cannot be written.
        UnsupportedError: pyarrow is not installed.
    """
    parquet = _pyarrow("pyarrow.parquet")
    table = jobs.to_arrow()
    for place, name in enumerate(table.column_names):
        if name in (*_TIMES, "cpu", *SPANS):
            table = table.set_column(place, name, _arrow(name, jobs[name]))
    write_files({path: lambda file: parquet.write_table(table, file)})


def _arrow(name: str, column: NDArray[Any]) -> Any:
    """Return a column of timestamps, durations or cores as an Arrow array."""
    array = _pyarrow("pyarrow").array
    if name == "cpu":
        return array(column / 1000)
    if name in _TIMES:
        return array(column.view("M8[ns]"), mask=column < 0)
    return array(column.view("m8[ns]"), mask=None if name == "runtime" else column < 0)


def _pyarrow(module: str, extra: str = "arrow") -> Any:
    return imported(module, "Parquet and Arrow tables", f'"kueuepy[{extra}]"')


def table_writer(table: Columns) -> Write:
    """Return a function that writes a table to a file object in the format Parquet.

    Raises:
        UnsupportedError: pyarrow is not installed.
    """
    parquet = _pyarrow("pyarrow.parquet")
    return lambda file: parquet.write_table(table.to_arrow(), file)


def read_table(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the columns of a file that `table_writer` wrote; a column of names has the same codes.

    Raises:
        InvalidSpecError: The file cannot be read.
        UnsupportedError: pyarrow is not installed.
    """
    table = read_parquet(path, "arrow").combine_chunks()
    return {name: _stored_column(table.column(name)) for name in table.column_names}


def _stored_column(column: Any) -> Any:
    if not str(column.type).startswith("dictionary"):
        found = column.to_numpy()
        return found.astype(object) if found.dtype.kind in "OUT" else found
    coded = column.unify_dictionaries().combine_chunks()
    coded = coded.chunk(0) if hasattr(coded, "chunks") else coded  # some releases return a chunked array
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Categorical(codes, coded.dictionary.to_pylist())
