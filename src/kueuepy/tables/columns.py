"""Tables with named columns, and their conversion to pandas, polars and Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy._core import Quantity, arrow_stream
from kueuepy.errors import InvalidSpecError, NotFoundError, briefly, checked_methods, counted, imported, suggestion
from kueuepy.look.notebook import MOST_ROWS, Sheet, Shown, repr_html, repr_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from kueuepy.objects import Timestamp


_NO_CODE = -2  # a code that no row has
_FEW = 6


class Categorical:
    """A column of names, with a code for each row and the names by code; -1 represents a missing name.

    Attributes:
        codes: The code of each row.
        names: The name of each code.
    """

    __slots__ = ("codes", "names")

    def __init__(self, codes: NDArray[np.int32], names: Sequence[str]) -> None:
        """Create a column of codes and names."""
        self.codes = codes
        self.names = names

    def __getitem__(self, row: Any) -> Any:
        """Return the name in a row, or `None` if it is missing; for a slice, a mask or row numbers, return a column.

        Raises:
            NotFoundError: The table has no row with this number.
        """
        try:
            codes = self.codes[row]
        except (IndexError, TypeError, ValueError):
            raise NotFoundError(f"column: {row!r:.99} names no rows; there are {len(self)}") from None
        if codes.ndim:
            return Categorical(codes, self.names)
        return self.names[codes] if codes >= 0 else None

    def __iter__(self) -> Iterator[str | None]:
        """Iterate over the names of all rows."""
        names = self.names
        return iter([names[code] if code >= 0 else None for code in self.codes.tolist()])

    def tolist(self) -> list[str | None]:
        """Return the names of all rows, with `None` for missing names."""
        return list(self)

    def __eq__(self, other: object) -> Any:
        """Return a mask of the rows that have the given name."""
        return is_named(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> Any:
        """Return a mask of the rows whose name is missing or differs from the given name."""
        return ~is_named(self, other) if isinstance(other, str) else NotImplemented

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        """Return a description with the names of the first rows."""
        first = [repr(self[row]) for row in range(min(len(self), _FEW))]
        more = f", … {len(self):,} rows" if len(self) > _FEW else ""
        return f"<Categorical: {', '.join(first)}{more}>"

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)


def categorical(values: Iterable[str | None]) -> Categorical:
    """Create a column from names, numbered in the order of their first occurrence; `None` represents a missing name."""
    import numpy as np  # noqa: PLC0415 - only on use

    known: dict[str, int] = {}
    codes = [-1 if value is None else known.setdefault(value, len(known)) for value in values]
    return Categorical(np.array(codes, np.int32), list(known))


def as_names(column: Column) -> Categorical:
    """Return a column as names; the names of numbers and times are in ascending order."""
    import numpy as np  # noqa: PLC0415 - only on use

    if isinstance(column, Categorical):
        return column
    known, codes = np.unique(column, return_inverse=True)
    return Categorical(codes.astype(np.int32), [str(value) for value in known])


def concatenated(columns: Iterable[Categorical]) -> Categorical:
    """Concatenate columns of names; equal names get the same code."""
    import numpy as np  # noqa: PLC0415 - only on use

    known: dict[str, int] = {}
    parts = []
    for column in columns:
        codes = [known.setdefault(name, len(known)) for name in column.names]
        # Most tables share their names; their codes stay valid, and the column is not copied.
        same = codes == list(range(len(codes)))
        parts.append(column.codes if same else np.array([*codes, -1], np.int32)[column.codes])
    return Categorical(np.concatenate(parts), list(known))


def columns_of(view: Mapping[str, Any]) -> dict[str, Column]:
    """Return the columns of a table that the core created; a pair of codes and names becomes a Categorical."""
    return {name: Categorical(*column) if isinstance(column, tuple) else column for name, column in view.items()}


def from_arrow(column: Any) -> Categorical:
    """Convert a chunked array of pyarrow with a dictionary to a column of names, with the same codes."""
    coded = column.unify_dictionaries().combine_chunks()
    coded = coded.chunk(0) if hasattr(coded, "chunks") else coded  # some releases return a chunked array
    return Categorical(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), coded.dictionary.to_pylist())


def is_named(column: Categorical, name: str) -> NDArray[np.bool_]:
    """Return a mask of the rows that have the given name."""
    found: NDArray[np.bool_] = column.codes == (list(column.names).index(name) if name in column.names else _NO_CODE)
    return found


def exact(table: Columns) -> Columns:
    """Return a table with the private columns of the given table, which contain the core's integers."""
    return Columns(table._columns)  # noqa: SLF001 - of one file


