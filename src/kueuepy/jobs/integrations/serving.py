"""Deployment and StatefulSet: objects that make pods which run until they are deleted.

Mirrors `pkg/controller/jobs/deployment/deployment_webhook.go`, and of `pkg/controller/jobs/statefulset`
`statefulset_reconciler.go:constructWorkload`, `statefulset_pod_reconciler.go:setDefault` and
`statefulset_webhook.go`.
"""

import copy
from collections.abc import Sequence

from kueuepy.jobs import keys
from kueuepy.jobs.base import ParentJob, Slot
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.integrations.pod import Pod
from kueuepy.jobs.topology import PodIndex
from kueuepy.manifest.jobkinds import BUILT_IN

_STATEFUL_SET = "statefulset"
_MOST_PODS = 150_000  # of a cluster, as Kubernetes is built for


class Deployment(ParentJob):
    """A Deployment: each of its pods is a job of its own, so that it may run with fewer than it asks for."""

    kind = "Deployment"
    api_versions = BUILT_IN["Deployment"]

    def slots(self, root: Section) -> Sequence[Slot]:
        """The template of one pod."""
        template = root.section("spec").section("template")
        return [Slot("main", 1, template, index=PodIndex(keys.POD_GROUP_POD_INDEX), keeps_metadata=False)]

    def jobs(self) -> Sequence[Pod]:
        """Its pods, held back; they are numbered here, where a cluster gives them random names."""
        template = self._section(self.suspended()).walk("spec.template")
        pods = (self._pod(template, number) for number in range(replicas(self)))
        return [Pod(Pod(pod, config=self.config).suspended(), config=self.config) for pod in pods]

    def on_suspended(self, root: Section) -> None:
        """Passes on to its pods their queue, their priority, and that they are held back."""
        template = root.section("spec").section("template").ensure("metadata")
        template.ensure("annotations").data[keys.SUSPENDING_PARENT] = "deployment"
        passed = {key: self.labels[key] for key in (keys.QUEUE_NAME, keys.PRIORITY_CLASS) if self.labels.get(key)}
        template.ensure("labels").data.update({keys.MANAGED: "true"} | passed)

    def _pod(self, template: Section, number: int) -> Document:
        metadata = copy.deepcopy(template.section("metadata").data)
        metadata.update(name=f"{self.name}-{number}", namespace=self.namespace)
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": copy.deepcopy(template.section("spec").data),
        }


class StatefulSet(ParentJob):
    """A StatefulSet: one Workload for all its replicas, in pod set `main`. It never finishes."""

    kind = "StatefulSet"
    api_versions = BUILT_IN["StatefulSet"]

    def slots(self, root: Section) -> Sequence[Slot]:
        """The template; the pod set has only its spec."""
        spec = root.section("spec")
        index = PodIndex(keys.APPS_POD_INDEX)
        return [Slot("main", spec.count("replicas", 1), spec.section("template"), index=index, keeps_metadata=False)]

    def jobs(self) -> "Sequence[StatefulSet]":
        """Itself; without replicas, or made by another of Kueue's kinds, it gets no Workload."""
        return (self,) if self._is_own and self.root.section("spec").count("replicas", 1) else ()

    def validate(self) -> None:
        """Refuses what is refused of every kind."""
        super(ParentJob, self).validate()

    def workload_name(self) -> str:
        """The name that Kueue makes for it."""
        return self.name_workload(self.name)

    def workload_annotations(self) -> dict[str, str]:
        """The marks of a group's Workload, and of the object that it is for."""
        return group_workload_annotations(self)

    def pods(self) -> Document:
        """Its pods as Kueue marks them: a List of one group that is admitted at once and served for ever.

        Start them with the infos of the StatefulSet's Workload.
        """
        template = self._section(self.suspended()).walk("spec.template")
        count = replicas(self)
        passed = {key: self.labels[key] for key in (keys.QUEUE_NAME, keys.PRIORITY_CLASS) if self.labels.get(key)}
        items = [
            group_pod(
                template,
                f"{self.name}-{number}",
                self,
                labels={keys.APPS_POD_INDEX: str(number)} | passed,
                annotations={
                    keys.POD_GROUP_TOTAL_COUNT: str(count),
                    keys.POD_GROUP_FAST_ADMISSION: "true",
                    keys.POD_GROUP_SERVING: "true",
                    keys.POD_GROUP_POD_INDEX_LABEL: keys.APPS_POD_INDEX,
                    keys.ROLE_HASH: "main",
                },
            )
            for number in range(count)
        ]
        return {"apiVersion": "v1", "kind": "List", "items": items}

    def on_suspended(self, root: Section) -> None:
        """Passes on to its pods that they are held back."""
        if self._is_own:
            template = root.section("spec").section("template").ensure("metadata")
            template.ensure("annotations").data[keys.SUSPENDING_PARENT] = _STATEFUL_SET

    def on_hold(self) -> bool:
        """Whether it has no replicas."""
        return not self.root.section("spec").count("replicas", 1)

    @property
    def _is_own(self) -> bool:
        """Whether it is not made by another of Kueue's kinds, which then holds its pods back."""
        metadata = self.root.section("spec").section("template").find("metadata")
        annotations = metadata.texts("annotations") if metadata else {}
        return annotations.get(keys.SUSPENDING_PARENT, _STATEFUL_SET) == _STATEFUL_SET


def replicas(job: ParentJob) -> int:
    """How many replicas there are, each of which becomes a pod here.

    Raises:
        InvalidSpecError: They are more than a cluster has pods.
    """
    spec = job.root.section("spec")
    count = spec.count("replicas", 1)
    if count > _MOST_PODS:
        raise spec.error("replicas", f"is {count}; each becomes a pod, and they must be at most {_MOST_PODS}")
    return count


def group_workload_annotations(job: ParentJob) -> dict[str, str]:
    """The marks of the Workload of an object whose pods are a group."""
    group, _, version = job.api_versions[0].partition("/")
    return {
        keys.IS_GROUP_WORKLOAD: "true",
        keys.JOB_OWNER_GVK: f"{group}/{version}, Kind={job.kind}",
        keys.JOB_OWNER_NAME: job.name,
    }


def group_pod(
    template: Section, name: str, job: ParentJob, *, labels: dict[str, str], annotations: dict[str, str]
) -> Document:
    """A pod of an object whose pods are a group, with the name of the group's Workload."""
    workload = job.workload_name()
    metadata = copy.deepcopy(template.section("metadata").data)
    metadata |= {"name": name, "namespace": job.namespace}
    metadata["labels"] = metadata.get("labels", {}) | {keys.MANAGED: "true"} | labels
    metadata["annotations"] = metadata.get("annotations", {}) | annotations
    metadata["annotations"] |= {keys.POD_GROUP_NAME: workload, keys.PREBUILT_WORKLOAD_NAME: workload}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": copy.deepcopy(template.section("spec").data),
    }
    return Pod(pod, config=job.config).suspended()
