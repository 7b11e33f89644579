"""Libraries that are not always there."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kueuepy.errors import UnsupportedError


def imported(module: str, what: str, install: str) -> Any:
    """A module of a library that something needs, which pip installs under this name.

    Raises:
        UnsupportedError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise UnsupportedError(f"{what}: {library} is not installed; install it with: pip install {install}") from error
