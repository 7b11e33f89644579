"""The known fields of Kubernetes' own kinds of jobs, which are used to find unknown fields in manifests.

`kubectl` asks the API server to reject unknown fields (`--validate=strict`). If a client does not request strict
validation, the API server warns about unknown fields and drops them. The field names are taken from `k8s.io/api` v0.37
(`batch/v1`, `apps/v1`, `core/v1`). Fields in the specs of pods are not checked.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from kueuepy.errors.problems import Path
from kueuepy.manifest.body import part
from kueuepy.manifest.schema.table import METADATA, OWNER

_Fields: TypeAlias = dict[str, Any]
"""The known fields, by name, of a mapping or of each mapping in a list.

`None` marks a field whose content is not checked.
"""


def _fields(names: str, **inner: _Fields) -> _Fields:
    return dict.fromkeys(names.split()) | inner


_METADATA: _Fields = {**dict.fromkeys(METADATA.properties), "ownerReferences": dict.fromkeys(OWNER.properties)}
_SELECTOR = _fields("matchLabels", matchExpressions=_fields("key operator values"))
_TEMPLATE = _fields("spec", metadata=_METADATA)
_FAILURE_RULE = _fields(
    "action", onExitCodes=_fields("containerName operator values"), onPodConditions=_fields("type status")
)
_JOB = _fields(
    "parallelism completions activeDeadlineSeconds backoffLimit backoffLimitPerIndex maxFailedIndexes manualSelector "
    "ttlSecondsAfterFinished completionMode suspend podReplacementPolicy managedBy scheduling",
    podFailurePolicy={"rules": _FAILURE_RULE},
    successPolicy={"rules": _fields("succeededIndexes succeededCount")},
    selector=_SELECTOR,
    template=_TEMPLATE,
)
_CRON_JOB = _fields(
    "schedule timeZone startingDeadlineSeconds concurrencyPolicy suspend successfulJobsHistoryLimit "
    "failedJobsHistoryLimit",
    jobTemplate={"metadata": _METADATA, "spec": _JOB},
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
_SPECS: Final[dict[tuple[str, str], _Fields | None]] = {
    ("batch/v1", "Job"): _JOB,
    ("batch/v1", "CronJob"): _CRON_JOB,
    ("apps/v1", "Deployment"): _DEPLOYMENT,
    ("apps/v1", "StatefulSet"): _STATEFUL_SET,
    ("v1", "Pod"): None,
}


def unknown_fields(job: dict[str, Any]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Iterate over the unknown fields in the manifest of a Kubernetes kind.

    Objects dumped from a cluster are not checked, because the API server has already dropped unknown fields or is newer
    than the list of fields in this module.

    Yields:
        The path of an unknown field, and the names of the known fields at the same level.
    """
    kind = str(job.get("apiVersion")), str(job.get("kind"))
    is_stored = bool(part(job, "metadata").get("resourceVersion"))
    if kind in _SPECS and not is_stored:
        known = {"apiVersion": None, "kind": None, "metadata": _METADATA, "spec": _SPECS[kind], "status": None}
        yield from _unknown(job, known, ())


def _unknown(value: Any, known: _Fields, path: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _unknown(item, known, (*path, number))
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in known:
                yield (*path, str(name)), tuple(known)
            elif known[name] is not None:
                yield from _unknown(item, known[name], (*path, name))
