"""Remarks about workloads of unknown LocalQueues."""

import copy
import pickle

import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError, NotFoundError

NO_LOCAL_QUEUE = 'Workload "default/lost": waits for LocalQueue default/nowhere, which does not exist'


@pytest.fixture
def scheduler():
    scheduler = kq.Scheduler(
        kq.Cluster(kq.ResourceFlavor("default"), kq.ClusterQueue.of("a", {"default": {"cpu": 8, "gpu": 4}}))
    )
    scheduler.apply(kq.LocalQueue("dangling", cluster_queue="gone"))
    return scheduler


def row(name, queue="a", **more):
    return {"name": name, "queue": queue, "cpu": 1, **more}


def test_a_submission_to_an_unknown_queue_has_a_remark(scheduler):
    keys = scheduler.submit(row("fine"), row("lost", "nowhere"), row("dangling", "dangling"), row("nameless", ""))
    assert keys == ("default/fine", "default/lost", "default/dangling", "default/nameless")
    assert keys.remarks == (
        NO_LOCAL_QUEUE,
        'Workload "default/dangling": waits for ClusterQueue gone, which does not exist',
        'Workload "default/nameless": names no queue, and is never considered',
    )
    assert repr(keys).splitlines()[1:] == list(keys.remarks)
    assert [pickle.loads(pickle.dumps(keys)).remarks, copy.copy(keys).remarks] == [keys.remarks] * 2  # noqa: S301
    scheduler.apply(kq.LocalQueue("nowhere", cluster_queue="a"))
    assert len(scheduler.settle().admitted) == 2


def test_a_submission_without_remarks_is_a_tuple(scheduler):
    keys = scheduler.submit(row("fine"))
    assert (repr(keys), keys.remarks) == ("('default/fine',)", ())


@pytest.mark.parametrize("queue", ["nowhere", "dangling", ""])
def test_the_largest_count_without_a_queue_is_none(scheduler, queue):
    for item in (row("w", queue), scheduler.question(row("w", queue))):
        with pytest.raises(NotFoundError, match="doesn't exist; it must name a queue that is there"):
            scheduler.largest_count(item)
    assert scheduler.largest_count(row("w", cpu=100)) == 0
    assert scheduler.largest_count(row("w")) == 8


def test_a_row_with_gpu_is_rejected_if_quotas_define_a_resource_gpu(scheduler):
    for call in (scheduler.submit, scheduler.try_admit):
        with pytest.raises(InvalidSpecError, match=r'row "w": gpu: asks for nvidia.com/gpu, and its queue has quotas'):
            call(row("w", gpu=1))
    scheduler.submit(row("v", gpu=None))
    pod_sets = (kq.PodSet.of(requests={"gpu": 4}),)
    scheduler.submit(kq.Workload("w", queue_name="a", pod_sets=pod_sets))
    scheduler.apply(kq.ClusterQueue.of("b", {"default": {"nvidia.com/gpu": 4, "gpu": 1, "cpu": 1}}))
    scheduler.apply(kq.LocalQueue("b", cluster_queue="b"))
    scheduler.submit(row("x", "b", gpu=1))
    assert len(scheduler.settle().admitted) == 3
