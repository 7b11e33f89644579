"""Operations of selectors on values that are or contain versions and quantities, and what kueuepy refuses."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kueuepy.errors import UnsupportedError
from kueuepy.selectors import compile_error, evaluate, is_available
from selected import GPU, SUBJECT, written

pytestmark = pytest.mark.skipif(not is_available(), reason="selectors need the extra dra")

UNHASHABLE = (False, "internal error: runtime error: hash of unhashable type cel.Semver")


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ('[@fw] == ["x"]', (True, "")),
        ('["x"] == [@fw]', (False, "")),
        ('[@fw] != ["x"]', (False, "")),
        ('[[@fw]] == [["x"]]', (True, "")),
        ('{"a": @fw} == {"a": "x"}', (True, "")),
        ('[@fw].map(a, a) == ["x"]', (True, "")),
        ("type(@fw) == map", (False, "")),
        ('type(@fw) == type(semver("2.0.0"))', (True, "")),
        ('@fw in [dyn("1.2.3")]', UNHASHABLE),
        ('@fw in {"a": 1}', UNHASHABLE),
        ('@fw in ["x"] || true', UNHASHABLE),
        ('true || @fw in ["x"]', (True, "")),
        ("{@fw: 1}.size() == 1", UNHASHABLE),
        ("@fw in {}", (False, "")),
        ("@fw in device.attributes", (False, "")),
        (f'@n in device.attributes["{GPU}"]', (False, "")),
        ('"a" in @fw', (False, "no such overload")),
        ("[@fw, @model].filter(a, a == @model).size() == 1", (False, "no such overload")),
        ('@n[?"x"].hasValue() || @n.?x.hasValue()', (False, "")),
        ("@n.y == 1", (False, "no such key: y")),
        ("@n.size() > 0", (False, "no such overload: size")),
        (f'device.attributes["{GPU}"].exists(a, a == "n") && @n == 4 && [@n, @n].exists(x, x == 4)', (True, "")),
        (f'device.attributes["{GPU}"].all(a, false) || @n == 5', (False, "")),
        ("(1 / 0) in []", (False, "")),
        ("device.attributes.size() == 1", (True, "")),
        ('"é𝄞x".charAt(2) == "x" && "é𝄞x".indexOf("x") == 2', (True, "")),
    ],
)
def test_operations_on_versions_have_the_result_of_kueue(expression, found):
    assert compile_error(written(expression)) == ""
    assert evaluate(written(expression), SUBJECT) == found


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ('[@fw, "a"].size() == 2', "expected type 'any' but found 'string'"),
        ('{"a": 1, "b": "c"}.size() == 2', "expected type 'int' but found 'string'"),
        ("{1.5: true}", "must evaluate to bool or the unknown type, not map(double, bool)"),
        ("uint(-1) == 1u", "program instantiation failed: unsigned integer overflow"),
        ("string(b'\\xff') == ''", "program instantiation failed: invalid UTF-8 in bytes, cannot convert to string"),
        ('semver("1.0.0") == 1', "found no matching overload for '_==_'"),
    ],
)
def test_the_compiler_rejects_what_the_compiler_of_kueue_rejects(expression, error):
    assert error in compile_error(written(expression))


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("0 < 0.5", "a comparison of numbers of different types"),
        ("[optional.of(1)].reverse() == []", "reverse()"),
        ("@n[?'a'][?'b'].hasValue()", "optional values of a dynamic type"),
        ("[@n[?'a']] == []", "optional values of a dynamic type"),
        ("cel.bind(x, @n[?'a'], x == 1)", "optional values of a dynamic type"),
        ("optional.of(@n)[?'a'].hasValue()", "a field of an optional attribute"),
        ("[1, 2].all(a, false) || cel.bind(x, dyn(1), x == 2)", "cel.bind() together with all() or exists()"),
        ("[optional.of(1)] == []", "optional values as elements"),
        ('optional.of(@fw) == optional.of(dyn("x"))', "a comparison of optional values with attributes"),
        ("type(#memory) == map", "type() of a quantity"),
        ("type(dyn(#memory)) == map", "type() of a quantity"),
        ("{#memory: 1}.size() == 1", "a quantity as the key of a map"),
        ("#memory == #memory.add(1)", "== together with add() or sub()"),
        ("#memory.add(1).isInteger()", "isInteger() together with add() or sub()"),
        ('quantity("1000m").isInteger()', "isInteger() or asInteger() of a quantity with a fraction"),
        ("[1] + [@fw] == [1, 1]", "+ with a list or map of attributes"),
        ("dyn([@fw]) == 1", "dyn() with a list or map of attributes"),
        ("cel.bind(device, 3, device == 3)", "a variable named device"),
        ('"abc".substring(0, 3) == "abc"', "substring() with two arguments"),
        ('int(" 1") == 1', "the conversion of such a string to a number"),
        ("@fw[null] == 1", "an index of the type null"),
        ("string(timestamp(1)) == ''", "string() of a timestamp"),
        ('{"a": @n, "a": @n}.size() == 1', "duplicate key in map"),
        ("(" * 40 + "true" + ")" * 40, "operations nested more than 32 levels deep"),
    ],
)
def test_expressions_whose_result_is_not_known_are_refused_by_name(expression, what):
    with pytest.raises(UnsupportedError) as refused:
        compiled_and_evaluated(written(expression))
    assert what in str(refused.value)


def compiled_and_evaluated(expression):
    return compile_error(expression) or evaluate(expression, SUBJECT)


LEAVES = """
    @fw @model @n @ok @none #memory device device.attributes x null true [] {} -9223372036854775808
    18446744073709551615u 1e999 0x 1.5 "é𝄞\\u0000" b'\\xff' ' semver("1.2.3") quantity("1Ei") optional.of(1)
    duration("1s") "(a+)+$" @n[?"a"] optional.none() @n.?y
