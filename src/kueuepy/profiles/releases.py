"""The releases of Kueue whose decisions can be asked for."""

import re
from functools import cache

import msgspec

from kueuepy.errors import InvalidSpecError


class Release(msgspec.Struct, frozen=True, order=True):
    """A minor release of Kueue.

    Attributes:
        minor: Its number: 18 of v0.18.
        patch: The patch release whose code was read and measured, the newest there was.
        name: How it is called, such as `v0.18`.
    """

    minor: int
    patch: int
    name: str

    def __str__(self) -> str:
        """The release's name."""
        return self.name

    @property
    def newest(self) -> str:
        """The patch release that stands for it, or its own name where it is none yet."""
        return f"v0.{self.minor}.{self.patch}" if self.name != DEVELOPMENT else DEVELOPMENT


DEVELOPMENT = "v0.20-devel"
"""The commit that this project mirrors; not released yet."""

RELEASES = (
    Release(15, 8, "v0.15"),
    Release(16, 9, "v0.16"),
    Release(17, 8, "v0.17"),
    Release(18, 6, "v0.18"),
    Release(19, 2, "v0.19"),
    Release(20, 0, DEVELOPMENT),
)
"""Every release with a profile, the present one last."""

_VERSION = re.compile(r"v?0\.(\d+)(?:\.(\d+)|-devel)?")


@cache
def release_of(version: str) -> Release:
    """The release that a version names: `v0.18`, `0.18` or one of its patches, `v0.18.2`.

    Patches are answered for by the newest one; a rule says in which it changed (`Rule.fixed`).

    >>> release_of("v0.18.2").newest
    'v0.18.6'

    Raises:
        InvalidSpecError: It names no release with a profile.
    """
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    for release in RELEASES:
        if found and release.minor == int(found[1]):
            return release
    known = ", ".join(release.name for release in RELEASES)
    raise InvalidSpecError(f"version: {version!r} has no profile; it must be one of {known}, or a patch of one")
