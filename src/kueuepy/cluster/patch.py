"""Merge of partial manifests into objects: only the fields in the patch change.

The merge follows `kubectl apply` and `kubectl patch`. Mappings are merged field by field, and `null` removes a field.
Lists whose items have a name are merged by that name, and resource groups by the resources that they cover. Lists whose
items have neither names nor covered resources are replaced.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kueuepy.errors import InvalidSpecError, ManifestError, NotFoundError, shown, suggestion
from kueuepy.manifest import BY_CLASS, KINDS, Findings, from_dict, object_name, split_api_version, to_dict, to_v1beta2
from kueuepy.objects import NamespacedObject, Object


class Existing(NamedTuple):
    """The objects that a manifest may name.

    Attributes:
        find: A function that returns the object of a class and key, or `None` if there is no such object.
        all: A function that returns all objects.
    """

    find: Callable[[type[Object], str], Object | None]
    all: Callable[[], Iterable[Object]]

    @classmethod
    def of(cls, objects: Iterable[Object]) -> "Existing":
        """Return these objects."""
        known = {(type(obj), obj.key): obj for obj in objects}
        return cls(lambda kind, key: known.get((kind, key)), known.values)


_DIRECTIVE = "$patch"
_GROUPS = "resourceGroups"
# The fields that identify items of lists, as defined by the list types of the API.
_KEYS = ("name", "nodeLabel", "type")


class Patched(NamedTuple):
    """The result of applying a patch to an object.

    Attributes:
        object: The object.
        kept: The paths of fields that the patch does not mention and that keep their values.
        removed: The paths of fields that the patch removes.
    """

    object: Object
    kept: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def named_by(objects: Existing, doc: Mapping[str, Any], namespace: str = "default") -> Object | None:
    """Return the object that a manifest identifies, or `None` if there is none.

    Args:
        objects: The existing objects.
        doc: The manifest.
        namespace: The namespace to use for a manifest that does not set one. Default: `default`.
    """
    metadata = doc.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(name := metadata.get("name"), str):
        return None
    given = metadata.get("namespace") or namespace
    for (group, kind_name), kind in KINDS.items():
        if kind_name == doc.get("kind") and ("apiVersion" not in doc or split_api_version(doc)[0] == group):
            found = objects.find(kind.cls, f"{given}/{name}" if kind.namespaced else name)
            if found is not None:
                return found
    return None


def expect_complete(objects: Existing, doc: Mapping[str, Any]) -> None:
    """Check that a manifest of no existing object can create one.

    Raises:
        NotFoundError: The manifest has no `apiVersion`, as if it were to change an object.
    """
    if "apiVersion" in doc or not isinstance(doc.get("kind"), str):
        return
    keys = [obj.key for obj in objects.all() if type(obj).__name__ == doc["kind"]]
    metadata = doc.get("metadata")
    name = str(metadata.get("name")) if isinstance(metadata, dict) else ""
    raise NotFoundError(
        f"{object_name(doc)}: does not exist, and a new object needs apiVersion; {suggestion(name, keys)}"
    )


def patched(objects: Existing, doc: Mapping[str, Any], *, replace: bool = False, namespace: str = "default") -> Patched:
    """Return the object that a manifest identifies, after merging the fields of the manifest into the object.

    Args:
        objects: The existing objects.
        doc: The manifest: `kind`, `metadata.name` and the fields to change. `$patch: delete` in a list item removes the
            item, and `$patch: replace` in a mapping replaces the mapping. If the object does not exist, the manifest
            must be complete.
        replace: Whether the manifest replaces the whole object, as `kubectl replace` does. Default: False.
        namespace: The namespace to use for a manifest that does not set one. Default: `default`.

    Raises:
        ManifestError: The result is not a valid object of the API.
        NotFoundError: The object does not exist, and the manifest has no `apiVersion` to create one.
        InvalidSpecError: A `$patch` directive is unknown.

    Example:
        >>> from kueuepy.objects import ClusterQueue
        >>> queue = ClusterQueue.of("a", {"f": {"cpu": 9}}, cohort_name="all")
        >>> hold = {"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"stopPolicy": "Hold"}}
        >>> found = patched(Existing.of([queue]), hold)
        >>> found.object.cohort_name, found.object.stop_policy
        ('all', 'Hold')
        >>> found.kept
        ('spec.resourceGroups', 'spec.cohortName', 'spec.namespaceSelector')
    """
    before = named_by(objects, doc, namespace)
    if before is None:
        expect_complete(objects, doc)
        return Patched(from_dict(_without_directives(_plain(doc))))
    old, new = _plain(to_dict(before)), _current(before, doc)
    if replace:
        placed = (
            {"metadata": {**doc["metadata"], "namespace": before.namespace}}
            if isinstance(before, NamespacedObject)
            else {}
        )
        made = from_dict(_without_directives(_plain({**doc, **placed})))
        return Patched(made, removed=tuple(_absent(_spec(old), _spec(_plain(to_dict(made))), "spec")))
    made = from_dict(_merged(old, new, ()))
    removed = tuple(_absent(_spec(old), _spec(_plain(to_dict(made))), "spec"))
    # What the patch removes is missing from it, too.
    kept = tuple(path for path in _absent(_spec(old), _spec(new), "spec") if path not in removed)
    return Patched(made, kept, removed)


def _current(before: Object, doc: Mapping[str, Any]) -> dict[str, Any]:
    """Return a patch converted to the fields of v1beta2, without the status, which `kubectl apply` does not change."""
    kind = BY_CLASS[type(before)]
    group, version = split_api_version(doc) if "apiVersion" in doc else (kind.group, kind.version)
    # A Node or Pod is modelled by its status, which its kubelet writes and not its user.
    has_status = doc.get("kind") in ("Node", "Pod")
    found = {name: _plain(value) for name, value in doc.items() if name != "status" or has_status}
    if version != kind.version:
        findings = Findings(strict=True)
        found = to_v1beta2(group, version, found, findings)
        if findings.problems:
            raise ManifestError([(object_name(doc), problem) for problem in findings.problems])
        found.pop("status", None)
    spec = found.get("spec")
    if spec is not None and not isinstance(spec, dict):
        raise InvalidSpecError(f"{object_name(doc)}: spec: is {shown(spec)}; it must be a mapping")
    return {**found, "apiVersion": kind.api_version}


def _spec(doc: Mapping[str, Any]) -> Any:
    found = doc.get("spec")
    return found if isinstance(found, dict) else {}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _without_directives(value: Any) -> Any:
    """Return a value without `$patch` keys and without the items that they delete."""
    if isinstance(value, dict):
        _expect_directive(value)
        return {name: _without_directives(inner) for name, inner in value.items() if name != _DIRECTIVE}
    if isinstance(value, list):
        return [_without_directives(one) for one in value if not (isinstance(one, dict) and _deletes(one))]
    return value


def _expect_directive(value: Mapping[str, Any]) -> None:
    if value.get(_DIRECTIVE, "replace") not in ("delete", "replace", "merge"):
        raise InvalidSpecError(f"$patch: is {shown(value[_DIRECTIVE])}; it must be one of delete, replace, merge")


def _deletes(item: Mapping[str, Any]) -> bool:
    return item.get(_DIRECTIVE) == "delete"


def _merged(old: Any, new: Any, path: tuple[str, ...]) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        _expect_directive(new)
        if new.get(_DIRECTIVE) == "replace":
            return _without_directives(new)
        found = dict(old)
        for name, value in new.items():
            if value is None or (isinstance(value, dict) and _deletes(value)):
                found.pop(name, None)
            elif name != _DIRECTIVE:
                found[name] = _merged(old.get(name), value, (*path, name))
        return found
    if isinstance(old, list) and isinstance(new, list) and (pairs := _pairs(old, new, path)) is not None:
        return _merged_lists(old, pairs, path)
    if path[-1:] == ("coveredResources",) and isinstance(old, list) and isinstance(new, list):
        return [*old, *(one for one in new if one not in old)]  # the API declares this list as a set
    return _without_directives(new)


def _merged_lists(old: list[Any], pairs: list[tuple[int | None, Any]], path: tuple[str, ...]) -> list[Any]:
    """Return the old items, merged with the matching items of the patch, followed by the new items."""
    found: dict[int, Any] = dict(enumerate(old))
    for index, item in pairs:
        if isinstance(item, dict) and _deletes(item):
            # A deletion of an item that does not exist has no effect, as in kubectl.
            found.pop(-1 if index is None else index, None)
        elif index is None:
            # Any unused number: only the order of the numbers matters.
            found[len(old) + len(found)] = _without_directives(item)
        else:
            found[index] = _merged(old[index], item, path)
    return list(found.values())


def _pairs(old: list[Any], new: list[Any], path: tuple[str, ...]) -> list[tuple[int | None, Any]] | None:
    """Return, for each patch item, the position of the item that it changes; `None` if the patch replaces the list."""
    if not all(isinstance(item, dict) for item in (*old, *new)):
        return None
    if path[-1:] == (_GROUPS,):
        return [(_place_of_group(old, item), item) for item in new]
    key = next((key for key in _KEYS if old and all(isinstance(item.get(key), str) for item in (*old, *new))), None)
    if key is None:
        return None
    names = [item[key] for item in old]
    # A list with repeated names has no keys to merge by.
    if len(set(names)) < len(names):
        return None
    return [(names.index(item[key]) if item[key] in names else None, item) for item in new]


def _place_of_group(groups: list[Any], item: Mapping[str, Any]) -> int | None:
    """Return the position of the resource group that shares a resource or flavor with an item.

    A resource or flavor can belong to only one resource group.
    """
    resources, flavors = set(_texts(item.get("coveredResources"))), set(_names(item.get("flavors")))
    for index, group in enumerate(groups):
        known = set(_texts(group.get("coveredResources")))
        if resources & known or (not resources and flavors & set(_names(group.get("flavors")))):
            return index
    return None


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _names(value: Any) -> list[str]:
    items = value if isinstance(value, list) else []
    return _texts([item.get("name") for item in items if isinstance(item, dict)])


def _absent(old: Any, new: Any, path: str) -> Iterator[str]:
    """Yield the paths that exist only in the old value; for nested paths, only the outermost path."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            inner = f"{path}.{name}"
            if name not in new or new[name] is None:
                yield inner
            else:
                yield from _absent(value, new[name], inner)
    elif isinstance(old, list) and isinstance(new, list):
        pairs = _pairs(new, old, tuple(path.split(".")[-1:]))
        for number, (index, item) in enumerate(pairs or ()):
            label = item.get("name", number) if isinstance(item, dict) else number
            if index is None:
                yield f"{path}[{label}]"
            else:
                yield from _absent(item, new[index], f"{path}[{label}]")
