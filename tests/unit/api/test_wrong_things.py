"""What is no Cluster, key or list is refused as such, and not by whatever Python stumbles over."""

import pytest

import kueuepy as kq

QUEUE = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Queue", "metadata": {"name": "a"}}


@pytest.fixture
def scheduler():
    return kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), kq.ClusterQueue.of("team", {"default": {"cpu": 9}})))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda s: kq.dump([s]), "is no Cluster"),
        (lambda _: kq.Scheduler([1]), "is no Cluster"),
        (lambda s: s.workload(5), "5 is no key"),
        (lambda s: s.finish(5), "finish: workload: is an integer"),
        (lambda s: s.try_admit_many(None), "None is no list"),
        (lambda s: s.explain([]), "is 0 workloads; it must be one"),
        (lambda _: kq.load(QUEUE), '"Queue" is no kind of kueue.x-k8s.io'),
    ],
)
def test_a_thing_of_a_wrong_kind_is_told_as_such(call, told, scheduler):
    with pytest.raises(kq.KueueError) as caught:
        call(scheduler)
    assert told in str(caught.value)
