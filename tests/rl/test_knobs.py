"""Actions of the environment: numbers, compared with the rule in NumPy, and choices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("gymnasium")

import kueuepy as kq
from kueuepy import _core
from kueuepy.lab.rl.stage import Knobs

GPU = "nvidia.com/gpu"


def with_sum(wanted, low, high, total):
    """Return the nearest values within bounds with this sum: all values are shifted equally within the bounds."""
    ends = np.sort(np.concatenate([low - wanted, high - wanted]))
    sums = np.clip(wanted + ends[:, None], low, high).sum(axis=1)
    return np.clip(wanted + np.interp(total, sums, ends), low, high)


def expected(values, by, low, high, sums):
    wanted = np.clip(values + by, low, high)
    if not len(sums):
        return np.rint(wanted).astype(np.int64).tolist()
    found = np.zeros(len(values), np.int64)
    for one in set(sums):
        mine = np.flatnonzero(np.array(sums) == one)
        total = int(values[mine].sum())
        moved = with_sum(wanted[mine], low[mine], high[mine], total)
        whole = np.floor(moved + 1e-9).astype(np.int64)
        for place in np.argsort(-np.round(moved - whole, 9), kind="stable"):
            if int(whole.sum()) == total:
                break
            whole[place] += whole[place] < high[mine][place]
        found[mine] = whole
    return found.tolist()


def moved(values, actions, *bounds):
    """Return the values that the core computes for an action."""
    low, high, sums, step = bounds
    options = {"interval": 1, "episode": 1, "step": step, "low": low, "high": high, "sums": sums, "start": values}
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 1}}))
    environments = _core.Environments(1, [], {**options, "objects": []})
    run = kq.Simulation(cluster, [{"queue": "q", "submit": 0, "runtime": 1, "gpu": 1}])._run
    environments.begin(0, run.core, run.zero, values)
    facts, told = np.zeros((1, environments.facts)), np.zeros((1, environments.width), np.float32)
    while not environments.go(1, told, facts):
        pass
    assert environments.plan([0], np.array([actions]), np.empty((1, 0), np.int64)) == []
    environments.start([0])
    return environments.values()[0, :-1].tolist()


@st.composite
def moves(draw):
    n = draw(st.integers(1, 8))
    low = draw(st.lists(st.integers(0, 10), min_size=n, max_size=n))
    high = [at + draw(st.integers(0, 40)) for at in low]
    values = [draw(st.integers(*pair)) for pair in zip(low, high, strict=True)]
    eighths = st.integers(-8, 8).map(lambda part: part / 8)
    actions = draw(st.lists(eighths, min_size=n, max_size=n))
    sums = draw(st.one_of(st.just([]), st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    return values, actions, low, high, sums, draw(st.sampled_from([1.0, 4.0, 12.5]))


@given(moves())
def test_numbers_move_by_the_rule(move):
    values, actions, low, high, sums, step = move
    found = moved(*move)
    by = np.array(actions) * step
    assert found == expected(np.array(values), by, np.array(low), np.array(high), sums)
    assert all(least <= value <= most for least, value, most in zip(low, found, high, strict=True))
    for one in set(sums):
        mine = [place for place, of in enumerate(sums) if of == one]
        assert sum(found[place] for place in mine) == sum(values[place] for place in mine)


def test_sums_of_large_numbers_are_kept():
    """Bytes of memory: parts of a byte are lost in the sum of floats."""
    values = [2**40 + 1, 2**41, 3 * 2**39 + 7]
    found = moved(values, [1.0, -0.3, 0.123456789], [0, 0, 0], [2**43] * 3, [0, 0, 0], 2**37 / 3)
    assert sum(found) == sum(values)
    assert found != values


def test_the_rounding_remainder_is_assigned_to_the_largest_fraction():
    assert moved([4, 4, 4], [0.35, 0.05, -0.4], [0, 0, 0], [12, 12, 12], [0, 0, 0], 4.0) == [6, 4, 2]
    assert moved([4, 4, 4], [1.0, 0, 0], [0, 0, 0], [12, 12, 12], [0, 0, 0], 9.0) == [10, 1, 1]


# --- what is edited


def cluster(**fields):
    queues = [kq.ClusterQueue.of(n, {"f": {GPU: 4, "cpu": 8}}, cohort_name="all", **fields) for n in "ab"]
    return kq.Cluster(kq.ResourceFlavor("f"), queues)


def path(queue, field="nominalQuota", resource=GPU):
    return f"ClusterQueue/{queue}:quota[f/{resource}].{field}"


def knobs(where, edit=(), choose=None, bounds=None):
    return Knobs(where, edit, choose or {}, bounds or {}, conserve=True)


def test_each_field_has_a_separate_sum():
    found = knobs(cluster(), [path("a"), path("a", resource="cpu"), path("b"), path("b", resource="cpu")])
    assert found.sums == [0, 1, 0, 1]
    assert found.high == [8, 16, 8, 16]
    assert found.places == [[0, 1], [2, 3]]
    made = found.made(1, [5, 9])
    assert [(q.name, q.nominal_quota) for q in made.resource_groups[0].flavors[0].resources] == [(GPU, 5), ("cpu", 9)]


def test_a_choice_starts_with_the_value_of_the_cluster():
    policies = ["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
    where = cluster(preemption=kq.Preemption(within_cluster_queue="LowerPriority"))
    within = "ClusterQueue/*:preemption.withinClusterQueue"
    found = knobs(where, choose={within: policies, "ClusterQueue/a:stopPolicy": [None, "Hold"]})
    assert found.start == [1, 0]
    assert found.places == [[0, 1], [0]]
    assert found.made(1, [0]).preemption.within_cluster_queue == "Never"
    assert found.made(0, [2, 1]).stop_policy == "Hold"
    assert found.by_path([2, 0]) == {within: 2, "ClusterQueue/a:stopPolicy": 0}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "a list with at least one path"),
        ({"edit": "ClusterQueue/a:stopPolicy"}, "a list with at least one path"),
        ({"edit": [path("a"), path("a")]}, "must be unique"),
        ({"edit": [path("x")]}, "names no ClusterQueue"),
        ({"edit": ["ClusterQueue/*:queueingStrategy"]}, "names 2 objects"),
        ({"edit": ["ClusterQueue/a:queueingStrategy"]}, "it must be an integer"),
        ({"edit": ["ClusterQueue/a:resourceGroups"]}, "it must be an integer"),
        ({"edit": ["Configuration:fairSharing"]}, "it must be such as ClusterQueue"),
        ({"edit": [path("a")], "bounds": {path("a"): (5, 9)}}, "4 is not within its bounds, 5 to 9"),
        ({"edit": [path("a")], "bounds": {path("a"): 5}}, "it must be the minimum and the maximum"),
        ({"edit": [path("a")], "bounds": {path("b"): (0, 5)}}, "is not a path in edit"),
        ({"edit": [path("a")], "bounds": {path("a"): (-5, 5)}}, "nominalQuota: is -5"),
        ({"choose": {"ClusterQueue/a:stopPolicy": ["Hold"]}}, "it must include the value in the cluster"),
        ({"choose": {"ClusterQueue/a:stopPolicy": []}}, "it must include the value in the cluster"),
        ({"choose": {"ClusterQueue/a:stopPolicy": ["None", "Halt"]}}, "Halt"),
        ({"choose": {"Configuration:fairSharing": [None]}}, "must be such as"),
    ],
)
def test_invalid_fields_are_rejected(options, told):
    with pytest.raises(kq.KueueError, match=told):
        knobs(cluster(), **options)


def test_invalid_bounds_are_rejected_before_the_first_step():
    where = cluster().edit(path("a", "lendingLimit"), 3)
    with pytest.raises(kq.errors.InvalidSpecError, match="lendingLimit: is 3; it must be at most the nominalQuota"):
        knobs(where, [path("a"), path("b")])
    assert knobs(where, [path("a"), path("b")], bounds={path("a"): (3, 8)}).low == [3, 0]
