"""Arguments of a wrong type: what Python raises of them in the midst of a function becomes an error that names them.

Nothing is looked at while all goes well. Where a function ends by an exception of Python's own, its arguments are held
to their annotations: one that does not fit is the cause, and is told. If all fit, the exception is a fault of this
project, and stays what it is; but for a RecursionError, which tells of an argument that is nested too deeply. A wrong
number of arguments, or an unknown name of one, is Python's TypeError.
"""

from __future__ import annotations

import builtins
import collections.abc
import inspect
import os
import sys
import types
import typing
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from kueuepy.errors import InvalidSpecError, KueueError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)
_MOST = 100  # elements that are looked at


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose arguments are to blame for an exception of Python's own if their types are wrong."""

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> R:
        try:
            return function(*args, **options)
        except KueueError:
            raise
        except Exception as error:
            fault = _fault(function, args, options)
            if not fault and isinstance(error, RecursionError):
                fault = f"{_name(function)}: what it is given is nested too deeply"
            if fault:
                raise InvalidSpecError(fault) from error
            raise

    return run


def checked_methods(cls: C) -> C:
    """The class, whose own public methods are `checked`, and what makes it as well."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, classmethod | staticmethod):
            setattr(cls, name, type(member)(checked(member.__func__)))
        elif inspect.isfunction(member):
            setattr(cls, name, checked(member))
    return cls


def checked_fields(post_init: Callable[[Any], None]) -> Callable[[Any], None]:
    """What a record does once it is made, where the types of its fields are to blame for an exception."""

    @wraps(post_init)
    def run(self: Any) -> None:
        try:
            post_init(self)
        except KueueError:
            raise
        except Exception as error:
            names = _Names(post_init.__globals__)
            for name, hint in type(self).__annotations__.items():
                value = getattr(self, name)
                if not fits(value, _hint(hint, names), names):
                    where = f"{type(self).__name__}: {name}"
                    raise InvalidSpecError(f"{where}: is {briefly(value)}; it must be {hint}") from error
            raise

    return run


def _fault(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Which argument is of a wrong type, and what it must be; empty if all fit, or if they are too many or too few."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **options).arguments
    except TypeError:
        return ""
    names = _Names(inspect.unwrap(function).__globals__)
    for name, value in given.items():
        parameter = signature.parameters[name]
        hint = _hint(parameter.annotation, names)
        several = parameter.kind is parameter.VAR_POSITIONAL
        for one in value if several else (value,):
            if parameter.kind is not parameter.VAR_KEYWORD and not fits(one, hint, names):
                where = f"{_name(function)}: {name}"
                return f"{where}: is {briefly(one)}; it must be {parameter.annotation}"
    return ""


def briefly(value: Any) -> str:
    """The `repr` of a value, cut if it is long; its type, if it has none that can be told."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a repr of somebody else, or of something nested too deeply
        text = f"a {type(value).__name__}"
    return text if len(text) <= _MOST else f"{text[:_MOST]}..."


def _name(function: Callable[..., Any]) -> str:
    return function.__qualname__.removesuffix(".__init__")


def fits(value: Any, hint: Any, names: _Names) -> bool:
    """Whether a value is of the type that an annotation says, as far as that can be seen without taking it apart."""
    hint = _hint(hint, names)
    origin, parts = get_origin(hint) or hint, get_args(hint)
    if Any in (hint, origin):
        return True
    if hint is None or hint is type(None):
        return value is None
    if origin in (Union, types.UnionType):
        return any(fits(value, part, names) for part in parts)
    if origin is Literal:
        return isinstance(value, str | int | None) and value in parts
    if origin is typing.Annotated:
        return fits(value, parts[0], names)
    if origin is collections.abc.Callable:
        return callable(value)
    if not isinstance(origin, type):
        return True
    if getattr(origin, "_is_protocol", False) and origin.__module__.startswith("kueuepy"):
        return all(hasattr(value, name) for name in {*vars(origin), *origin.__annotations__} if name[0] != "_")
    if isinstance(value, str):
        return isinstance(value, origin) and not parts and is_text(value)
    if origin in (int, float) and isinstance(value, bool):
        return False
    if origin is float and isinstance(value, int):
        return True
    try:
        return isinstance(value, origin) and _elements_fit(value, parts, names)
    except TypeError:  # of a protocol that is not for that
        return True


def is_text(value: str) -> bool:
    """Whether a text can be written to a file, or be the name of one."""
    return "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _elements_fit(value: Any, parts: tuple[Any, ...], names: _Names) -> bool:
    """The same of what is in a list or a mapping; what can be iterated only once is left alone."""
    if isinstance(value, dict) and len(parts) == 2:  # noqa: PLR2004 - keys and values
        some = list(value.items())[:_MOST]
        return all(fits(key, parts[0], names) and fits(item, parts[1], names) for key, item in some)
    if isinstance(value, list | tuple | set | frozenset) and parts and len(set(parts) - {...}) == 1:
        return all(fits(item, parts[0], names) for item in list(value)[:_MOST])
    return not (isinstance(value, bytes) and parts)


class _Names(dict[str, Any]):
    """What names mean in annotations: those of a module, also if they are imported for type checkers alone.

    A value of a class can only be given if the module of that class is loaded.
    """

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        loaded = [module for path, module in list(sys.modules.items()) if path.startswith("kueuepy")]
        for module in (typing, collections.abc, os, *loaded):
            if name in vars(module):
                return vars(module)[name]
        return _Unloaded


class _Unloaded:
    """What has no value yet: its module is not loaded."""


def _hint(annotation: Any, names: _Names) -> Any:
    """What an annotation means; anything where that cannot be found out."""
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if annotation is inspect.Parameter.empty:
        return Any
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {}, names)  # noqa: S307 - an annotation of this package
    except Exception:  # noqa: BLE001 - whatever it is, it says nothing
        return Any
