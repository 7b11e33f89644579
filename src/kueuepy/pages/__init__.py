"""The page of a cluster: cohort trees with quota, workloads with reasons, racks and a time slider, as one HTML file."""

from kueuepy.pages.document import Page
from kueuepy.pages.making import page
from kueuepy.pages.serving import FixedFeed, PageSite, RecordingFeed, SchedulerFeed

__all__ = ["FixedFeed", "Page", "PageSite", "RecordingFeed", "SchedulerFeed", "page"]
