"""A small data centre: blocks, racks and hosts of 4 GPUs, one flavor, and a queue with quota for all of it."""

import pytest

import kueuepy as kq

RACKS = kq.Topology("racks", levels=["block", "rack", kq.objects.HOSTNAME_LABEL])
FLAVOR = kq.ResourceFlavor("h100", node_labels={"gpu": "h100"}, topology_name="racks")


def hosts(*shape, gpus=4, **more):
    return kq.objects.nodes(RACKS, shape, labels={"gpu": "h100"}, capacity={"cpu": 96, "nvidia.com/gpu": gpus}, **more)


def centre(*nodes, gpus=64, **options):
    queue = kq.ClusterQueue.of("vision", {"h100": {"nvidia.com/gpu": gpus}})
    return kq.Cluster(RACKS, FLAVOR, queue, nodes, **options)


def job(name, pods, request, *, gpus=1, **more):
    pod_set = kq.PodSet.of("main", pods, requests={"nvidia.com/gpu": gpus}, topology_request=request)
    return kq.Workload(name, queue_name="vision", pod_sets=(pod_set,), **more)


def places(scheduler, name):
    """Return the pods of a workload by host; `None` if it has no quota."""
    admission = scheduler.workload(name).status.admission
    if admission is None:
        return None
    assignment = admission.pod_set_assignments[0].topology_assignment
    return {domain.values[-1]: domain.count for domain in assignment.domains}


@pytest.fixture
def scheduler():
    """One rack of two hosts."""
    return kq.Scheduler(centre(hosts(1, 1, 2)))
