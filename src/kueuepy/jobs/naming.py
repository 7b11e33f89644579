"""Names of the Workloads that Kueue creates for jobs.

Source: `pkg/controller/jobframework/workload_names.go`.
"""

import hashlib

from kueuepy.errors.arguments import checked

_HASH_LENGTH = 5
_LONGEST = 253
_LONGEST_LABEL = 63


@checked
def workload_name(kind: str, group: str, name: str, uid: str = "", extra: str = "", *, short: bool = False) -> str:
    """Return the name of a job's Workload.

    >>> workload_name("Job", "batch", "sample", "uid-1")
    'job-sample-4502e'

    Args:
        kind: Kind of the job.
        group: API group of the job; empty for Kubernetes' core API.
        name: Name of the job.
        uid: UID of the job; empty for a job that is not from a cluster.
        extra: Generation of an elastic job, which distinguishes its Workloads; empty for other jobs.
        short: Whether the name must also fit into a label, with at most 63 characters (feature gate
            `ShortWorkloadNames`). Default: `False`, which allows 253 characters.

    Returns:
        The name, which consists of the kind in lower case, the name of the job and 5 digits of a hash.
    """
    # The hash does not include the API version, so that the name does not change with the version.
    hashed = "\n".join([kind, group, name, uid, *([extra] if extra else [])])
    digest = hashlib.sha1(hashed.encode(), usedforsecurity=False).hexdigest()
    room = (_LONGEST_LABEL if short else _LONGEST) - 1 - _HASH_LENGTH
    return f"{kind.lower()}-{name}"[:room] + f"-{digest[:_HASH_LENGTH]}"
