"""Dumps of a small cluster with the content of kubectl's output."""

from __future__ import annotations

V1BETA2 = "kueue.x-k8s.io/v1beta2"
WHEN = "2026-08-01T10:00:00Z"


def flavor(name="default"):
    return {"apiVersion": V1BETA2, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": {}}


def cluster_queue(name="cq", cpu="10", flavors=("default",)):
    quotas = [{"name": one, "resources": [{"name": "cpu", "nominalQuota": cpu}]} for one in flavors]
    spec = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": quotas}]}
    return {"apiVersion": V1BETA2, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def local_queue(name="lq", namespace="team", queue="cq"):
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": V1BETA2, "kind": "LocalQueue", "metadata": metadata, "spec": {"clusterQueue": queue}}


def condition(kind, status="True", reason=None):
    return {"type": kind, "status": status, "reason": reason or kind, "message": "", "lastTransitionTime": WHEN}


def workload(name, status=None, queue="lq", cpu="2", **metadata):
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}
    spec = {"queueName": queue, "podSets": [{"name": "main", "count": 1, "template": template}]}
    head = {"name": name, "namespace": "team", "creationTimestamp": WHEN, **metadata}
    return {"apiVersion": V1BETA2, "kind": "Workload", "metadata": head, "spec": spec, "status": status or {}}


def admission(queue="cq", cpu="2", flavor_name="default"):
    flavors, usage = {"cpu": flavor_name}, {"cpu": cpu}
    return {
        "clusterQueue": queue,
        "podSetAssignments": [{"name": "main", "flavors": flavors, "resourceUsage": usage, "count": 1}],
    }


def admitted(**of):
    return {"admission": admission(**of), "conditions": [condition("QuotaReserved"), condition("Admitted")]}


def pod(name, phase="Running", cpu="500m", labels=None, **spec):
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}", "labels": labels or {}}
    spec = {"containers": containers, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}


def dump(*items):
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    return {"apiVersion": "v1", "kind": "List", "items": [namespace, flavor(), cluster_queue(), local_queue(), *items]}


def outcomes(found):
    return {(row.kind, row.key.partition("/")[2]): (row.outcome, row.reason) for row in found.report}
