"""Conversion of exceptions caused by arguments of a wrong type into errors that name the argument.

Types are checked only after a function has raised an exception that is not a KueueError. If an argument does not match
its annotation, an InvalidSpecError that names the argument is raised. If all arguments match their annotations, the
exception indicates a bug in kueuepy and is not changed. RecursionError is converted if there is an argument, because an
argument that is nested too deeply causes it. A wrong number of arguments, or an unknown argument name, remains a
TypeError.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import types
import typing
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin

import msgspec

from kueuepy.errors.kinds import InvalidSpecError, KueueError
from kueuepy.errors.problems import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)
F = TypeVar("F", bound="Callable[..., Any]")
_checking: set[Callable[..., Any]] = set()
# Since Python 3.13, Python suggests a name itself.
_UNKNOWN = re.compile(r"(.* unexpected keyword argument '(\w+)')(?:\. Did you mean '\w+'\?)?")
# Names of types that only annotations use.
_WORDS = {"PathLike": "path", "IO": "open file", "Callable": "function", "NoneType": "None", "Mapping": "dict"}
_WORDS |= dict.fromkeys(("Iterable", "Iterator", "Sequence", "Collection", "tuple", "frozenset"), "list")
_MOST = 100  # maximum number of checked elements, and of characters of a shown value


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that reports arguments of a wrong type as an InvalidSpecError.

    A method without arguments is returned unchanged.
    """
    code = getattr(function, "__code__", None)
    takes_more = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if (
        code
        and code.co_varnames[:1] == ("self",)
        and not (code.co_argcount + code.co_kwonlyargcount > 1 or code.co_flags & takes_more)
    ):
        return function

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> R:
        try:
            return function(*args, **options)
        except KueueError:
            raise
        except Exception as error:
            raise_fault(function, args, options, error)
            raise

    return run


def raise_fault(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], error: Exception) -> None:
    """Raise an error that names the argument of a wrong type, if there is one.

    Args:
        function: The function that raised the exception.
        args: Its positional arguments.
        options: Its other arguments.
        error: The exception.

    Raises:
        InvalidSpecError: An argument has a wrong type, or is nested too deeply.
    """
    signature = inspect.signature(function)
    # A method is of the class that the caller knows, not of the one that defines it.
    owner, _, called = function.__qualname__.removesuffix(".__init__").rpartition(".")
    if owner:
        owner = type(args[0]).__name__ if args and "self" in signature.parameters else owner
        called = f"{owner}.{called}"
    try:
        given = signature.bind(*args, **options).arguments
    except TypeError:  # a wrong number of arguments, or an unknown one
        given = {}
        if unknown := _UNKNOWN.fullmatch(str(error)):
            text = f"{called}(){unknown[1].partition('()')[2]}"
            error.args = (f"{text}; {suggestion(unknown[2], signature.parameters.keys() - {'self'})}",)
    names = _Names(inspect.unwrap(function).__globals__)
    for name, value in given.items():
        parameter = signature.parameters[name]
        if parameter.kind is not parameter.VAR_KEYWORD:
            several = value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
            _expect(several, parameter.annotation, names, f"{called}: {name}", error)
    bound = signature.parameters.keys() & {"self", "cls"}
    if isinstance(error, RecursionError) and len(args) + len(options) > len(bound):
        raise InvalidSpecError(f"{called}: an argument is nested too deeply") from error


def _expect(values: Iterable[Any], hint: Any, names: _Names, where: str, error: Exception) -> None:
    for value in values:
        # No argument causes a lack of memory.
        if not isinstance(error, MemoryError) and not fits(value, hint, names):
            raise InvalidSpecError(f"{where}: is {briefly(value)}; it must be {_in_words(hint, names)}") from error


def _in_words(hint: Any, names: _Names) -> str:
    """Return what an annotation accepts; long types are named without the types of their elements."""
    hint = _evaluated(hint, names)
    origin, parts = get_origin(hint) or hint, [part for part in get_args(hint) if part is not ...]
    if origin in (Union, types.UnionType, Literal):
        several = dict.fromkeys(repr(part) if origin is Literal else _in_words(part, names) for part in parts)
        return " or ".join(several).replace(" or ", ", ", max(len(several) - 2, 0))
    name = getattr(origin, "__name__", str(origin))
    name = _WORDS.get(name, name)
    of = _in_words(parts[-1], names) if name in ("list", "dict", "set") and parts else "Any"
    return name if of == "Any" or " or " in of else f"{name} of {of}"


def checks_itself(function: F) -> F:
    """Mark a method that handles exceptions like `checked`, so that `checked_methods` does not wrap it.

    Use it only for a method whose calls are so short that a wrapper would be noticed.
    """
    _checking.add(function)
    return function


def checked_methods(cls: C) -> C:
    """Apply `checked` to the constructor and the public methods that a class defines itself."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, classmethod | staticmethod):
            setattr(cls, name, type(member)(checked(member.__func__)))
        elif inspect.isfunction(member) and member not in _checking:
            setattr(cls, name, checked(member))
    return cls


def checked_fields(post_init: Callable[[Any], None]) -> Callable[[Any], None]:
    """Apply the type check of `checked` to the fields of a record, for exceptions raised by its `__post_init__`."""

    @wraps(post_init)
    def run(self: Any) -> None:
        try:
            post_init(self)
        except KueueError:
            raise
        except Exception as error:
            names = _Names(post_init.__globals__)
            for name, hint in type(self).__annotations__.items():
                _expect((getattr(self, name),), hint, names, f"{type(self).__name__}: {name}", error)
            raise

    return run


def briefly(value: Any) -> str:
    """Return the `repr` of a value, shortened to 100 characters; if it fails, the type of the value."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - any class can define a failing repr, and deep nesting can exceed the stack
        text = f"a {type(value).__name__}"
    return text if len(text) <= _MOST else f"{text[:_MOST]}..."


