"""Names of the Workloads that Kueue makes for jobs.

Mirrors `pkg/controller/jobframework/workload_names.go`.
"""

import hashlib

from kueuepy.errors.arguments import checked

_HASH_LENGTH = 5
_LONGEST = 253
_LONGEST_LABEL = 63


@checked
def workload_name(kind: str, group: str, name: str, uid: str = "", extra: str = "", *, short: bool = False) -> str:
    """The name of the Workload of a job.

    >>> workload_name("Job", "batch", "sample", "uid-1")
    'job-sample-4502e'

    Args:
        kind: The job's kind.
        group: The group of its API version, empty for core kinds.
        name: The job's name.
        uid: The job's uid; a job that is not in a cluster has none, and its Workload gets the same name each time.
        extra: What tells the Workloads of one elastic job apart: its generation.
        short: Whether the name must also fit into a label (feature gate `ShortWorkloadNames`).
    """
    # The version of the API is not part of what is hashed, so that the name survives its change.
    hashed = "\n".join([kind, group, name, uid, *([extra] if extra else [])])
    digest = hashlib.sha1(hashed.encode(), usedforsecurity=False).hexdigest()
    room = (_LONGEST_LABEL if short else _LONGEST) - 1 - _HASH_LENGTH
    return f"{kind.lower()}-{name}"[:room] + f"-{digest[:_HASH_LENGTH]}"
