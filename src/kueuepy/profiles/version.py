"""The version of kueuepy, and the version of Kueue whose decisions it makes."""

from __future__ import annotations

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
    """Return the version of kueuepy, and the commit and version of Kueue that it reproduces."""
    return f"kueuepy {installed()}, deciding as kubernetes-sigs/kueue at {COMMIT} ({VERSION})"
