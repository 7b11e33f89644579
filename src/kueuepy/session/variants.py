"""Variants of workloads that are tried in several flavors at the same time (KEP 8691).

The core decides which variants exist and which of them may run; the objects are made here.

Source: `pkg/controller/concurrentadmission/controller.go:createVariants,deleteStaleVariants` and
`pkg/controller/jobframework/workload_names.go:GetWorkloadNameForVariant`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kueuepy.jobs.base import hashed_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kueuepy._core import Engine
    from kueuepy.objects import Configuration, Workload

GATE = "ConcurrentAdmission"
_GROUP = "kueue.x-k8s.io"
_PARENT = f"{_GROUP}/concurrent-admission-parent"
_FLAVORS = f"{_GROUP}/workload-allowed-resource-flavors"
_PREEMPTION_GATE = f"{_GROUP}/concurrent-admission"


def is_parent(workload: Workload) -> bool:
    """Return whether a workload has the label of a parent."""
    return workload.labels.get(_PARENT) == "true"


def labelled(parent: Workload, *, active: bool) -> Workload:
    """Return a parent with its label."""
    return msgspec.structs.replace(parent, labels={**parent.labels, _PARENT: "true"}, active=active)


def variant_of(parent: Workload, flavor: str, *, active: bool, short: bool) -> Workload:
    """Return the variant of a parent for a flavor.

    Args:
        parent: The parent. Its name contains a hyphen.
        flavor: The only flavor that the variant may use.
        active: Whether the parent is active now.
        short: Whether the feature gate `ShortWorkloadNames` is on.
    """
    uid = parent.uid or f"{parent.namespace}.{parent.name}"
    prefix = f"{parent.name[: parent.name.rindex('-')]}-variant-{flavor}"
    name = hashed_name(prefix, ("Workload", _GROUP, parent.name, uid, flavor), short=short)
    owner = {"apiVersion": f"{_GROUP}/v1beta2", "kind": "Workload", "name": parent.name, "uid": uid}
    gates = parent.preemption_gates
    return msgspec.structs.replace(
        parent,
        name=name,
        uid=f"{parent.namespace}.{name}",
        labels={key: value for key, value in parent.labels.items() if key != _PARENT},
        annotations={**parent.annotations, _FLAVORS: flavor},
        owner_references=(owner | {"controller": True, "blockOwnerDeletion": True},),
        preemption_gates=gates if _PREEMPTION_GATE in gates else (*gates, _PREEMPTION_GATE),
        active=active,
        creation_timestamp=None,
        status=None,
    )


def missing_variants(
    engine: Engine, configuration: Configuration, known: Callable[[int], Workload]
) -> Iterator[tuple[int, Workload]]:
    """Yield the variants that Kueue creates now, each with the engine's id of its parent."""
    short = configuration.gates.get("ShortWorkloadNames", False)
    for number, flavor in engine.family_changes()[0]:
        active = engine.status_details(number).active
        yield number, variant_of(known(number), flavor, active=active, short=short)
