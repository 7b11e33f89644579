"""The known fields of Kubernetes' own kinds of jobs, which are used to find unknown fields in manifests.

`kubectl` asks the API server to reject unknown fields (`--validate=strict`). If a client does not request strict
validation, the API server warns about unknown fields and drops them. The field names are taken from `k8s.io/api` v0.37
(`batch/v1`, `apps/v1`, `core/v1`). Fields in the specs of pods are not checked.
"""

from typing import Any, Final

from kueuepy.manifest.body import part
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.schema.examine import examine
from kueuepy.manifest.schema.table import ANY, METADATA, OWNER, Schema


def _fields(names: str, **inner: Schema) -> Schema:
    """Return the schema of a mapping with these fields; the values of the fields in `names` are not checked."""
    return Schema(type="object", properties=dict.fromkeys(names.split(), ANY) | inner)


def _items(names: str, **inner: Schema) -> Schema:
    return Schema(type="array", items=_fields(names, **inner))


_METADATA = _fields(" ".join(METADATA.properties), ownerReferences=_items(" ".join(OWNER.properties)))
_SELECTOR = _fields("matchLabels", matchExpressions=_items("key operator values"))
_TEMPLATE = _fields("spec", metadata=_METADATA)
_FAILURE_RULES = _items(
    "action", onExitCodes=_fields("containerName operator values"), onPodConditions=_items("type status")
)
_JOB = _fields(
    "parallelism completions activeDeadlineSeconds backoffLimit backoffLimitPerIndex maxFailedIndexes manualSelector "
    "ttlSecondsAfterFinished completionMode suspend podReplacementPolicy managedBy scheduling",
    podFailurePolicy=_fields("", rules=_FAILURE_RULES),
    successPolicy=_fields("", rules=_items("succeededIndexes succeededCount")),
    selector=_SELECTOR,
    template=_TEMPLATE,
)
_CRON_JOB = _fields(
    "schedule timeZone startingDeadlineSeconds concurrencyPolicy suspend successfulJobsHistoryLimit "
    "failedJobsHistoryLimit",
    jobTemplate=_fields("", metadata=_METADATA, spec=_JOB),
)
_DEPLOYMENT = _fields(
    "replicas minReadySeconds revisionHistoryLimit paused progressDeadlineSeconds",
    selector=_SELECTOR,
    template=_TEMPLATE,
    strategy=_fields("type", rollingUpdate=_fields("maxUnavailable maxSurge")),
)
_STATEFUL_SET = _fields(
    "replicas volumeClaimTemplates serviceName podManagementPolicy revisionHistoryLimit minReadySeconds",
    selector=_SELECTOR,
    template=_TEMPLATE,
    updateStrategy=_fields("type", rollingUpdate=_fields("partition maxUnavailable")),
    persistentVolumeClaimRetentionPolicy=_fields("whenDeleted whenScaled"),
    ordinals=_fields("start"),
)
_SPECS: Final[dict[tuple[str, str], Schema]] = {
    ("batch/v1", "Job"): _JOB,
    ("batch/v1", "CronJob"): _CRON_JOB,
    ("apps/v1", "Deployment"): _DEPLOYMENT,
    ("apps/v1", "StatefulSet"): _STATEFUL_SET,
    ("v1", "Pod"): ANY,
}


def review_fields(job: dict[str, Any], findings: Findings) -> None:
    """Report the unknown fields in the manifest of a Kubernetes kind; the conversion of the job reports wrong types.

    Objects dumped from a cluster are not checked, because the API server has already dropped unknown fields or is newer
    than the list of fields in this module.
    """
    spec = _SPECS.get((str(job.get("apiVersion")), str(job.get("kind"))))
    if spec is None or part(job, "metadata").get("resourceVersion"):
        return
    found = Findings(strict=findings.strict)
    examine(_fields("apiVersion kind status", metadata=_METADATA, spec=spec), job, (), found)
    findings.problems += [problem for problem in found.problems if problem.kind == "Unknown"]
    findings.notes += [note for note in found.notes if note.kind == "Unknown"]
