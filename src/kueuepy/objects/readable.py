"""Thread-safe preparation of classes for decoding, and checks that a value can be decoded again after it is encoded.

The fields must have their declared types, and fields without a declared type must hold plain data.
"""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from threading import Lock
from typing import Any, TypeAlias, TypeVar, get_args

import msgspec

from kueuepy.errors import briefly, steps
from kueuepy.objects.times import Seconds, Timestamp, decode_time, encode_time

T = TypeVar("T")
Fault: TypeAlias = tuple[tuple[str | int, ...], str]
"""Path of a field, with the names used in the encoded form, and a description of the problem."""

_EXPECTED = re.compile(r"Expected `([^`]+)`(?: ([<>]=) (-?\d+))?(?:, got `([^`]+)`)?")
_ENUM = re.compile(r"Invalid enum value (.+)")
_MISSING = re.compile(r"Object missing required field `([^`]+)`")
_LENGTH = re.compile(r"Expected `(str|array|object)` of length ([<>])= (\d+)")
_PARTS = {"str": "characters", "array": "items", "object": "keys"}
_WORDS = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "a boolean",
    "null": "null",
    "None": "null",
    "object": "a mapping",
    "array": "a list",
}
_PLAIN = (
    "it must be plain data: strings in Unicode, numbers, booleans, null, lists, and mappings of strings to these; "
    f"integers are {-(2**63)} to {2**64 - 1}"
)
_ERRORS = (TypeError, ValueError, OverflowError, RecursionError)
_json = msgspec.json.Encoder(enc_hook=encode_time)
_packed = msgspec.msgpack.Encoder(enc_hook=encode_time)


def fault_of(value: Any) -> Fault | None:
    """Return the reason why encoding and then decoding a struct or mapping would change its value.

    The function encodes the value as JSON, decodes it, and compares the MessagePack encoding of both values. The value
    contains only plain data if the encodings are equal.

    Args:
        value: A struct or a mapping.

    Returns:
        The problem with its path, or `None` if the value can be decoded again.
    """
    cls: Any = type(value)
    try:
        written = _json.encode(value)
        found = _from_json(cls).decode(written)
        read, packed = _packed.encode(found), _packed.encode(value)
        if read != packed and read != _packed.encode(_from_packed(cls).decode(packed)):
            return (), f"holds something that JSON has no form for; {_PLAIN}"
        # A mapping is written as the object is that has these fields.
        if found != value and (fault := _stand_in(value, found, ())) is not None:
            return fault
    except msgspec.ValidationError as error:
        return decoding_fault(error, cls)
    except _ERRORS as error:
        return (), f"cannot be written ({error}); {_PLAIN}"
    return None


def _stand_in(value: Any, read: Any, path: tuple[str | int, ...]) -> Fault | None:
    """Return the first mapping that stands for a struct."""
    inner: Any
    if isinstance(read, list | tuple):
        inner = zip(range(len(read)), value, read, strict=True)
    elif not isinstance(read, msgspec.Struct):
        return None
    elif isinstance(value, dict):
        return path, f"is a mapping; it must be a {type(read).__name__}"
    else:
        inner = ((name, getattr(value, name), getattr(read, name)) for name in read.__struct_fields__)
    return next(filter(None, (_stand_in(one, other, (*path, name)) for name, one, other in inner)), None)


def read_again(record: T) -> T:
    """Encode a struct, decode it again, and return the result.

    Subclasses of strings, lists and mappings become plain strings, lists and dicts.

    Raises:
        ValueError: The struct cannot be decoded again; the arguments of the error are the fields of a `Fault`.
    """
    cls: Any = type(record)
    try:
        read: T = _from_packed(cls).decode(msgspec.msgpack.encode(record, enc_hook=_made_plain))
    except msgspec.ValidationError as error:
        raise ValueError(*decoding_fault(error, cls)) from None
    except _ERRORS as error:
        raise ValueError((), f"cannot be written ({error}); {_PLAIN}") from None
    if (fault := fault_of(read)) is not None:
        raise ValueError(*fault)
    return read


def _made_plain(value: Any) -> Any:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Timestamp | Seconds):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    raise TypeError(f"{briefly(value)} is a {type(value).__name__}")


@cache
def _from_json(cls: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(ready(cls), dec_hook=decode_time)


@cache
def _from_packed(cls: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(ready(cls), dec_hook=decode_time)


def decoding_fault(error: msgspec.ValidationError, cls: Any) -> Fault:
    """Return the path of a field that could not be decoded, and a plain description of the problem."""
    message, _, where = str(error).partition(" - at `")
    path = steps(where.partition("$")[2].rstrip("`"))
    if found := _ENUM.fullmatch(message):
        return path, f"is {found[1]}; it must be one of {', '.join(_allowed(cls, path)) or 'those of its type'}"
    if found := _LENGTH.fullmatch(message):
        size = "most" if found[2] == "<" else "least"
        return path, f"has a wrong length; it must have at {size} {found[3]} {_PARTS[found[1]]}"
    if found := _MISSING.fullmatch(message):
        return (*path, found[1]), "is required"
    found = _EXPECTED.fullmatch(message)
    if not found:
        return path, message
    wanted, sign, limit, got = found.groups(default="")
    if sign:
        return path, f"is out of range; it must be {limit} at {'most' if sign == '<=' else 'least'}"
    words = " or ".join(_WORDS.get(word, word) for word in wanted.split(" | "))
    is_key = where.startswith("key` in")
    within = "holds a key that is" if is_key else "holds a value that is" if "[...]" in where else "is"
    return path, f"{within} {_WORDS.get(got, got)}; it must be {words}"


def _allowed(cls: Any, path: tuple[str | int, ...]) -> list[str]:
    """Return the allowed values of an enumerated field at the top level of a struct; empty for other fields."""
    types = {field.encode_name: field.type for field in msgspec.structs.fields(cls)}
    return [str(word) for word in get_args(types.get(path[0]))] if len(path) == 1 and path[0] in types else []


_lock = Lock()
# The classes whose decoding plan is complete. When msgspec decodes a class for the first time, it builds a plan and
# publishes it before it is complete. Another thread that uses the incomplete plan can crash, so `ready` must be called
# with a class before its objects are decoded.
_ready: set[Any] = set()


def _renew_lock() -> None:
    """Replace the lock in a forked child process, because another thread may have held the lock during the fork."""
    global _lock  # noqa: PLW0603
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def ready(cls: T) -> T:
    """Prepare a class for decoding by any thread.

    Args:
        cls: A class, or a type composed of classes.

    Returns:
        The class `cls`, unchanged.
    """
    if cls not in _ready:  # without the lock in the usual case; a second preparation does no harm
        with _lock:
            msgspec.json.Decoder(cls)
            _ready.add(cls)
    return cls
