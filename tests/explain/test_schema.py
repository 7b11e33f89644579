"""The JSON form of explanations follows its published schema."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from explanation_schema import FACTS, ROOT_FACTS, schema
from golden.test_explanations import STORIES
from kueuepy import explain
from kueuepy.explain import obstacles
from schemas import validate_explanation

PUBLISHED = Path(__file__).parents[2] / "docs" / "_static" / "kueuepy.explain.v1.schema.json"
STORY = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)


def explanations(story):
    scheduler, _ = story()
    return [scheduler.explain(key).to_dict() for key in scheduler.keys()]  # noqa: SIM118 - a Scheduler


def kinds_in(causes):
    return {kind for cause in causes for kind in (cause["kind"], *kinds_in(cause["causes"]))}


@STORY
def test_explanations_follow_the_schema(story):
    for found in explanations(story):
        validate_explanation(found)


def test_the_published_schema_is_current():
    Draft202012Validator.check_schema(schema())
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == schema()


def made(*names):
    """Return the literal first arguments of the calls of these functions in the package."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in Path(explain.__file__).parent.glob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    first = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id in names]
    return {one.value for one in first if isinstance(one, ast.Constant)}


def test_each_kind_and_code_has_facts():
    assert made("_cause", "cause") == set(FACTS)
    assert made("RootCause", "_of_need") | {*obstacles._OBSTACLES.values()} == set(ROOT_FACTS)


def test_an_undocumented_fact_is_noticed():
    (found, *_) = explanations(STORIES[0])
    found["causes"][0]["facts"]["undocumented"] = 1
    with pytest.raises(ValidationError):
        validate_explanation(found)
    assert Draft202012Validator(schema()).is_valid(found)


def test_the_stories_cover_the_kinds():
    found = {kind for story in STORIES for one in explanations(story) for kind in kinds_in(one["causes"])}
    assert set(FACTS) - found == {"check", "domains", "finished", "search_continues", "undeclared", "untried"}
