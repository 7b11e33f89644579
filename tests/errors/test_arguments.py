"""Arguments of wrong types raise KueueErrors instead of arbitrary Python errors."""

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import pytest

import kueuepy as kq
from kueuepy.errors.arguments import checked

QUEUE = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Queue", "metadata": {"name": "a"}}


@pytest.fixture
def scheduler():
    return kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), kq.ClusterQueue.of("team", {"default": {"cpu": 9}})))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda s: kq.dump([s]), "is not a Cluster"),
        (lambda _: kq.Scheduler([1]), "is not a Cluster"),
        (lambda s: s.workload(5), "5 is not a key"),
        (lambda s: s.explain("\ud800"), r"is not a key; it must be a string"),
        (lambda s: s.finish(5), "finish: workload: is an integer"),
        (lambda s: s.try_admit_many(None), "None is not a list"),
        (lambda s: s.explain([]), "is 0 workloads; it must be one"),
        (lambda _: kq.report(5, "x"), "results: is 5; it must be Result, Comparison or dict of Result"),
        (lambda _: kq.load(3), "is 3; it must be str, bytes, path, open file, dict, LiveSource or list"),
        (lambda _: kq.manifest.to_dict(5), "obj: is 5; it must be Object"),
        (lambda _: kq.load(QUEUE), '"Queue" is not a kind of kueue.x-k8s.io'),
    ],
)
def test_an_argument_of_a_wrong_type_is_reported(call, told, scheduler):
    with pytest.raises(kq.KueueError) as caught:
        call(scheduler)
    assert told in str(caught.value)


def test_a_lack_of_memory_is_not_reported_as_an_argument_of_a_wrong_type():
    @checked
    def run(_number: int) -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        run("text")


def test_names_in_annotations_are_those_that_the_module_imports(scheduler, monkeypatch):
    monkeypatch.setattr(kq, "Edit", int, raising=False)  # another object named like the annotation of whatif
    with pytest.raises(ZeroDivisionError):
        scheduler.whatif(lambda _: 1 / 0)


def test_a_method_of_one_item_accepts_its_argument_by_name(scheduler):
    row = {"name": "job", "queue": "team", "cpu": 1}
    assert scheduler.try_admit(item=row) == scheduler.try_admit(row)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'row'"):
        scheduler.try_admit(row=row)
    with pytest.raises(TypeError, match=r"^Scheduler.explain\(\) got .* argument 'row'; known are item"):
        scheduler.explain(row=row)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'item'"):
        scheduler.try_admit()


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
def test_deeply_nested_input_is_rejected(call, scheduler):
    with pytest.raises(kq.KueueError):
        call(scheduler, deep())


def row(**fields):
    return {"name": "a", "queue": "team", "cpu": 1, "submit": 0, "duration": 5, **fields}


NUMBERS = (10**400, -(10**400), 2**63, Fraction(10**400, 3), Decimal("1e400"), Decimal("NaN"), Decimal("sNaN"), 1e308)
NUMERIC = ("cpu", "memory", "nvidia.com/gpu", "pods", "min_pods", "priority", "submit", "duration")
OF_ROWS = [
    lambda s, column, number: s.submit(row(**{column: number})),
    lambda s, column, number: s.try_admit(row(**{column: number})),
    lambda s, column, number: kq.compare(s.cluster, s.cluster, [row(**{column: number})]),
    lambda s, column, number: kq.simulate(
        s.cluster, kq.Jobs({**{name: [value] for name, value in row().items() if name != "name"}, column: [number]})
    ),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("call", OF_ROWS)
@pytest.mark.parametrize("column", [*NUMERIC, "name", "queue"])
def test_a_number_beyond_float_is_read_or_rejected(call, column, scheduler):
    for number in (*NUMBERS, "\ud800"):
        with suppress(kq.KueueError):
            call(scheduler, column, number)
        for key in scheduler.keys():  # noqa: SIM118 - a Scheduler is not a mapping
            scheduler.delete(key)


@pytest.mark.parametrize(
    "call",
    [
        lambda s, number: s.advance(number),
        lambda s, number: kq.Scheduler(s.cluster, now=number),
        lambda s, number: s.apply(kq.Node("n", labels={}, capacity={"cpu": number, "pods": 9.5})),
        lambda s, number: s.apply(kq.ClusterQueue.of("team", {"default": {"cpu": number}})),
        lambda s, number: s.apply(kq.ClusterQueue.of("team", {"default": {"cpu": kq.Quota(1, number)}})),
        lambda s, number: s.apply(
            kq.ClusterQueue.of("team", {"default": {"cpu": 1}}, fair_sharing=kq.FairSharing(number))
        ),
        lambda s, number: s.submit(
            kq.Workload("w", queue_name="team", pod_sets=(kq.PodSet.of(requests={"cpu": number}),))
        ),
        lambda s, number: s.set_check("w", "x", "Retry", requeue_after=number),
        lambda s, number: kq.simulate(s.cluster, [row()], until=number),
        lambda _, number: kq.Quantity(number),
        lambda _, number: kq.Jobs({"queue": ["team"], "cpu": [1], "submit": [0], "runtime": [5]}).scale_load(number),
    ],
)
def test_an_argument_beyond_float_is_read_or_rejected(call, scheduler):
    for number in NUMBERS:
        with suppress(kq.KueueError):
            call(scheduler, number)
