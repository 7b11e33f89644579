"""Signatures for functions that pass keyword arguments on to another function, and errors for unknown keywords."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from kueuepy.errors.kinds import InvalidSpecError
from kueuepy.errors.problems import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

P = ParamSpec("P")
R = TypeVar("R")


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
