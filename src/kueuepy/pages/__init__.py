"""The page of a state: cohort trees with quota, workloads with reasons, racks and a time slider, in one file."""

from kueuepy.pages.document import Page

__all__ = ["Page"]
