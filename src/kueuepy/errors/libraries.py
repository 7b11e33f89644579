"""Import of optional libraries."""

from importlib import import_module
from typing import Any

from kueuepy.errors import UnsupportedError


def imported(module: str, what: str, install: str) -> Any:
    """Import a module of an optional library.

    Args:
        module: The name of the module.
        what: The feature that needs the module, for the error message.
        install: The name under which pip installs the library.

    Raises:
        UnsupportedError: The library is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise UnsupportedError(f"{what}: {library} is not installed; install it with: pip install {install}") from error
