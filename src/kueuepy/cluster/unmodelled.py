"""Detection of objects, fields and feature gates that kueuepy does not model and that could change a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kueuepy.errors.problems import Path, path_text
from kueuepy.objects import ClusterQueue, Cohort, Configuration
from kueuepy.profiles import DEFAULTS
from kueuepy.profiles.coverage import FIELDS, GATES, PREEMPTION_CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kueuepy.cluster.cluster import Cluster
    from kueuepy.objects import AdmissionCheck

_MULTIKUEUE = "kueue.x-k8s.io/multikueue"


class Unmodelled(NamedTuple):
    """A part of the input that kueuepy does not model and that could change a decision.

    Attributes:
        obj: The object; `None` for the Configuration.
        path: The path of the field.
        message: A description of the value and of its effect in Kueue.
    """

    obj: ClusterQueue | Cohort | None
    path: Path
    message: str

    def __str__(self) -> str:
        """Return the object, the field and the message as text."""
        name = "Configuration" if self.obj is None else f'{type(self.obj).__name__} "{self.obj.key}"'
        return f"{name}: {path_text(self.path)}: {self.message}"


def unmodelled(
    configuration: Configuration | None,
    queues: Sequence[ClusterQueue],
    cohorts: Sequence[Cohort],
    checks: Sequence[AdmissionCheck],
) -> Iterator[Unmodelled]:
    """Yield the parts of the input that kueuepy does not model and that could change a decision.

    A field of an alpha feature is included unless the Configuration turns off the feature gate explicitly.
    """
    configuration = configuration or Configuration()
    defaults = DEFAULTS[configuration.release]
    for name, on in configuration.feature_gates.items():
        if name in GATES and GATES[name].effect == "not modelled" and on != defaults.get(name, on):
            if name == "MultiKueue" and not any(c.controller_name == _MULTIKUEUE for c in checks):
                continue
            value = str(on).lower()
            said = GATES[name].note or f"Kueue's rules with the gate set to {value} apply there"
            yield Unmodelled(None, ("featureGates", name), f"is {value}, which is not modelled: {said}")
    off = {name for name, on in configuration.feature_gates.items() if not on}
    for queue in queues:
        if queue.concurrent_admission_policy and "ConcurrentAdmission" not in off:
            note = GATES["ConcurrentAdmission"].note
            yield Unmodelled(queue, ("spec", "concurrentAdmissionPolicy"), f"is not modelled: {note}")
        if PREEMPTION_CONFIG in queue.annotations and "ConfigurablePreemptions" not in off:
            note = FIELDS["ClusterQueue"][f"metadata.annotations[{PREEMPTION_CONFIG}]"].note
            yield Unmodelled(queue, ("metadata", "annotations", PREEMPTION_CONFIG), f"is not modelled: {note}")
    owners: tuple[ClusterQueue | Cohort, ...] = (*queues, *cohorts)
    for owner in owners:
        if owner.effective_quotas and "DynamicQuotaOrchestration" not in off:
            note = FIELDS["ClusterQueue"]["status.effectiveQuotas"].note
            yield Unmodelled(owner, ("status", "effectiveQuotas"), f"is not modelled: {note}")


def not_modelled(cluster: Cluster, changed: Iterable[object] = ()) -> tuple[str, ...]:
    """Return descriptions of the parts of a cluster that kueuepy does not model and that could change a decision.

    Args:
        cluster: The cluster.
        changed: Objects that will replace objects of the cluster later.
    """
    later = list(changed)
    queues = [*cluster.cluster_queues, *(obj for obj in later if isinstance(obj, ClusterQueue))]
    cohorts = [*cluster.cohorts, *(obj for obj in later if isinstance(obj, Cohort))]
    found = unmodelled(cluster.configuration, queues, cohorts, cluster.admission_checks)
    return tuple(dict.fromkeys(map(str, found)))