"""


def larger(inner):
    pair = st.tuples(inner, inner)
    operators = st.sampled_from(["==", "!=", "in", "+", "-", "*", "/", "%", "<", ">=", "&&", "||", "? true :"])
    calls = ["size", "type", "dyn", "int", "string", "double", "has", "optional.of", "semver", "quantity", "!", "-"]
    methods = ["matches", "startsWith", "split", "exists", "map", "add", "isGreaterThan", "orValue", "?y", "reverse"]
    return st.one_of(
        st.builds(lambda operands, sign: f"({operands[0]} {sign} {operands[1]})", pair, operators),
        st.builds(lambda call, operand: f"{call}({operand})", st.sampled_from(calls), inner),
        st.builds(lambda operands, name: f"{operands[0]}.{name}({operands[1]})", pair, st.sampled_from(methods)),
        st.builds(lambda operands, name: f"{operands[0]}.{name}(x, {operands[1]})", pair, st.sampled_from(methods)),
        st.builds("[{0[0]}, {0[1]}]".format, pair),
        st.builds("{{{0[0]}: {0[1]}}}".format, pair),
        st.builds("{0[0]}[{0[1]}]".format, pair),
        st.builds("{0}.y".format, inner),
    )


def result(expression):
    """The error of the compilation, or the result of the evaluation; None if the expression is refused."""
    try:
        return compiled_and_evaluated(expression)
    except UnsupportedError:
        return None


@settings(max_examples=300, deadline=None)
@given(st.recursive(st.sampled_from(LEAVES.split()), larger, max_leaves=8))
def test_any_expression_has_a_result_an_error_or_is_refused(expression):
    found = result(written(expression))
    assert found is None or isinstance(found, (str, tuple))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_text_has_a_result_an_error_or_is_refused(text):
    assert result(text) is None or isinstance(result(text), (str, tuple))


@pytest.mark.parametrize(
    "expression",
    [
        f"@model.matches('(a*)*(a|aa)+$') || '{'a' * 20000}'.matches('(a+)+b')",
        "@n == " + " + ".join(["1"] * 2000),
        "!" * 5001 + "true",
        "@model == '" + "x" * 1_000_000 + "'",
        " || ".join(["@model == 'b'"] * 500),
        "semver('" + "1" * 100_000 + ".0.0') == @fw",
        "quantity('" + "9" * 100_000 + "') == #memory",
        "[" * 3000,
        "'" * 3001,
        "1" + "0" * 100_000 + " == 1",
        "'\ud800' == 'a'",
    ],
    ids=["regex", "sum", "not", "string", "or", "version", "quantity", "brackets", "quotes", "integer", "surrogate"],
)
def test_large_expressions_end(expression):
    assert result(written(expression)) is None or result(written(expression))
