"""Convert job manifests to Workloads, and apply admissions to the manifests.

`to_workload` converts a job of any kind that Kueue supports. `start_patch` and `stop_patch` return the manifest changes
with which Kueue starts and stops a job. To support a custom kind, derive a class from `BaseJob`, create one with
`path_kind`, or implement the protocol `Job`, and pass the class to `register`.
"""

from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.convert import to_workload, to_workloads, unmanaged
from kueuepy.jobs.custom import PathJob, PodSetPath, path_kind
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.job import Finished, Job
from kueuepy.jobs.naming import workload_name
from kueuepy.jobs.ownership import Unmanaged, find_ancestor, is_managed, with_defaults
from kueuepy.jobs.podset_info import pod_set_infos
from kueuepy.jobs.priority import AnyPriorityClass, Priority, resolve_priority
from kueuepy.jobs.registry import JobType, adapter_for, is_known, kinds, register
from kueuepy.jobs.row import Submission, from_row
from kueuepy.jobs.running import apply_patch, start_patch, stop_patch, suspend
from kueuepy.jobs.template import PodSetInfo
from kueuepy.jobs.topology import PodIndex

__all__ = [
    "AnyPriorityClass",
    "BaseJob",
    "Document",
    "Finished",
    "Job",
    "JobType",
    "PathJob",
    "PodIndex",
    "PodSetInfo",
    "PodSetPath",
    "PodSetSource",
    "Priority",
    "Section",
    "Submission",
    "Unmanaged",
    "adapter_for",
    "apply_patch",
    "find_ancestor",
    "from_row",
    "is_known",
    "is_managed",
    "kinds",
    "path_kind",
    "pod_set_infos",
    "register",
    "resolve_priority",
    "start_patch",
    "stop_patch",
    "suspend",
    "to_workload",
    "to_workloads",
    "unmanaged",
    "with_defaults",
    "workload_name",
]
