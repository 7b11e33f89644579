"""The arguments of each tool: their types, which are also the JSON Schemas that clients see."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import suggestion
from kueuepy.objects.readable import decoding_fault

A = TypeVar("A", bound="Arguments")

_MOST_ITEMS = 1000
_Cursor = Annotated[
    str, Meta(max_length=100, description="next_cursor of the previous page; repeat all other arguments unchanged.")
]
_ClusterQueue = Annotated[str, Meta(max_length=253, description="Only this ClusterQueue. Default: all.")]
_Job = Annotated[
    dict[str, Any],
    Meta(
        description="A manifest of a job or Workload, or a row such as "
        '{"name": "train", "queue": "team-a", "pods": 4, "cpu": 2, "memory": "8Gi", "nvidia.com/gpu": 1}: requests '
        "per pod as Kubernetes quantities, queue is a LocalQueue. A row may have namespace and priority."
    ),
]
_Set = Annotated[
    dict[str, Any],
    Meta(
        description="Fields to change by path, with the new value, such as "
        '{"ClusterQueue/team-a:quota[default-flavor/cpu].nominalQuota": 16}. Amounts are Kubernetes quantities.'
    ),
]
_Manifests = Annotated[list[dict[str, Any]], Meta(max_length=_MOST_ITEMS, description="Manifests of objects, as JSON.")]


class Arguments(msgspec.Struct, forbid_unknown_fields=True):
    """The arguments that every tool accepts."""

    cursor: _Cursor = ""


class Queues(Arguments):
    """Arguments of `queues`."""

    cluster_queue: _ClusterQueue = ""


class Explain(Arguments, kw_only=True):
    """Arguments of `explain`."""

    workload: Annotated[
        str,
        Meta(max_length=600, description="namespace/name of a Workload; or its name, or the name of its job."),
    ]


class Whatif(Arguments):
    """Arguments of `whatif`."""

    job: _Job | None = None
    set: _Set = {}
    objects: Annotated[
        list[dict[str, Any]],
        Meta(max_length=_MOST_ITEMS, description="Objects with the fields to change, merged as kubectl apply does."),
    ] = []


class LargestCount(Arguments, kw_only=True):
    """Arguments of `largest_count`."""

    job: _Job
    pod_set: Annotated[str, Meta(max_length=253, description="The pod set that varies. Default: the first.")] = ""
    preempting: Annotated[bool, Meta(description="Also accept an admission that requires preemption.")] = False


class Check(Arguments):
    """Arguments of `check`."""

    objects: _Manifests = []


class Simulate(Arguments):
    """Arguments of `simulate`."""

    jobs: Annotated[
        list[dict[str, Any]],
        Meta(
            max_length=_MOST_ITEMS,
            description='Rows such as {"queue": "team-a", "submit": 0, "runtime": 3600, "pods": 2, "cpu": 1}: submit '
            "and runtime in seconds, or as durations such as 2h30m. Default: the recorded history of the source.",
        ),
    ] = []
    set: _Set = {}
    until: Annotated[
        str, Meta(max_length=40, description="Stop at this virtual time: seconds, or a duration such as 7d.")
    ] = ""
    censored: Annotated[
        Literal["", "drop", "exponential"],
        Meta(description="How to treat jobs of the history that had not finished: drop them, or draw their rest."),
    ] = ""
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1, description="Seed of the random number generator.")] = 0


class WhoUses(Arguments):
    """Arguments of `who_uses`."""

    flavor: Annotated[str, Meta(max_length=253, description="Only this ResourceFlavor. Default: all.")] = ""
    resource: Annotated[str, Meta(max_length=317, description="Only this resource, e.g. cpu. Default: all.")] = ""
    cluster_queue: _ClusterQueue = ""


@cache
def schema_of(kind: type[Arguments]) -> dict[str, Any]:
    """Return the JSON Schema of arguments."""
    (_, definitions) = msgspec.json.schema_components((kind,))
    found: dict[str, Any] = definitions[kind.__name__]
    return {name: value for name, value in found.items() if name not in ("title", "description")}


def read(tool: str, kind: type[A], given: Mapping[str, Any]) -> A:
    """Convert the arguments of a call.

    Raises:
        InvalidSpecError: An argument is unknown, missing or not valid.
    """
    fields = msgspec.structs.fields(kind)
    names = [field.name for field in fields]
    for name in given:
        if name not in names:
            raise InvalidSpecError(f'{tool}: "{str(name)[:80]}" is not an argument; {suggestion(str(name), names)}')
    for field in fields:
        if field.required and field.name not in given:
            raise InvalidSpecError(f"{tool}: {field.name}: is missing; it must be given")
    try:
        return msgspec.convert(dict(given), kind)
    except msgspec.ValidationError as error:
        path, problem = decoding_fault(error, kind)
        place = ".".join(map(str, path))
        raise InvalidSpecError(f"{tool}: {f'{place}: ' if place else ''}{problem}") from None
