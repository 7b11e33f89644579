"""Configuration: the policies of a whole Kueue installation that bear on admission."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import field

from kueuepy.errors.arguments import checked_methods
from kueuepy.objects.base import Collection, Int64, ResourceList, Value
from kueuepy.objects.selector import LabelSelector, LabelSelectorRequirement
from kueuepy.objects.times import SECOND, DurationField, OptionalDurationField, Seconds, convert_durations, default
from kueuepy.profiles import DEVELOPMENT, Release, effective, release_of, rules_of

PreemptionStrategy: TypeAlias = Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
QuotaCheckStrategy: TypeAlias = Literal["BlockUndeclared", "IgnoreUndeclared"]


class FairSharingConfig(Collection, frozen=True):
    """Fair sharing between ClusterQueues and Cohorts; its presence turns it on (KEP-1714).

    Attributes:
        preemption_strategies: Rules S2-a and S2-b of fair preemption, one of them or both in this order
            (`pkg/config/validation.go:validateFairSharing`). `LessThanOrEqualToFinalShare` lets a workload be taken if
            the preemptor's share with the request is at most what the other's is without that workload;
            `LessThanInitialShare` if it is less than what the other's is with it
            (`pkg/scheduler/preemption/fairsharing/strategy.go`).
    """

    preemption_strategies: Sequence[PreemptionStrategy] = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


class AdmissionFairSharing(Value, frozen=True):
    """Fair sharing between LocalQueues by their usage in the past; its presence turns it on (KEP-4136).

    Attributes:
        usage_half_life_time: Duration after which past usage counts half, in seconds; 0 forgets it at once
            (`pkg/util/admissionfairsharing/admission_fair_sharing.go:CalculateDecayedConsumed`).
        usage_sampling_interval: Duration between two samples, in seconds, more than 0; that much of the request of
            one that gets quota is its entry penalty (`CalculateEntryPenalty` there).
        resource_weights: How much a core, a byte or a unit of a resource counts; 1 if not given.
    """

    usage_half_life_time: DurationField = default(Seconds.of(0))
    usage_sampling_interval: DurationField = default(Seconds.of(300 * SECOND))
    resource_weights: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Turns the durations into Seconds.

        Raises:
            InvalidSpecError: One is not a duration.
        """
        convert_durations(self, "usage_half_life_time", "usage_sampling_interval")


class RequeuingStrategy(Value, frozen=True):
    """What happens to a Workload that was evicted because its pods were not ready in time.

    Attributes:
        timestamp: What orders it in its queue: the time of its `Eviction`, or of its `Creation`.
        backoff_base_seconds: The wait after the first eviction; it doubles each time.
        backoff_max_seconds: The longest wait.
        backoff_limit_count: After how many times it is deactivated; `None` for never.
    """

    timestamp: Literal["Creation", "Eviction"] = "Eviction"
    backoff_base_seconds: Int64 = 60
    backoff_max_seconds: Int64 = 3600
    backoff_limit_count: Int64 | None = None


class WaitForPodsReady(Value, frozen=True):
    """Eviction of admitted workloads whose pods don't become ready; its presence turns it on (KEP-349).

    Attributes:
        timeout: How long after admission the pods may take to become ready, in seconds; like all durations, it may be
            given as text such as `"5m"` or as a timedelta.
        recovery_timeout: How long they may take after a pod failed; `None` for no limit. A manifest's absent field
            means `timeout`.
        block_admission: Whether nothing else is admitted while an admitted workload's pods are not ready.
        requeuing_strategy: How evicted workloads come back.
    """

    timeout: DurationField = default(Seconds.of(1800 * SECOND))
    recovery_timeout: OptionalDurationField = default(None)
    block_admission: bool = False
    requeuing_strategy: RequeuingStrategy = RequeuingStrategy()

    def __post_init__(self) -> None:
        """Turns the durations into Seconds.

        Raises:
            InvalidSpecError: One is not a duration.
        """
        convert_durations(self, "timeout", "recovery_timeout")


class ResourceTransformation(Value, frozen=True):
    """What a requested resource counts as (KEP-2937).

    Attributes:
        input: The resource that pods request.
        strategy: Whether the input itself still counts.
        multiply_by: A resource whose requested quantity multiplies the outputs; `None` for no factor.
        outputs: What one unit of the input counts as.
    """

    input: str
    strategy: Literal["Retain", "Replace"] = "Retain"
    multiply_by: str | None = None
    outputs: ResourceList = field(default_factory=dict)


class CounterSource(Value, frozen=True):
    """Charges a counter of partitionable devices (KEP-2941).

    Attributes:
        name: The counter's name.
        driver: The driver of the devices.
        device_selector: A CEL expression that the devices match.
    """

    name: str = ""
    driver: str = ""
    device_selector: str = ""


class CapacitySource(Value, frozen=True):
    """Charges a capacity of shareable devices.

    Attributes:
        name: The capacity's name, with a domain if it has one.
        driver: The driver of the devices.
        device_selector: A CEL expression that the devices match.
    """

    name: str = ""
    driver: str = ""
    device_selector: str = ""


class DeviceClassSource(Value, frozen=True):
    """What is charged for a device instead of one unit: exactly one of these.

    Attributes:
        counter: A counter of partitionable devices.
        capacity: A capacity of shareable devices.
    """

    counter: CounterSource | None = None
    capacity: CapacitySource | None = None


