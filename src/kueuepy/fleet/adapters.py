"""The kinds of jobs that MultiKueue dispatches to workers, and their differences.

Source: `pkg/controller/admissionchecks/multikueue/workload.go:Reconcile,adapter,isPrimaryComponentWorkload`,
`pkg/controller/admissionchecks/multikueue/externalframeworks/adapter.go`, the `*_multikueue_adapter.go` of
`pkg/controller/jobs`, and for the default of `managedBy` `pkg/controller/jobframework/defaults.go`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from kueuepy.fleet.value import CONTROLLER
from kueuepy.jobs import keys
from kueuepy.manifest.body import part
from kueuepy.manifest.jobkinds import BUILT_IN, framework_of
from kueuepy.objects import Configuration, Workload


class Adapter(msgspec.Struct, frozen=True):
    """The properties of a kind of job that decide how MultiKueue dispatches it.

    Attributes:
        controller: The value of `managedBy` that Kueue replaces by MultiKueue, as it does for a job without
            `managedBy`; empty if Kueue replaces nothing.
        section: Path of the section with `managedBy`; empty if MultiKueue dispatches all jobs of the kind.
        said: The section that the message of a rejection names.
        copies: When the status of the job is copied from the worker: `UnlessSuspended` (not while only the manager's
            job is suspended), `Always` or `Never`.
    """

    controller: str = ""
    section: tuple[str, ...] = ("spec",)
    said: str = "spec"
    copies: str = "Always"


BATCH = Adapter("kubernetes.io/job-controller", copies="UnlessSuspended")
_EXTERNAL = Adapter(said=".spec")
_TRAINING = Adapter("kubeflow.org/training-operator", ("spec", "runPolicy"))
_RAY = Adapter("ray.io/kuberay-operator")
ADAPTERS = {
    "AppWrapper": Adapter("workload.codeflare.dev/appwrapper-controller"),
    "Job": BATCH,
    "JobSet": Adapter("jobset.sigs.k8s.io/jobset-controller"),
    "LeaderWorkerSet": Adapter(section=(), copies="Never"),
    "MPIJob": Adapter("kubeflow.org/mpi-operator", ("spec", "runPolicy"), "spec.runPolicy"),
    "Pod": Adapter(section=()),
    # The manager's controllers of StatefulSets and LeaderWorkerSets would overwrite a copied status.
    "StatefulSet": Adapter(section=(), copies="Never"),
    "TrainJob": Adapter("trainer.kubeflow.org/trainjob-controller"),
    **dict.fromkeys(("JAXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"), _TRAINING),
    **dict.fromkeys(("RayCluster", "RayJob", "RayService"), _RAY),
}


def adapter_of(workload: Workload, job: dict[str, Any] | None, config: Configuration) -> Adapter | str:
    """Return the adapter for a workload, or the message with which MultiKueue rejects the workload.

    A workload without an owner counts as the workload of a batch Job, and a job without a known manifest as managed by
    MultiKueue.

    Args:
        workload: The workload.
        job: The manifest of its job, if it is known.
        config: The Configuration of the manager.
    """
    owner, adapter = _named_owner(workload), None
    if not workload.annotations.get(keys.JOB_OWNER_NAME) or (adapter := _find(*owner, config)) is None:
        owner = _owner(workload, job)
        adapter = _find(*owner, config) if any(owner) else BATCH
    if adapter is None:
        return 'No multikueue adapter found for owner kind "{}/{}, Kind={}"'.format(*owner)
    if job is None or not adapter.section:
        return adapter
    managed_by = part(job, *adapter.section).get("managedBy") or ""
    if managed_by == CONTROLLER or (adapter.controller and managed_by in ("", adapter.controller)):
        return adapter
    expected = f'Expecting {adapter.said}.managedBy to be "{CONTROLLER}" not "{managed_by}"'
    return f"The owner is not managed by Kueue: {expected}"


class SharedJob(NamedTuple):
    """The part of a workload in a job that it shares with other workloads.

    Attributes:
        role: `Leads` for the first group of a LeaderWorkerSet, `Follows` for the other groups, and `Waits` for all of
            them while a group has no workload. `Alone` for the slices of an elastic job.
        kin: The keys of the other workloads of the job.
    """

    role: str = "Alone"
    kin: tuple[str, ...] = ()


def shared_jobs(
    workloads: Iterable[Workload], job_of: Callable[[str], dict[str, Any] | None], config: Configuration
) -> dict[str, SharedJob]:
    """Return the parts of the workloads that share a job: the groups of a LeaderWorkerSet, and slices.

    Args:
        workloads: All workloads of the manager.
        job_of: A function that returns the manifest of the job of a workload's key, or `None` if it is not known.
        config: The Configuration of the manager.
    """
    has_slices = config.enabled("ElasticJobsViaWorkloadSlices")
    members: dict[tuple[str, ...], list[Workload]] = defaultdict(list)
    for workload in workloads:
        noted = workload.annotations
        if _named_owner(workload)[2] == "LeaderWorkerSet":
            members[workload.namespace, noted.get(keys.JOB_OWNER_NAME, "")].append(workload)
        elif has_slices and noted.get(keys.ELASTIC_JOB) == "true":
            members[workload.namespace, "", noted.get(keys.WORKLOAD_SLICE_NAME) or workload.name].append(workload)
    found = {}
    for job, group in members.items():
        first = min((index for index in map(_index, group) if index >= 0), default=-1)
        replicas = part(job_of(group[0].key) or {}, "spec").get("replicas") or 1
        for workload in group:
            role = "Waits" if len(group) < replicas else "Leads" if _index(workload) == first >= 0 else "Follows"
            kin = tuple(other.key for other in group if other is not workload)
            found[workload.key] = SharedJob("Alone" if len(job) > 2 else role, kin)  # noqa: PLR2004 - the key of slices
    return found


def _index(workload: Workload) -> int:
    """Return the index of a group of a LeaderWorkerSet; -1 without an index."""
    index = workload.annotations.get(keys.COMPONENT_WORKLOAD_INDEX, "")
    return int(index) if index.isdigit() else -1


def _named_owner(workload: Workload) -> tuple[str, str, str]:
    """Return the group, version and kind of the owner that an annotation names."""
    version, _, kind = workload.annotations.get(keys.JOB_OWNER_GVK, "").partition(", Kind=")
    return *_split(version), kind


def _owner(workload: Workload, job: dict[str, Any] | None) -> tuple[str, str, str]:
    """Return the group, version and kind of the job; empty texts for a workload without an owner."""
    references = workload.owner_references
    owner = job or next((one for one in references if one.get("controller")), next(iter(references), {}))
    kind = owner.get("kind", "")
    return *_split(owner.get("apiVersion", "")), "Pod" if kind == "List" else kind


def _split(api_version: str) -> tuple[str, str]:
    group, _, version = api_version.rpartition("/")
    return group, version


def _find(group: str, version: str, kind: str, config: Configuration) -> Adapter | None:
    api_version = f"{group}/{version}" if group else version
    if kind in ADAPTERS and api_version in BUILT_IN[kind]:
        enabled = config.frameworks is None or framework_of(api_version, kind) in config.frameworks
        return ADAPTERS[kind] if enabled else None
    is_external = f"{kind}.{version}.{group}" in config.multi_kueue.external_frameworks
    return _EXTERNAL if is_external and config.enabled("MultiKueueAdaptersForCustomJobs") else None
