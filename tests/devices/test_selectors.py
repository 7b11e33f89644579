"""Selectors: results and errors of Kueue, and the expressions that kueuepy refuses because its result could differ."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kueuepy.errors import UnsupportedError
from kueuepy.selectors import compile_error, evaluate, is_available
from selected import SUBJECT, written

pytestmark = pytest.mark.skipif(not is_available(), reason="selectors need the extra dra")


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ('@fw == semver("1.2.3")', (True, "")),
        ('#memory == quantity("40Gi") && quantity("40Gi") == #memory', (True, "")),
        ("@model == @model && @n == @n", (True, "")),
        ('@model == "a" + "100"', (True, "")),
        ("@none == @model", (False, "no such key: none")),
        ("size(@model) == 4 && @model.size() == 4", (True, "")),
        ("@n.y == 1", (False, "no such overload")),
        ("@n.size() > 0", (False, "no such overload")),
        ('"é𝄞x".charAt(2) == "x" && "é𝄞x".indexOf("x") == 2', (True, "")),
        ('device.attributes["gpu.example.com"].all(a, false) || @n == 5', (False, "")),
        ('@fw.compareTo(semver("1.10.0")) < 0 && semver("1.2.0").isLessThan(@fw) && has(@fw)', (True, "")),
        ('cel.bind(g, device.attributes["gpu.example.com"], g.fw.major() == 1 && g.n < 5)', (True, "")),
        ('device.attributes["gpu.example.com"].?none.orValue(7) == 7', (True, "")),
        ('"memory" in device.capacity["gpu.example.com"] && !("x" in device.attributes["none"])', (True, "")),
        ('@fw != semver("1.2.4") && @model != semver("1.2.3")', (True, "")),
        ('#memory.asInteger() > 42949672960 || #memory.isGreaterThan(quantity("1.5Gi"))', (True, "")),
    ],
)
def test_supported_expressions_have_the_result_of_kueue(expression, found):
    assert compile_error(written(expression)) == ""
    assert evaluate(written(expression), SUBJECT) == found


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        (
            '#memory == semver("1.2.3")',
            "<input>:1:43: found no matching overload for '_==_'",
        ),
        (
            '#memory.compareTo(semver("1.0.0")) > 0',
            "<input>:1:52: found no matching overload for 'compareTo'",
        ),
        (
            "device.driver.y == 1",
            "<input>:1:14: expression of type 'string' cannot be",
        ),
        ("uint8 == 1", "undeclared reference to 'uint8'"),
        ('1 == 1 ? "a" : "b"', "must evaluate to bool or the unknown type, not string"),
    ],
)
def test_the_compiler_checks_the_types_of_quantities_and_versions(expression, error):
    assert error in compile_error(written(expression))


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("@fw == @model", "a version outside of its functions and comparisons"),
        ("@fw == #memory", "a quantity or a version outside of its functions and comparisons"),
        ('@fw == quantity("40Gi")', "a version outside of its functions and comparisons"),
        ('quantity("40Gi") == @n', "a quantity or a version outside of its functions and comparisons"),
        ('semver("1.2.3") == @ok', "a quantity or a version outside of its functions and comparisons"),
        ('@fw == ["1.2.3"]', "a version outside of its functions and comparisons"),
        ("@fw == [1, 2]", "a version outside of its functions and comparisons"),
        ('@fw == {"a": 1}', "a map"),
        ("@model == @fw", "a version outside of its functions and comparisons"),
        ('semver("1.2.3") == @fw', "a quantity or a version outside of its functions and comparisons"),
        ("#memory == null || null == #memory", "null"),
        ("#memory != null", "null"),
        ("#memory in [null]", "null"),
        ("@none in []", "a list with computed elements"),
        ('!(device.attributes["none"].x in [])', "a list with computed elements"),
        ("size(@fw) > 0", "a version outside of its functions and comparisons"),
        ("@fw.size() > 0", "a version outside of its functions and comparisons"),
        ('size(device.attributes["gpu.example.com"]) == 4 && device.attributes["none"] == {}', "a map"),
        ("{'k': @model} == {'k': 'a100'} && [@model] == ['a100']", "a map"),
        ('#memory in [semver("1.2.3")]', "a list with computed elements"),
        ("size(#memory) > 0", "a quantity or a version outside of its functions and comparisons"),
        ("#memory.size() > 0", "a quantity or a version outside of its functions and comparisons"),
        ("#memory.major() == 1", "a quantity or a version outside of its functions and comparisons"),
        ("has(#memory.y)", "has() of a value that is not an attribute or a capacity of the device"),
        ("device.driver == null", "null"),
        ('semver("1.2.3")', "a quantity or a version outside of its functions and comparisons"),
        ('[quantity("1")]', "a list with computed elements"),
        ('[@fw] == ["x"]', "a list with computed elements"),
        ('["x"] == [@fw]', "a list with computed elements"),
        ('[@fw] != ["x"]', "a list with computed elements"),
        ('[[@fw]] == [["x"]]', "a list with computed elements"),
        ('{"a": @fw} == {"a": "x"}', "a map"),
        ('[@fw].map(a, a) == ["x"]', "a list with computed elements"),
        ("type(@fw) == map", "type()"),
        ('type(@fw) == type(semver("2.0.0"))', "type()"),
        ('@fw in [dyn("1.2.3")]', "dyn()"),
        ('@fw in {"a": 1}', "a map"),
        ('@fw in ["x"] || true', "a version outside of its functions and comparisons"),
        ('true || @fw in ["x"]', "a version outside of its functions and comparisons"),
        ("{@fw: 1}.size() == 1", "a map"),
        ("@fw in {}", "a map"),
        ("@fw in device.attributes", "the domains of a device"),
        ('@n in device.attributes["gpu.example.com"]', "the operator in with a computed name"),
        ('"a" in @fw', "the operator in with an attribute as a list"),
        ("[@fw, @model].filter(a, a == @model).size() == 1", "a list with computed elements"),
        ('@n[?"x"].hasValue() || @n.?x.hasValue()', "a computed index"),
        (
            '@exists(a, a == "n") && @n == 4 && [@n, @n].exists(x, x == 4)',
            "a list with computed elements, or of several types",
        ),
        ("(1 / 0) in []", "a list with computed elements"),
        ("device.attributes.size() == 1", "the domains of a device"),
        ('[@fw, "a"].size() == 2', "a list with computed elements"),
        ('{"a": 1, "b": "c"}.size() == 2', "a map"),
        ("uint(-1) == 1u", "uint()"),
        ("string(b'\\xff') == ''", "string() of a value that is not an attribute"),
        ('semver("1.0.0") == 1', "a quantity or a version outside of its functions and comparisons"),
        ("[optional.of(1)].reverse() == []", "of()"),
        ("@n[?'a'][?'b'].hasValue()", "a computed index"),
        ("[@n[?'a']] == []", "a computed index"),
        ("cel.bind(x, @n[?'a'], x == 1)", "a computed index"),
        ("optional.of(@n)[?'a'].hasValue()", "of()"),
        ("[1, 2].all(a, false) || cel.bind(x, dyn(1), x == 2)", "dyn()"),
        ("[optional.of(1)] == []", "of()"),
        ('optional.of(@fw) == optional.of(dyn("x"))', "of()"),
        ("type(#memory) == map", "type()"),
        ("type(dyn(#memory)) == map", "type()"),
        ("{#memory: 1}.size() == 1", "a map"),
        ("#memory == #memory.add(1)", "add()"),
        ("#memory.add(1).isInteger()", "add()"),
        ('quantity("1000m").isInteger()', "a quantity or a version outside of its functions and comparisons"),
        ("[1] + [@fw] == [1, 1]", "a list with computed elements"),
        ("dyn([@fw]) == 1", "dyn()"),
        ("cel.bind(device, 3, device == 3)", "a variable named device"),
        ('"abc".substring(0, 3) == "abc"', "substring()"),
        ('int(" 1") == 1', "int()"),
        ("@fw[null] == 1", "null"),
        ("string(timestamp(1)) == ''", "timestamp()"),
        ('{"a": @n, "a": @n}.size() == 1', "a map"),
        ("int(@mig) == 1", "int()"),
        ('int(@model) == 3 || int("3") == 3', "int()"),
        ("int(@model) == 3", "int()"),
        ("[@model, @model].size() == 2", "a list with computed elements"),
        ('b"abc" == bytes("abc")', "bytes()"),
        ("dyn(true)", "dyn()"),
        ('[1, "a"].exists(x, x == 1)', "a list with computed elements"),
        ('@model in ["a", 0x1]', "a list with computed elements"),
        ('device.driver.matches("(")', "an invalid pattern"),
        ('true ||\n timestamp("x") == timestamp("y")', "timestamp()"),
        ('duration("x") == duration("1s")', "duration()"),
        ('int("x") == 1', "int()"),
        ("has(device.driver)", "has() of a field of the device"),
        ("has(device.attributes.domain) && has(@model)", "the attributes of a domain as a whole"),
        ("has(@model.y)", "has() of a value that is not an attribute or a capacity of the device"),
        ("has(@missing.y)", "has() of a value that is not an attribute or a capacity of the device"),
        ('@fw == "1.2.3"', "a version outside of its functions and comparisons"),
        ('"1.2.3" == @fw', "a version outside of its functions and comparisons"),
        ('@fw != "1.2.3"', "a version outside of its functions and comparisons"),
        ('@fw in ["1.2.3"]', "a version outside of its functions and comparisons"),
        ('@fw < "2"', "a version outside of its functions and comparisons"),
        ('url("https://a").getHost() == "a"', "url()"),
        ('ip("10.0.0.1").family() == 4', "ip()"),
        ('cidr("10.0.0.0/8").containsIP("10.0.0.1")', "cidr()"),
        ("sets.contains([1], [1])", "a library of sets, lists or formats"),
        ("[2, 1].sort() == [1, 2]", "sort()"),
        ("[1, 1].distinct().size() == 1", "distinct()"),
        ("[[1]].flatten() == [1]", "flatten()"),
        ("[1, 2].slice(0, 1) == [1]", "slice()"),
        ("[2, 1].sortBy(x, x) == [1, 2]", "sortBy()"),
        ("lists.range(2) == [0, 1]", "range()"),
        ("[1].transformList(i, v, v) == [1]", "transformList()"),
        ('{"a": 1}.all(key, value, value == 1)', "a map"),
        ("[1].exists(i, v, v == 1)", "a macro with two variables"),
        ('format.named("dns1123Label").hasValue()', "named()"),
        ('"ab".find("a") == "a"', "find()"),
        ("[1].indexOf(1) == 0", "indexOf() of a list"),
        ("device == device", "device as a whole"),
        (
            'cel.bind(a, device.attributes, a["x"].y == 1)',
            "the domains of a device",
        ),
        ("0 < 0.5", "a comparison of numbers of different types"),
        (
            "((((((((((((((((((((((((((((((((((((((((true))))))))))))))))))))))))))))))))))))))))",
            "operations nested more than 32 levels deep",
        ),
        ("@model in @none + 'x'", "the operator in with an attribute as a list"),
        ("@n == 1 || [1].all(x, cel.bind(y, @n, y == x))", "cel.bind() together with all() or exists()"),
        ("cel.bind(m, #memory, m == @n)", "cel.bind() with a value that is not an attribute"),
        ('device.attributes["gpu.example.com"].?n.orValue(#memory) == 1', "orValue() with a computed value"),
        ('(@ok ? quantity("1") : #memory) == @n', "a quantity or a version outside of its functions and comparisons"),
        ('device.attributes["gpu.example.com"]["f" + "w"] == 1', "a computed index"),
        ("device.attributes.exists(d, d == 'x')", "the domains of a device"),
        ('device.attributes["a\\\\x62"].c == 1', "the domains of a device"),
        ("#memory == @n", "a quantity or a version"),
        ('string(1.5) == "1.5"', "string() of a value that is not an attribute"),
        ('device.attributes["gpu.example.com"].?n == optional.none()', "none()"),
        ('device.attributes["gpu.example.com"].?n.value() == 1', "value()"),
        ('device.attributes["gpu.example.com"].?n == device.attributes["gpu.example.com"].?n', "optional values"),
    ],
)
def test_expressions_whose_result_could_differ_are_refused_by_name(expression, what):
    with pytest.raises(UnsupportedError) as refused:
        compiled_and_evaluated(written(expression))
    assert f"uses {what}" in str(refused.value)


def test_attributes_are_refused_only_if_they_are_versions():
    """The same expression has a result for one device and is refused for another."""
    expression = written('@model == "a100"')
    assert evaluate(expression, SUBJECT) == (True, "")
    with pytest.raises(UnsupportedError, match="a version outside of its functions and comparisons"):
        evaluate(expression, SUBJECT.replace('"model": "a100"', '"model": {"version": "1.0.0"}'))


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
