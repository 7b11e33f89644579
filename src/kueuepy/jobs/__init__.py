"""Convert job manifests to Workloads, and apply admissions to the manifests.

`to_workload` converts a job of any kind that Kueue supports. `start_patch` and `stop_patch` return the manifest changes
with which Kueue starts and stops a job. To support a custom kind, derive a class from `BaseJob`, create one with
`path_kind`, or implement the protocol `Job`, and pass the class to `register`.
"""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
