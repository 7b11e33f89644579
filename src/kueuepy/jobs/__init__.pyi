from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.convert import to_workload, to_workloads, unmanaged
from kueuepy.jobs.registry import PathJob as PathJob
from kueuepy.jobs.registry import PodSetPath, path_kind
from kueuepy.jobs.template import Document as Document
from kueuepy.jobs.template import Section as Section
from kueuepy.jobs.job import Finished as Finished, Job
from kueuepy.jobs.base import workload_name as workload_name
from kueuepy.jobs.cluster import Unmanaged as Unmanaged
from kueuepy.jobs.running import pod_set_infos as pod_set_infos
from kueuepy.jobs.priority import AnyPriorityClass as AnyPriorityClass
from kueuepy.jobs.priority import Priority as Priority
from kueuepy.jobs.priority import resolve_priority as resolve_priority
from kueuepy.jobs.registry import JobType as JobType
from kueuepy.jobs.registry import adapter_for, kinds, register
from kueuepy.jobs.registry import is_known as is_known
from kueuepy.jobs.row import Submission as Submission, from_row
from kueuepy.jobs.running import apply_patch, start_patch, stop_patch, suspend
from kueuepy.jobs.template import PodSetInfo as PodSetInfo

__all__ = [
    "BaseJob",
    "Job",
    "PodSetPath",
    "PodSetSource",
    "adapter_for",
    "apply_patch",
    "from_row",
    "kinds",
    "path_kind",
    "register",
    "start_patch",
    "stop_patch",
    "suspend",
    "to_workload",
    "to_workloads",
    "unmanaged",
]
