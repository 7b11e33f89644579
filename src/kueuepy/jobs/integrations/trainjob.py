"""TrainJob of Kubeflow Trainer, which becomes a JobSet through its runtime.

Source: `pkg/controller/jobs/trainjob/trainjob_controller.go` and `trainjob_webhook.go`.
"""

import copy
from collections.abc import Sequence

from kueuepy.errors import NotFoundError
from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.fields import Document, Section, without_nulls
from kueuepy.jobs.integrations.jobset import are_replicas_ready, replicated_job_slots, succeeded_pods
from kueuepy.jobs.integrations.trainer_runtime import jobset_spec
from kueuepy.jobs.job import Finished
from kueuepy.jobs.template import METADATA_FIELDS, PodSetInfo
from kueuepy.manifest.body import part
from kueuepy.objects import PodSet, ReclaimablePod

_GROUP = "trainer.kubeflow.org"
_NAMESPACED = "TrainingRuntime"
_CLUSTER_WIDE = "ClusterTrainingRuntime"
_EMPTY_PATCH: Document = {"template": {"spec": {}}}


class TrainJob(BaseJob):
    """A TrainJob, with one pod set per replicated job of its runtime. The runtime must be among the related objects.

    The changes that an admission makes are written to Kueue's entry in `spec.runtimePatches`, not to a template.
    """

    kind = "TrainJob"
    checks_groups = False

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set sources of the JobSet.

        Changes to the templates in the pod set sources do not affect the TrainJob.
        """
        return replicated_job_slots(self.jobset(root))

    def jobset(self, root: Section) -> Section:
        """Return the spec of the JobSet for the TrainJob."""
        return jobset_spec(root, self.runtime())

    def runtime(self) -> Section:
        """Return the runtime that the job refers to.

        Raises:
            NotFoundError: The runtime is not among the related objects.
        """
        reference = self.root.section("spec").section("runtimeRef")
        kind, name = reference.text("kind", _CLUSTER_WIDE), reference.text("name")
        if reference.text("apiGroup", _GROUP) != _GROUP or kind not in (_NAMESPACED, _CLUSTER_WIDE):
            raise reference.error("kind", f'is "{kind}"; it must be {_CLUSTER_WIDE} or {_NAMESPACED} of {_GROUP}')
        for manifest in self.related:
            if self._is_named(manifest, kind, name):
                return Section(f'{kind} "{name}"', "", without_nulls(manifest))
        raise NotFoundError(
            f'{self.owner}: spec.runtimeRef: "{name}" names no {kind}; its manifest must be among the related objects'
        )

    def _is_named(self, manifest: Document, kind: str, name: str) -> bool:
        """Return whether a manifest is the runtime with the given kind and name."""
        metadata = part(manifest, "metadata")
        namespace = metadata.get("namespace", "default") if kind == _NAMESPACED else self.namespace
        return (manifest.get("kind"), metadata.get("name"), namespace) == (kind, name, self.namespace)

    def on_suspended(self, root: Section) -> None:
        """Add Kueue's entry to the runtime patches, unless Kueue has already added it.

        Kueue's webhook adds the entry once, when the object is created, regardless of other entries.
        """
        spec = root.section("spec")
        entries = spec.sections("runtimePatches")
        if not self.is_stored and all(entry.data.get("trainingRuntimeSpec") != _EMPTY_PATCH for entry in entries):
            entry = {"manager": keys.RUNTIME_PATCH_MANAGER, "trainingRuntimeSpec": copy.deepcopy(_EMPTY_PATCH)}
            spec.data["runtimePatches"] = [*spec.items("runtimePatches"), entry]

    def started(self, infos: Sequence[PodSetInfo]) -> Document:
        """Return the running manifest, with a patch for each replicated job that changes.

        Raises:
            InvalidSpecError: The number of PodSetInfos differs from the number of replicated jobs, or Kueue's entry is
                missing.
        """
        root = self._copy()
        self.require_length(len(self.slots(root)), infos)
        patch = self._own_patch(root)
        if patch is None:
            raise root.section("spec").error(
                "runtimePatches", f"has no entry of {keys.RUNTIME_PATCH_MANAGER}; start from the suspended manifest"
            )
        patch.data["replicatedJobs"] = [_replicated_job_patch(info) for info in infos]
        self._set_suspend(root, value=False)
        return root.data

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:  # noqa: ARG002 all changes are in the patch
        """Return the suspended manifest, with Kueue's entry empty."""
        root = self._copy()
        self._set_suspend(root, value=True)
        patch = self._own_patch(root)
        if patch is not None:
            patch.data.pop("replicatedJobs", None)
        return root.data

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """Return the pods of replicated jobs that have succeeded."""
        statuses = self.status().sections("jobsStatus")
        succeeded = {status.text("name"): status.count("succeeded", 0) for status in statuses}
        return succeeded_pods(self.jobset(self.root), succeeded) if statuses else ()

    def finished(self) -> Finished | None:
        """Determine the outcome of the job from its conditions."""
        end = self.condition("Complete") or self.condition("Failed")
        return None if end is None else Finished(end.text("message"), end.text("type") == "Complete")

    def pods_ready(self) -> bool:
        """Return whether the Jobs of all replicas are ready or have succeeded."""
        return are_replicas_ready(self.jobset(self.root), self.status().sections("jobsStatus"))

    def _own_patch(self, root: Section) -> Section | None:
        """Return the spec in Kueue's entry of the runtime patches."""
        for entry in root.section("spec").sections("runtimePatches"):
            if entry.text("manager") == keys.RUNTIME_PATCH_MANAGER:
                return entry.walk("trainingRuntimeSpec.template.spec")
        return None


def _replicated_job_patch(info: PodSetInfo) -> Document:
    """Return the patch of one replicated job, which becomes part of Kueue's entry in `spec.runtimePatches`."""
    spec = info.to_dict()
    metadata = {key: spec.pop(key) for key in METADATA_FIELDS if key in spec}
    return {"name": info.name, "template": {"spec": {"template": {"metadata": metadata, "spec": spec}}}}
