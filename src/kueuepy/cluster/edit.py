"""Edits of single fields, selected by a path, in one or several objects of a cluster."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from fnmatch import fnmatchcase
from typing import Any, get_args

import msgspec

import kueuepy.objects as api
from kueuepy.errors import InvalidSpecError, NotFoundError, suggestion
from kueuepy.jobs.numbers import unsigned
from kueuepy.manifest import check_read, from_dict, to_dict
from kueuepy.objects import encode_time, without_numpy
from kueuepy.objects.queue import quotas_of

_PATH = re.compile(r"(?P<kind>\w+)(?:/(?P<name>[^:]+))?:(?P<field>.+)", re.DOTALL)
_STEP = re.compile(r"\.?(?P<field>\w+)(?P<selector>\[[^\]]*\])?")
_CONFIGURATION = "Configuration"
_Pairs = frozenset[tuple[str, str]]
_QUOTA = "quota"


def _parsed(path: str) -> re.Match[str]:
    found = _PATH.fullmatch(path)
    if found is None or (found["name"] is None) != (found["kind"] == _CONFIGURATION):
        raise InvalidSpecError(f'edit: "{path}"; it must be such as ClusterQueue/team-a:preemption.withinClusterQueue')
    return found


def edited_all(
    objects: Iterable[api.Object], configuration: api.Configuration, values: Mapping[str, Any]
) -> tuple[list[api.Object], api.Configuration | None]:
    """Return the objects that several edits change, and the changed Configuration or `None`.

    Each edit is applied to the result of the previous ones. Objects are validated only after the last edit.
    """
    there, before = list(objects), configuration
    docs: dict[int, dict[str, Any]] = {}
    for path, given in values.items():
        value, found = without_numpy(given), _parsed(path)
        if found["kind"] == _CONFIGURATION:
            way = [step for step, _ in _steps(path, found["field"])]
            configuration = _configured(configuration, path, way, value)
            continue
        for obj in _named(there, path, found):
            # A Cohort that is only named has no object yet.
            if not any(obj is one for one in there):
                there.append(obj)
            _expect_read(obj, path, found["field"])
            doc = docs.setdefault(id(obj), to_dict(obj))
            if isinstance(value, float):  # a manifest has fractions as text, because 0.1 is not exact
                value = int(value) if value.is_integer() else repr(value)
            _set(doc.setdefault("spec", {}), path, found["field"], value, _quotas(there, obj))
    made = [_read(obj, docs[id(obj)], values, _quotas(there, obj)) for obj in there if id(obj) in docs]
    for obj in made:
        check_read(obj)
    return made, None if configuration is before else configuration


def _read(obj: api.Object, doc: dict[str, Any], values: Mapping[str, Any], quotas: _Pairs) -> api.Object:
    """Return the object that a manifest describes; if it is not valid, raise an error that names the edit."""
    try:
        return from_dict(doc)
    except InvalidSpecError as error:
        for path, value in values.items():
            found = _parsed(path)
            if type(obj).__name__ == found["kind"] and _matching([obj], found["name"]):
                obj = _changed(obj, path, found["field"], value, quotas)
        raise InvalidSpecError(f"edit: {error}") from None


def kind_and_name(path: str) -> tuple[str, str | None]:
    """Return the kind that a path selects, and the selector of names; `None` for the Configuration."""
    found = _parsed(path)
    return found["kind"], found["name"]


def named(objects: Iterable[api.Object], path: str) -> list[api.Object]:
    """Return the objects that a path selects.

    Raises:
        NotFoundError: The path selects no object.
        InvalidSpecError: The path does not select objects.
    """
    found = _parsed(path)
    if found["kind"] == _CONFIGURATION:
        raise InvalidSpecError(f'edit: "{path}"; it must be such as ClusterQueue/team-a:preemption.withinClusterQueue')
    return _named(list(objects), path, found)


def value_at(objects: Iterable[api.Object], path: str) -> Any:
    """Return the value that a path selects, in the form of a manifest; `None` if the field is absent.

    Raises:
        NotFoundError: The path does not match any object or list item.
        InvalidSpecError: The path is malformed, or it selects several objects.
    """
    chosen = named(objects, path)
    if len(chosen) != 1:
        raise InvalidSpecError(f'edit: "{path}": names {len(chosen)} objects; it must name one')
    here: Any = to_dict(chosen[0]).get("spec", {})
    steps = _steps(path, path.partition(":")[2])
    if steps[0][0] == _QUOTA and steps[0][1] is not None:
        here = _quota(here, path, steps[0][1])
        steps = steps[1:] or [("nominalQuota", None)]
    for name, selector in steps:
        here = here.get(name) if isinstance(here, dict) else None
        here = here if here is None else _into(here, path, selector)
    return here


def _implied(objects: Sequence[api.Object]) -> list[api.Object]:
    """Return the cohorts that are named by queues or other cohorts but not declared, as Cohorts without quotas."""
    queues = [obj.cohort_name for obj in objects if isinstance(obj, api.ClusterQueue)]
    cohorts = [obj for obj in objects if isinstance(obj, api.Cohort)]
    named = dict.fromkeys([*queues, *(cohort.parent_name for cohort in cohorts)])
    declared = {cohort.name for cohort in cohorts}
    return [api.Cohort(name) for name in named if name and name not in declared]


def _named(objects: list[api.Object], path: str, found: re.Match[str]) -> list[api.Object]:
    there = [obj for obj in objects if type(obj).__name__ == found["kind"]]
    kinds = {type(obj).__name__ for obj in objects}
    if found["kind"] == api.Cohort.__name__:
        there += _implied(objects)
        kinds |= {api.Cohort.__name__} if there else set()
    if found["kind"] not in kinds:
        raise NotFoundError(f'edit: "{path}": {_near("kind in the cluster", found["kind"], kinds)}')
    chosen = _matching(there, found["name"])
    if not chosen:
        raise NotFoundError(f'edit: "{path}": {_near(found["kind"], found["name"], {obj.key for obj in there})}')
    return chosen


def _matching(objects: Iterable[api.Object], name: str) -> list[api.Object]:
    patterns = list(_alternatives(name))

    def is_chosen(obj: api.Object) -> bool:
        # fnmatch compiles each new pattern, so an equal name is tested first.
        names = {obj.key, obj.name}
        return any(p in names or any(fnmatchcase(one, p) for one in names) for p in patterns)

    return [obj for obj in objects if is_chosen(obj)]


def _alternatives(name: str) -> Iterator[str]:
    """Expand a selector `{a,b}` to the names `a` and `b`."""
    before, brace, rest = name.partition("{")
    inside, end, after = rest.partition("}")
    if not (brace and end):
        yield name
        return
    for one in inside.split(","):
        yield from _alternatives(before + one + after)


def _near(what: str, name: str, known: set[str]) -> str:
    return f'"{name}" names no {what}; {suggestion(name, known)}'


def _quotas(objects: Iterable[api.Object], obj: api.Object) -> _Pairs:
    """Return the flavors and resources with a quota in any queue; a Cohort's quota can be set only for these."""
    if not isinstance(obj, api.Cohort):
        return frozenset()
    owners = (one for one in objects if isinstance(one, api.ClusterQueue | api.Cohort))
    return frozenset((flavor, quota.name) for flavor, quota in quotas_of(*owners))


