"""A group of plain Pods: one job of as many pods as its members say.

Mirrors `pkg/controller/jobs/pod/pod_controller.go` for groups: `constructGroupPodSets`, `validatePodGroupMetadata`,
`ConstructComposableWorkload`, `Run`, `Stop`, `Finished`, `ReclaimablePods`.
"""

import copy
from collections import Counter
from collections.abc import Iterable, Sequence

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import checks, keys
from kueuepy.jobs.base import MAX_POD_SETS, BaseJob, PodSetSource
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.integrations.pod import Pod
from kueuepy.jobs.job import Finished
from kueuepy.jobs.numbers import unsigned, wrapped
from kueuepy.jobs.template import PodSetInfo
from kueuepy.jobs.topology import PodIndex
from kueuepy.objects import Configuration, PodSet, ReclaimablePod

_NO_CONFIGURATION = Configuration()


class PodGroup(BaseJob):
    """Pods of one group, as a manifest of kind List: one pod set for each role, in the order of the roles' hashes.

    Attributes:
        pods: The pods, in the order of the list.
    """

    kind = "List"
    api_versions = ("v1",)

    def __init__(
        self, manifest: Document, *, config: Configuration = _NO_CONFIGURATION, related: Iterable[Document] = ()
    ) -> None:
        """Reads a List of the pods of one group.

        Raises:
            InvalidSpecError: There are no pods, or they are not of one group.
        """
        super().__init__(manifest, config=config, related=related)
        items = Section("List", "", self.manifest).sections("items")
        self.pods = [Pod(item.data, config=config, related=related) for item in items]
        groups = sorted({f"{pod.namespace}/{pod.group_name}" for pod in self.pods})
        if len(groups) != 1 or groups[0].endswith("/"):
            found = ", ".join(groups) if self.pods else "no pods"
            raise InvalidSpecError(f"List: items: has {found}; it must have the pods of one group")

    @property
    def root(self) -> Section:
        """The first pod, whose labels and annotations stand for the group's."""
        return Section(self.owner, "items[0]", self.pods[0].manifest)

    @property
    def name(self) -> str:
        """The group's name."""
        return self.pods[0].group_name

    @property
    def namespace(self) -> str:
        """The group's namespace."""
        return self.pods[0].namespace

    @property
    def owner(self) -> str:
        """The group as messages name it: `pod group "team-a/train"`."""
        return f'pod group "{self.namespace}/{self.name}"'

    @property
    def total_count(self) -> int:
        """The number of pods of the complete group, as the first pod says.

        Raises:
            InvalidSpecError: The annotation is missing, or is not a whole number greater than 0.
        """
        return self.pods[0].total_count()

    @property
    def is_fast(self) -> bool:
        """Whether the group is admitted from its first pod on."""
        return self.annotations.get(keys.POD_GROUP_FAST_ADMISSION) == "true"

    @property
    def is_serving(self) -> bool:
        """Whether the group runs on for ever."""
        return self.annotations.get(keys.POD_GROUP_SERVING) == "true"

    def workload_name(self) -> str:
        """The prebuilt Workload's name, or else the group's."""
        return checks.prebuilt_workload_name(self) or self.name

    def workload_labels(self) -> dict[str, str]:
        """None: the Workload is of all pods."""
        return {}

    def workload_annotations(self) -> dict[str, str]:
        """The mark of a group's Workload."""
        return {keys.IS_GROUP_WORKLOAD: "true"}

    def members(self) -> list[Pod]:
        """The pods that count: runnable, and no more than the group has; those that run, and older ones, go first."""
        runnable = [pod for pod in self.pods if pod.is_runnable]
        if len(runnable) <= self.total_count:
            return runnable
        return sorted(runnable, key=_keeping_order)[: self.total_count]

    def slots(self, root: Section) -> Sequence[PodSetSource]:  # noqa: ARG002 each pod has its own manifest
        """The first pod of each role, or of a fast group the first pod for all."""
        members = self.members()
        if self.is_fast:
            members = members[:1]
        counts = Counter({pod.role: wrapped(self.total_count) for pod in members}) if self.is_fast else _roles(members)
        firsts = {pod.role: pod for pod in reversed(members)}
        index = PodIndex(keys.POD_GROUP_POD_INDEX)
        return [
            PodSetSource(role, counts[role], _copy(firsts[role]), index=index, keeps_metadata=False)
            for role in sorted(counts)
        ]

    def validate(self) -> None:
        """Refuses a group that is not complete, or whose pods disagree on their queue or their number."""
        for pod in self.pods:
            pod.validate()
        total = self.total_count
        index = self.labels.get(keys.POD_GROUP_POD_INDEX)
        number = None if index is None else unsigned(index)
        if index is not None and (number is None or number >= total):
            raise (
                self.root.section("metadata")
                .section("labels")
                .error(keys.POD_GROUP_POD_INDEX, f'is "{index}"; it must be a whole number less than {total}')
            )
        if not self.is_fast and len(self.members()) < total:
            raise InvalidSpecError(
                f"{self.owner}: has {len(self.members())} runnable pods; it must have {total}, as"
                f" {keys.POD_GROUP_TOTAL_COUNT} says"
            )
        for pod in (pod for pod in self.pods if pod.phase != "Failed"):
            if pod.queue_name() != self.queue_name():
                raise InvalidSpecError(
                    f'{self.owner}: pods "{self.pods[0].name}" and "{pod.name}" have different queue names,'
                    f' "{self.queue_name()}" and "{pod.queue_name()}"; they must have the same'
                )
            other = pod.total_count()
            if other != total:
                raise InvalidSpecError(
                    f'{self.owner}: pods "{self.pods[0].name}" and "{pod.name}" say that the group has {total} and'
                    f" {other} pods; they must say the same"
                )
        if len(self.slots(self.root)) > MAX_POD_SETS:
            raise InvalidSpecError(f"{self.owner}: has more than {MAX_POD_SETS} roles; it must have at most so many")

    def is_suspended(self) -> bool:
        """Whether any of the pods is gated or done."""
        return any(pod.is_suspended() for pod in self.pods)

    def suspended(self) -> Document:
        """The list of the pods, each held back."""
        return self._list(pod.suspended() for pod in self.pods)

    def started(self, infos: Sequence[PodSetInfo]) -> Document:
        """The list of the pods, each with what its role was given.

        Raises:
            InvalidSpecError: A role was given nothing, or something that contradicts a pod.
        """
        by_role = {info.name: info for info in infos}
        for pod in self.pods:
            if pod.is_gated and pod.role not in by_role:
                raise InvalidSpecError(
                    f'{pod.owner}: its role "{pod.role}" is not admitted; it must be one of {", ".join(by_role)}'
                )
        return self._list(pod.ungated(by_role[pod.role]) if pod.is_gated else pod.manifest for pod in self.pods)

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:
        """The list without the pods that ran, for they are deleted; `None` if none is left."""
        left = [manifest for pod in self.pods if (manifest := pod.stopped(pod_sets)) is not None]
        return self._list(left) if left else None

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """The pods that succeeded, by role; none of a group that runs on for ever."""
        if self.is_serving:
            return ()
        succeeded = _roles(pod for pod in self.pods if pod.phase == "Succeeded")
        return tuple(ReclaimablePod(role, count) for role, count in succeeded.items())

    def finished(self) -> Finished | None:
        """Done when all pods succeeded, or when none runs and one may not be replaced; always reported as success."""
        succeeded, total = sum(pod.phase == "Succeeded" for pod in self.pods), self.total_count
        may_replace = all(pod.annotations.get(keys.RETRIABLE_IN_GROUP) != "false" for pod in self.pods)
        is_over = all(pod.is_terminated for pod in self.pods) and not may_replace
        if self.is_serving or not (succeeded == total or is_over):
            return None
        return Finished(f"Pods succeeded: {succeeded}/{total}.", success=True)

    def pods_ready(self) -> bool:
        """Whether the group is complete and all its pods are ready."""
        return len(self.pods) >= self.total_count and all(pod.pods_ready() for pod in self.pods)

    def _section(self, manifest: Document) -> Section:
        return Section(self.owner, "", manifest)

    def _list(self, items: Iterable[Document]) -> Document:
        return copy.deepcopy(self.manifest | {"items": list(items)})


def _roles(pods: Iterable[Pod]) -> Counter[str]:
    """How many pods there are of each role, in the order in which the roles come."""
    return Counter(pod.role for pod in pods)


def _copy(pod: Pod) -> Section:
    return Section(pod.owner, "", copy.deepcopy(pod.manifest))


def _keeping_order(pod: Pod) -> tuple[bool, bool, str]:
    """Which pods of too many stay: those that Kueue has marked, those that are not gated, those that are older."""
    metadata = pod.root.section("metadata")
    return keys.MANAGED not in metadata.items("finalizers"), pod.is_gated, metadata.text("creationTimestamp")
