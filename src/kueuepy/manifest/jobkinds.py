"""Which kinds are jobs, and which others admission may need; both are kept as they are written."""

from typing import Any

QUEUE_NAME = "kueue.x-k8s.io/queue-name"
_JOBS = {
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("jobset.x-k8s.io", "JobSet"),
    ("ray.io", "RayCluster"),
    ("ray.io", "RayJob"),
    ("ray.io", "RayService"),
    ("kubeflow.org", "PyTorchJob"),
    ("kubeflow.org", "TFJob"),
    ("kubeflow.org", "MPIJob"),
    ("kubeflow.org", "XGBoostJob"),
    ("kubeflow.org", "PaddleJob"),
    ("kubeflow.org", "JAXJob"),
    ("trainer.kubeflow.org", "TrainJob"),
    ("workload.codeflare.dev", "AppWrapper"),
    ("sparkoperator.k8s.io", "SparkApplication"),
}
_JOBS_IF_QUEUED = {
    ("", "Pod"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
}
_OTHERS = {
    ("kueue.x-k8s.io", "ProvisioningRequestConfig"),
    ("kueue.x-k8s.io", "MultiKueueConfig"),
    ("kueue.x-k8s.io", "MultiKueueCluster"),
    ("trainer.kubeflow.org", "TrainingRuntime"),
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
}


def is_job(doc: dict[str, Any], group: str) -> bool:
    """Whether an object is a job; of kinds that mostly are none, only those with a queue name count."""
    kind = (group, str(doc.get("kind")))
    return kind in _JOBS or (kind in _JOBS_IF_QUEUED and QUEUE_NAME in _texts(doc, "labels"))


def is_other(kind: str, group: str) -> bool:
    """Whether an object is none that has a record, but may be needed."""
    return (group, kind) in _OTHERS


def is_annotated(job: dict[str, Any]) -> bool:
    """Whether a job names its queue by an annotation alone, as it was in v1alpha2."""
    return bool(_texts(job, "annotations").get(QUEUE_NAME)) and QUEUE_NAME not in _texts(job, "labels")


def with_queue_label(job: dict[str, Any]) -> dict[str, Any]:
    """The job with its queue name as a label, where it is an annotation as it was in v1alpha2."""
    if not is_annotated(job):
        return job
    name, labels = _texts(job, "annotations")[QUEUE_NAME], _texts(job, "labels")
    return {**job, "metadata": {**job["metadata"], "labels": {**labels, QUEUE_NAME: name}}}


def _texts(doc: dict[str, Any], field: str) -> dict[str, str]:
    metadata = doc.get("metadata")
    texts = metadata.get(field) if isinstance(metadata, dict) else None
    return texts if isinstance(texts, dict) else {}
