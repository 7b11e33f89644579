"""The part that most kinds of jobs share: a field that suspends them, and pod templates in their manifest."""

import copy
import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import checks, keys, naming, patch, topology_check
from kueuepy.jobs.fields import Document, Section, manifests, with_text_quantities, without_nulls
from kueuepy.jobs.forms import check_pod_spec
from kueuepy.jobs.job import Finished, Job
from kueuepy.jobs.template import PodSetInfo, add_gate, inject, restore, sanitized
from kueuepy.jobs.topology import PodIndex, topology_request
from kueuepy.objects import Configuration, PodSet, ReclaimablePod

MAX_POD_SETS = 18
"""The largest number of pod sets of a Workload. Source: `pkg/controller/jobframework/constants.go`."""


@dataclass(frozen=True)
class PodSetSource:
    """A place in a manifest where a pod set comes from.

    Attributes:
        name: The pod set's name; it is made lower case.
        count: How many pods it has.
        template: The pod template in the manifest.
        min_count: The fewest pods that may be admitted instead; `None` for all or nothing.
        index: The labels by which the kind numbers the pods.
        keeps_metadata: Whether the pod set keeps the template's labels and annotations.
    """

    name: str
    count: int
    template: Section
    min_count: int | None = None
    index: PodIndex = field(default_factory=PodIndex)
    keeps_metadata: bool = True

    @property
    def metadata(self) -> Section:
        """The template's metadata, empty if it has none."""
        return self.template.find("metadata") or Section(self.template.owner, self.template.at("metadata"), {})


_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_NO_CONFIGURATION = Configuration()
_NATIVE = ("", "apps", "batch")


