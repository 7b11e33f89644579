"""Detection of Workloads that are slices of elastic jobs.

Source: `pkg/workloadslicing/workloadslicing.go`.
"""

from kueuepy.manifest.validation.review import Review
from kueuepy.objects import Workload

_ELASTIC = "kueue.x-k8s.io/elastic-job"
_REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"


def is_elastic(workload: Workload, review: Review) -> bool:
    """Return whether the Workload is a slice of an elastic job, which can be scaled while it runs."""
    return review.enabled("ElasticJobsViaWorkloadSlices") and workload.annotations.get(_ELASTIC) == "true"


def is_replacement(workload: Workload) -> bool:
    """Return whether the Workload is a slice of an elastic job that replaces another slice."""
    return _REPLACES in workload.annotations
