"""The configuration object of OpenShift's operator, of which the operator makes Kueue's Configuration.

The rules are those of openshift/kueue-operator at dc3b6577.
"""

from typing import Any

from kueuepy.manifest.body import Body, part, present
from kueuepy.manifest.jobkinds import FRAMEWORKS

OPERATOR = "kueue.openshift.io"
_NAMESPACE = "openshift-kueue-operator"
_FRAMEWORKS = {"batchjob": "batch/job"} | {name.rpartition("/")[2]: name for name in FRAMEWORKS}
# The fields of a requeuing strategy, by the operator's names.
_REQUEUING = {
    "timeReference": "timestamp",
    "retryLimit": "backoffLimitCount",
    "backoffBaseSeconds": "backoffBaseSeconds",
    "backoffMaxSeconds": "backoffMaxSeconds",
}


def configuration_of(doc: Body) -> Body:
    """Return the Configuration that the operator makes of its object `Kueue`."""
    config = part(doc, "spec", "config")
    given = part(config, "integrations").get("frameworks")
    names = list(map(str, given)) if isinstance(given, list) else []
    mappings = part(config, "resources").get("deviceClassMappings")
    is_fair = part(config, "preemption").get("preemptionPolicy") == "FairSharing"
    strategies = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
    return present(
        {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "namespace": _NAMESPACE,
            "integrations": {"frameworks": [_FRAMEWORKS.get(name.lower(), name) for name in names]},
            "managedJobsNamespaceSelector": {"matchLabels": {f"{OPERATOR}/managed": "true"}},
            "manageJobsWithoutQueueName": part(config, "workloadManagement").get("labelPolicy") == "None",
            "waitForPodsReady": _wait(part(config, "gangScheduling")),
            "fairSharing": {"preemptionStrategies": strategies} if is_fair else None,
            "resources": {"deviceClassMappings": _untyped(mappings)} if mappings else None,
            "featureGates": {"SparkApplicationIntegration": True} if "SparkApplication" in names else None,
            "admissionFairSharing": _usage(part(config, "admissionFairSharing")),
        }
    )


def _wait(gang: Body) -> Body | None:
    """Return the section waitForPodsReady; `None` for Kueue's defaults."""
    if gang.get("policy") == "None":
        return {"timeout": "8760h", "blockAdmission": False}
    own = part(gang, "byWorkload")
    asked = part(own, "requeuingStrategy")
    found = {
        "blockAdmission": own.get("admission") == "Sequential",
        "timeout": _seconds(own.get("timeoutSeconds")),
        "recoveryTimeout": _seconds(own.get("recoveryTimeoutSeconds")),
        "requeuingStrategy": {_REQUEUING.get(name, name): value for name, value in asked.items()} or None,
    }
    return present(found) if gang.get("policy") == "ByWorkload" else None


def _usage(fair: Body) -> Body | None:
    """Return the section admissionFairSharing; `None` without one."""
    if not fair:
        return None
    own = part(fair, "custom")
    weights = own.get("resourceWeights")
    given = [one for one in weights if isinstance(one, dict)] if isinstance(weights, list) else []
    found = {
        "usageHalfLifeTime": _seconds(own.get("usageHalfLifeTimeSeconds")) if own else "30m",
        "usageSamplingInterval": _seconds(own.get("usageSamplingIntervalSeconds")),
        "resourceWeights": {str(one.get("name")): _number(one.get("weight")) for one in given} or None,
    }
    return present(found)


def _seconds(value: Any) -> Any:
    return f"{value}s" if isinstance(value, int) and not isinstance(value, bool) else value


def _number(text: Any) -> Any:
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def _untyped(value: Any) -> Any:
    """Return the value without the operator's discriminators of unions."""
    if isinstance(value, dict):
        return {name: _untyped(one) for name, one in value.items() if name != "type"}
    return [_untyped(one) for one in value] if isinstance(value, list) else value