class BaseJob:
    """A job with a field that suspends it, and pod templates in its manifest.

    A kind derives from it, names itself and says where its pod sets come from:

    >>> class Batch(BaseJob):
    ...     kind, api_versions = "Batch", ("example.com/v1",)
    ...     def slots(self, root):
    ...         spec = root.section("spec")
    ...         return [PodSetSource("main", spec.count("size", 1), spec.section("template"))]
    >>> manifest = {"metadata": {"name": "b"}, "spec": {"size": 3, "template": {"spec": {"containers": []}}}}
    >>> Batch(manifest).pod_sets()[0].count
    3

    Attributes:
        kind: The kind's name.
        api_versions: The versions of its API that Kueue knows.
        suspend_path: The section that has the field `suspend`.
        is_elastic_kind: Whether jobs of the kind may be elastic.
        gates_templates: Whether the pods of an elastic job of the kind are gated by its templates.
        takes_prebuilt: Whether jobs of the kind may name a prebuilt Workload.
        checks_job_labels: Whether the kind's webhook checks the labels for a prebuilt Workload and the execution time.
        checks_topology: Whether the kind's webhook checks the topology annotations of pod templates.
        checks_groups: Whether the kind's webhook checks groups of pod sets.
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

    def __init__(
        self, manifest: Document, *, config: Configuration = _NO_CONFIGURATION, related: Iterable[Document] = ()
    ) -> None:
        """Reads a manifest.

        Args:
            manifest: The job, as its YAML reads. It is copied.
            config: The feature gates and the policy for jobs without a queue name.
            related: Manifests of other objects that the job's pod sets depend on, such as the runtime of a TrainJob.
        """
        is_native = self.api_versions[0].rpartition("/")[0] in _NATIVE  # no CRD, whose schema refuses fractions
        plain = without_nulls(manifest)
        self.manifest: Document = with_text_quantities(plain) if is_native else plain
        self.config = config
        self.related = manifests(related)

    @abstractmethod
    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Where the pod sets come from, in their order; `root` is the manifest to look at."""

    def amend(self, pod_set: str, template: Document) -> None:
        """Changes the template of a pod set, not that of the manifest, into what the quota has to cover."""

    # What the manifest says of itself.

    @property
    def name(self) -> str:
        """The job's name; of one that is only generated, the prefix that is given."""
        metadata = self.root.section("metadata")
        return metadata.text("name") or metadata.text("generateName").rstrip("-")

    @property
    def metadata(self) -> Document:
        """The job's metadata."""
        return self.root.section("metadata").data

    @property
    def uid(self) -> str:
        """The job's uid, empty while it is not in a cluster."""
        return self.root.section("metadata").text("uid")

    @property
    def namespace(self) -> str:
        """The job's namespace."""
        return self.root.section("metadata").text("namespace", "default")

    @property
    def owner(self) -> str:
        """The job as messages name it: `Job "team-a/train"`."""
        return f'{self.kind} "{self.namespace}/{self.name}"'

    @property
    def root(self) -> Section:
        """The whole manifest."""
        return self._section(self.manifest)

    @property
    def labels(self) -> dict[str, str]:
        """The job's labels."""
        return self.root.section("metadata").texts("labels")

    @property
    def annotations(self) -> dict[str, str]:
        """The job's annotations."""
        return self.root.section("metadata").texts("annotations")

    @property
    def is_elastic(self) -> bool:
        """Whether the job may change its size while it runs. Source: `pkg/workloadslicing:Enabled`."""
        return self.gate("ElasticJobsViaWorkloadSlices") and self.annotations.get(keys.ELASTIC_JOB) == "true"

    def gate(self, name: str) -> bool:
        """Whether a feature gate is on."""
        return self.config.enabled(name)

    def queue_name(self) -> str:
        """The LocalQueue that the job goes to: its label `kueue.x-k8s.io/queue-name`."""
        return self.labels.get(keys.QUEUE_NAME, "")

    def priority_class(self) -> str | None:
        """No rule of the kind's own."""
        return None

    def workload_name(self) -> str:
        """The name of the prebuilt Workload, or else the name that Kueue makes."""
        prebuilt = checks.prebuilt_workload_name(self)
        if prebuilt:
            return prebuilt
        return self.name_workload(self.name, self.workload_name_extra() if self.is_elastic else "")

    def workload_name_extra(self) -> str:
        """What tells the Workloads of an elastic job apart: the job's generation, 1 for a job that is new."""
        return str(self.root.section("metadata").integer("generation", 1))

    def workload_labels(self) -> dict[str, str]:
        """The job's uid, once it has one that a label can hold."""
        return {keys.JOB_UID: self.uid} if _LABEL_VALUE.fullmatch(self.uid) else {}

    def workload_annotations(self) -> dict[str, str]:
        """The mark of an elastic job; its first slice has the Workload's own name."""
        if not self.is_elastic:
            return {}
        return {keys.ELASTIC_JOB: "true", keys.WORKLOAD_SLICE_NAME: self.workload_name()}

    # What becomes of it.

    def jobs(self) -> Sequence[Job]:
        """The job itself."""
        return (self,)

    def validate(self) -> None:
        """Refuse what Kueue's webhooks refuse of every kind, and of its topology annotations."""
        checks.check_metadata(self)
        self.is_suspended()  # raises an error if the field is not a boolean
        if self.checks_topology and self.gate("TopologyAwareScheduling"):
            self.check_topology()

    def check_topology(self) -> None:
        """Refuse what Kueue's webhook refuses of the topology annotations of pod templates."""
        multi_layer = self.gate("TASMultiLayerTopology")
        for slot in self.checked_slots(self.slots(self._section(copy.deepcopy(self.manifest)))):
            topology_check.check_template(slot.metadata, multi_layer=multi_layer)
            topology_check.check_slice_size(slot.metadata, slot.count, multi_layer=multi_layer)
        if self.checks_groups:
            topology_check.check_groups(self.owner, self.pod_sets())

    def checked_slots(self, slots: Sequence[PodSetSource]) -> Sequence[PodSetSource]:
        """Return the slots whose topology annotations the kind's webhook checks: all of them."""
        return slots

    @property
    def is_stored(self) -> bool:
        """Whether the manifest is that of an object in a cluster, which Kueue's webhooks accepted when it was created.

        Such an object has a resource version or a status.
        """
        return bool(self.metadata.get("resourceVersion") or self.manifest.get("status"))

    def pod_sets(self) -> tuple[PodSet, ...]:
        """The pod sets of the job's templates, in their order."""
        root = self._section(copy.deepcopy(self.manifest))
        return tuple(self._pod_set(slot) for slot in self.slots(root))

    def is_suspended(self) -> bool:
        """Whether the job's field `suspend` is true."""
        section = self.root
        for key in self.suspend_path.split("."):
            found = section.find(key)
            if found is None:
                return False
            section = found
        return section.flag("suspend")

    def suspended(self) -> Document:
        """The manifest with `suspend` true, and, of an elastic job, its pods gated."""
        root = self._section(copy.deepcopy(self.manifest))
        self._set_suspend(root, value=True)
        if self.is_elastic and self.gates_templates:
            for slot in self.slots(root):
                add_gate(slot.template.ensure("spec"), keys.ELASTIC_GATE)
        self.on_suspended(root)
        return root.data

    def started(self, infos: Sequence[PodSetInfo]) -> Document:
        """The manifest with `suspend` false, and with what each pod set was given in its template.

        Raises:
            InvalidSpecError: There are not as many infos as pod sets, or one contradicts its template.
        """
        root = self._section(copy.deepcopy(self.manifest))
        self.before_start(root, infos)
        slots = self.slots(root)
        self.require_length(len(slots), infos)
        self._set_suspend(root, value=False)
        for slot, info in zip(slots, infos, strict=True):
            inject(slot.template, info)
        return root.data

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:
        """The manifest with `suspend` true, and with its templates as its Workload's pod sets have them.

        With another number of pod sets nothing but `suspend` changes.
        """
        root = self._section(copy.deepcopy(self.manifest))
        self._set_suspend(root, value=True)
        slots = self.slots(root)
        if len(slots) == len(pod_sets):
            for slot, pod_set in zip(slots, pod_sets, strict=True):
                self.restore_slot(slot, pod_set)
            self.after_stop(root, pod_sets)
        return root.data

    def start_patch(self, infos: Sequence[PodSetInfo]) -> Document:
        """What starting changes in the manifest, as a JSON merge patch."""
        return patch.diff(self.manifest, self.started(infos))

    def stop_patch(self, pod_sets: Sequence[PodSet]) -> Document | None:
        """What stopping changes in the manifest, as a JSON merge patch; `None` if the object is deleted."""
        stopped = self.stopped(pod_sets)
        return None if stopped is None else patch.diff(self.manifest, stopped)

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """None: the kind doesn't say which of its pods are done."""
        return ()

    def finished(self) -> Finished | None:
        """`None`: the kind never ends."""
        return None

    def pods_ready(self) -> bool:
        """`False`: the kind doesn't say whether its pods are ready."""
        return False

    def on_hold(self) -> bool:
        """`False`: the kind is never on hold."""
        return False

    # What a kind may add to the steps above.

    def on_suspended(self, root: Section) -> None:
        """Changes a new job in the kind's own way."""

    def before_start(self, root: Section, infos: Sequence[PodSetInfo]) -> None:
        """Changes a job in the kind's own way before its templates get what they were given."""

    def restore_slot(self, slot: PodSetSource, pod_set: PodSet) -> None:
        """Restores a template from its pod set."""
        restore(slot.template, pod_set.template)

    def after_stop(self, root: Section, pod_sets: Sequence[PodSet]) -> None:
        """Changes a job in the kind's own way after its templates are restored."""

    # Help for the kinds.

    def status(self) -> Section:
        """The job's status, empty if it has none."""
        return self.root.find("status") or Section(self.owner, "status", {})

    def condition(self, *types: str) -> Section | None:
        """The first condition of the status that is true and of one of these types."""
        return next((c for c in self.status().conditions() if c.text("type") in types), None)

    def require_length(self, expected: int, infos: Sequence[PodSetInfo]) -> None:
        """Refuses another number of pod sets than the job has."""
        if len(infos) != expected:
            raise InvalidSpecError(f"{self.owner}: has {expected} pod sets, but {len(infos)} are admitted")

    def name_workload(self, name: str, extra: str = "") -> str:
        """The name that Kueue makes for the Workload of an object of this kind and uid."""
        group = self.api_versions[0].rpartition("/")[0]
        return naming.workload_name(self.kind, group, name, self.uid, extra, short=self.gate("ShortWorkloadNames"))

    def request(self, metadata: Section, index: PodIndex) -> Document | None:
        """The topology request of a pod template."""
        if not self.gate("TopologyAwareScheduling"):
            return None
        return topology_request(metadata, index, multi_layer=self.gate("TASMultiLayerTopology"))

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
        template = copy.deepcopy(slot.template.data)
        template.setdefault("spec", {})
        check_pod_spec(template["spec"], slot.template.owner, slot.template.at("spec"))
        if not slot.keeps_metadata:
            template = {"spec": template["spec"]}
        self.amend(slot.name, template)
        min_count = slot.min_count if self.gate("PartialAdmission") else None
        request = self.request(slot.metadata, slot.index)
        return PodSet(slot.name.lower(), slot.count, min_count, sanitized(template), request)
