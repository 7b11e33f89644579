"""Base classes for kinds of jobs: those that Kueue suspends, and those whose jobs or pods it suspends instead.

Names of the Workloads that Kueue creates for jobs.

Source: `pkg/controller/jobframework/workload_names.go`.
"""

import hashlib
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kueuepy.errors import InvalidSpecError, checked
from kueuepy.jobs import checks, keys, patch, topology
from kueuepy.jobs.checks import check_pod_spec
from kueuepy.jobs.job import Finished, Job
from kueuepy.jobs.template import (
    Document,
    PodSetInfo,
    Section,
    add_gate,
    copied,
    inject,
    manifests,
    restore,
    sanitized,
    with_text_quantities,
    without_nulls,
)
from kueuepy.jobs.topology import PodIndex, topology_request
from kueuepy.manifest import BUILT_IN, LABEL_LENGTH, SUBDOMAIN_LENGTH
from kueuepy.objects import Configuration, PodSet, ReclaimablePod

# As in `pkg/controller/jobframework/workload_names.go`: enough to tell apart jobs whose names are cut alike.
_HASH_LENGTH = 5


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
    hashed = (kind, group, name, uid, *((extra,) if extra else ()))
    return hashed_name(f"{kind.lower()}-{name}", hashed, short=short)


def hashed_name(prefix: str, hashed: Iterable[str], *, short: bool) -> str:
    """Return the name of a Workload: a prefix, which is cut if it is too long, and 5 digits of a hash of the texts."""
    digest = hashlib.sha1("\n".join(hashed).encode(), usedforsecurity=False).hexdigest()
    room = (LABEL_LENGTH if short else SUBDOMAIN_LENGTH) - 1 - _HASH_LENGTH
    return prefix[:room] + f"-{digest[:_HASH_LENGTH]}"


MAX_POD_SETS = 18
"""Largest number of pod sets of a Workload. Source: `pkg/controller/jobframework/constants.go`."""


@dataclass(frozen=True)
class PodSetSource:
    """A pod template in a manifest, from which a pod set is created.

    >>> spec = Section('Job "team-a/train"', "spec", {"template": {"spec": {"containers": []}}})
    >>> PodSetSource("main", 4, spec.section("template")).template.path
    'spec.template'

    Attributes:
        name: Name of the pod set; it is converted to lower case.
        count: Number of pods.
        template: The pod template in the manifest.
        min_count: Smallest number of pods with which the pod set may be admitted; `None`, the default, to admit all
            pods or none.
        index: Labels with which the kind numbers its pods. Default: none.
        keeps_metadata: Whether the pod set keeps the labels and annotations of the template. Default: `True`.
    """

    name: str
    count: int
    template: Section
    min_count: int | None = None
    index: PodIndex = field(default_factory=PodIndex)
    keeps_metadata: bool = True

    @property
    def metadata(self) -> Section:
        """The metadata of the template; empty if it has none."""
        return self.template.part("metadata")


_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PLAIN = Configuration()
_NATIVE = ("", "apps", "batch")


