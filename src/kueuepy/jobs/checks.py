"""Validation rules for the labels and annotations of all kinds of jobs, as in Kueue's webhooks.

Only the first problem found is reported.

Source: `pkg/controller/jobframework/validation.go:ValidateJobOnCreate` and
`pkg/util/webhook/validation_admissiongatedby.go`.
"""

from collections.abc import Mapping

from kueuepy.jobs import keys
from kueuepy.jobs.fields import Section
from kueuepy.jobs.numbers import signed
from kueuepy.manifest.formats import is_admission_gate, is_subdomain


def check_subdomain(metadata: Section, field: str, key: str) -> None:
    """Check that a label or annotation is a DNS subdomain, if it is present.

    Args:
        metadata: The metadata of a job.
        field: `labels` or `annotations`.
        key: The key of the label or annotation.

    Raises:
        InvalidSpecError: The value is not a DNS subdomain.
    """
    texts = metadata.texts(field)
    if key in texts and not is_subdomain(texts[key]):
        raise metadata.section(field).error(
            key, f'is "{texts[key]}"; it must be a DNS subdomain: lower-case letters, digits, "-" and "."'
        )


def check_execution_time(metadata: Section) -> None:
    """Check that the maximum execution time of a job is a positive number of seconds.

    Raises:
        InvalidSpecError: The label is not a positive integer.
    """
    seconds = metadata.texts("labels").get(keys.MAX_EXEC_TIME_SECONDS)
    if seconds is not None and (signed(seconds) or 0) <= 0:
        raise metadata.section("labels").error(
            keys.MAX_EXEC_TIME_SECONDS, f'is "{seconds}"; it must be a whole number of seconds, greater than 0'
        )


def max_execution_time(labels: Mapping[str, str]) -> int | None:
    """Return the maximum execution time of a job in seconds; `None` if the label is absent or invalid.

    Source: `pkg/controller/jobframework/utils.go:MaximumExecutionTimeSecondsForObject`.
    """
    seconds = signed(labels.get(keys.MAX_EXEC_TIME_SECONDS, ""), bits=32)
    return seconds if seconds is not None and seconds > 0 else None


def check_gates(metadata: Section) -> None:
    """Check that the admission gates of a job are unique names with a domain and a path.

    Raises:
        InvalidSpecError: A gate is not a valid name, or occurs twice.
    """
    text = metadata.texts("annotations").get(keys.ADMISSION_GATED_BY, "")
    if not text.strip():
        return
    gates = [gate.strip() for gate in text.split(",")]
    at = metadata.section("annotations")
    for gate in gates:
        if not is_admission_gate(gate):
            raise at.error(
                keys.ADMISSION_GATED_BY, f'has "{gate}"; a gate must be a name such as example.com/controller'
            )
    if len(set(gates)) < len(gates):
        raise at.error(keys.ADMISSION_GATED_BY, "names a gate twice; each must be named once")
