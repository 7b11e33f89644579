"""Kinds of jobs, and other kinds that can affect admission.

Jobs, and objects of kinds without a Python class, are stored as dicts.

The known fields of Kubernetes' own kinds of jobs, which are used to find unknown fields in manifests.

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


QUEUE_NAME: Final = "kueue.x-k8s.io/queue-name"
DEFAULT_QUEUE: Final = "default"
"""Name of the LocalQueue that jobs without a queue name get (`LocalQueueDefaulting`)."""
BUILT_IN: Final[dict[str, tuple[str, ...]]] = {
    "AppWrapper": ("workload.codeflare.dev/v1beta2",),
    "CronJob": ("batch/v1",),
    "Deployment": ("apps/v1",),
    "JAXJob": ("kubeflow.org/v1",),
    "Job": ("batch/v1",),
    "JobSet": ("jobset.x-k8s.io/v1alpha2",),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io/v1",),
    "MPIJob": ("kubeflow.org/v2beta1",),
    "PaddleJob": ("kubeflow.org/v1",),
    "Pod": ("v1",),
    "PyTorchJob": ("kubeflow.org/v1",),
    "RayCluster": ("ray.io/v1",),
    "RayJob": ("ray.io/v1",),
    "RayService": ("ray.io/v1",),
    "SparkApplication": ("sparkoperator.k8s.io/v1beta2",),
    "StatefulSet": ("apps/v1",),
    "TFJob": ("kubeflow.org/v1",),
    "TrainJob": ("trainer.kubeflow.org/v1alpha1",),
    "XGBoostJob": ("kubeflow.org/v1",),
}
"""API versions of the job kinds that Kueue manages, by kind. `kueuepy.jobs` has a class for each of them."""


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def framework_of(api_version: str, kind: str) -> str:
    """Return the name that a kind has in the field `integrations.frameworks` of a Configuration.

    >>> framework_of("batch/v1", "Job"), framework_of("apps/v1", "Deployment")
    ('batch/job', 'deployment')
    """
    group = _group(api_version)
    return kind.lower() if group in ("", "apps") else f"{group}/{kind.lower()}"


_IF_QUEUED = {"Deployment", "LeaderWorkerSet", "Pod", "StatefulSet"}
UNREAD: Final = "PreemptionConfig"
"""A kind of Kueue's API that is newer than the mirrored commit and not modelled; fields of this kind are not read."""

_OTHERS = {
    ("kueue.x-k8s.io", "ProvisioningRequestConfig"),
    ("kueue.x-k8s.io", "MultiKueueConfig"),
    ("kueue.x-k8s.io", "MultiKueueCluster"),
    ("kueue.x-k8s.io", UNREAD),
    ("trainer.kubeflow.org", "TrainingRuntime"),
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
}


FRAMEWORKS: Final = tuple(
    sorted(framework_of(versions[0], kind) for kind, versions in BUILT_IN.items() if kind != "CronJob")
)
"""Names that `integrations.frameworks` may contain."""
PODS_BY: Final = ("deployment", "leaderworkerset.x-k8s.io/leaderworkerset", "statefulset")
"""Frameworks that also enable the framework `pod`."""

_jobs = {(_group(version), kind): kind in _IF_QUEUED for kind, versions in BUILT_IN.items() for version in versions}


def add(api_version: str, kind: str) -> None:
    """Register a custom kind as a kind of job for the lifetime of the process."""
    _jobs.setdefault((_group(api_version), kind), False)


def is_job(doc: dict[str, Any], group: str) -> bool:
    """Return whether an object is a job.

    Objects of kinds that are usually not jobs, such as Deployment, are treated as jobs only if they have a queue name.
    A queue name on the pod template of a Deployment is sufficient to make the Deployment a job.
    """
    kind = str(doc.get("kind"))
    if_queued = _jobs.get((group, kind))
    if not if_queued:
        return if_queued is not None
    template = part(doc, "spec", "template") if kind == "Deployment" else {}
    return any(QUEUE_NAME in part(one, "metadata", "labels") for one in (doc, template))


def may_get_default_queue(doc: dict[str, Any], group: str) -> bool:
    """Return whether an object that names no queue would become a job if a LocalQueue named `default` exists.

    The result is true for a new object of a kind such as Pod or Deployment. The result is false for an object stored in
    a cluster, a pod on a node, and an object with an owner.

    Source: `pkg/controller/jobframework/defaults.go`, `pkg/controller/jobs/pod/pod_webhook.go`.
    """
    metadata = doc.get("metadata")
    if not _jobs.get((group, str(doc.get("kind")))) or is_job(doc, group) or not isinstance(metadata, dict):
        return False
    is_placed = "nodeName" in part(doc, "spec")
    return not (is_placed or any(metadata.get(name) for name in ("resourceVersion", "uid", "ownerReferences")))


def is_other(kind: str, group: str) -> bool:
    """Return whether a kind has no Python class but can affect admission."""
    return (group, kind) in _OTHERS


def is_annotated(job: dict[str, Any]) -> bool:
    """Return whether a job names its queue only in an annotation, as in v1alpha2."""
    annotations, labels = (part(job, "metadata", name) for name in ("annotations", "labels"))
    return bool(annotations.get(QUEUE_NAME)) and QUEUE_NAME not in labels


def with_queue_label(job: dict[str, Any]) -> dict[str, Any]:
    """Return the job, with a queue-name label added if it has only the queue-name annotation of v1alpha2."""
    if not is_annotated(job):
        return job
    metadata = job["metadata"]
    labels = {**part(metadata, "labels"), QUEUE_NAME: metadata["annotations"][QUEUE_NAME]}
    return {**job, "metadata": {**metadata, "labels": labels}}
