"""Flatten the arguments of a Cluster, and add missing LocalQueues and Namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import LocalQueue, Namespace, Object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.manifest import Manifest


def flat(objects: Iterable[Object | Iterable[Object]]) -> Iterator[Object]:
    """Yield the objects of nested iterables.

    Raises:
        InvalidSpecError: An item is not an object.
    """
    for obj in objects:
        if isinstance(obj, Object):
            yield obj
        elif isinstance(obj, Iterable) and not isinstance(obj, str | bytes | Mapping):
            yield from flat(obj)
        else:
            raise InvalidSpecError(f"Cluster: {obj!r} is not an object; use kueuepy.load for manifests")


def complete(declared: Manifest) -> Manifest:
    """Return the manifest with the LocalQueues and Namespaces that a Cluster adds if they are missing."""
    queues = declared.local_queues or tuple(
        LocalQueue(queue.name, cluster_queue=queue.name) for queue in declared.cluster_queues
    )
    names = dict.fromkeys(("default", *(queue.namespace for queue in queues)))
    known = {namespace.name for namespace in declared.namespaces}
    added = (Namespace(name) for name in names if name not in known)
    return msgspec.structs.replace(declared, local_queues=queues, namespaces=(*declared.namespaces, *added))
