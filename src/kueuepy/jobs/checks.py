"""Validation rules for the labels and annotations of all kinds of jobs, as in Kueue's webhooks.

Only the first problem found is reported.

Source: `pkg/controller/jobframework/validation.go:ValidateJobOnCreate` and
`pkg/util/webhook/validation_admissiongatedby.go`.
"""

from collections.abc import Mapping
from typing import Protocol

from kueuepy.jobs import keys
from kueuepy.jobs.fields import Section
from kueuepy.jobs.numbers import signed
from kueuepy.manifest.formats import LABEL_LENGTH, is_admission_gate, is_subdomain


class Checked(Protocol):
    """The attributes of a job that the rules use. `BaseJob` provides all attributes of this protocol."""

    @property
    def kind(self) -> str:
        """Name of the job kind, such as `Job`."""

    @property
    def root(self) -> Section:
        """The whole manifest."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels of the job."""

    @property
    def annotations(self) -> Mapping[str, str]:
        """Annotations of the job."""

    @property
    def is_elastic(self) -> bool:
        """Whether the job uses workload slices."""

    @property
    def is_elastic_kind(self) -> bool:
        """Whether Kueue supports elastic jobs of the kind."""

    @property
    def takes_prebuilt(self) -> bool:
        """Whether jobs of the kind may name a prebuilt Workload."""

    @property
    def checks_job_labels(self) -> bool:
        """Whether Kueue's webhook validates the labels for a prebuilt Workload and for the execution time."""

    def gate(self, name: str) -> bool:
        """Return whether a feature gate is on."""


def check_metadata(job: Checked) -> None:
    """Validate the labels and annotations of a job that Kueue reads.

    Raises:
        InvalidSpecError: A label or annotation is invalid, or is not supported for the kind.
    """
    metadata = job.root.section("metadata")
    _check_subdomain(job, "labels", keys.QUEUE_NAME)
    if job.checks_job_labels:
        _check_prebuilt(job)
        _check_execution_time(job)
    if job.is_elastic and not job.is_elastic_kind:
        raise metadata.section("annotations").error(
            keys.ELASTIC_JOB, f"is not supported for {job.kind}; it must be a Job, RayCluster, RayJob or RayService"
        )
    if job.gate("AdmissionGatedBy"):
        _check_gates(job)


def _check_execution_time(job: Checked) -> None:
    """Check that the maximum execution time is a positive number of seconds."""
    seconds = job.labels.get(keys.MAX_EXEC_TIME_SECONDS)
    if seconds is not None and (signed(seconds) or 0) <= 0:
        raise (
            job.root.section("metadata")
            .section("labels")
            .error(keys.MAX_EXEC_TIME_SECONDS, f'is "{seconds}"; it must be a whole number of seconds, greater than 0')
        )


def _check_prebuilt(job: Checked) -> None:
    """Check that the kind supports prebuilt Workloads, and that the name of the prebuilt Workload is valid."""
    annotation = job.annotations.get(keys.PREBUILT_WORKLOAD_NAME, "")
    is_read = job.gate("WorkloadIdentifierAnnotations") or len(annotation) > LABEL_LENGTH
    field = "annotations" if annotation and is_read else "labels"
    if prebuilt_workload_name(job) and not job.takes_prebuilt:
        at = job.root.section("metadata").section(field)
        raise at.error(keys.PREBUILT_WORKLOAD_NAME, f"is not supported for {job.kind}; leave it out")
    _check_subdomain(job, field, keys.PREBUILT_WORKLOAD_NAME)


def prebuilt_workload_name(job: Checked) -> str:
    """Return the name of the prebuilt Workload of a job; empty if the job names none.

    Source: `pkg/controller/jobframework/utils.go:PrebuiltWorkloadNameFor`.
    """
    annotation = job.annotations.get(keys.PREBUILT_WORKLOAD_NAME, "")
    label = job.labels.get(keys.PREBUILT_WORKLOAD_NAME, "")
    if job.gate("WorkloadIdentifierAnnotations"):
        return annotation or label
    return label or (annotation if len(annotation) > LABEL_LENGTH else "")


def max_execution_time(labels: Mapping[str, str]) -> int | None:
    """Return the maximum execution time of a job in seconds; `None` if the label is absent or invalid.

    Source: `pkg/controller/jobframework/utils.go:MaximumExecutionTimeSecondsForObject`.
    """
    seconds = signed(labels.get(keys.MAX_EXEC_TIME_SECONDS, ""), bits=32)
    return seconds if seconds is not None and seconds > 0 else None


def _check_subdomain(job: Checked, field: str, key: str) -> None:
    texts = job.root.section("metadata").texts(field)
    if key in texts and not is_subdomain(texts[key]):
        raise (
            job.root.section("metadata")
            .section(field)
            .error(key, f'is "{texts[key]}"; it must be a DNS subdomain: lower-case letters, digits, "-" and "."')
        )


def _check_gates(job: Checked) -> None:
    text = job.annotations.get(keys.ADMISSION_GATED_BY, "")
    if not text.strip():
        return
    gates = [gate.strip() for gate in text.split(",")]
    at = job.root.section("metadata").section("annotations")
    for gate in gates:
        if not is_admission_gate(gate):
            raise at.error(
                keys.ADMISSION_GATED_BY, f'has "{gate}"; a gate must be a name such as example.com/controller'
            )
    if len(set(gates)) < len(gates):
        raise at.error(keys.ADMISSION_GATED_BY, "names a gate twice; each must be named once")
