"""`dump`: write objects and manifests as YAML."""

import os
from collections.abc import Iterable
from typing import Any

from kueuepy.errors import checked
from kueuepy.files import write_file
from kueuepy.manifest import collector
from kueuepy.manifest.convert import to_dict, write_configuration
from kueuepy.manifest.manifest import Manifest
from kueuepy.manifest.text.writing import yaml_text
from kueuepy.objects import Configuration, Object

Dumpable = Manifest | Object | Configuration | Iterable[Object | Configuration]


@checked
def dump(objects: Dumpable, path: str | os.PathLike[str] | None = None) -> str:
    """Write objects as YAML in API version v1beta2. Fields with default values are omitted.

    `load` reads equal objects back from the text.

    >>> from kueuepy.objects import Cohort
    >>> print(dump(Cohort("research", parent_name="org")), end="")
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: Cohort
    metadata:
      name: research
    spec:
      parentName: org

    Args:
        objects: A Manifest, an object, a Configuration, or an iterable of objects.
        path: File to which the text is also written. With `path=None`, the default, no file is written.

    Returns:
        The YAML text.
    """
    with collector.at_rest():
        text = yaml_text(_documents(objects))
    if path is not None:
        write_file(path, text)
    return text


def _documents(objects: Dumpable) -> list[dict[str, Any]]:
    if isinstance(objects, Manifest):
        documents = [to_dict(obj) for obj in objects.objects()]
        if objects.configuration is not None:
            documents.append(write_configuration(objects.configuration))
        return [*documents, *objects.others, *objects.jobs]
    several = [objects] if isinstance(objects, Object | Configuration) else objects
    return [write_configuration(o) if isinstance(o, Configuration) else to_dict(o) for o in several]
