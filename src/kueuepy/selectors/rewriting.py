"""Rewriting of syntax trees, so that the CEL library evaluates them as Kueue does.

Missing domains of a device evaluate to empty maps. Operations whose operands may be versions or quantities are replaced
with calls of the functions of `operations`: the library would treat the values as maps.

Source: `k8s.io/dynamic-resource-allocation/cel/compile.go`; cel-go's `common/types`, `interpreter/decorators.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy.errors import UnsupportedError
from kueuepy.selectors.syntax import DYN, Expr, boolean, bound, call, constant, listed, variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from kueuepy.selectors.syntax import Checked, Type

ATTRIBUTES, CAPACITY = "device.attributes", "device.capacity"
MARKED, EQUAL, UNEQUAL = "kueuepy_marked", "kueuepy_equal", "kueuepy_unequal"
MEMBER, CONSTANT, KEY = "kueuepy_member", "kueuepy_constant", "kueuepy_key"
VERSIONED, FIELDS, HASHABLE = "kueuepy_versioned", "kueuepy_fields", "kueuepy_hashable"
FOUND, SIZED, NUMBER, FLOAT = "kueuepy_found", "kueuepy_sized", "kueuepy_number", "kueuepy_float"

_ANY: Type = ("any",)
_OPTIONAL, _QUANTITY, _VERSION = "optional_type", "kubernetes.Quantity", "kubernetes.Semver"
_PLAIN = frozenset(("bool", "int", "uint", "double", "string", "bytes", "null", "timestamp", "duration", "type"))
CONVERSIONS = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "uint"))
_SELECTIONS = ("_?._", "_[?_]")
"""Functions that return an optional value."""
_NUMERIC = {"int": NUMBER, "uint": FLOAT, "double": FLOAT}
"""The checks of the argument of a conversion."""
_INDICES = frozenset(("any", "dyn", "bool", "int", "uint", "string"))
_EXACT = {
    "_==_": "==",
    "_!=_": "!=",
    "@in": "the operator in",
    "isInteger": "isInteger()",
    "asInteger": "asInteger()",
}
"""Operations on quantities whose results in Kueue depend on how the quantity was computed."""
_PRIMITIVE = {2, 3, 4, 5, 6}
"""Fields of a literal whose values cel-go looks up in a set: all types but null and bytes."""


def rewritten(expression: str, checked: Checked) -> bytes:
    """Return the serialized expression with its syntax tree rewritten.

    Raises:
        UnsupportedError: The result in Kueue cannot be determined here.
    """
    nodes = [*checked.root.all()]
    ends_early = any(node.name == "@not_strictly_false" for node in nodes)
    if ends_early and any(node.kind == "fold" and b"#unused" in node.data for node in nodes):
        raise unsupported(expression, "cel.bind() together with all() or exists()")
    return checked.encoded(_Rewriting(expression, checked).of(checked.root))


class _Rewriting:
    """Rewrites the nodes of one expression, from the leaves to the root."""

    def __init__(self, expression: str, checked: Checked) -> None:
        self._expression = expression
        self._type = checked.type_of
        self._computes = any(node.kind == "call" and node.name in ("add", "sub") for node in checked.root.all())
        self._names = 0

    def of(self, node: Expr) -> Expr:
        """Return the node that replaces a node."""
        self._refuse_escaping_optionals(node)
        if node.kind == "variable" and node.name in (ATTRIBUTES, CAPACITY):
            raise self._refused(f"{node.name} as a whole")
        if (domain := self._domain(node)) is not None:
            return domain
        parts = [self._operand(node, i) for i in range(len(node.parts))]
        new = Expr(node.kind, node.number, node.name, parts, node.is_method, node.is_test, node.data, node.entries)
        if node.kind == "select" and self._is_dynamic(node.parts[0]):
            return self._select(new)
        if node.kind == "map" and not node.name:
            self._check_keys(node, new)
        if node.kind == "call":
            return self._call(node, new)
        return new

    def _operand(self, node: Expr, i: int) -> Expr:
        """Return the operand that replaces an operand; some operators accept all domains of a device."""
        part = node.parts[i]
        whole = part.kind == "variable" and part.name in (ATTRIBUTES, CAPACITY)
        if whole and ((node.kind, i) == ("fold", 0) or (node.name, i) in (("@in", 1), ("size", 0))):
            return part
        return self.of(part)

    def _domain(self, node: Expr) -> Expr | None:
        """Return the access of a domain, which is an empty map if the device lacks it; None for any other node."""
        source = node.parts[0] if node.parts else node
        if source.kind != "variable" or source.name not in (ATTRIBUTES, CAPACITY):
            return None
        if node.kind == "select":
            key = constant(node.name)
        elif node.kind == "call" and node.name in ("_[_]", "_[?_]", "_?._"):
            key = self.of(node.parts[1])
        else:
            return None
        if node.is_test:
            return boolean(value=True)
        found = self._with(key, lambda name: call(
            "_?_:_", call("@in", name, source), call("_[_]", source, name), Expr("map")
        ))  # fmt: skip
        return call("optional.of", found) if node.name in ("_[?_]", "_?._") and node.kind == "call" else found

    def _call(self, node: Expr, new: Expr) -> Expr:
        """Return the replacement of a call whose operands are rewritten already."""
        may_be_special = any(self._may_be_special(part) for part in node.parts)
        self._refuse_uncertain(node)
        if node.name in _NUMERIC and (may_be_special or self._type(node.parts[0]) == ("string",)):
            return self._guarded(new, _NUMERIC[node.name])
        if node.name == "@in" and node.parts[1].kind == "list" and not node.parts[1].parts:
            return boolean(value=False)
        if node.name in ("_==_", "_!=_") and may_be_special:
            return self._instead(new, EQUAL if node.name == "_==_" else UNEQUAL)
        if node.name == "@in":
            return self._member(node, new) if may_be_special else new
        rewrite = _CALLS.get(node.name)
        return rewrite(self, node, new) if rewrite and may_be_special else new

    def _refuse_uncertain(self, node: Expr) -> None:
        """Refuse a call whose result in Kueue depends on more than the values of its operands."""
        kinds = [self._type(part) for part in node.parts]
        if node.name in ("substring", "lastIndexOf") and len(kinds) > 2:  # noqa: PLR2004 - the receiver and one more
            raise self._refused(f"{node.name}() with two arguments")
        if node.name == "string" and kinds[0] == ("timestamp",):
            raise self._refused("string() of a timestamp")
        if self._computes and node.name in _EXACT and any(map(self._may_be_quantity, node.parts)):
            raise self._refused(f"{_EXACT[node.name]} together with add() or sub()")
        if not any(map(_may_be_special, kinds)):
            return
        if node.name in ("_==_", "_!=_") and any(_holds(kind, _OPTIONAL) for kind in kinds):
            raise self._refused("a comparison of optional values with attributes")
        if self._hides_a_list(node):
            raise self._refused(f"{'+' if node.name == '_+_' else 'dyn()'} with a list or map of attributes")

    def _hides_a_list(self, node: Expr) -> bool:
        """Return whether a call makes a list that cel-go compares differently, or that has no static type."""
        if node.name == "dyn":
            return self._type(node.parts[0])[0] in ("list", "map")
        of_macro = node.parts[0].name == "@result"
        return node.name == "_+_" and self._type(node)[0] == "list" and not of_macro

    def _instead(self, new: Expr, function: str) -> Expr:
        """Call a function instead of a binary operator if an operand is or contains a version or quantity."""
        return self._with(
            listed(*new.parts),
            lambda pair: call(
                "_?_:_",
                call(MARKED, pair),
                call(function, pair),
                call(new.name, _item(pair, 0), _item(pair, 1)),
            ),
        )

    def _member(self, node: Expr, new: Expr) -> Expr:
        container = node.parts[1]
        if container.kind == "list":
            return self._instead(new, CONSTANT if all(map(_is_primitive, container.parts)) else MEMBER)
        if container.kind == "map":
            return call(KEY, listed(*new.parts))
        of_device = _is_of_device(container)
        if self._may_be_special(node.parts[0]) and not of_device and self._type(container)[0] in ("map", "dyn"):
            raise self._refused("the operator in with a computed map")
        return call(MEMBER, listed(*new.parts)) if of_device else self._instead(new, MEMBER)

    def _select(self, new: Expr) -> Expr:
        """Select a field of a value that may be of any type. Versions and plain values have no fields."""

        def selected(value: Expr) -> Expr:
            field = Expr("select", 0, new.name, [value], is_test=new.is_test)
            if new.is_test:
                return call("_?_:_", call(FIELDS, listed(value)), field, boolean(value=False))
            return call("_?_:_", call(FOUND, listed(value, constant(new.name))), field, field)

        return self._with(new.parts[0], selected)

    def _index(self, node: Expr, new: Expr) -> Expr:
        """Index a value that may be of any type."""
        if not self._is_dynamic(node.parts[0]):
            return new
        if self._type(node.parts[1])[0] not in _INDICES:
            raise self._refused(f"an index of the type {self._type(node.parts[1])[0]}")
        return self._with(
            listed(*new.parts),
            lambda pair: call("_?_:_", call(FOUND, pair), *(call(new.name, _item(pair, 0), _item(pair, 1)),) * 2),
        )

    def _optional_index(self, node: Expr, new: Expr) -> Expr:
        """Index a value that may be of any type; the result is an optional value."""
        if not self._is_dynamic(node.parts[0]):
            return new
        if self._type(node.parts[1])[0] not in _INDICES:
            raise self._refused(f"an index of the type {self._type(node.parts[1])[0]}")
        key = new.parts[1]

        def found(value: Expr) -> Expr:
            there = call(new.name, value, key)
            return call("_?_:_", call(FIELDS, listed(value)), there, call("optional.none"))

        return self._with(new.parts[0], found)

    def _size(self, _: Expr, new: Expr) -> Expr:
        return self._guarded(new, SIZED)

    def _type_of(self, node: Expr, new: Expr) -> Expr:
        """Return the type of a value; the type of a version is represented by a type that no device has."""
        if _holds(self._type(node.parts[0]), _QUANTITY):
            raise self._refused("type() of a quantity")
        absent = call("type", call("optional.none"))
        return self._with(
            new.parts[0],
            lambda value: call("_?_:_", call(VERSIONED, listed(value)), absent, call("type", value)),
        )

    def _guarded(self, new: Expr, guard: str) -> Expr:
        """Call a function after a function that raises an error for some arguments and returns true otherwise."""

        def checked(value: Expr) -> Expr:
            guarded = Expr("call", 0, new.name, [value, *new.parts[1:]], new.is_method)
            return call("_?_:_", call(guard, listed(value)), guarded, guarded)

        return self._with(new.parts[0], checked)

    def _check_keys(self, node: Expr, new: Expr) -> None:
        """Check the keys of a map: a version is an error, as in Kueue."""
        for i in range(0, len(node.parts), 2):
            if self._type(node.parts[i])[0] == _QUANTITY:
                raise self._refused("a quantity as the key of a map")
            if self._may_be_special(node.parts[i]):
                new.parts[i] = self._with(
                    new.parts[i], lambda key: call("_?_:_", call(HASHABLE, listed(key)), key, key)
                )

    def _with(self, value: Expr, result: Callable[[Expr], Expr]) -> Expr:
        """Return an expression that evaluates a value once, and uses the value in several places."""
        if value.kind in ("constant", "variable"):
            return result(value)
        self._names += 1
        name = f"@kueuepy{self._names}"
        return bound(name, value, result(variable(name)))

    def _may_be_quantity(self, node: Expr) -> bool:
        return _holds(self._type(node), _QUANTITY) or _holds(self._type(node), "dyn")

    def _is_dynamic(self, node: Expr) -> bool:
        return self._type(node) in (DYN, _ANY)

    def _may_be_special(self, node: Expr) -> bool:
        return _may_be_special(self._type(node))

    def _refuse_escaping_optionals(self, node: Expr) -> None:
        """Refuse an optional value whose static type is lost: the library fails if a function of Python receives it."""
        kinds = [self._type(part) for part in node.parts]
        for part, kind in zip(node.parts, kinds, strict=True):
            is_lost = part.kind == "call" and part.name in _SELECTIONS and kind[0] != _OPTIONAL
            if is_lost and node.name not in ("value", "hasValue", "orValue"):
                raise self._refused("optional values of a dynamic type")
        of_attribute = bool(kinds) and kinds[0] in ((_OPTIONAL, _ANY), (_OPTIONAL, DYN))
        if of_attribute and (node.kind == "select" or node.name in (*_SELECTIONS, "_[_]")):
            raise self._refused("a field of an optional attribute")
        as_element = node.kind in ("list", "map") and _may_lose(self._type(node))
        if as_element and any(kind[0] == _OPTIONAL for kind in kinds):
            raise self._refused("optional values as elements")
        hides = node.kind == "call" and node.name in ("dyn", "_?_:_") and self._type(node)[0] != _OPTIONAL
        if hides and any(_holds(kind, _OPTIONAL) for kind in kinds):
            raise self._refused("optional values of a dynamic type")

    def _refused(self, what: str) -> UnsupportedError:
        return unsupported(self._expression, what)


_CALLS = {
    "_[_]": _Rewriting._index,  # noqa: SLF001 - methods of this module
    "_[?_]": _Rewriting._optional_index,  # noqa: SLF001
    "_?._": _Rewriting._optional_index,  # noqa: SLF001
    "size": _Rewriting._size,  # noqa: SLF001
    "type": _Rewriting._type_of,  # noqa: SLF001
}


def _item(pair: Expr, i: int) -> Expr:
    return call("_[_]", pair, Expr("constant", data=bytes((3 << 3, i))))


def _may_be_special(kind: Type) -> bool:
    """Return whether a value of a static type may be or contain a version or a quantity."""
    if kind[0] in ("list", "map", _OPTIONAL):
        return any(map(_may_be_special, kind[1:]))
    return kind[0] not in _PLAIN


def _holds(kind: Type, name: str) -> bool:
    return kind[0] == name or any(_holds(part, name) for part in kind[1:] if isinstance(part, tuple))


def _may_lose(kind: Type) -> bool:
    return _holds(kind, _OPTIONAL) or _holds(kind, "dyn")


def _is_primitive(node: Expr) -> bool:
    """Return whether cel-go evaluates a node when it compiles the expression, to a value of a primitive type."""
    if node.kind == "call" and node.name in CONVERSIONS and len(node.parts) == 1:
        return _is_primitive(node.parts[0])
    return node.kind == "constant" and node.data[0] >> 3 in _PRIMITIVE


def is_constant_conversion(node: Expr) -> bool:
    """Return whether a node is a conversion that cel-go evaluates when it compiles the expression."""
    of_constant = len(node.parts) == 1 and (node.parts[0].kind == "constant" or is_constant_conversion(node.parts[0]))
    return node.kind == "call" and node.name in CONVERSIONS and of_constant


def _is_of_device(node: Expr) -> bool:
    """Return whether a node is the device's domains, or the attributes or capacities of a domain."""
    source = node.parts[0] if node.parts else node
    return source.kind == "variable" and source.name in (ATTRIBUTES, CAPACITY)


def unsupported(expression: str, what: str) -> UnsupportedError:
    """Return the error for an expression that uses an unsupported feature."""
    return UnsupportedError(f'selector "{expression}": uses {what}, which is not supported here')
