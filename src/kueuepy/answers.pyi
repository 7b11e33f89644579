from kueuepy.engine.cycle import Loop
from kueuepy.engine.decisions import FlavorAttempt, Target
from kueuepy.engine.tables import (
    QueueTable,
    QuotaTable,
    ShareTable,
    UsageTable,
    WorkloadTable,
)
from kueuepy.explain import Cause, RootCause
from kueuepy.explain.whatif import Answers, Change, Difference, Outcome
from kueuepy.pages import Page
from kueuepy.topology import Rack, RackMap

__all__ = [
    "Answers",
    "Cause",
    "Change",
    "Difference",
    "FlavorAttempt",
    "Loop",
    "Outcome",
    "Page",
    "QueueTable",
    "QuotaTable",
    "Rack",
    "RackMap",
    "RootCause",
    "ShareTable",
    "Target",
    "UsageTable",
    "WorkloadTable",
]
