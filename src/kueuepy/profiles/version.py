"""The version of kueuepy, and the version of Kueue whose decisions it makes."""

from __future__ import annotations

import platform

COMMIT = "ff69552e79"
"""The commit of kubernetes-sigs/kueue whose decisions kueuepy reproduces."""

VERSION = "v0.20-devel"
"""The version of Kueue at the mirrored commit."""


def installed() -> str:
    """Return the version of the installed package; `of a source tree` if it is not installed."""
    from importlib import metadata  # noqa: PLC0415 - so that commands start quickly

    try:
        return metadata.version("kueuepy")
    except metadata.PackageNotFoundError:
        return "of a source tree"


def describe() -> str:
    """Return the versions of kueuepy, its compiled core and Python, and the commit and version of Kueue reproduced.

    The versions of kueuepy and of its core differ if the core of a source tree was not rebuilt.
    """
    from kueuepy._core import VERSION as BUILT  # noqa: PLC0415 - so that commands start quickly

    versions = f"core {BUILT}, Python {platform.python_version()}"
    return f"kueuepy {installed()} ({versions}), deciding as kubernetes-sigs/kueue at {COMMIT} ({VERSION})"
