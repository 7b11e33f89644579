"""Recorded answers of Kueue's ProvisioningRequest controller: its requests, and the states of checks."""

from __future__ import annotations

import msgspec
import pytest

import kueuepy as kq
from kueuepy.manifest import to_dict
from vectors.files import lines

CONTROLLER = "kueue.x-k8s.io/provisioning-request"
V = {"apiVersion": "kueue.x-k8s.io/v1beta2"}


def scheduler_of(line):
    """Return a Scheduler with the recorded objects, and an autoscaler that never answers by itself."""
    checks = [{"name": check["metadata"]["name"]} for check in line["checks"]]
    resources = [{"name": name, "nominalQuota": 999} for name in ("cpu", "nvidia.com/gpu", "g/pu")]
    group = {
        "coveredResources": [one["name"] for one in resources],
        "flavors": [{"name": "default", "resources": resources}],
    }
    queue = {"resourceGroups": [group], "admissionChecksStrategy": {"admissionChecks": checks}, "namespaceSelector": {}}
    local = {"metadata": {"name": "team", "namespace": "default"}, "spec": {"clusterQueue": "team"}}
    objects = [
        *(V | {"kind": "ProvisioningRequestConfig"} | config for config in line["configs"]),
        *(V | {"kind": "AdmissionCheck"} | check for check in line["checks"]),
        V | {"kind": "ResourceFlavor", "metadata": {"name": "default"}},
        V | {"kind": "ClusterQueue", "metadata": {"name": "team"}, "spec": queue},
        V | {"kind": "LocalQueue"} | local,
    ]
    return kq.Scheduler(kq.load(objects), checks={CONTROLLER: kq.sim.Provisioning("1000d")})


def reserved(line, counts):
    """Return the recorded workload with its quota."""
    pods = line["workload"]["spec"]["podSets"]
    usage = {"flavors": {"cpu": "default"}, "resourceUsage": {"cpu": "0"}}
    assigned = [usage | {"name": p["name"], "count": counts.get(p["name"], p["count"])} for p in pods]
    condition = {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved"}
    states = [{"name": check["metadata"]["name"], "state": "Pending", "message": ""} for check in line["checks"]]
    status = {
        "admission": {"clusterQueue": "team", "podSetAssignments": assigned},
        "conditions": [{**condition, "message": "m", "lastTransitionTime": "1970-01-12T13:46:40Z"}],
        "admissionChecks": [{**state, "lastTransitionTime": "1970-01-12T13:46:40Z"} for state in states],
    }
    (found,) = kq.load(V | {"kind": "Workload"} | line["workload"] | {"status": status}).workloads
    return found


def evict(scheduler, key):
    """Evict the workload for its checks, or as a user does, and reserve its quota again."""
    states = {check.state: check for check in scheduler.workload(key).status.admission_checks}
    if "Retry" in states:
        scheduler.advance(states["Retry"].requeue_after_seconds)
        scheduler.settle()
        return
    metadata = {"name": key, "namespace": "default"}
    for active in (False, True):
        scheduler.patch({"kind": "Workload", "metadata": metadata, "spec": {"active": active}})
        scheduler.settle()


def result(scheduler, key):
    """Return the states of the checks, the requests, and the status of `Active` of each check, as recorded."""
    dumped = msgspec.json.decode(msgspec.json.encode(to_dict(scheduler.workload(key))))
    states = [dict(state) for state in dumped["status"]["admissionChecks"]]
    for state in states:
        del state["lastTransitionTime"]
        state.setdefault("message", "")
    requests = []
    for request in kq.sim.Provisioning.requests(scheduler):
        metadata = request["metadata"]
        assert [owner["name"] for owner in metadata["ownerReferences"]] == [key]
        requests.append({"name": metadata["name"], "namespace": metadata["namespace"], "spec": request["spec"]})
    active = {check.name: str(check.active) for check in scheduler.cluster.admission_checks}
    return {"checks": states, "requests": sorted(requests, key=lambda one: one["name"]), "active": active}


@pytest.mark.parametrize("line", lines("provisioning"))
def test_requests_and_check_states_equal_kueues(line):
    scheduler, key = scheduler_of(line), line["workload"]["metadata"]["name"]
    for step in line["steps"]:
        if step["do"] == "reserve":
            scheduler.submit(reserved(line, step.get("counts", {})), keep_status=True)
            scheduler.settle()
        elif step["do"] == "evict":
            evict(scheduler, key)
        elif step["do"] == "admit":
            scheduler.settle()
            assert scheduler.workload(key).status.is_true("Admitted")
        else:
            names = [check["metadata"]["name"] for check in line["checks"]]
            for check in [step["check"]] if "check" in step else names:
                scheduler.set_check(key, check, step["status"])
        expected = step["result"]
        expected["active"] = {name: said[0] for name, said in expected["active"].items()}
        assert result(scheduler, key) == expected, (line["name"], step["do"])
