"""Import of optional libraries."""

from importlib import import_module
from typing import Any

from kueuepy.errors.kinds import UnsupportedError


def imported(module: str, what: str, hint: str = "") -> Any:
    """Import a module of an optional library, which pip installs under the name of its package.

    Args:
        module: The name of the module.
        what: The feature that needs the module, for the error message.
        hint: The end of the error message.

    Raises:
        UnsupportedError: The library is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0].replace("_", "-")
        raise UnsupportedError(f"{what}: {name} is not installed; install it with: pip install {name}{hint}") from error
