"""Mistyped jobs: every reader returns or raises a KueueError."""

from __future__ import annotations

import copy
import json

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kueuepy as kq
from job_manifests import NAMES, example
from kueuepy import jobs as kj
from kueuepy.errors import KueueError
from kueuepy.jobs import keys
from kueuepy.lint import lint
from kueuepy.objects import Admission, Configuration, LocalQueue, PodSetAssignment, ResourceFlavor, WorkloadStatus

KEYS = sorted({value for name, value in vars(keys).items() if name.isupper() and isinstance(value, str)})
FIELDS = ("status", "metadata", "labels", "annotations", "ownerReferences", "creationTimestamp", "generation", "env")
ODD = (
    *(None, 0, -1, 2**31, 2**63, 10**40, 1.5, float("nan"), True, "", "x", "9" * 5000, "\ud800"),
    *([], [None], [[]], [5], ["x"], {}, {"a": None}, {"a": 5}, [{}], [{"name": None}], {"name": "x"}),
)
CONFIGURATIONS = (
    Configuration(),
    Configuration(manage_jobs_without_queue_name=True),
    Configuration(feature_gates={"SparkApplicationIntegration": True, "ElasticJobsViaWorkloadSlices": True}),
)
QUEUES = [LocalQueue("default", namespace="team-a", cluster_queue="c")]
FLAVORS = [ResourceFlavor("spot", node_labels={"a": "b"})]


def paths(value, path=()):
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from paths(part, (*path, key))


@st.composite
def mutated(draw, manifest):
    """A manifest in which up to three values are replaced, added or removed."""
    manifest = copy.deepcopy(manifest)
    for _ in range(draw(st.integers(1, 3))):
        *before, last = draw(st.sampled_from([path for path in paths(manifest) if path]))
        place = manifest
        for key in before:
            place = place[key]
        value = copy.deepcopy(draw(st.sampled_from(ODD)))
        if isinstance(place[last], dict) and draw(st.booleans()):
            place[last][draw(st.sampled_from((*KEYS, *FIELDS)))] = value
        elif draw(st.integers(0, 5)):
            place[last] = value
        else:
            place.pop(last)
    return manifest


def attempt(function, *arguments, **options):
    """Return what a function returns, or `None` if it raises an error of kueuepy's own."""
    try:
        return function(*arguments, **options)
    except KueueError:
        return None


def live(manifest, around):
    """Call every function for a job."""
    attempt(kj.to_workload, manifest, **around)
    attempt(lambda: list(kj.unmanaged([manifest], local_queues=QUEUES, **around)))
    job, held = attempt(kj.adapter_for, manifest, **around), attempt(kj.suspend, manifest, **around)
    for answer in ("validate", "finished", "pods_ready", "reclaimable_pods", "on_hold", "pod_sets", "jobs"):
        attempt(getattr(job, answer, list))
    for workload in attempt(kj.to_workloads, [manifest], local_queues=QUEUES, **around) or ():
        kq.manifest.validate(workload)
        assignments = tuple(PodSetAssignment(one.name, {"cpu": "spot"}, count=one.count) for one in workload.pod_sets)
        status = WorkloadStatus(admission=Admission("cq", assignments))
        admitted = msgspec.structs.replace(workload, status=status)
        attempt(lambda admitted=admitted: kj.start_patch(held, admitted, FLAVORS, **around))
        attempt(lambda workload=workload: kj.stop_patch(held, workload, **around))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_mistyped_job_raises_only_kueue_errors(name, data):
    manifest, related = example(name)
    config = data.draw(st.sampled_from(CONFIGURATIONS))
    others = [data.draw(mutated(one)) if data.draw(st.booleans()) else one for one in related]
    live(data.draw(mutated(manifest)), {"config": config, "related": others})


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_file_with_a_mistyped_job_raises_only_kueue_errors(name, data):
    manifest, related = example(name)
    items = [data.draw(mutated(manifest)), *related]
    read = attempt(kq.load, json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), strict=False)
    if read is not None:
        attempt(lint, read)
