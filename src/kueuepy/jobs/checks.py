"""What Kueue's webhooks refuse in the labels and annotations of every kind of job.

Mirrors `pkg/controller/jobframework/validation.go:ValidateJobOnCreate` and
`pkg/util/webhook/validation_admissiongatedby.go`. The first problem found is reported.
"""

import re
from collections.abc import Mapping
from typing import Protocol

from kueuepy.jobs import keys
from kueuepy.jobs.fields import Section
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

    def gate(self, name: str) -> bool:
        """Whether a feature gate is on."""


def check_metadata(job: Checked) -> None:
    """Checks the labels and annotations by which a job talks to Kueue.

    Raises:
        InvalidSpecError: One of them is wrong, or is not for this kind.
    """
    metadata = job.root.section("metadata")
    _check_subdomain(job, "labels", keys.QUEUE_NAME)
    if prebuilt_workload_name(job):
        _check_prebuilt(job)
    seconds = job.labels.get(keys.MAX_EXEC_TIME_SECONDS)
    if seconds is not None and not 0 < _number(seconds) < 2**63:
        raise metadata.section("labels").error(
            keys.MAX_EXEC_TIME_SECONDS, f'is "{seconds}"; it must be a whole number of seconds, greater than 0'
        )
    if job.is_elastic and not job.is_elastic_kind:
        raise metadata.section("annotations").error(
            keys.ELASTIC_JOB, f"is not supported for {job.kind}; it must be a Job, RayCluster, RayJob or RayService"
        )
    if job.gate("AdmissionGatedBy"):
        _check_gates(job)


def _check_prebuilt(job: Checked) -> None:
    """Checks that the kind takes a Workload that is there already, and the name of that."""
    field = "annotations" if job.annotations.get(keys.PREBUILT_WORKLOAD_NAME) else "labels"
    if not job.takes_prebuilt:
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
    seconds = _number(labels.get(keys.MAX_EXEC_TIME_SECONDS, ""))
    return seconds if 0 < seconds < 2**31 else None


def _number(text: str) -> int:
    """The whole number that a text is, or 0 if it is none or negative."""
    digits = text.removeprefix("+")
    return int(digits) if digits.isascii() and digits.isdigit() else 0


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
