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


def deep(depth=5_000):
    innermost = outermost = {}
    for _ in range(depth):
        innermost["spec"] = innermost = {}
    return outermost


@pytest.mark.parametrize(
    "call",
    [
        lambda _, it: kq.Cluster(it),
        lambda _, it: kq.load(it),
        lambda _, it: kq.dump([it]),
        lambda _, it: kq.Scheduler(it),
        lambda _, it: kq.Question(it),
        lambda _, it: kq.Quantity(it),
        lambda _, it: kq.Preemption(it),
        lambda _, it: kq.ClusterQueue.of("q", it),
        lambda s, it: s.submit(it),
        lambda s, it: s.submit({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": it}),
        lambda s, it: s.submit(kq.Workload("w", queue_name="team", pod_sets=(kq.PodSet(template=it),))),
        lambda s, it: s.try_admit(it),
        lambda s, it: s.try_admit_many([it]),
        lambda s, it: s.explain(it),
        lambda s, it: s.apply(it),
        lambda s, it: s.whatif(it),
        lambda s, it: s.largest_count(it),
    ],
)
def test_what_goes_very_deep_is_refused(call, scheduler):
    with pytest.raises(kq.KueueError):
        call(scheduler, deep())
