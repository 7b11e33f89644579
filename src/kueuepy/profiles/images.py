"""The release of Kueue in the name of a container image."""

import re

from kueuepy.errors import InvalidSpecError
from kueuepy.profiles.releases import release_of

_MANAGER = re.compile(r"(?:[^@]*/)?kueue(?:-controller-manager)?:(v0\.[0-9]+\.[0-9]+)(?:[-@].*)?")


def release_of_image(image: object) -> str:
    """Return the release in the tag of an image of Kueue's manager; an empty string if the tag contains no release.

    >>> release_of_image("registry.k8s.io/kueue/kueue:v0.17.3")
    'v0.17'
    """
    found = _MANAGER.fullmatch(image) if isinstance(image, str) else None
    try:
        return "" if found is None else release_of(found[1]).name
    except InvalidSpecError:  # a release without a profile
        return ""
