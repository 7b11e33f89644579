from kueuepy.platform.live.agreement import Agreement, ClosedAgreement
from kueuepy.platform.live.closed import verify_closed
from kueuepy.platform.live.connecting import LiveCluster, connect
from kueuepy.platform.live.following import Follower
from kueuepy.platform.live.recorder import Recorder, record
from kueuepy.platform.live.recording import Change, changes, read_events
from kueuepy.platform.live.shadow import Shadow
from kueuepy.platform.live.judging import verify

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
