"""The kinds of objects, by the names of their classes."""

from __future__ import annotations

import kueuepy.objects as all_objects
from kueuepy.errors import InvalidSpecError
from kueuepy.objects import Object

KINDS: dict[str, type[Object]] = {
    name: cls for name, cls in vars(all_objects).items() if isinstance(cls, type) and issubclass(cls, Object)
}
"""By name, every class of objects."""


def kind_of(name: str) -> type[Object]:
    """The class of the objects of a kind.

    Raises:
        InvalidSpecError: There is no such kind.
    """
    if name not in KINDS:
        raise InvalidSpecError(f'kind: "{name}" is no kind of object')
    return KINDS[name]
