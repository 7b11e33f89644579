"""The recorded history of a live cluster, and how far the decisions of kueuepy agree with it."""

from kueuepy.live.agreement import Agreement
from kueuepy.live.following import Follower
from kueuepy.live.recording import Change, changes, read_events
from kueuepy.live.verify import verify

__all__ = ["Agreement", "Change", "Follower", "changes", "read_events", "verify"]