def _changed(obj: api.Object, path: str, field: str, value: Any, quotas: _Pairs) -> api.Object:
    """Return the object with a changed field, validated like a manifest."""
    doc = to_dict(obj)
    _set(doc.setdefault("spec", {}), path, field, value, quotas)
    try:
        return from_dict(doc)
    except InvalidSpecError as error:
        is_unknown = {problem.kind for _, problem in getattr(error, "problems", ())} == {"Unknown"}
        raise (NotFoundError if is_unknown else InvalidSpecError)(f'edit: "{path}": {error}') from None


# The fields of the spec that are read from kinds whose other fields are ignored.
_READ: dict[type[api.Object], tuple[str, ...]] = {
    api.Node: ("taints", "unschedulable"),
    api.Namespace: (),
    api.RuntimeClass: (),
}


def _expect_read(obj: api.Object, path: str, field: str) -> None:
    """Check that an edit would have an effect.

    Raises:
        NotFoundError: The field is not in the spec of an object whose unknown fields are ignored.
    """
    kind, first = type(obj), _steps(path, field)[0][0]
    if first not in _READ.get(kind, (first,)):
        hint = f"apply the changed {kind.__name__} instead, as kueuepy whatif --edit FILE does"
        raise NotFoundError(f'edit: "{path}": "{first}" is not a field of the spec; {hint}')


def _steps(path: str, field: str) -> list[tuple[str, str | None]]:
    found, end = [], 0
    while end < len(field):
        step = _STEP.match(field, end)
        if step is None:
            raise InvalidSpecError(
                f'edit: "{path}": {field[end:]!r:.99} is not a field; it must be such as name[selector].name'
            )
        found.append((step["field"], step["selector"] and step["selector"][1:-1]))
        end = step.end()
    return found


