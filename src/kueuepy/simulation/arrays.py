"""Conversion of lists, arrays and columns of DataFrames to arrays with one value for each row."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import briefly
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NO_COLUMN = (str, bytes, bytearray, memoryview, Mapping, AbstractSet)
"""Types that can be iterated, but not row by row: a Set has no order, and a Mapping yields its keys."""


Values: TypeAlias = "NDArray[Any] | Categorical"
"""Numbers, times, or the distinct Python values of a column with a code for each row."""


def array_of(name: str, values: Any) -> Values:
    """Return a column as numbers, as times, or as distinct values in the order of their first occurrence.

    Args:
        name: The name of the column, for error messages.
        values: A list, an iterator, an array, or a column of a DataFrame or of an Arrow table.

    Raises:
        InvalidSpecError: The values are not a column, have several dimensions, or are not UTF-8 text.
    """
    try:
        found = _converted(values)
    except UnicodeDecodeError as error:
        raise InvalidSpecError(f'column "{name}": is not text in UTF-8: {error.reason}') from None
    except (ValueError, OverflowError) as error:
        raise InvalidSpecError(f'column "{name}": {error}') from None
    if found is None:
        raise InvalidSpecError(
            f'column "{name}": is {briefly(values)}; it must be a list, an array or a DataFrame column'
        )
    return found


def _converted(values: Any) -> Values | None:
    """Convert a column; return `None` if the values are not a column."""
    if isinstance(values, Categorical):
        return values
    if hasattr(values, "dictionary_encode"):
        return _of_arrow(values)
    codes = getattr(getattr(values, "cat", None), "codes", None)
    if codes is not None:
        return _without_empty(codes.to_numpy().astype(np.int32), values.cat.categories.tolist())
    if _has_zone(values):
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    if hasattr(values, "to_numpy"):
        values = _to_numpy(values)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ValueError(f"has {values.ndim} dimensions; it must have one")
    if isinstance(values, np.ma.MaskedArray):
        values = _with_gaps(values)
    if isinstance(values, np.ndarray):
        return _plain(values)
    if isinstance(values, _NO_COLUMN) or not hasattr(values, "__iter__"):
        return None
    listed = list(values)
    return _plain(np.array(listed)) if set(map(type, listed)) <= {int, float} else encoded(listed)


def _plain(values: NDArray[Any]) -> Values:
    """Convert an array to numbers of 64 or fewer bits, to times, or to distinct Python objects.

    Raises:
        ValueError: The array has times without a unit, or bytes that are not UTF-8 text.
    """
    kind = values.dtype.kind
    if kind in "mM" and np.datetime_data(values.dtype)[0] == "generic":
        if not np.isnat(values).all():
            raise ValueError("has times without a unit; their type must have one, such as timedelta64[s]")
        return encoded([None] * len(values))
    if kind == "f" and values.dtype.itemsize not in (4, 8):
        return values.astype(np.float32 if values.dtype.itemsize < 4 else np.float64)  # noqa: PLR2004 - bytes
    if kind in "iufbmM":
        return values.astype(values.dtype.newbyteorder("="), copy=False)
    return encoded(values.tolist())


def encoded(cells: list[Any]) -> Categorical:
    """Return the distinct values, with strings instead of bytes; missing values have the code -1.

    Raises:
        UnicodeDecodeError: Bytes are not UTF-8 text.
    """
    known: dict[Any, int] = {}
    try:
        codes = np.fromiter((known.setdefault(cell, len(known)) for cell in cells), np.int32, len(cells))
    except TypeError:  # lists, which DataFrames may contain
        codes, names = np.arange(len(cells), dtype=np.int32), cells
    else:
        names = list(known)
    own = [-1 if is_missing(value) else code for code, value in enumerate(names)]
    texts = [value.decode() if isinstance(value, bytes) else value for value in names]
    return Categorical(np.array(own, np.int32)[codes], texts)


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: `None`, an empty string, NaN, NaT or NA."""
    if value is None or isinstance(value, str | bytes):
        return not value
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ArithmeticError):  # pandas' NA has no truth value; a signaling NaN cannot be compared
        return True
    except ValueError:  # an array, which is compared by elements
        return False


def _with_gaps(values: np.ma.MaskedArray[Any, Any]) -> Any:
    """Replace masked values with NaT or `None`."""
    if values.dtype.kind not in "mM":
        return values.tolist()
    found = np.array(values.data)
    found[np.ma.getmaskarray(values)] = "NaT"
    return found


def _has_zone(values: Any) -> bool:
    try:
        return getattr(getattr(values, "dt", None), "tz", None) is not None
    except NotImplementedError:  # a Series of pandas with dates or durations of Arrow
        return False


def _to_numpy(values: Any) -> Any:
    try:
        return values.to_numpy()
    except Exception:  # noqa: BLE001 - each library has its own exceptions for types that NumPy lacks, such as i128
        return list(values)


def _of_arrow(column: Any) -> Values | None:
    """Convert an array of pyarrow; empty strings become missing values.

    Raises:
        ValueError: A string is not UTF-8 text.
    """
    pyarrow, types, compute = map(import_module, ("pyarrow", "pyarrow.types", "pyarrow.compute"))
    if hasattr(column, "chunks"):
        column = column.combine_chunks() if column.num_chunks else pyarrow.array([], column.type)
    if hasattr(column, "chunks"):  # some releases of pyarrow return a chunked array with one chunk
        column = column.chunk(0)
    if types.is_run_end_encoded(column.type):
        column = compute.run_end_decode(column)
    kind = column.type
    if types.is_dictionary(kind) and (column.dictionary.null_count or not _is_text(types, kind.value_type)):
        column = column.dictionary_decode()
    if _is_text(types, column.type):
        column.validate(full=True)  # Parquet files may contain strings that are not UTF-8
        column = column.cast("string").dictionary_encode()
    kind = column.type
    if types.is_dictionary(kind):
        column.dictionary.validate(full=True)
        codes = column.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
        names = column.dictionary.to_numpy(zero_copy_only=False).tolist()
        return _without_empty(codes, names)
    if types.is_primitive(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind):
        return _plain(column.to_numpy(zero_copy_only=False))
    return _converted(column.to_pylist())


def _without_empty(codes: NDArray[np.int32], names: list[Any]) -> Categorical:
    """Return a column in which empty texts are missing values."""
    if "" in names:
        codes = np.where(np.isin(codes, [code for code, name in enumerate(names) if name == ""]), -1, codes)
    return Categorical(codes, names)


def _is_text(types: Any, kind: Any) -> bool:
    names = ("is_string", "is_large_string", "is_string_view")
    return any(getattr(types, name)(kind) for name in names if hasattr(types, name))
