"""The supported releases of Kueue, and the release in the name of a container image."""

import re
from functools import cache

import msgspec

from kueuepy.errors import InvalidSpecError


class Release(msgspec.Struct, frozen=True, order=True):
    """A minor release of Kueue.

    Attributes:
        minor: The minor version, such as 18 for v0.18.
        patch: The patch release on which the profile is based, the newest one when the profile was created.
        name: The name of the release, such as `v0.18`.
    """

    minor: int
    patch: int
    name: str

    def __str__(self) -> str:
        """Return the name of the release."""
        return self.name

    @property
    def newest(self) -> str:
        """The patch release on which the profile is based, such as `v0.18.6`; `v0.20-devel` for the mirrored commit."""
        return f"v0.{self.minor}.{self.patch}" if self.name != DEVELOPMENT else DEVELOPMENT


DEVELOPMENT = "v0.20-devel"
"""The commit that kueuepy mirrors; it is not released yet."""

RELEASES = (
    Release(15, 8, "v0.15"),
    Release(16, 9, "v0.16"),
    Release(17, 8, "v0.17"),
    Release(18, 6, "v0.18"),
    Release(19, 2, "v0.19"),
    Release(20, 0, DEVELOPMENT),
)
"""All releases with a profile, the mirrored commit last."""

_VERSION = re.compile(r"v?0\.(\d+)(?:\.(\d+)|-devel)?", re.ASCII)


@cache
def release_of(version: str) -> Release:
    """Return the release of a version, such as `v0.18`, `0.18` or `v0.18.2`.

    All patch releases of a minor release have the same profile; `Rule.fixed` lists the patch releases in which a rule
    changed.

    >>> release_of("v0.18.2").newest
    'v0.18.6'

    Raises:
        InvalidSpecError: The version has no profile.
    """
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    for release in RELEASES:
        if found and release.minor == int(found[1]) and int(found[2] or 0) <= release.patch:
            return release
    known = ", ".join(release.name for release in RELEASES)
    newest = ", ".join(release.newest for release in RELEASES)
    raise InvalidSpecError(
        f"version: {version!r:.99} has no profile; it must be one of {known}, or a patch up to one of {newest}"
    )


def patch_of(version: str) -> int | None:
    """Return the patch number in a version such as `v0.18.2`; `None` if the version has none."""
    found = _VERSION.fullmatch(version)
    return int(found[2]) if found and found[2] else None


_SINCE = {
    16: """
        finished_workloads finished_workloads_total local_queue_finished_workloads local_queue_finished_workloads_total
    """,
    17: """
        cohort_subtree_admitted_active_workloads cohort_subtree_admitted_workloads_total cohort_subtree_quota
        cohort_subtree_resource_reservations
    """,
    18: """
        cluster_queue_info cluster_queue_resource_pending cohort_info local_queue_unadmitted_workloads
        unadmitted_workloads workload_eviction_latency_seconds
    """,
    19: "local_queue_admission_fair_sharing_usage",
    20: """
        execution_time_seconds local_queue_execution_time_seconds pending_scheduling_hashes
        preemption_target_recomputations_total
    """,
}
METRICS_SINCE = {name: minor for minor, names in _SINCE.items() for name in names.split()}
"""The minor release that added a metric, by the name of the metric without `kueue_`.

Metrics that are not listed are older than the oldest supported release.

Source: `pkg/metrics/metrics.go` of each release.
"""


def has_metric(release: Release, name: str) -> bool:
    """Return whether a release exports a metric.

    >>> from kueuepy.profiles import release_of
    >>> has_metric(release_of("v0.17"), "cohort_info"), has_metric(release_of("v0.18"), "cohort_info")
    (False, True)
    """
    return METRICS_SINCE.get(name.removeprefix("kueue_"), 0) <= release.minor