class BaseJob:
    """A job whose manifest contains pod templates and a field that suspends the job.

    A derived class sets `kind` and `api_versions`, and implements `slots`:

    >>> class Batch(BaseJob):
    ...     kind, api_versions = "Batch", ("example.com/v1",)
    ...     def slots(self, root):
    ...         spec = root.section("spec")
    ...         return [PodSetSource("main", spec.count("size", 1), spec.section("template"))]
    >>> manifest = {"metadata": {"name": "b"}, "spec": {"size": 3, "template": {"spec": {"containers": []}}}}
    >>> Batch(manifest).pod_sets()[0].count
    3

    Attributes:
        kind: Name of the kind.
        api_versions: Supported API versions of the kind, such as `batch/v1`. Default: those of `BUILT_IN` in
            `kueuepy.manifest.jobkinds`.
        suspend_path: Path of the section with the field `suspend`. Default: `spec`.
        is_elastic_kind: Whether Kueue supports elastic jobs of the kind. Default: `False`.
        gates_templates: Whether an elastic job of the kind has scheduling gates in its pod templates. Default: `True`.
        takes_prebuilt: Whether jobs of the kind may name a prebuilt Workload. Default: `True`.
        checks_job_labels: Whether Kueue's webhook for the kind validates the labels for a prebuilt Workload and for the
            maximum execution time. Default: `True`.
        checks_topology: Whether Kueue's webhook for the kind validates topology annotations of pod templates. Default:
            `True`.
        checks_groups: Whether Kueue's webhook for the kind validates groups of pod sets. Default: `True`.
        ends: Condition types that mark a job as finished, each mapped to whether the job succeeded. If several are
            true, the first one counts. Default: none.
        ready: Type of the condition that is true while all pods are ready. Default: empty, which means that the kind
            has no such condition.
    """

    kind: ClassVar[str]
    api_versions: ClassVar[tuple[str, ...]]
    suspend_path: ClassVar[str] = "spec"
    is_elastic_kind: ClassVar[bool] = False
    gates_templates: ClassVar[bool] = True
    takes_prebuilt: ClassVar[bool] = True
    checks_job_labels: ClassVar[bool] = True
    checks_topology: ClassVar[bool] = True
    checks_groups: ClassVar[bool] = True
    ends: ClassVar[Mapping[str, bool]] = {}
    ready: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        """Set the API versions of a kind that Kueue manages."""
        super().__init_subclass__()
        own = vars(cls)
        if "api_versions" not in own and own.get("kind") in BUILT_IN:
            cls.api_versions = BUILT_IN[cls.kind]

    def __init__(self, manifest: Document, *, config: Configuration = _PLAIN, related: Iterable[Document] = ()) -> None:
        """Create a job from its manifest.

        Args:
            manifest: The job's manifest as a dict. It is copied.
            config: Configuration with the feature gates and the policy for jobs without a queue name.
            related: Manifests of other objects that determine the job's pod sets, such as the runtime of a TrainJob.
        """
        is_native = self.api_versions[0].rpartition("/")[0] in _NATIVE  # not a CRD, whose schema rejects floats
        plain = without_nulls(manifest)
        self.manifest: Document = with_text_quantities(plain) if is_native else plain
        self.config = config
        self.related = manifests(related)

    @abstractmethod
    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the source (`PodSetSource`) of each pod set, in order.

        Args:
            root: The manifest, or a copy of it, in which to find the templates.
        """

    def amend(self, pod_set: str, template: Document) -> None:
        """Modify the template of a pod set so that its requests match the resources that the pods use.

        The template is a copy; the manifest does not change. By default, this method modifies nothing.

        Args:
            pod_set: Name of the pod set.
            template: The pod template.
        """

    # Metadata of the job.

    @property
    def name(self) -> str:
        """The name of the job, or the prefix in `generateName` if the job has no name."""
        metadata = self.root.section("metadata")
        return metadata.text("name") or metadata.text("generateName").rstrip("-")

    @property
    def metadata(self) -> Document:
        """The metadata of the job."""
        return self.root.section("metadata").data

    @property
    def uid(self) -> str:
        """The UID of the job; empty if the job is not from a cluster."""
        return self.root.section("metadata").text("uid")

    @property
    def namespace(self) -> str:
        """The namespace of the job."""
        return self.root.section("metadata").text("namespace", "default")

    @property
    def owner(self) -> str:
        """The job's name in error messages: `Job "team-a/train"`."""
        return f'{self.kind} "{self.namespace}/{self.name}"'

    @property
    def root(self) -> Section:
        """The whole manifest."""
        return self._section(self.manifest)

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the job."""
        return self.root.section("metadata").texts("labels")

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations of the job."""
        return self.root.section("metadata").texts("annotations")

    @property
    def is_elastic(self) -> bool:
        """Whether the job may be scaled while it runs. Source: `pkg/workloadslicing:Enabled`."""
        return self.gate("ElasticJobsViaWorkloadSlices") and self.annotations.get(keys.ELASTIC_JOB) == "true"

    def gate(self, name: str) -> bool:
        """Return whether a feature gate is on."""
        return self.config.enabled(name)

    def queue_name(self) -> str:
        """Return the name of the job's LocalQueue, from the label `kueue.x-k8s.io/queue-name`; empty if absent."""
        return self.labels.get(keys.QUEUE_NAME, "")

    def priority_class(self) -> str | None:
        """Return `None`: by default, a kind has no rule of its own for the priority class of its pods."""
        return None

    def workload_name(self) -> str:
        """Return the name of the prebuilt Workload, or the name that Kueue generates."""
        prebuilt = self.prebuilt_workload_name()
        if prebuilt:
            return prebuilt
        return self.name_workload(self.name, self.workload_name_extra() if self.is_elastic else "")

    def prebuilt_workload_name(self) -> str:
        """Return the name of the prebuilt Workload of the job; empty if the job names none.

        Source: `pkg/controller/jobframework/utils.go:PrebuiltWorkloadNameFor`.
        """
        annotation = self.annotations.get(keys.PREBUILT_WORKLOAD_NAME, "")
        label = self.labels.get(keys.PREBUILT_WORKLOAD_NAME, "")
        # A name that is too long for a label is read from the annotation even without the gate.
        if self.gate("WorkloadIdentifierAnnotations"):
            return annotation or label
        return label or (annotation if len(annotation) > LABEL_LENGTH else "")

    def workload_name_extra(self) -> str:
        """Return the generation of the job (1 for a new job), which distinguishes the Workloads of an elastic job."""
        return str(self.root.section("metadata").integer("generation", 1))

    def workload_labels(self) -> dict[str, str]:
        """Return the label with the job's UID, if the UID is a valid label value."""
        return {keys.JOB_UID: self.uid} if _LABEL_VALUE.fullmatch(self.uid) else {}

    def workload_annotations(self) -> dict[str, str]:
        """Return the annotations of an elastic job's Workload; empty if the job is not elastic.

        The first workload slice has the same name as the job's Workload.
        """
        if not self.is_elastic:
            return {}
        return {keys.ELASTIC_JOB: "true", keys.WORKLOAD_SLICE_NAME: self.workload_name()}

    # Lifecycle of the job.

    def jobs(self) -> Sequence[Job]:
        """Return the job itself."""
        return (self,)

    def validate(self) -> None:
        """Apply the validation rules of Kueue's webhooks that are common to all kinds.

        Raises:
            InvalidSpecError: Kueue's webhooks would reject the job.
        """
        self.check_metadata()
        self.is_suspended()  # raises an error if the field is not a boolean
        if self.checks_topology and self.gate("TopologyAwareScheduling"):
            self.check_topology()

    def check_metadata(self) -> None:
        """Validate the labels and annotations of the job that Kueue reads, as Kueue's webhooks do.

        Raises:
            InvalidSpecError: A label or annotation is invalid, or is not supported for the kind.
        """
        metadata = self.root.section("metadata")
        checks.check_subdomain(metadata, "labels", keys.QUEUE_NAME)
        if self.checks_job_labels:
            self._check_prebuilt(metadata)
            checks.check_execution_time(metadata)
        if self.is_elastic and not self.is_elastic_kind:
            raise metadata.section("annotations").error(
                keys.ELASTIC_JOB,
                f"is not supported for {self.kind}; it must be a Job, RayCluster, RayJob or RayService",
            )
        if self.gate("AdmissionGatedBy"):
            checks.check_gates(metadata)

    def check_topology(self) -> None:
        """Validate the topology annotations of the pod templates, as Kueue's webhooks do.

        Raises:
            InvalidSpecError: Kueue's webhooks would reject the job.
        """
        multi_layer = self.gate("TASMultiLayerTopology")
        for slot in self.checked_slots(self.slots(self._copy())):
            topology.check_template(slot.metadata, multi_layer=multi_layer)
            topology.check_slice_size(slot.metadata, slot.count, multi_layer=multi_layer)
        if self.checks_groups:
            topology.check_groups(self.owner, self.pod_sets())

    def checked_slots(self, slots: Sequence[PodSetSource]) -> Sequence[PodSetSource]:
        """Return the pod set sources whose topology annotations Kueue's webhook validates; by default, all sources."""
        return slots

    @property
    def is_stored(self) -> bool:
        """Whether the manifest was read from a cluster, whose webhooks have already accepted it.

        A manifest from a cluster has a resource version or a status.
        """
        return bool(self.metadata.get("resourceVersion") or self.manifest.get("status"))

    def pod_sets(self) -> tuple[PodSet, ...]:
        """Return the pod sets of the job, in the order of `slots`."""
        root = self._copy()
        return tuple(self._pod_set(slot) for slot in self.slots(root))

    def is_suspended(self) -> bool:
        """Return whether the field `suspend` of the job is true."""
        section = self.root.find_at(self.suspend_path)
        return section is not None and section.flag("suspend")

    def suspended(self) -> Document:
        """Return the manifest with `suspend` set to true. The pod templates of an elastic job get scheduling gates."""
        root = self._copy()
        self._set_suspend(root, value=True)
        if self.is_elastic and self.gates_templates:
            for slot in self.slots(root):
                add_gate(slot.template.ensure("spec"), keys.ELASTIC_GATE)
        self.on_suspended(root)
        return root.data

    def started(self, infos: Sequence[PodSetInfo]) -> Document:
        """Return the manifest with `suspend` set to false, and with the assigned flavors in the pod templates.

        Args:
            infos: The changes that the admission makes to each pod set, from `pod_set_infos`.

        Raises:
            InvalidSpecError: The number of PodSetInfos differs from the number of pod sets, or a PodSetInfo conflicts
                with its template.
        """
        root = self._copy()
        self.before_start(root, infos)
        self.require_length(len(self.slots(root)), infos)
        self._set_suspend(root, value=False)
        self.give(root, infos)
        return root.data

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:
        """Return the manifest with `suspend` set to true, and with the pod templates restored from the pod sets.

        If the number of pod sets differs from the number of templates, only `suspend` changes.

        Args:
            pod_sets: The pod sets of the job's Workload.

        Returns:
            The manifest, or `None` if stopping the job deletes the object.
        """
        root = self._copy()
        self._set_suspend(root, value=True)
        slots = self.slots(root)
        # A job that was changed while it ran can have other templates; its own are then kept.
        if len(slots) == len(pod_sets):
            for slot, pod_set in zip(slots, pod_sets, strict=True):
                self.restore_slot(slot, pod_set)
            self.after_stop(root, pod_sets)
        return root.data

    def start_patch(self, infos: Sequence[PodSetInfo]) -> Document:
        """Return the changes to the manifest when the job starts, as a JSON merge patch.

        Args:
            infos: The changes that the admission makes to each pod set, from `pod_set_infos`.
        """
        return patch.diff(self.manifest, self.started(infos))

    def stop_patch(self, pod_sets: Sequence[PodSet]) -> Document | None:
        """Return the changes to the manifest when the job stops, as a JSON merge patch.

        The result is `None` if Kueue deletes the object to stop the job.

        Args:
            pod_sets: The pod sets of the job's Workload.
        """
        stopped = self.stopped(pod_sets)
        return None if stopped is None else patch.diff(self.manifest, stopped)

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """Return an empty tuple: by default, a kind does not report reclaimable pods."""
        return ()

    def finished(self) -> Finished | None:
        """Return the outcome of the job from its conditions; `None` if none of the conditions in `ends` is true."""
        found = ((self.condition(name), success) for name, success in self.ends.items())
        return next((Finished(end.text("message"), success) for end, success in found if end is not None), None)

    def pods_ready(self) -> bool:
        """Return whether the condition `ready` is true; `False` if the kind has no such condition."""
        return bool(self.ready) and self.condition(self.ready) is not None

    def on_hold(self) -> bool:
        """Return `False`: by default, jobs of a kind are never on hold."""
        return False

    # Hooks for derived kinds.

    def on_suspended(self, root: Section) -> None:
        """Apply the kind's own changes to a new job, after the job is suspended.

        Args:
            root: The manifest to modify.
        """

    def before_start(self, root: Section, infos: Sequence[PodSetInfo]) -> None:
        """Apply the kind's own changes to a job that starts, before the job's templates are changed.

        Args:
            root: The manifest to modify.
            infos: The changes that the admission makes to each pod set.
        """

    def give(self, root: Section, infos: Sequence[PodSetInfo]) -> None:
        """Write the changes that an admission makes to a job that starts. By default, the templates change.

        Args:
            root: The manifest to modify.
            infos: The changes to each pod set.
        """
        for slot, info in zip(self.slots(root), infos, strict=True):
            inject(slot.template, info)

    def restore_slot(self, slot: PodSetSource, pod_set: PodSet) -> None:
        """Restore a template from its pod set.

        Args:
            slot: The source of the pod set.
            pod_set: The pod set of the Workload.
        """
        restore(slot.template, pod_set.template)

    def after_stop(self, root: Section, pod_sets: Sequence[PodSet]) -> None:
        """Apply the kind's own changes to a job that stops, after the job's templates are restored.

        Args:
            root: The manifest to modify.
            pod_sets: The pod sets of the job's Workload.
        """

    # Helpers for derived kinds.

    def status(self) -> Section:
        """Return the status of the job; empty if it has none."""
        return self.root.part("status")

    def condition(self, *types: str) -> Section | None:
        """Return the first condition that is true and has one of the given types; `None` if there is none."""
        return next((c for c in self.status().conditions() if c.text("type") in types), None)

    def require_length(self, expected: int, infos: Sequence[PodSetInfo]) -> None:
        """Raise an error unless there is one PodSetInfo per pod set.

        Raises:
            InvalidSpecError: The number of PodSetInfos differs from `expected`.
        """
        if len(infos) != expected:
            raise InvalidSpecError(f"{self.owner}: has {expected} pod sets, but {len(infos)} are admitted")

    def name_workload(self, name: str, extra: str = "") -> str:
        """Return the name that Kueue generates for the Workload of an object with the given kind and UID."""
        group = self.api_versions[0].rpartition("/")[0]
        return workload_name(self.kind, group, name, self.uid, extra, short=self.gate("ShortWorkloadNames"))

    def request(self, metadata: Section, index: PodIndex) -> Document | None:
        """Return a pod template's topology request; `None` if it is absent or topology-aware scheduling is off."""
        if not self.gate("TopologyAwareScheduling"):
            return None
        return topology_request(metadata, index, multi_layer=self.gate("TASMultiLayerTopology"))

    def _check_prebuilt(self, metadata: Section) -> None:
        """Check that the kind supports prebuilt Workloads, and that the name of the prebuilt Workload is valid."""
        annotation = self.annotations.get(keys.PREBUILT_WORKLOAD_NAME, "")
        is_read = self.gate("WorkloadIdentifierAnnotations") or len(annotation) > LABEL_LENGTH
        field = "annotations" if annotation and is_read else "labels"
        if self.prebuilt_workload_name() and not self.takes_prebuilt:
            at = metadata.section(field)
            raise at.error(keys.PREBUILT_WORKLOAD_NAME, f"is not supported for {self.kind}; leave it out")
        checks.check_subdomain(metadata, field, keys.PREBUILT_WORKLOAD_NAME)

    # Sections share their data with the manifest, so every change is made to a copy.
    def _copy(self) -> Section:
        """Return a copy of the manifest, to be changed."""
        return self._section(copied(self.manifest))

    def _section(self, manifest: Document) -> Section:
        metadata = manifest.get("metadata")
        if not isinstance(metadata, dict):
            raise InvalidSpecError(f"{self.kind}: metadata: is missing; it must be a mapping with a name")
        name = metadata.get("name") or str(metadata.get("generateName") or "").rstrip("-")
        if not name:
            raise InvalidSpecError(f"{self.kind}: metadata.name: is missing; it must be given")
        return Section(f'{self.kind} "{metadata.get("namespace", "default")}/{name}"', "", manifest)

    def _set_suspend(self, root: Section, *, value: bool) -> None:
        section = root
        for key in self.suspend_path.split("."):
            section = section.ensure(key)
        section.flag("suspend")  # raises an error if the field is not a boolean
        section.data["suspend"] = value

    def _pod_set(self, slot: PodSetSource) -> PodSet:
        for texts in ("labels", "annotations"):
            slot.metadata.texts(texts)  # raises an error if it is not a mapping of texts
        template = copied(slot.template.data)
        template.setdefault("spec", {})
        check_pod_spec(template["spec"], slot.template.owner, slot.template.at("spec"))
        # A pod carries the metadata of a whole job; Kueue copies only the spec.
        if not slot.keeps_metadata:
            template = {"spec": template["spec"]}
        self.amend(slot.name, template)
        min_count = slot.min_count if self.gate("PartialAdmission") else None
        request = self.request(slot.metadata, slot.index)
        # Names of replica types such as Worker have upper-case letters; names of pod sets are DNS labels.
        return PodSet(slot.name.lower(), slot.count, min_count, sanitized(template), request)


