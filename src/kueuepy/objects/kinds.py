"""The classes of API objects by kind."""

from __future__ import annotations

import kueuepy.objects as all_objects
from kueuepy.errors import InvalidSpecError
from kueuepy.objects import Object

KINDS: dict[str, type[Object]] = {
    name: cls for name, cls in vars(all_objects).items() if isinstance(cls, type) and issubclass(cls, Object)
}
"""Every class of API objects, by its name."""


def kind_of(name: str) -> type[Object]:
    """Return the class of a kind.

    Raises:
        InvalidSpecError: The kind does not exist.
    """
    if name not in KINDS:
        raise InvalidSpecError(f'kind: "{name}" is not a kind of object')
    return KINDS[name]
