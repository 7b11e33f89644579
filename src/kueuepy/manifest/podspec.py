"""The structure of a PodSpec: the known fields, and the types of the fields that affect admission.

The spec of a pod is stored as written; the classes in this module are only used to check it. The fields of these
classes have the same names as in the manifest.

Source: `k8s.io/api/core/v1/types.go`.
"""

import msgspec

from kueuepy.manifest.shapes import many, shape
from kueuepy.objects.base import QuantityText

_Quantities = dict[str, QuantityText] | None
_Text = str | None

_OTHER_CONTAINER_FIELDS = """
    image command args workingDir ports envFrom env resizePolicy restartPolicyRules volumeMounts volumeDevices
    livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath terminationMessagePolicy
    imagePullPolicy securityContext stdin stdinOnce tty
"""
_OTHER_POD_FIELDS = """
    volumes ephemeralContainers restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy
    serviceAccountName serviceAccount automountServiceAccountToken nodeName hostNetwork hostPID hostIPC
    shareProcessNamespace securityContext imagePullSecrets hostname subdomain schedulerName hostAliases priority
    dnsConfig readinessGates enableServiceLinks preemptionPolicy topologySpreadConstraints setHostnameAsFQDN os
    hostUsers resourceClaims hostnameOverride workloadRef schedulingGroup
"""

_Resources = shape("Resources", "claims", limits=_Quantities, requests=_Quantities)
_Container = shape("Container", _OTHER_CONTAINER_FIELDS, name=_Text, restartPolicy=_Text, resources=_Resources | None)
_Toleration = shape("Toleration", key=_Text, operator=_Text, value=_Text, effect=_Text, tolerationSeconds=int | None)
_Requirement = shape("Requirement", key=_Text, operator=_Text, values=list[str] | None)
_Term = shape("Term", matchExpressions=many(_Requirement), matchFields=many(_Requirement))
_Terms = shape("Terms", nodeSelectorTerms=many(_Term))
_Preferred = shape("Preferred", weight=int | None, preference=_Term | None)
_NodeAffinity = shape(
    "NodeAffinity",
    "requiredDuringSchedulingRequiredDuringExecution",
    requiredDuringSchedulingIgnoredDuringExecution=_Terms | None,
    preferredDuringSchedulingIgnoredDuringExecution=many(_Preferred),
)
_Affinity = shape("Affinity", "podAffinity podAntiAffinity", nodeAffinity=_NodeAffinity | None)
_Gate = shape("Gate", name=_Text)
PodSpec: type[msgspec.Struct] = shape(
    "PodSpec",
    _OTHER_POD_FIELDS,
    containers=many(_Container),
    initContainers=many(_Container),
    nodeSelector=dict[str, str] | None,
    affinity=_Affinity | None,
    tolerations=many(_Toleration),
    overhead=_Quantities,
    resources=_Resources | None,
    priorityClassName=_Text,
    runtimeClassName=_Text,
    schedulingGates=many(_Gate),
)
"""Class of the spec of a pod."""
