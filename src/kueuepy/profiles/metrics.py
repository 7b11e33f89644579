"""The first release of each metric.

Metrics that are not listed are older than the oldest supported release.

Source: `pkg/metrics/metrics.go` of each release.
"""

from kueuepy.profiles.releases import Release

_SINCE = {
    16: """
        finished_workloads finished_workloads_total local_queue_finished_workloads local_queue_finished_workloads_total
    """,
    17: """
        cohort_subtree_admitted_active_workloads cohort_subtree_admitted_workloads_total cohort_subtree_quota
        cohort_subtree_resource_reservations
    """,
    18: """
        cluster_queue_info cluster_queue_resource_pending cohort_info local_queue_unadmitted_workloads
        unadmitted_workloads workload_eviction_latency_seconds
    """,
    19: "local_queue_admission_fair_sharing_usage",
    20: """
        execution_time_seconds local_queue_execution_time_seconds pending_scheduling_hashes
        preemption_target_recomputations_total
    """,
}
METRICS_SINCE = {name: minor for minor, names in _SINCE.items() for name in names.split()}
"""The minor release that added a metric, by the name of the metric without `kueue_`."""


def has_metric(release: Release, name: str) -> bool:
    """Return whether a release exports a metric.

    >>> from kueuepy.profiles import release_of
    >>> has_metric(release_of("v0.17"), "cohort_info"), has_metric(release_of("v0.18"), "cohort_info")
    (False, True)
    """
    return METRICS_SINCE.get(name.removeprefix("kueue_"), 0) <= release.minor
