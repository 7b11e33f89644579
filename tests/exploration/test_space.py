"""Sets of policies: grids, lists and samples."""

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.lab.exploration.policy import policies_of


def test_a_dict_describes_all_combinations_with_the_last_path_fastest():
    found = policies_of({"x": [1, 2], "y": ["a", None]})
    assert found == ({"x": 1, "y": "a"}, {"x": 1, "y": None}, {"x": 2, "y": "a"}, {"x": 2, "y": None})


def test_a_list_of_policies_is_used_unchanged():
    assert policies_of([{"x": 1}, {"y": 2}]) == ({"x": 1}, {"y": 2})


@pytest.mark.parametrize("over", [{"x": 3}, {"x": "abc"}, {"x": []}, {"x": kq.lab.Uniform(0, 1)}, [1], 7])
def test_an_invalid_list_of_policies_is_rejected(over):
    with pytest.raises(kq.errors.InvalidSpecError, match=r"over: .*(must be|give)"):
        policies_of(over)


@pytest.mark.parametrize("how", ["random", "sobol"])
def test_a_sample_is_the_same_for_the_same_seed_and_within_its_space(how):
    pytest.importorskip("scipy" if how == "sobol" else "numpy")
    space = {"x": kq.lab.Uniform(8, 64, step=8), "y": ["a", "b"], "z": kq.lab.Uniform(0.5, 2)}
    found = kq.lab.sample(space, 100, seed=3, how=how)
    assert found == kq.lab.sample(space, 100, seed=3, how=how)
    assert found != kq.lab.sample(space, 100, seed=4, how=how)
    assert {policy["x"] for policy in found} == set(range(8, 65, 8))
    assert {policy["y"] for policy in found} == {"a", "b"}
    assert all(0.5 <= policy["z"] < 2 for policy in found)


def test_a_sobol_sample_covers_more_evenly_than_a_random_one():
    pytest.importorskip("scipy")
    space = {"x": kq.lab.Uniform(0, 1), "y": kq.lab.Uniform(0, 1)}

    def empty(how):
        cells = [(int(p["x"] * 8), int(p["y"] * 8)) for p in kq.lab.sample(space, 64, seed=1, how=how)]
        return 64 - len(set(cells))

    assert empty("sobol") == 0
    assert empty("random") > 16


def test_each_order_of_magnitude_is_equally_likely():
    values = np.array(
        [policy["x"] for policy in kq.lab.sample({"x": kq.lab.Uniform(1, 10_000, log=True)}, 4000, how="random")]
    )
    assert abs((values < 10).mean() - 0.25) < 0.03
    assert abs((values < 1000).mean() - 0.75) < 0.03


@pytest.mark.parametrize(
    ("low", "high", "fields"),
    [(2, 1, {}), (0, 1, {"step": 0}), (0, 1, {"log": True}), (0, np.inf, {}), (-np.inf, 0, {}), (np.nan, 1, {})],
)
def test_invalid_bounds_are_rejected(low, high, fields):
    with pytest.raises(kq.errors.InvalidSpecError, match="Uniform"):
        kq.lab.Uniform(low, high, **fields)


@pytest.mark.parametrize("values", ["abc", b"abc", [], ()])
def test_a_sample_needs_distributions_or_lists(values):
    with pytest.raises(kq.errors.InvalidSpecError, match="a Uniform or values"):
        kq.lab.sample({"x": values}, 3, how="random")
