"""Records that a Scheduler's methods return, such as the details of a decision, tables and rack maps.

The records that programs use most often, such as `Admitted` and `Explanation`, are in `kueuepy` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy import _home

if TYPE_CHECKING:
    from kueuepy.engine.cycle import Loop
    from kueuepy.engine.decisions import FlavorAttempt, Target
    from kueuepy.engine.tables import QueueTable, QuotaTable, ShareTable, UsageTable, WorkloadTable
    from kueuepy.explain import Cause, RootCause
    from kueuepy.explain.whatif import Answers, Change, Difference, Outcome
    from kueuepy.pages import Page
    from kueuepy.topology import Rack, RackMap
else:
    __getattr__, __dir__ = _home.facade(__name__)

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
