"""Tables: columns under their names, with pandas, polars and Arrow where they are wanted."""

from kueuepy.tables.columns import Categorical, Column, Columns

__all__ = ["Categorical", "Column", "Columns"]