def unit_of(resource: str) -> int:
    """Return the factor between internal and displayed units of a resource, whose flavor may precede it after a `/`.

    The factor is 1000 for CPU (millicores), and otherwise 1.
    """
    return 1000 if resource.rpartition("/")[2] == "cpu" else 1


def own_units(values: NDArray[Any], resources: Categorical) -> NDArray[np.float64]:
    """Convert internal amounts to the unit of each row's resource; infinite where there is no limit."""
    import numpy as np  # noqa: PLC0415 - only on use

    # The last unit is for the code -1 of a missing name.
    units = np.array([*map(unit_of, resources.names), 1])
    return np.where(values == UNLIMITED, np.inf, values / units[resources.codes])


def times(values: Iterable[Timestamp | None]) -> NDArray[Any]:
    """Convert a column of times to `datetime64[ns]` in UTC, with NaT for `None`."""
    import numpy as np  # noqa: PLC0415 - only on use

    return np.array([_NAT if value is None else value.value for value in values], np.int64).view("M8[ns]")


def dates(nanoseconds: NDArray[np.int64], absent: NDArray[np.bool_]) -> NDArray[Any]:
    """Convert nanoseconds since the epoch to `datetime64[ns]` in UTC, with NaT where a time is absent."""
    import numpy as np  # noqa: PLC0415 - only on use

    return np.where(absent, _NAT, nanoseconds).view("M8[ns]")


def quantity_text(resource: str, amount: float) -> str:
    """Format an internal amount as Kubernetes writes it; the name of a flavor may precede the resource after a `/`."""
    return "unlimited" if amount >= UNLIMITED else Quantity.format(resource.rpartition("/")[2], round(amount))


# NumPy stores NaT as the smallest integer, and the core an unlimited quota as the largest.
_NAT = -(2**63)
UNLIMITED = 2**63 - 1
# The number of lines of `print`, and the number of rows for which columns are left out.
_MOST_LINES, _FEWEST = 12, 3
Column = Any  # an array or a Categorical; texts are an array of objects


