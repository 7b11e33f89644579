"""From the manifests of jobs to Workloads, and from admissions back to the manifests.

`to_workload` reads a job of any kind that Kueue knows; `start_patch` and `stop_patch` say what changes in its manifest
when Kueue starts and stops it. A kind of your own is a class derived from `BaseJob`, or made by `path_kind`, or one
that has the methods of `Job`; `register` makes it known.
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
    "Priority",
    "Section",
    "PodSetSource",
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
