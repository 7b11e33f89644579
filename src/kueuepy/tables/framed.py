"""Base class of results with a main table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.look.notebook import repr_html
from kueuepy.tables.columns import Columns, categorical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Framed:
    """A result with a main table, `to_table()`, which can be converted to pandas, polars and Arrow.

    Notebooks show the tables that `sheets` returns.
    """

    __slots__ = ()
    _repr_html_ = repr_html

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
    for place, name in enumerate(names):
        values = [row[place] for row in listed]
        kinds = set(map(type, values))
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
        if hasattr(parts[0], "codes"):
            columns[name] = categorical([text for part in parts for text in part])
        else:
            columns[name] = np.concatenate(parts)
    return Columns(columns)