@checked_methods
class Columns:
    """A read-only table of named columns of equal length."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Column]) -> None:
        """Create a table from columns by name."""
        import numpy as np  # noqa: PLC0415 - only on use

        # A column of texts is compared row by row, as the others are.
        self._columns: dict[str, Column] = {
            name: np.array(one, object) if type(one) is list else one for name, one in columns.items()
        }

    @classmethod
    def from_frame(cls, frame: Any) -> Columns:
        """Return a table with the columns of a table of pandas, polars, pyarrow or another library that narwhals reads.

        The results of `to_pandas`, `to_polars` and `to_arrow` of every table are read back with the same rows, in the
        units of the public table.

        Raises:
            InvalidSpecError: The object is not a table, or two columns have the same name.
            UnsupportedError: pyarrow is not installed.
        """
        return Columns(stored_columns(imported("pyarrow", "table").table(frame_columns(frame))))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __getitem__(self, name: Any) -> Any:
        """Return a column by its name: an array, a Categorical or a list of strings.

        A row number returns the row as a dict. A slice, a boolean mask or a list of row numbers returns a table of
        these rows, and a list of names a table of these columns.

        Raises:
            NotFoundError: The table has no such column or row.
        """
        if isinstance(name, str):
            if name not in self._columns:
                raise NotFoundError(f'table: "{name}" names no column; {suggestion(name, self._columns)}')
            return self._column(name)
        if isinstance(name, list) and name and all(isinstance(one, str) for one in name):
            return Columns({one: self[one] for one in name})
        try:
            if isinstance(name, slice):
                return self.take(list(range(len(self))[name]))
            # range() raises IndexError for a row that does not exist, and accepts negative numbers as lists do.
            return next(self._dicts([range(len(self))[name]])) if not hasattr(name, "__len__") else self.take(name)
        except (IndexError, TypeError):
            raise NotFoundError(f"table: {name!r:.99} names no rows; there are {len(self)}") from None

    def take(self, rows: Any) -> Self:
        """Return a table of the selected rows, in the given order.

        Args:
            rows: Row numbers, or a boolean mask.

        Raises:
            InvalidSpecError: A row does not exist, or `rows` has the wrong type.
        """
        chosen = self._rows("take", rows)
        return self._with({name: column[chosen] for name, column in self._columns.items()})

    def _with(self, columns: Mapping[str, Column]) -> Self:
        """Return a table of the same class with other columns."""
        found = type(self).__new__(type(self))
        Columns.__init__(found, columns)
        return found

    def _rows(self, method: str, rows: Any) -> NDArray[np.intp]:
        """Convert a boolean mask to row numbers; row numbers are returned unchanged."""
        import numpy as np  # noqa: PLC0415 - only on use

        try:
            # An empty list has no type, and would be an index of floats.
            found = np.arange(len(self))[np.asarray(rows if len(rows) else np.empty(0, np.intp))]
        except (IndexError, TypeError, ValueError) as error:
            wanted = f"a mask of {counted(len(self), 'row')}, or numbers of rows from 0 to {len(self) - 1}"
            where = f"{type(self).__name__}.{method}"
            raise InvalidSpecError(f"{where}: is {rows!r:.99}; it must be {wanted}: {error}") from None
        return np.atleast_1d(found)

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names of the columns, which notebooks complete after `table["`."""
        return list(self._columns)

    def _column(self, name: str) -> Column:
        """Return an existing column, with amounts in the units of the public table."""
        return self._columns[name]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self._columns.values()), ()))

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows, each as a dict."""
        return self._dicts(range(len(self)))

    def rows(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Return the rows as dicts.

        Args:
            limit: Maximum number of rows; by default, all rows.
        """
        return list(self._dicts(range(len(self) if limit is None else min(limit, len(self)))))

    def _dicts(self, numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
        # Each column is converted once, because a conversion of units is proportional to its length.
        columns = {name: self._column(name) for name in self._columns}
        return ({name: _plain(column[i]) for name, column in columns.items()} for i in numbers)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame, in which names are categories.

        Raises:
            UnsupportedError: pandas is not installed.
        """
        pandas = imported("pandas", "table")
        return pandas.DataFrame({name: _for_pandas(pandas, self._column(name)) for name in self._columns})

    def to_polars(self) -> Any:
        """Return a polars DataFrame.

        Raises:
            UnsupportedError: polars is not installed.
        """
        polars = imported("polars", "table")
        columns = {name: self._column(name) for name in self._columns}
        return polars.DataFrame(
            {name: list(own) if isinstance(own, Categorical) else own for name, own in columns.items()}
        )

    def to_arrow(self) -> Any:
        """Return a pyarrow Table; numeric columns are not copied.

        Raises:
            UnsupportedError: pyarrow is not installed.
        """
        return imported("pyarrow", "table").table(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow stream (Arrow PyCapsule interface); no library is needed, and numbers are not copied."""
        return arrow_stream({name: _for_stream(self._column(name)) for name in self._columns})

    def __repr__(self) -> str:
        """Return the number of rows and the names of the columns."""
        return f"<{type(self).__name__}: {counted(len(self), 'row')} of {', '.join(self._columns)}>"

    def __str__(self) -> str:
        """Return the summary, followed by as many of the first columns and rows as fit into 12 lines."""
        (sheet,) = self.sheets()
        for columns in range(len(sheet.header), 0, -1):
            more = ["…"] if columns < len(sheet.header) else []
            for rows in range(min(_MOST_LINES, len(sheet.rows)), min(_FEWEST, len(sheet.rows)) - 1, -1):
                shown_rows = [(*row[:columns], *more) for row in sheet.rows[:rows]]
                text = f"{self!r}\n{repr_text([Sheet((*sheet.header[:columns], *more), shown_rows)])}"
                if text.count("\n") < _MOST_LINES:
                    return text
        return repr(self)

    def sheets(self) -> tuple[Sheet]:
        """Return the first rows as one table."""
        rows = [[shown(row[name]) for name in self.names] for row in self.rows(MOST_ROWS)]
        return (Sheet(self.names, rows, total=len(self)),)

    _repr_html_ = repr_html


class Amounts(Columns):
    """A table with amounts, which it holds as the core's integers and returns in the unit of each row's resource.

    Attributes:
        facts: The columns with amounts.
        resources: The column that names the resource of each row.
    """

    __slots__ = ()
    facts: tuple[str, ...] = ()
    resources = "resource"

    def _column(self, name: str) -> Column:
        """Return a column, with amounts in the unit of the resource."""
        column = self._columns[name]
        return own_units(column, self._columns[self.resources]) if name in self.facts else column

    def sheets(self) -> tuple[Sheet]:
        """Return the first rows for display, with amounts as Kubernetes writes them."""
        rows = [
            [
                quantity_text(row[self.resources], row[name]) if name in self.facts else shown(row[name])
                for name in self.names
            ]
            for row in exact(self).rows(MOST_ROWS)
        ]
        return (Sheet(self.names, rows, total=len(self)),)


def shown(value: Any) -> Any:
    """Format a value for display: an empty string for `None`, and floats rounded to 6 significant digits."""
    if value is None:
        return ""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _plain(value: Any) -> Any:
    """Convert a NumPy value to a Python value; dates become strings."""
    if getattr(getattr(value, "dtype", None), "kind", "") == "M":
        if value != value:  # noqa: PLR0124 - NaT
            return None
        time = value.astype("M8[us]").item()
        # NumPy has dates before the year 1 and after 9999, for which Python has no type.
        return f"{time.isoformat()}Z" if hasattr(time, "isoformat") else str(value)
    return value.item() if hasattr(value, "item") else value


def _for_pandas(pandas: Any, column: Column) -> Any:
    if isinstance(column, Categorical):
        coded = concatenated([column])  # pandas refuses categories that occur twice
        return pandas.Categorical.from_codes(coded.codes, categories=list(coded.names))
    return column


def _for_stream(column: Column) -> Any:
    if isinstance(column, Categorical):
        # A dictionary of Arrow: the texts are stored once, and the codes are not copied.
        return column.codes, list(column.names)
    if column.dtype == object:
        return [None if value is None else str(value) for value in column]
    if column.dtype.kind in "mM":
        return column.astype(f"{column.dtype.kind}8[ns]")
    return column


def frame_columns(frame: Any) -> dict[str, Any]:
    """Return the columns of a table: a DataFrame of a library that narwhals reads, or an object with an Arrow stream.

    Raises:
        InvalidSpecError: The object is not a table, or two columns have the same name.
        UnsupportedError: The object only has an Arrow stream, and pyarrow is not installed.
    """
    import narwhals.stable.v2 as nw  # noqa: PLC0415 - slow
    from narwhals.exceptions import DuplicateError  # noqa: PLC0415

    if isinstance(frame, Columns):
        return {name: frame[name] for name in frame.names}
    try:
        found = nw.from_native(frame, pass_through=True)
        if isinstance(found, nw.LazyFrame):
            found = found.collect()
        # narwhals returns a table that it does not know unchanged.
        elif found is frame and hasattr(frame, "__arrow_c_stream__") and not isinstance(frame, type):
            imported("pyarrow", "Arrow tables")
            found = nw.from_arrow(frame, backend="pyarrow")
        if not isinstance(found, nw.DataFrame):
            raise InvalidSpecError(f"table: {briefly(frame)} is not a table; it must be a DataFrame or an Arrow table")
        columns = {str(column.name): column for column in found.iter_columns()}
        names = list(map(str, found.columns))
    # Some libraries raise for a repeated name, others keep one of the columns; the count below finds both.
    except DuplicateError:
        names, columns = list(map(str, getattr(frame, "column_names", getattr(frame, "columns", ())))), {}
    if len(columns) < len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise InvalidSpecError(f'table: column "{twice}" is there twice; each must have its own name')
    return {name: column.to_native() for name, column in columns.items()}


def stored_columns(table: Any) -> dict[str, Column]:
    """Return the columns of a pyarrow table; a column of names has the same codes."""
    return {name: _stored_column(column) for name, column in zip(table.column_names, table.columns, strict=True)}


def _stored_column(column: Any) -> Any:
    if not str(column.type).startswith("dictionary"):
        found = column.to_numpy()
        return found.astype(object) if found.dtype.kind in "OUT" else found
    return from_arrow(column)


class Framed(Shown):
    """A result with a main table, `to_table()`, which can be converted to pandas, polars and Arrow."""

    __slots__ = ()

    def to_table(self) -> Columns:
        """Return the main table of the result."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return the main table as a pandas DataFrame.

        Raises:
            UnsupportedError: pandas is not installed.
        """
        return self.to_table().to_pandas()

    def to_polars(self) -> Any:
        """Return the main table as a polars DataFrame.

        Raises:
            UnsupportedError: polars is not installed.
        """
        return self.to_table().to_polars()

    def to_arrow(self) -> Any:
        """Return the main table as a pyarrow Table.

        Raises:
            UnsupportedError: pyarrow is not installed.
        """
        return self.to_table().to_arrow()


def table_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Columns:
    """Create a table from rows; columns of numbers and booleans become arrays, and other columns become categorical.

    >>> table_of(("a", "b"), [(1, "x"), (2, None)]).rows()
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': None}]
    """
    import numpy as np  # noqa: PLC0415 - only on use

    listed = [tuple(row) for row in rows]
    found: dict[str, Any] = {}
    for index, name in enumerate(names):
        values = [row[index] for row in listed]
        kinds = set(map(type, values))
        # The exact types matter: True is an int in Python, but not a number in a table.
        if values and kinds <= {bool}:
            found[name] = np.array(values, bool)
        elif values and kinds <= {int}:
            found[name] = np.array(values, np.int64)
        elif values and kinds <= {int, float, type(None)} and kinds != {type(None)}:
            found[name] = np.array([np.nan if value is None else value for value in values], np.float64)
        else:
            found[name] = categorical([None if value is None else str(value) for value in values])
    return Columns(found)


def joined(tables: Mapping[str, Columns], key: str) -> Columns:
    """Concatenate tables with the same columns, and prepend a column with the names of the tables."""
    import numpy as np  # noqa: PLC0415 - only on use

    first = next(iter(tables.values()))
    names = [name for name, table in tables.items() for _ in range(len(table))]
    columns: dict[str, Any] = {key: categorical(names)}
    for name in first.names:
        parts = [table[name] for table in tables.values()]
        columns[name] = (concatenated if hasattr(parts[0], "codes") else np.concatenate)(parts)
    return Columns(columns)