class DeviceClassMapping(Collection, frozen=True):
    """The logical resource that devices of some classes count as.

    Source: `pkg/dra/mapper.go`.

    Attributes:
        name: The logical resource, which ClusterQueues cover.
        device_class_names: The DeviceClasses, at most 8.
        sources: What is charged instead of the number of devices.
    """

    name: str
    device_class_names: Sequence[str] = ()
    sources: Sequence[DeviceClassSource] = ()


class Resources(Collection, frozen=True):
    """How requests turn into quota.

    Attributes:
        exclude_resource_prefixes: Resources whose names start so are not counted.
        transformations: What resources count as, each input once.
        quota_check_strategy: Whether a request that no group covers keeps a workload out (`BlockUndeclared`), or is
            skipped (`IgnoreUndeclared`, which allows no excluded prefixes).
        device_class_mappings: What devices of Dynamic Resource Allocation count as, at most 16.
    """

    exclude_resource_prefixes: Sequence[str] = ()
    transformations: Sequence[ResourceTransformation] = ()
    quota_check_strategy: QuotaCheckStrategy = "BlockUndeclared"
    device_class_mappings: Sequence[DeviceClassMapping] = ()


ALL_AT_ONCE = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"


class MultiKueueSettings(Value, frozen=True):
    """Dispatching of workloads to worker clusters: the field `multiKueue` of a manager's Configuration.

    Attributes:
        gc_interval: Interval in seconds between two runs of the garbage collector; 0 turns it off.
        origin: Value of the label that marks what this manager creates on workers.
        worker_lost_timeout: Time in seconds after which a workload on a lost worker is dispatched again.
        dispatcher_name: The dispatcher; a name that Kueue does not know means an external one.
        step_size: Number of clusters that a round of the incremental dispatcher adds; `None` for 3.
    """

    gc_interval: DurationField = default(Seconds.of(60 * SECOND))
    origin: str = "multikueue"
    worker_lost_timeout: DurationField = default(Seconds.of(900 * SECOND))
    dispatcher_name: str = ALL_AT_ONCE
    step_size: Int64 | None = None

    def __post_init__(self) -> None:
        """Turns the durations into Seconds.

        Raises:
            InvalidSpecError: One is not a duration.
        """
        convert_durations(self, "gc_interval", "worker_lost_timeout")


MANAGED_NAMESPACES = LabelSelector(
    match_expressions=(
        LabelSelectorRequirement("kubernetes.io/metadata.name", "NotIn", ("kube-system", "kueue-system")),
    )
)
"""All namespaces but those of Kubernetes and of Kueue: the default of `managed_jobs_namespace_selector`."""


@checked_methods
class Configuration(Value, frozen=True, kw_only=True):
    """Policies of a Kueue installation (`config.kueue.x-k8s.io`); built in Python, every option is off.

    Source: `apis/config/v1beta2/configuration_types.go`, `apis/config/v1beta2/defaults.go`, `pkg/config/validation.go`.

    Attributes:
        fair_sharing: Fair sharing between ClusterQueues; `None` for classical preemption.
        admission_fair_sharing: Fair sharing between LocalQueues; `None` for none.
        wait_for_pods_ready: Eviction of what doesn't start; `None` for none. A v1beta2 manifest without it means on.
        resources: How requests turn into quota.
        manage_jobs_without_queue_name: Whether jobs without a queue name are held back too.
        managed_jobs_namespace_selector: The namespaces where that applies.
        feature_gates: Feature gates that differ from their defaults.
        multi_kueue: Dispatching of workloads to worker clusters.
        frameworks: The kinds of jobs that are managed, `integrations.frameworks`, such as `batch/job`; `None` for all.
            In a cluster Kueue manages only `batch/job` unless a Configuration says more.
        version: The release of Kueue whose decisions are asked for, such as `v0.18`; no file says it.
        rules_left_out: Rules of that release that are not to hold, to find out what each of them changes.
        rules_added: Rules of other releases that are to hold, likewise.
    """

    fair_sharing: FairSharingConfig | None = None
    admission_fair_sharing: AdmissionFairSharing | None = None
    wait_for_pods_ready: WaitForPodsReady | None = None
    resources: Resources = Resources()
    manage_jobs_without_queue_name: bool = False
    managed_jobs_namespace_selector: LabelSelector = MANAGED_NAMESPACES
    feature_gates: dict[str, bool] = field(default_factory=dict)
    multi_kueue: MultiKueueSettings = MultiKueueSettings()
    frameworks: tuple[str, ...] | None = None
    version: str = DEVELOPMENT
    rules_left_out: tuple[str, ...] = ()
    rules_added: tuple[str, ...] = ()

    @property
    def release(self) -> Release:
        """The release that the version names.

        Raises:
            InvalidSpecError: It has no profile.
        """
        return release_of(self.version)

    @property
    def gates(self) -> dict[str, bool]:
        """Whether each feature gate is on, by the defaults of the release and what is set.

        >>> Configuration(version="v0.17").gates["SchedulingEquivalenceHashing"]
        False
        """
        return _gates(self.release, tuple(self.feature_gates.items()))

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules by which the release decides otherwise than the present one."""
        own = tuple(rule.name for rule in rules_of(self.release) if rule.name not in self.rules_left_out)
        return (*own, *self.rules_added)

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on.

        >>> Configuration(feature_gates={"PartialAdmission": False}).enabled("PartialAdmission")
        False
        """
        return self.gates.get(gate, False)


@lru_cache(maxsize=64)
def _gates(release: Release, settings: tuple[tuple[str, bool], ...]) -> dict[str, bool]:
    return effective(release, dict(settings))