def fits(value: Any, hint: Any, names: _Names) -> bool:
    """Return whether a value matches an annotation, as far as this can be determined without consuming the value."""
    hint = _evaluated(hint, names)
    origin, parts = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, part, names) for part in parts)
    if origin is typing.Annotated:
        return fits(value, parts[0], names)
    if origin is Literal:
        return isinstance(value, str | int | None) and value in parts
    if hint is None:
        return value is None
    if origin is Any or not isinstance(origin, type):
        return True
    if isinstance(value, str):  # a string is a sequence of strings, but never meant as one
        return isinstance(value, origin) and not parts and is_text(value)
    if getattr(origin, "_is_protocol", False) and origin.__module__.startswith("kueuepy"):
        return all(hasattr(value, name) for name in {*vars(origin), *origin.__annotations__} if name[0] != "_")
    if origin in (int, float) and type(value) in (int, bool):  # an int is a float, too; a bool is neither
        return type(value) is int
    try:
        return isinstance(value, origin) and _elements_fit(value, parts, names)
    except TypeError:  # a protocol that does not support isinstance
        return True


def is_text(value: str) -> bool:
    """Return whether a string can be written to a file or used as a file name."""
    return "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _elements_fit(value: Any, parts: tuple[Any, ...], names: _Names) -> bool:
    """Return whether the elements of a collection match its annotation; iterators are not consumed."""
    if isinstance(value, dict) and len(parts) == 2:  # noqa: PLR2004 - keys and values
        some = list(value.items())[:_MOST]
        return all(fits(key, parts[0], names) and fits(item, parts[1], names) for key, item in some)
    if isinstance(value, list | tuple | set | frozenset) and parts and len(set(parts) - {...}) == 1:
        return all(fits(item, parts[0], names) for item in list(value)[:_MOST])
    return not (isinstance(value, bytes) and parts)


class _Names(dict[str, Any]):
    """The names that the annotations of a module can use, including those that it imports only for type checking."""

    def __init__(self, known: dict[str, Any]) -> None:
        super().__init__(known)
        with suppress(OSError, TypeError):  # a module without source text
            text = inspect.getsource(sys.modules[known["__name__"]])
            for found in ast.walk(ast.parse(text)):
                for name in found.names if isinstance(found, ast.Import | ast.ImportFrom) else ():
                    # An argument cannot be an instance of a class whose module is not loaded.
                    absent = type(name.name, (), {})
                    module = sys.modules.get(found.module or "") if isinstance(found, ast.ImportFrom) else None
                    value = getattr(module, name.name, absent) if module else sys.modules.get(name.name, absent)
                    self.setdefault(name.asname or name.name, value)


def _evaluated(annotation: Any, names: _Names) -> Any:
    """Return the type of an annotation; `Any` if it cannot be evaluated."""
    text = getattr(annotation, "__forward_arg__", annotation)
    if not isinstance(text, str):
        return Any if annotation is inspect.Parameter.empty else annotation
    try:
        return eval(text, {}, names)  # noqa: S307 - an annotation of this package
    except Exception:  # noqa: BLE001 - an annotation that cannot be evaluated matches anything
        return Any


def expect_texts(where: str, thing: msgspec.Struct) -> None:
    """Check that the fields of a struct that name something are text.

    Raises:
        InvalidSpecError: A field is not text.
    """
    for field in msgspec.structs.fields(thing):
        value = getattr(thing, field.name)
        if field.type is str and not isinstance(value, str):
            is_object = field.name == "what" and hasattr(value, "key")
            such = f" such as {type(value).__name__}/{value.key}" if is_object else ""
            raise InvalidSpecError(
                f"{where}: {type(thing).__name__}: {field.name}: is {briefly(value)}; it must be text{such}"
            )


class _Default:
    """A placeholder for a default that another function defines."""

    def __repr__(self) -> str:
        return "..."


def spelled_out(keywords: type, guesses: Mapping[str, str] | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for functions with `**settings: Unpack[keywords]`, where `keywords` is a TypedDict.

    Type checkers read the allowed keyword arguments from the TypedDict. The decorator adds the keys of the TypedDict as
    keyword arguments to the signature that `help()` shows. A call with a keyword that is not in the TypedDict raises an
    error. `guesses` maps wrong keywords that users often try to the correct ones.

    >>> from typing import TypedDict
    >>> class Options(TypedDict, total=False):
    ...     model: str
    >>> @spelled_out(Options)
    ... def run(cluster, **settings):
    ...     return settings
    >>> inspect.signature(run)
    <Signature (cluster, *, model: 'str' = ...)>
    >>> run("a", modle="b")
    Traceback (most recent call last):
    kueuepy.errors.InvalidSpecError: run: "modle" is not an argument; did you mean "model"?
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        more = [_parameter(name, hint) for name, hint in keywords.__annotations__.items()]
        known = [one.name for one in (*own, *more)]
        where = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def run(*args: P.args, **options: P.kwargs) -> R:
            for name in options:
                if name not in known:
                    guess = (guesses or {}).get(name)
                    hint = f'did you mean "{guess}"?' if guess else suggestion(name, known)
                    raise InvalidSpecError(f'{where}: "{name}" is not an argument; {hint}')
            return function(*args, **options)

        cast("Any", run).__signature__ = signature.replace(parameters=[*own, *more])
        return run

    return decorate


def _parameter(name: str, hint: Any) -> inspect.Parameter:
    text = getattr(hint, "__forward_arg__", hint)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_Default(), annotation=text)
