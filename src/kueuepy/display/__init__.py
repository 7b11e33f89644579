"""HTML views of objects and results for notebooks."""
