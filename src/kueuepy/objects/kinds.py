"""The classes of API objects by kind."""

import kueuepy.objects as api
from kueuepy.errors import InvalidSpecError
from kueuepy.objects.base import Object

KINDS: dict[str, type[Object]] = {
    name: cls for name in api.__all__ if isinstance(cls := getattr(api, name), type) and issubclass(cls, Object)
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
