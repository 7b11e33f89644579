"""The page of reproductions contains the stored results, and short runs agree with the formulas."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[2] / "docs" / "study"
if not STUDY.is_dir():
    pytest.skip("the study is not part of what is here", allow_module_level=True)


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("reproductions", STUDY / "reproductions.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["reproductions"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["reproductions"]


@pytest.fixture(scope="module")
def stored():
    return json.loads((STUDY / "reproductions.json").read_text(encoding="utf-8"))


def test_the_page_contains_the_stored_results(script, stored):
    assert (STUDY / "reproductions.md").read_text(encoding="utf-8") == script.page(stored)


def test_the_stored_results_agree_with_the_formulas(script, stored):
    cases = [script.Case(*values) for values in stored["formulas"]]
    assert len(cases) == 16
    assert [case for case in cases if not case.agrees] == []


def test_the_largest_difference_follows_from_the_results(script):
    cases = [["a", 1.0, 1.01, 0.9, 1.1], ["b", 2.0, 1.9, 1.8, 1.95], ["c", 3.0, 3.0, 2.9, 3.1]]
    text = script.differences({"formulas": cases})
    assert "that of b: -5.0%" in text
    assert "2 of 3 formula values" in text


def test_a_short_run_agrees_with_the_formulas(script):
    assert [case for case in script.cases(script.SHORT_RUNS, script.SHORT_JOBS) if not case.agrees] == []


def test_a_wrong_formula_is_noticed(script):
    values = [script.simulated("exponential", 1, (0.5,), seed, 4_000, preempt=False)[0] for seed in range(4)]
    mean = sum(values) / 4
    assert not script.Case("half", 2 * mean, mean, min(values), max(values)).agrees


def test_known_values_of_the_formulas(script):
    assert script.erlang_c(1, 0.8) == pytest.approx(4)
    assert script.pollaczek(0.8, 2) == pytest.approx(4)
    assert script.cobham((0.8,), 2) == pytest.approx([4])
    assert script.preemptive((0.8,), 2) == pytest.approx([4])


def test_generated_jobs_have_the_statistics_of_the_model(script, stored):
    found = script.lublin(100_000)
    assert found.keys() == stored["lublin"].keys()
    assert script.spread(100_000) == pytest.approx(stored["spread"])
    for name, pair in found.items():
        assert list(pair) == pytest.approx(stored["lublin"][name]), name
    for name, (model, measured) in found.items():
        if "at least" in name:
            assert measured >= model
        else:
            assert measured == pytest.approx(model, rel=0.05), name
