"""Syntax tree of a checked expression, read from and written to the message in which the CEL library serializes it.

Source: `cel/expr/checked.proto`, `cel/expr/syntax.proto` of the CEL specification.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}
_CONTINUES = 0x80
Type = tuple[Any, ...]
"""A static type: its name, followed by the types of its parameters. `("list", ("int",))` is a list of integers."""
DYN: Type = ("dyn",)
_PRIMITIVES = ("", "bool", "int", "uint", "double", "string", "bytes")
_WELL_KNOWN = ("", "any", "timestamp", "duration")
_PARAMETERS = {6: "list", 7: "map", 11: "type"}


def _fields(data: bytes) -> Iterator[tuple[int, Any, bytes]]:
    """Yield the fields of a message: the number, the value, and the encoded field."""
    position = 0
    while position < len(data):
        start = position
        tag, position = _read_varint(data, position)
        wire = tag & 7
        value: Any
        if wire == _VARINT:
            value, position = _read_varint(data, position)
        else:
            size, position = _read_varint(data, position) if wire == _BYTES else (_FIXED[wire], position)
            value, position = data[position : position + size], position + size
        yield tag >> 3, value, data[start:position]


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & ~_CONTINUES) << shift
        position, shift = position + 1, shift + 7
        if byte < _CONTINUES:
            return value, position


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= _CONTINUES:
        encoded.append(value & 0x7F | _CONTINUES)
        value >>= 7
    return bytes((*encoded, value))


def _encoded(number: int, value: int | bytes | str) -> bytes:
    """Return an encoded field of a message."""
    if isinstance(value, int):
        return _varint(number << 3 | _VARINT) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


@dataclass(slots=True)
class Expr:
    """A node of the syntax tree.

    Attributes:
        kind: `constant`, `variable`, `select`, `call`, `list`, `map` or `fold` (a comprehension).
        number: The identifier of the node in the expression; 0 for a node that is added by a rewriting.
        name: The name of the variable, field, function, or message type.
        parts: The operands: arguments with the receiver first, elements, or keys and values in turn. The parts of a
            comprehension are the range, the initial value, the condition, the step and the result.
        is_method: The first part of a call is the receiver.
        is_test: The selection of a field is in `has`.
        data: Encoded fields that a rewriting does not change.
        entries: For each entry of a map: the encoded fields apart from the key and the value.
    """

    kind: str
    number: int = 0
    name: str = ""
    parts: list[Expr] = field(default_factory=list)
    is_method: bool = False
    is_test: bool = False
    data: bytes = b""
    entries: list[bytes] = field(default_factory=list)

    def encoded(self) -> bytes:
        """Return the node as a message."""
        number = _encoded(2, self.number) if self.number else b""
        return number + _encoded(_KINDS[self.kind], _WRITERS[self.kind](self))

    def all(self) -> Iterator[Expr]:
        """Yield the node and the nodes below it."""
        yield self
        for part in self.parts:
            yield from part.all()

    def element_types(self, type_of: Callable[[Expr], Type]) -> list[Type]:
        """Return the static types of the elements of a list, or of the keys and values of a map.

        The type of an element that is added only if an optional value is present is the type of the value.
        """
        types = [type_of(part) for part in self.parts]
        if self.kind == "map":
            optional = [2 * i + 1 for i, entry in enumerate(self.entries) if any(n == 5 for n, *_ in _fields(entry))]  # noqa: PLR2004
        else:
            optional = [i for _, packed, _ in _fields(self.data) for i in _packed(packed)]
        for i in optional:
            types[i] = types[i][-1]
        return types


def _packed(data: bytes) -> Iterator[int]:
    """Yield the integers of a packed field."""
    position = 0
    while position < len(data):
        value, position = _read_varint(data, position)
        yield value


_KINDS = {"constant": 3, "variable": 4, "select": 5, "call": 6, "list": 7, "map": 8, "fold": 9}
_NAMES = {number: kind for kind, number in _KINDS.items()}
_FOLDED = (2, 4, 5, 6, 7)
"""Fields of a comprehension that are expressions."""


def constant(text: str) -> Expr:
    """Return a string literal."""
    return Expr("constant", data=_encoded(6, text))


def boolean(value: bool) -> Expr:  # noqa: FBT001 - a literal
    """Return a literal of the type bool."""
    return Expr("constant", data=_encoded(2, int(value)))


def variable(name: str) -> Expr:
    """Return a variable."""
    return Expr("variable", name=name)


def call(name: str, *parts: Expr) -> Expr:
    """Return the call of a function that is not a method."""
    return Expr("call", name=name, parts=list(parts))


def listed(*parts: Expr) -> Expr:
    """Return a list."""
    return Expr("list", parts=list(parts))


def bound(name: str, value: Expr, result: Expr) -> Expr:
    """Return an expression that evaluates `value` once, and then `result`, in which the variable `name` has the value.

    This is a comprehension over a list with the value. The macro `cel.bind` is a comprehension over an empty list,
    which the library evaluates incorrectly after a comprehension that ended early.
    """
    names = _encoded(1, name) + _encoded(3, "@bound")
    parts = [listed(value), boolean(value=False), boolean(value=True), result, variable("@bound")]
    return Expr("fold", parts=parts, data=names)


def _write_call(node: Expr) -> bytes:
    parts = node.parts
    receiver = _encoded(1, parts[0].encoded()) if node.is_method else b""
    arguments = b"".join(_encoded(3, part.encoded()) for part in parts[node.is_method :])
    return receiver + _encoded(2, node.name) + arguments


def _write_select(node: Expr) -> bytes:
    test = _encoded(3, 1) if node.is_test else b""
    return _encoded(1, node.parts[0].encoded()) + _encoded(2, node.name) + test


def _write_map(node: Expr) -> bytes:
    name = _encoded(1, node.name) if node.name else b""
    values = node.parts[1::2] if not node.name else node.parts
    keys: list[Expr | None] = [*node.parts[::2]] if not node.name else [None] * len(values)
    entries = (
        rest + (_encoded(3, key.encoded()) if key else b"") + _encoded(4, value.encoded())
        for rest, key, value in zip(node.entries, keys, values, strict=True)
    )
    return name + b"".join(_encoded(2, entry) for entry in entries)


_WRITERS: dict[str, Callable[[Expr], bytes]] = {
    "constant": lambda node: node.data,
    "variable": lambda node: _encoded(1, node.name),
    "select": _write_select,
    "call": _write_call,
    "list": lambda node: b"".join(_encoded(1, part.encoded()) for part in node.parts) + node.data,
    "map": _write_map,
    "fold": lambda node: (
        node.data + b"".join(_encoded(n, part.encoded()) for n, part in zip(_FOLDED, node.parts, strict=True))
    ),
}


def _expr(data: bytes) -> Expr:
    number, kind, content = 0, "constant", b""
    for which, value, _ in _fields(data):
        if which == 2:  # noqa: PLR2004 - the field id
            number = value
        elif which in _NAMES:
            kind, content = _NAMES[which], value
    node = Expr(kind, number)
    _READERS[kind](node, content)
    return node


def _read_constant(node: Expr, data: bytes) -> None:
    node.data = data


def _read_variable(node: Expr, data: bytes) -> None:
    node.name = next(value for _, value, _ in _fields(data)).decode()


def _read_named(node: Expr, data: bytes) -> None:
    """Read a selection or a call: the operand or receiver, the name, and the arguments or whether it is a test."""
    for which, value, _ in _fields(data):
        if which == 2:  # noqa: PLR2004 - the field with the name
            node.name = value.decode()
        elif isinstance(value, int):
            node.is_test = bool(value)
        else:
            node.is_method = node.is_method or (node.kind == "call" and which == 1)
            node.parts.append(_expr(value))


def _read_list(node: Expr, data: bytes) -> None:
    for which, value, encoded in _fields(data):
        if which == 1:
            node.parts.append(_expr(value))
        else:
            node.data += encoded


def _read_map(node: Expr, data: bytes) -> None:
    for which, value, _ in _fields(data):
        if which == 1:
            node.name = value.decode()
        else:
            rest = b""
            for inner, content, encoded in _fields(value):
                if inner in (3, 4):
                    node.parts.append(_expr(content))
                else:
                    rest += encoded
            node.entries.append(rest)


def _read_fold(node: Expr, data: bytes) -> None:
    parts: dict[int, Expr] = {}
    for which, value, encoded in _fields(data):
        if which in _FOLDED:
            parts[which] = _expr(value)
        else:
            node.data += encoded
    node.parts = [parts[which] for which in _FOLDED]


_READERS = {
    "constant": _read_constant,
    "variable": _read_variable,
    "select": _read_named,
    "call": _read_named,
    "list": _read_list,
    "map": _read_map,
    "fold": _read_fold,
}


def _type(data: bytes) -> Type:
    for which, value, _ in _fields(data):
        if which in (3, 4, 5):
            return ((_WELL_KNOWN if which == 5 else _PRIMITIVES)[value],)  # noqa: PLR2004 - the field well_known
        if which in _PARAMETERS:
            inner = [_type(part) for _, part, _ in _fields(value)] if which != 11 else [_type(value)]  # noqa: PLR2004
            return (_PARAMETERS[which], *inner)
        if which == 14:  # noqa: PLR2004 - the field abstract_type
            (_, name, _), *parameters = _fields(value)
            return (name.decode(), *(_type(part) for _, part, _ in parameters))
        if which in (2, 9):
            return ("null",) if which == 2 else (value.decode(),)  # noqa: PLR2004 - the field null
    return DYN


@dataclass(slots=True)
class Checked:
    """A checked expression.

    Attributes:
        root: The syntax tree.
        types: The static types of the nodes, by their numbers.
        positions: The positions of the nodes in the expression, by their numbers.
        url: The encoded type of the message.
        rest: The encoded fields of the message apart from the expression.
    """

    root: Expr
    types: dict[int, Type]
    positions: dict[int, int]
    url: bytes
    rest: bytes

    def type_of(self, node: Expr) -> Type:
        """Return the static type of a node; dyn if it is not known."""
        return self.types.get(node.number, DYN)

    def encoded(self, root: Expr) -> bytes:
        """Return the message with another expression, which is not checked again."""
        return self.url + _encoded(2, self.rest + _encoded(4, root.encoded()))


def read(serialized: bytes) -> Checked:
    """Read the message of a checked expression."""
    (_, _, url), (_, content, _) = _fields(serialized)
    types: dict[int, Type] = {}
    positions: dict[int, int] = {}
    root, rest = Expr("constant"), b""
    for which, value, encoded in _fields(content):
        if which == 4:  # noqa: PLR2004 - the field expr
            root = _expr(value)
            continue
        rest += encoded
        if which == 3:  # noqa: PLR2004 - the field type_map
            entry = {number: part for number, part, _ in _fields(value)}
            types[entry[1]] = _type(entry.get(2, b""))
        elif which == 5:  # noqa: PLR2004 - the field source_info
            positions.update(_position(entry) for number, entry, _ in _fields(value) if number == 4)  # noqa: PLR2004
    return Checked(root, types, positions, url, rest)


def _position(data: bytes) -> tuple[int, int]:
    entry = {number: value for number, value, _ in _fields(data)}
    return entry.get(1, 0), entry.get(2, 0)
