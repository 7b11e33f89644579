"""Which kueuepy this is, and which Kueue it decides as."""

from __future__ import annotations

COMMIT = "ff69552e79"
"""The commit of kubernetes-sigs/kueue whose decisions are right."""

VERSION = "v0.20-devel"
"""Kueue's version at that commit."""


def installed() -> str:
    """The version of the installed package, from its metadata; `of a source tree` where it is not installed."""
    from importlib import metadata  # noqa: PLC0415 - so that commands start quickly

    try:
        return metadata.version("kueuepy")
    except metadata.PackageNotFoundError:
        return "of a source tree"


def describe() -> str:
    """The version, and that of Kueue whose decisions are right."""
    return f"kueuepy {installed()}, deciding as kubernetes-sigs/kueue at {COMMIT} ({VERSION})"
