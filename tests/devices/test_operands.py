"""Operands of selectors: types of quantities and versions, as checked and compared by Kueue's compiler."""

import pytest

from kueuepy.selectors.evaluation import compile_error, evaluate, is_available
from selected import GPU, SUBJECT, written

pytestmark = pytest.mark.skipif(not is_available(), reason="selectors need the extra dra")

NO_OVERLOAD = (False, "no such overload")


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("@fw == @model", NO_OVERLOAD),
        ("@fw == #memory", NO_OVERLOAD),
        ('@fw == quantity("40Gi")', NO_OVERLOAD),
        ('quantity("40Gi") == @n', NO_OVERLOAD),
        ('semver("1.2.3") == @ok', NO_OVERLOAD),
        ('@fw == ["1.2.3"]', NO_OVERLOAD),
        ("@fw == [1, 2]", NO_OVERLOAD),
        ('@fw == {"a": 1}', NO_OVERLOAD),
        ("@model == @fw", (False, "")),
        ('@fw == semver("1.2.3")', (True, "")),
        ('semver("1.2.3") == @fw', (True, "")),
        ('#memory == quantity("40Gi") && quantity("40Gi") == #memory', (True, "")),
        ("@model == @model && @n == @n", (True, "")),
        ('@model == "a" + "100"', (True, "")),
        ("@none == @model", (False, "no such key: none")),
        ("#memory == null || null == #memory", (False, "")),
        ("#memory != null", (True, "")),
        ("#memory in [null]", (False, "")),
        ("@none in []", (False, "")),
        ('!(device.attributes["none"].x in [])', (True, "")),
        ("size(@fw) > 0", (False, "no such overload: size")),
        ("@fw.size() > 0", (False, "no such overload: size")),
        ("size(@model) == 4 && @model.size() == 4", (True, "")),
        (f'size(device.attributes["{GPU}"]) == 4 && device.attributes["none"] == {{}}', (True, "")),
        ("{'k': @model} == {'k': 'a100'} && [@model] == ['a100']", (True, "")),
    ],
)
def test_comparisons_of_different_types_have_the_result_of_kueue(expression, found):
    assert compile_error(written(expression)) == ""
    assert evaluate(written(expression), SUBJECT) == found


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ('#memory == semver("1.2.3")', "'_==_' applied to '(kubernetes.Quantity, kubernetes.Semver)'"),
        ('#memory in [semver("1.2.3")]', "'@in' applied to '(kubernetes.Quantity, list(kubernetes.Semver))'"),
        ("size(#memory) > 0", "'size' applied to '(kubernetes.Quantity)'"),
        ("#memory.size() > 0", "'size' applied to 'kubernetes.Quantity.()'"),
        ("#memory.major() == 1", "'major' applied to 'kubernetes.Quantity.()'"),
        ('#memory.compareTo(semver("1.0.0")) > 0', "'compareTo' applied to 'kubernetes.Quantity.(kubernetes.Semver)'"),
        ("has(#memory.y)", "ERROR: <input>:1:4: unexpected failed resolution of 'kubernetes.Quantity'"),
        ("device.driver.y == 1", "type 'string' does not support field selection"),
        ("device.driver == null", "'_==_' applied to '(string, null)'"),
        ('semver("1.2.3")', "must evaluate to bool or the unknown type, not kubernetes.Semver"),
        ('[quantity("1")]', "must evaluate to bool or the unknown type, not list(kubernetes.Quantity)"),
    ],
)
def test_the_compiler_distinguishes_quantities_and_versions(expression, error):
    assert error in compile_error(written(expression))