def _set(spec: dict[str, Any], path: str, field: str, value: Any, quotas: _Pairs) -> None:
    steps = _steps(path, field)
    here: Any = spec
    if steps[0][0] == _QUOTA and steps[0][1] is not None:
        flavor, _, resource = steps[0][1].partition("/")
        if (flavor, resource) in quotas:
            _cover(spec, flavor, resource)
        here = _quota(spec, path, steps[0][1])
        steps = steps[1:] or [("nominalQuota", None)]
    *way, (last, selector) = steps
    for name, chosen in way:
        here = _into(_record(here, path, name).setdefault(name, {} if chosen is None else []), path, chosen)
    here = _record(here, path, last)
    if selector is not None:
        raise InvalidSpecError(f'edit: "{path}": ends with a selector; it must end with a field')
    if value is None:
        here.pop(last, None)
    else:
        is_struct = isinstance(value, msgspec.Struct)
        here[last] = msgspec.to_builtins(value, enc_hook=encode_time) if is_struct else deepcopy(value)


def _record(here: Any, path: str, field: str) -> dict[str, Any]:
    """Return the mapping that contains a field.

    Raises:
        InvalidSpecError: The value is a list or a scalar.
    """
    if not isinstance(here, dict):
        is_list = isinstance(here, list | tuple)
        what = "a list, of which an item is chosen by its place or name, as [0]" if is_list else "not an object"
        raise InvalidSpecError(f'edit: "{path}": what is before "{field}" is {what}')
    return here


def _into(value: Any, path: str, selector: str | None) -> Any:
    """Return the item of a list with the given position or name."""
    if selector is None:
        return value
    names = [str(item.get("name")) for item in value if isinstance(item, dict)]
    if selector in names:
        return value[names.index(selector)]
    if (position := unsigned(selector)) is not None and position < len(value):
        return value[position]
    raise NotFoundError(f'edit: "{path}": {_near("item", selector, set(names))}')


def _quota(spec: dict[str, Any], path: str, flavor_resource: str) -> dict[str, Any]:
    """Return the quota of `flavor/resource` from the resource group that contains it."""
    flavor, _, resource = flavor_resource.partition("/")
    known = set()
    for group in spec.get("resourceGroups", ()):
        for of_flavor in group.get("flavors", ()):
            for quota in of_flavor.get("resources", ()):
                known.add(f"{of_flavor['name']}/{quota['name']}")
                if (of_flavor["name"], quota["name"]) == (flavor, resource):
                    found: dict[str, Any] = quota
                    return found
    raise NotFoundError(f'edit: "{path}": {_near("quota", flavor_resource, known)}')


def _cover(spec: dict[str, Any], flavor: str, resource: str) -> None:
    """Add a quota of 0 for a flavor and resource.

    The API requires all flavors of a resource group to cover the same resources.
    """
    groups = [{**group, "flavors": list(group["flavors"])} for group in spec.get("resourceGroups", ())]
    chosen = next((g for g in groups if resource in g["coveredResources"]), None)
    chosen = chosen or next((g for g in groups if flavor in (row["name"] for row in g["flavors"])), None)
    if chosen is None:
        chosen = {"coveredResources": [], "flavors": []}
        groups.append(chosen)
    covered = list(dict.fromkeys([*chosen["coveredResources"], resource]))
    if flavor not in (row["name"] for row in chosen["flavors"]):
        chosen["flavors"].append({"name": flavor, "resources": []})
    chosen["coveredResources"] = covered
    for row in chosen["flavors"]:
        known = {quota["name"]: quota for quota in row["resources"]}
        row["resources"] = [known.get(name, {"name": name, "nominalQuota": 0}) for name in covered]
    spec["resourceGroups"] = groups


def _configured(record: Any, path: str, way: Sequence[str], value: Any) -> Any:
    """Return the Configuration, or a section of it, with a changed field; `None` restores the field's default."""
    name, *rest = way
    if isinstance(record, dict):  # the feature gates
        return {gate: on for gate, on in {**record, name: value}.items() if on is not None}
    known = {one.encode_name: one for one in msgspec.structs.fields(type(record))}
    if name not in known:
        raise NotFoundError(f'edit: "{path}": {_near(f"field of {type(record).__name__}", name, set(known))}')
    field, kinds = known[name].name, (known[name].type, *get_args(known[name].type))
    section = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, msgspec.Struct)), None)
    before = getattr(record, field) if rest else None
    if rest and section is None and not isinstance(before, dict):
        raise InvalidSpecError(f'edit: "{path}": {name} has no field of its own')
    if rest or (section is not None and isinstance(value, dict)):
        inner = section() if before is None and section is not None else before
        for step, new in [(rest, value)] if rest else [([key], one) for key, one in value.items()]:
            inner = _configured(inner, path, step, new)
        value = inner
    elif value is None:
        value = getattr(type(record)(), field)
    return msgspec.structs.replace(record, **{field: tuple(value) if isinstance(value, list) else value})
