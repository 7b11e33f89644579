"""Recordings of real clusters, and the agreement of kueuepy's decisions with them."""

from kueuepy.live.agreement import Agreement
from kueuepy.live.following import Follower
from kueuepy.live.recording import Change, changes, read_events
from kueuepy.live.verify import verify

__all__ = ["Agreement", "Change", "Follower", "changes", "read_events", "verify"]
