"""Tables with named columns, and their conversion to pandas, polars and Arrow."""

from kueuepy.tables.columns import Categorical, Column, Columns

__all__ = ["Categorical", "Column", "Columns"]
