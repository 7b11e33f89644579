"""Fixtures: the example manifests, and admissions for them."""

import msgspec
import pytest

from job_manifests import example as load_example
from job_manifests import minimal_job
from kueuepy.jobs import adapter_for, apply_patch, start_patch, stop_patch, suspend, to_workloads
from kueuepy.objects import (
    Admission,
    Configuration,
    PodSetAssignment,
    PriorityClass,
    ResourceFlavor,
    Toleration,
    WorkloadPriorityClass,
    WorkloadStatus,
)

SPOT = ResourceFlavor(
    "spot", node_labels={"instance-type": "spot"}, tolerations=(Toleration("reserved", operator="Exists"),)
)
ALL_KINDS = Configuration(feature_gates={"SparkApplicationIntegration": True})
CLASSES = (WorkloadPriorityClass("high", value=1000), PriorityClass("batch-high", value=500))
ON_DEMAND = ResourceFlavor("on-demand", node_labels={"instance-type": "ondemand"})


def _admit(workload, flavor="spot", **changes):
    assignments = tuple(
        PodSetAssignment(pod_set.name, flavors={"cpu": flavor}, count=pod_set.count) for pod_set in workload.pod_sets
    )
    admission = Admission("cluster-total", changes.pop("assignments", assignments))
    return msgspec.structs.replace(workload, status=WorkloadStatus(admission=admission, **changes))


@pytest.fixture
def example():
    """The manifest of an example; with `related=True` also what it refers to."""

    def read(name, *, related=False):
        manifest, others = load_example(name)
        return (manifest, others) if related else manifest

    return read


@pytest.fixture
def admit():
    """A Workload admitted to one flavor."""
    return _admit


@pytest.fixture
def flavors():
    return (SPOT, ON_DEMAND)


@pytest.fixture
def workloads():
    """The Workloads of an example."""

    def convert(name, **options):
        manifest, related = load_example(name)
        return to_workloads(
            [manifest], related=related, **{"priority_classes": CLASSES, "config": ALL_KINDS, **options}
        )

    return convert


@pytest.fixture
def run():
    """Suspend a manifest, start it on spot nodes, and stop it again."""

    def become(manifest, related=(), **options):
        held = suspend(manifest, related=related)
        made = to_workloads([manifest], related=related, priority_classes=CLASSES, config=ALL_KINDS)
        workload = _admit(made[0], **options)
        started = apply_patch(held, start_patch(held, workload, (SPOT, ON_DEMAND), related=related))
        change = stop_patch(started, workload, related=related)
        return held, started, None if change is None else apply_patch(started, change)

    return become


@pytest.fixture
def job():
    """A minimal Job; keyword arguments are fields of its spec."""
    return minimal_job


@pytest.fixture
def adapter():
    return adapter_for


@pytest.fixture(autouse=True)
def _registry(own_kinds):
    pass
