"""Detection of objects, fields and feature gates that kueuepy does not model and that could change a decision."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kueuepy.cluster.cluster import Cluster
from kueuepy.errors import Path, path_text
from kueuepy.manifest import Schema, custom_resources, schema_of_class
from kueuepy.objects import ClusterQueue, Cohort, Configuration
from kueuepy.profiles import DEFAULTS, of_patch
from kueuepy.profiles.gates import COVERAGE, Coverage

PREEMPTION_CONFIG = "kueue.x-k8s.io/preemption-config-name"
"""Annotation of a ClusterQueue that names its PreemptionConfig."""

# Modelled fields of the configuration file that the class Configuration does not have.
_BESIDE_CLASS = ("namespace", "metrics.localQueueMetrics.enable", "metrics.localQueueMetrics.localQueueSelector")
# The fields, with their inner fields, on which no decision depends.
_WITHOUT_EFFECT = {
    "Configuration": """
        webhook.port webhook.host webhook.certDir leaderElection metrics.bindAddress metrics.enableClusterQueueResources
        metrics.customLabels[].name metrics.customLabels[].sourceLabelKey metrics.customLabels[].sourceAnnotationKey
        metrics.customLabels[].sourceKind metrics.customLabels[].trackedValues[] health.healthProbeBindAddress
        health.readinessEndpointName health.livenessEndpointName pprofBindAddress controller.groupKindConcurrency
        controller.cacheSyncTimeout tls.minVersion tls.cipherSuites[] tls.curvePreferences[]
        internalCertManagement.enable internalCertManagement.webhookServiceName internalCertManagement.webhookSecretName
        clientConnection.qps clientConnection.burst integrations.externalFrameworks[] integrations.labelKeysToCopy[]
        multiKueue.clusterProfile.accessProviders[].name multiKueue.clusterProfile.accessProviders[].execConfig
        multiKueue.clusterProfile.credentialsProviders[]
        visibilityServer.bindAddress visibilityServer.bindPort
    """,
    "AdmissionCheck": """
        status.conditions[].lastTransitionTime status.conditions[].message status.conditions[].observedGeneration
        status.conditions[].reason
    """,
    "ClusterQueue": "status.conditions[].observedGeneration",
    "LocalQueue": "status.conditions[].observedGeneration",
    "MultiKueueCluster": "spec status",
    "ResourceFlavor": "spec.nodeTaints[].timeAdded spec.tolerations[].tolerationSeconds",
    "WorkloadPriorityClass": "description",
    "Workload": """
        spec.podSets[].topologyRequest.podIndexLabel spec.podSets[].topologyRequest.subGroupCount
        spec.podSets[].topologyRequest.subGroupIndexLabel spec.priorityClassRef.group
        status.admissionChecks[].podSetUpdates[].tolerations[].tolerationSeconds status.conditions[].observedGeneration
        status.preemptionGates[].lastTransitionTime status.resourceRequests status.schedulingStats
    """,
}

# Fields that are newer than the mirrored commit, and so not in its CustomResourceDefinitions.
_LATER = (
    ("ClusterQueue", f"metadata.annotations[{PREEMPTION_CONFIG}]"),
    ("ClusterQueue", "status.effectiveQuotas"),
    ("Cohort", "status.effectiveQuotas"),
)

_ONE_BY_ONE = "is true, but only a Scheduler models it: a simulation tries the flavors of a workload one by one"
_QUOTAS = "Kueue would use this field instead of spec.resourceGroups"
# The fields, with their inner fields, on which a decision may depend, and the consequence.
_NOT_MODELLED = {
    "ClusterQueue": {
        f"metadata.annotations[{PREEMPTION_CONFIG}]": COVERAGE["ConfigurablePreemptions"].note,
        "status.effectiveQuotas": _QUOTAS,
    },
    "Cohort": {"status.effectiveQuotas": _QUOTAS},
}


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
) -> Iterator[Unmodelled]:
    """Yield the parts of the input that kueuepy does not model and that could change a decision.

    A field of an alpha feature is included unless the Configuration turns off the feature gate explicitly.
    """
    configuration = configuration or Configuration()
    if difference := of_patch(configuration.version):
        yield Unmodelled(None, ("version",), f"{configuration.version} {difference}")
    defaults = DEFAULTS[configuration.release]
    for name, on in configuration.feature_gates.items():
        if name in COVERAGE and COVERAGE[name].effect == "not modelled" and on != defaults.get(name, on):
            value = str(on).lower()
            said = COVERAGE[name].note or f"Kueue's rules with the gate set to {value} apply there"
            yield Unmodelled(None, ("featureGates", name), f"is {value}, which is not modelled: {said}")
    off = {name for name, on in configuration.feature_gates.items() if not on}
    for queue in queues:
        if PREEMPTION_CONFIG in queue.annotations and "ConfigurablePreemptions" not in off:
            note = COVERAGE["ConfigurablePreemptions"].note
            yield Unmodelled(queue, ("metadata", "annotations", PREEMPTION_CONFIG), f"is not modelled: {note}")
    owners: tuple[ClusterQueue | Cohort, ...] = (*queues, *cohorts)
    for owner in owners:
        if owner.effective_quotas and "DynamicQuotaOrchestration" not in off:
            yield Unmodelled(owner, ("status", "effectiveQuotas"), f"is not modelled: {_QUOTAS}")


def not_modelled(cluster: Cluster, changed: Iterable[object] = ()) -> tuple[str, ...]:
    """Return descriptions of the parts of a cluster that a simulation does not model and that could change a decision.

    Args:
        cluster: The cluster.
        changed: Objects that will replace objects of the cluster later.
    """
    later = list(changed)
    queues = [*cluster.cluster_queues, *(obj for obj in later if isinstance(obj, ClusterQueue))]
    cohorts = [*cluster.cohorts, *(obj for obj in later if isinstance(obj, Cohort))]
    found = list(unmodelled(cluster.configuration, queues, cohorts))
    gates = (cluster.configuration or Configuration()).gates
    if gates.get("ConcurrentAdmission", False) and any(queue.concurrent_admission_policy for queue in queues):
        found.append(Unmodelled(None, ("featureGates", "ConcurrentAdmission"), _ONE_BY_ONE))
    return tuple(dict.fromkeys(map(str, found)))


def _leaves(schema: Schema, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields of a kind; a pod template counts as one field."""
    if schema.type == "array" and schema.items is not None:
        yield from _leaves(schema.items, f"{path}[]")
    elif schema.properties and not path.endswith("podSets[].template"):
        for name, inner in schema.properties.items():
            if path or name not in ("apiVersion", "kind", "metadata"):
                yield from _leaves(inner, f"{path}.{name}" if path else name)
    else:
        yield path


def _covered(kind: str, path: str) -> Coverage:
    """Return the effect of a field, from the entry of the field itself or of a field that contains it."""
    own: dict[str, Coverage] = {name: Coverage("no effect") for name in _WITHOUT_EFFECT.get(kind, "").split()}
    own |= {name: Coverage("not modelled", note) for name, note in _NOT_MODELLED.get(kind, {}).items()}
    return next((own[name] for name in own if f"{path}.".startswith((f"{name}.", f"{name}["))), Coverage("modelled"))


def fields() -> dict[str, dict[str, Coverage]]:
    """Return the fields of Kueue's API and of its configuration file, by kind and path, each with its effect."""
    found = {kind: list(_leaves(schema)) for kind, schema in custom_resources("v1beta2").items()}
    # The file has no CustomResourceDefinition. A selector counts as one field.
    own = dict.fromkeys(re.sub(r"(?<=Selector)\..*", "", path) for path in _leaves(schema_of_class(Configuration)))
    found["Configuration"] = [*own, *_BESIDE_CLASS, *_WITHOUT_EFFECT["Configuration"].split()]
    for kind, path in _LATER:
        found[kind].append(path)
    return {kind: {path: _covered(kind, path) for path in paths} for kind, paths in found.items()}
