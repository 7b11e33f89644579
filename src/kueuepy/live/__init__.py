"""Running clusters, recordings of them, and the agreement of kueuepy's decisions with theirs."""

from kueuepy.live.agreement import Agreement
from kueuepy.live.closed import verify_closed
from kueuepy.live.comparison import ClosedAgreement
from kueuepy.live.connecting import LiveCluster, connect
from kueuepy.live.following import Follower
from kueuepy.live.recorder import Recorder, record
from kueuepy.live.recording import Change, changes, read_events
from kueuepy.live.shadow import Shadow
from kueuepy.live.verify import verify

__all__ = [
    "Agreement",
    "Change",
    "ClosedAgreement",
    "Follower",
    "LiveCluster",
    "Recorder",
    "Shadow",
    "changes",
    "connect",
    "read_events",
    "record",
    "verify",
    "verify_closed",
]
