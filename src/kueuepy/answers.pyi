from kueuepy.engine.cycle import Loop as Loop
from kueuepy.engine.decisions import FlavorAttempt as FlavorAttempt, Target as Target
from kueuepy.engine.tables import (
    QueueTable as QueueTable,
    QuotaTable as QuotaTable,
    ShareTable as ShareTable,
    UsageTable as UsageTable,
    WorkloadTable as WorkloadTable,
)
from kueuepy.explain import Cause as Cause, RootCause as RootCause
from kueuepy.explain.whatif import Answers as Answers, Change as Change, Difference as Difference, Outcome as Outcome
from kueuepy.pages import Page as Page
from kueuepy.topology import Rack as Rack, RackMap as RackMap