class ParentJob(BaseJob):
    """An object that Kueue neither suspends nor starts.

    Instead, Kueue suspends the jobs or pods that the object creates.
    """

    def validate(self) -> None:
        """Apply the validation rules for the object's metadata.

        The jobs that the object creates are validated separately.
        """
        self.check_metadata()

    def is_suspended(self) -> bool:
        """Return `False`: Kueue suspends the jobs or pods that the object creates, not the object."""
        return False

    def passed_labels(self) -> dict[str, str]:
        """Return the labels with the queue and the priority class, which the object's pods inherit."""
        return {key: self.labels[key] for key in (keys.QUEUE_NAME, keys.PRIORITY_CLASS) if self.labels.get(key)}

    def suspended(self) -> Document:
        """Return the manifest with the changes that the object's jobs or pods inherit."""
        root = self._copy()
        self.on_suspended(root)
        return root.data

    def start_patch(self, infos: Sequence[PodSetInfo]) -> Document:  # noqa: ARG002 unused
        """Return an empty patch: Kueue starts the jobs or pods that the object creates, not the object."""
        return {}

    def stop_patch(self, pod_sets: Sequence[PodSet]) -> Document | None:  # noqa: ARG002 unused
        """Return an empty patch: Kueue stops the jobs or pods that the object creates, not the object."""
        return {}
