"""Conversion of lists, arrays and columns of DataFrames to arrays with one value for each row."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import briefly
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGE = 100_000  # pyarrow takes longer to import than to read a small column
_NO_COLUMN = (str, bytes, bytearray, memoryview, Mapping, AbstractSet)
"""Types that can be iterated, but not row by row: a Set has no order, and a Mapping yields its keys."""


def is_arrow(values: Any) -> bool:
    """Return whether the values are an array of pyarrow."""
    return hasattr(values, "dictionary_encode")


def array_of(name: str, values: Any) -> Any:
    """Return a column as an array of NumPy, as encoded names, or as strings in Arrow's memory.

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
    except ValueError as error:
        raise InvalidSpecError(f'column "{name}": {error}') from None
    if found is None:
        raise InvalidSpecError(
            f'column "{name}": is {briefly(values)}; it must be a list, an array or a DataFrame column'
        )
    if getattr(found, "ndim", 1) != 1:
        raise InvalidSpecError(f'column "{name}": has {found.ndim} dimensions; it must have one')
    return found


def _converted(values: Any) -> Any:
    """Convert a column; return `None` if the values are not a column."""
    if isinstance(values, Categorical):
        return values
    if is_arrow(values):
        return _of_arrow(values)
    codes = getattr(getattr(values, "cat", None), "codes", None)
    if codes is not None:
        return Categorical(codes.to_numpy().astype(np.int32), values.cat.categories.tolist())
    if _has_zone(values):
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    if hasattr(values, "to_numpy"):
        values = _to_numpy(values)
    if isinstance(values, np.ma.MaskedArray):
        values = _with_gaps(values)
    if not isinstance(values, np.ndarray):
        if isinstance(values, _NO_COLUMN) or not hasattr(values, "__iter__"):
            return None
        listed = list(values)
        plain = set(map(type, listed)) <= {int, float}
        values = np.array(listed) if plain and listed else np.fromiter(listed, float if plain else object, len(listed))
    return _plain(values)


def _plain(values: NDArray[Any]) -> Any:
    """Convert an array to numbers of 64 or fewer bits, to times, or to Python objects with strings instead of bytes.

    Many strings are converted to an array of pyarrow, if it is installed.

    Raises:
        ValueError: The array contains times without a unit, or bytes that are not UTF-8 text.
    """
    if values.dtype.kind in "mM" and np.datetime_data(values.dtype)[0] == "generic":
        if not np.isnat(values).all():
            raise ValueError("has times without a unit; their type must have one, such as timedelta64[s]")
        return np.full(values.shape, None, object)
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8")
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        return values.astype(np.float32 if values.dtype.itemsize < 4 else np.float64)  # noqa: PLR2004 - bytes
    if values.dtype.kind in "iufbmM":
        return values.astype(values.dtype.newbyteorder("="), copy=False)
    found = values.astype(object)
    if found.ndim == 1 and len(found) >= _LARGE:
        with contextlib.suppress(ImportError, TypeError, ValueError):  # not all values are strings
            texts = import_module("pyarrow").array(found, "string", from_pandas=True)
            if texts.null_count < len(texts):
                return _of_arrow(texts)
    if found.ndim == 1 and any(issubclass(kind, bytes) for kind in set(map(type, found))):
        return np.fromiter((_decoded(value) for value in found), object, len(found))
    return found


def _with_gaps(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Replace masked values with NaT or `None`."""
    if values.dtype.kind not in "mM":
        return np.array(values.tolist(), object)
    found = np.array(values.data)
    found[np.ma.getmaskarray(values)] = "NaT"
    return found


def _decoded(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


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


def _of_arrow(column: Any) -> Any:
    """Convert an array of pyarrow; strings stay in Arrow's memory, and empty strings become missing values.

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
    if types.is_dictionary(column.type):
        if _is_text(types, column.dictionary.type) and not column.dictionary.null_count:
            column.dictionary.validate(full=True)
            codes = column.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
            return Categorical(codes, column.dictionary.to_pylist())
        column = column.dictionary_decode()
    if _is_text(types, column.type):
        column.validate(full=True)  # Parquet files may contain strings that are not UTF-8
        texts, absent = column.cast("string"), pyarrow.scalar(None, "string")
        return compute.if_else(compute.equal(texts, ""), absent, texts)
    kind = column.type
    if types.is_primitive(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind):
        return _plain(column.to_numpy(zero_copy_only=False))
    return _converted(column.to_pylist())


def _is_text(types: Any, kind: Any) -> bool:
    names = ("is_string", "is_large_string", "is_string_view")
    return any(getattr(types, name)(kind) for name in names if hasattr(types, name))
