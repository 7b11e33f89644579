"""Run times of finished Workloads, read from their status."""

from __future__ import annotations

import pytest

import kueuepy as kq
from kueuepy.objects import SECOND

MANIFEST = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: train, namespace: team, creationTimestamp: "2026-08-01T10:00:00Z"}
spec:
  queueName: lq
  podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}}]
status:
  accumulatedPastExecutionTimeSeconds: 120
  conditions:
"""


def job(**times):
    """The runtime of a Workload whose conditions changed at these times of 2026-08-01."""
    conditions = "".join(
        f"  - {{type: {kind}, status: 'True', reason: {kind}, message: '', lastTransitionTime: 2026-08-01T{time}Z}}\n"
        for kind, time in times.items()
    )
    assigned = "[{name: main, count: 1, flavors: {cpu: default}, resourceUsage: {cpu: '1'}}]"
    admission = (
        f"  admission: {{clusterQueue: cq, podSetAssignments: {assigned}}}\n" if "QuotaReserved" in times else ""
    )
    jobs = kq.Jobs.from_manifests(kq.load(MANIFEST + conditions + admission))
    return int(jobs.exact()["runtime"][0])


def test_a_finished_workload_ran_from_its_admission_to_its_end():
    assert job(QuotaReserved="10:04:00", Admitted="10:05:00", Finished="11:05:00") == 3600 * SECOND


def test_runtimes_by_name_replace_those_that_the_status_tells():
    made = [kq.Workload(name, queue_name="q", pod_sets=(kq.PodSet.of(requests={"cpu": 1}),)) for name in "abc"]
    jobs = kq.Jobs.from_manifests(made, {"b": 60, "c": "2m"})
    assert jobs.exact()["runtime"].tolist() == [-1, 60 * SECOND, 120 * SECOND]


@pytest.mark.parametrize("times", [{"QuotaReserved": "10:05:00", "Admitted": "10:05:00"}, {"Finished": "11:05:00"}])
def test_without_admission_or_finish_time_there_is_no_runtime(times):
    assert job(**times) == -1


def test_a_clock_set_back_does_not_cause_negative_runtimes():
    assert job(QuotaReserved="10:05:00", Admitted="10:05:00", Finished="10:04:58") == 0
