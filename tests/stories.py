"""Small clusters and steps for `replay`, as plain documents."""

from replay import replay

KUEUE = "kueue.x-k8s.io/v1beta2"


def flavor(name="f"):
    return {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": name}}


def topology(*levels):
    levels = [{"nodeLabel": level} for level in (*levels, "kubernetes.io/hostname")]
    return {"apiVersion": KUEUE, "kind": "Topology", "metadata": {"name": "t"}, "spec": {"levels": levels}}


def placed_flavor(name="f"):
    """A flavor of the topology, for the nodes that have its name as their label `pool`."""
    return {**flavor(name), "spec": {"nodeLabels": {"pool": name}, "topologyName": "t"}}


def node(name, cpu="4", *, pool="f", labels=None, ready="True", **allocatable):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"pool": pool, "kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {},
        "status": {
            "allocatable": {"cpu": cpu, "memory": "64Gi", "pods": "110", **allocatable},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def asking(job, request, pod_set=0):
    """The workload, of which one pod set has this topologyRequest."""
    job["spec"]["podSets"][pod_set]["topologyRequest"] = request
    return job


def namespace():
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}


def queue(name="cq", cpu="10", **spec):
    quota = {"name": "f", "resources": [{"name": "cpu", "nominalQuota": cpu}]}
    groups = [{"coveredResources": ["cpu"], "flavors": [quota]}]
    spec = {"namespaceSelector": {}, "resourceGroups": groups, **spec}
    return {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def local_queue(name="lq", cluster_queue="cq"):
    metadata = {"name": name, "namespace": "ns"}
    return {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": metadata, "spec": {"clusterQueue": cluster_queue}}


def workload(name, cpu="1", count=1, *, requests=None, queue_name="lq", priority=0, **metadata):
    container = {"name": "c", "resources": {"requests": {"cpu": cpu} if requests is None else requests}}
    pod_set = {"name": "main", "count": count, "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "ns", "uid": name, **metadata},
        "spec": {"queueName": queue_name, "priority": priority, "podSets": [pod_set]},
    }


def scenario(*steps, objects=None, **config):
    objects = [namespace(), flavor(), queue(), local_queue()] if objects is None else objects
    return {
        "name": "words",
        "config": config,
        "objects": objects,
        "steps": [{"at": n, **s} for n, s in enumerate(steps)],
    }


def run(*steps, **more):
    return replay(scenario(*steps, **more))
