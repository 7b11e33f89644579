"""The page of a state, a running cluster or a recording, and the server that keeps it up to date."""

from kueuepy.platform.site.serving import FixedFeed, PageSite, RecordingFeed, SchedulerFeed, page

__all__ = ["FixedFeed", "PageSite", "RecordingFeed", "SchedulerFeed", "page"]
