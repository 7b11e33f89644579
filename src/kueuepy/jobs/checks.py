"""What Kueue's webhooks refuse in the labels and annotations of every kind of job.

Mirrors `pkg/controller/jobframework/validation.go:ValidateJobOnCreate` and
`pkg/util/webhook/validation_admissiongatedby.go`. The first problem found is reported.
"""

import re
from collections.abc import Mapping
from typing import Protocol

from kueuepy.jobs import keys
from kueuepy.jobs.fields import Section
from kueuepy.jobs.numbers import signed
from kueuepy.jobs.topology_check import is_subdomain

_MAX_GATE = 63
_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")


class Checked(Protocol):
    """What is looked at of a job of any kind; a `BaseJob` has it."""

    @property
    def kind(self) -> str:
        """Its kind."""

    @property
    def root(self) -> Section:
        """Its whole manifest."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""

    @property
    def annotations(self) -> Mapping[str, str]:
        """Its annotations."""

    @property
    def is_elastic(self) -> bool:
        """Whether it asks for workload slices."""

    @property
    def is_elastic_kind(self) -> bool:
        """Whether jobs of its kind may."""

    @property
    def takes_prebuilt(self) -> bool:
        """Whether jobs of its kind may name a Workload that is there already."""

    @property
    def checks_job_labels(self) -> bool:
        """Whether the webhook of its kind checks the name of a prebuilt Workload and the execution time."""

    def gate(self, name: str) -> bool:
        """Whether a feature gate is on."""


def check_metadata(job: Checked) -> None:
    """Check the labels and annotations by which a job talks to Kueue.

    Raises:
        InvalidSpecError: One of them is wrong, or is not for this kind.
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
    """Check that the execution time is a number of seconds."""
    seconds = job.labels.get(keys.MAX_EXEC_TIME_SECONDS)
    if seconds is not None and (signed(seconds) or 0) <= 0:
        raise (
            job.root.section("metadata")
            .section("labels")
            .error(keys.MAX_EXEC_TIME_SECONDS, f'is "{seconds}"; it must be a whole number of seconds, greater than 0')
        )


def _check_prebuilt(job: Checked) -> None:
    """Check that the kind takes a Workload that is there already, and the name of that Workload."""
    annotation = job.annotations.get(keys.PREBUILT_WORKLOAD_NAME, "")
    is_read = job.gate("WorkloadIdentifierAnnotations") or len(annotation) > _MAX_GATE
    field = "annotations" if annotation and is_read else "labels"
    if prebuilt_workload_name(job) and not job.takes_prebuilt:
        at = job.root.section("metadata").section(field)
        raise at.error(keys.PREBUILT_WORKLOAD_NAME, f"is not supported for {job.kind}; leave it out")
    _check_subdomain(job, field, keys.PREBUILT_WORKLOAD_NAME)


def prebuilt_workload_name(job: Checked) -> str:
    """The name of the Workload that was made for a job beforehand; empty for none.

    Source: `pkg/controller/jobframework/utils.go:PrebuiltWorkloadNameFor`.
    """
    annotation = job.annotations.get(keys.PREBUILT_WORKLOAD_NAME, "")
    label = job.labels.get(keys.PREBUILT_WORKLOAD_NAME, "")
    if job.gate("WorkloadIdentifierAnnotations"):
        return annotation or label
    return label or (annotation if len(annotation) > _MAX_GATE else "")


def max_execution_time(labels: Mapping[str, str]) -> int | None:
    """For how many seconds a job with these labels may run in all; `None` for ever, or if the label is no such number.

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
        domain, slash, path = gate.partition("/")
        if not slash or not is_subdomain(domain) or not _PATH.fullmatch(path) or len(gate) > _MAX_GATE:
            raise at.error(
                keys.ADMISSION_GATED_BY, f'has "{gate}"; a gate must be a name such as example.com/controller'
            )
    if len(set(gates)) < len(gates):
        raise at.error(keys.ADMISSION_GATED_BY, "names a gate twice; each must be named once")
