"""Configuration: settings of a Kueue installation that affect admission."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import field

from kueuepy.errors import checked_methods
from kueuepy.objects.base import Collection, Int64, ResourceList, Timed, Value
from kueuepy.objects.selector import LabelSelector, LabelSelectorRequirement
from kueuepy.objects.times import SECOND, DurationField, OptionalDurationField, Seconds, default
from kueuepy.profiles import DEVELOPMENT, Release, effective, release_of, rules_of

PreemptionStrategy: TypeAlias = Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
QuotaCheckStrategy: TypeAlias = Literal["BlockUndeclared", "IgnoreUndeclared"]


class FairSharingConfig(Collection, frozen=True):
    """Settings of fair sharing between ClusterQueues and Cohorts (`fairSharing`).

    Source: KEP-1714.

    >>> Configuration(fair_sharing=FairSharingConfig()).fair_sharing.preemption_strategies
    ('LessThanOrEqualToFinalShare', 'LessThanInitialShare')

    Attributes:
        preemption_strategies: Rules for fair preemption, tried in order (`preemptionStrategies`):
            `LessThanOrEqualToFinalShare`, `LessThanInitialShare`, or both in this order, which is the default
            (`pkg/config/validation.go:validateFairSharing`). `LessThanOrEqualToFinalShare` (rule S2-a of the KEP)
            allows a preemption if the preemptor's share, including the new workload, is at most the target's share
            after the preemption. `LessThanInitialShare` (rule S2-b) allows a preemption if the preemptor's share is
            less than the target's share before the preemption (`pkg/scheduler/preemption/fairsharing/strategy.go`).
    """

    preemption_strategies: Sequence[PreemptionStrategy] = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


class AdmissionFairSharing(Timed, frozen=True):
    """Settings of fair sharing between LocalQueues, which depends on their past usage (`admissionFairSharing`).

    Source: KEP-4136.

    >>> AdmissionFairSharing(usage_half_life_time="1h", resource_weights={"memory": 0}).usage_sampling_interval
    300.0

    Attributes:
        usage_half_life_time: Half-life of past usage, in seconds (`usageHalfLifeTime`), 0 or more. With a half-life of
            0, the default, each sample resets the past usage to 0
            (`pkg/controller/core/localqueue_controller.go:reconcileConsumedUsage`).
        usage_sampling_interval: Time in seconds between two samples of the usage (`usageSamplingInterval`), greater
            than 0. Default: 5 minutes. When Kueue reserves quota for a workload, it adds an entry penalty to the usage
            of the workload's LocalQueue: `request * (1 - 0.5 ** (interval / half_life))`
            (`pkg/util/admissionfairsharing/admission_fair_sharing.go:CalculateEntryPenalty`). With a half-life of 0,
            there is no entry penalty.
        resource_weights: Weight of one unit of a resource, such as a core or a byte, in the usage (`resourceWeights`),
            0 or more. Resources that are not listed have weight 1.
    """

    usage_half_life_time: DurationField = default(Seconds.of(0))
    usage_sampling_interval: DurationField = default(Seconds.of(300 * SECOND))
    resource_weights: dict[str, float] = field(default_factory=dict)


class RequeuingStrategy(Value, frozen=True):
    """Requeuing of workloads whose pods were not ready in time (`waitForPodsReady.requeuingStrategy`).

    >>> RequeuingStrategy(backoff_limit_count=5).backoff_base_seconds
    60

    Attributes:
        timestamp: Time by which a requeued workload is ordered: the time of its `Eviction` (default) or of its
            `Creation`.
        backoff_base_seconds: Waiting time in seconds after the first eviction (`backoffBaseSeconds`), 0 or more; the
            time doubles with each further eviction. Default: 60.
        backoff_max_seconds: Longest waiting time in seconds after the second and later evictions (`backoffMaxSeconds`),
            0 or more; 0 means no limit. Default: 3600.
        backoff_limit_count: Number of requeuings after which the workload is deactivated (`backoffLimitCount`), 0 or
            more; `None`, the default, for no limit.
    """

    timestamp: Literal["Creation", "Eviction"] = "Eviction"
    backoff_base_seconds: Int64 = 60
    backoff_max_seconds: Int64 = 3600
    backoff_limit_count: Int64 | None = None


class WaitForPodsReady(Timed, frozen=True):
    """Settings for the eviction of admitted workloads whose pods do not become ready (`waitForPodsReady`).

    Source: KEP-349.

    >>> WaitForPodsReady(timeout="10m").requeuing_strategy.timestamp
    'Eviction'

    Attributes:
        timeout: Time in seconds after admission within which the pods must be ready (`timeout`), greater than 0. As for
            all durations, the constructor also accepts text such as `"5m"` or a timedelta. Default: 30 minutes.
        recovery_timeout: Time in seconds within which the pods must be ready again after a pod failed
            (`recoveryTimeout`); `None`, the default, or 0 for no limit. If a manifest omits `recoveryTimeout`, the
            value of `timeout` is used (`apis/config/v1beta2/defaults.go`,
            `pkg/controller/core/core.go:waitForPodsReady`).
        block_admission: Whether Kueue admits further workloads only when the pods of all admitted workloads are ready
            (`blockAdmission`). Default: `False`.
        requeuing_strategy: Requeuing of the evicted workloads (`requeuingStrategy`).
    """

    timeout: DurationField = default(Seconds.of(1800 * SECOND))
    recovery_timeout: OptionalDurationField = default(None)
    block_admission: bool = False
    requeuing_strategy: RequeuingStrategy = RequeuingStrategy()


class WorkloadRetentionPolicy(Timed, frozen=True):
    """Times after which Kueue deletes workloads (`objectRetentionPolicies.workloads`).

    Source: KEP-1618.

    >>> WorkloadRetentionPolicy(after_finished="1h").after_finished
    3600.0

    Attributes:
        after_finished: Time in seconds after which a finished workload is deleted (`afterFinished`); `None`, the
            default, to keep finished workloads.
        after_deactivated_by_kueue: Time in seconds after which a workload that Kueue deactivated, for example after too
            many evictions, is deleted with its job (`afterDeactivatedByKueue`); `None`, the default, to keep such
            workloads. Workloads that a user deactivated are kept.
    """

    after_finished: OptionalDurationField = default(None)
    after_deactivated_by_kueue: OptionalDurationField = default(None)


class ResourceTransformation(Value, frozen=True):
    """Conversion of a requested resource to other resources before quota is computed (`resources.transformations[]`).

    Source: KEP-2937.

    >>> ResourceTransformation("nvidia.com/mig-1g.5gb", "Replace", outputs={"gpu-memory": "5Gi"}).outputs
    {'gpu-memory': '5Gi'}

    Attributes:
        input: Name of the requested resource.
        strategy: `Retain`, the default, also counts the input resource itself; `Replace` does not count it.
        multiply_by: Name of a resource whose requested quantity multiplies the outputs (`multiplyBy`); `None`, the
            default, for no multiplication.
        outputs: Quantities to which one unit of the input is converted, by resource.
    """

    input: str
    strategy: Literal["Retain", "Replace"] = "Retain"
    multiply_by: str | None = None
    outputs: ResourceList = field(default_factory=dict)


class CounterSource(Value, frozen=True):
    """A counter of partitionable devices that is charged to quota instead of the number of devices.

    Source: KEP-2941.

    >>> CounterSource(name="memory", driver="gpu.example.com").name
    'memory'

    Attributes:
        name: Name of the counter.
        driver: Name of the driver of the devices.
        device_selector: CEL expression that the devices must satisfy (`deviceSelector`).
    """

    name: str = ""
    driver: str = ""
    device_selector: str = ""


class CapacitySource(Value, frozen=True):
    """A capacity of shareable devices that is charged to quota instead of the number of devices.

    >>> CapacitySource(name="memory", driver="gpu.example.com").driver
    'gpu.example.com'

    Attributes:
        name: Name of the capacity, with its domain if it has one.
        driver: Name of the driver of the devices.
        device_selector: CEL expression that the devices must satisfy (`deviceSelector`).
    """

    name: str = ""
    driver: str = ""
    device_selector: str = ""


class DeviceClassSource(Value, frozen=True):
    """Amount charged to quota for each device, instead of one unit.

    Exactly one of `counter` and `capacity` must be set.

    >>> DeviceClassSource(counter=CounterSource(name="memory", driver="gpu.example.com")).capacity is None
    True

    Attributes:
        counter: A counter of partitionable devices; `None` by default.
        capacity: A capacity of shareable devices; `None` by default.
    """

    counter: CounterSource | None = None
    capacity: CapacitySource | None = None


class DeviceClassMapping(Collection, frozen=True):
    """The resource name under which devices of some classes are charged to quota (`resources.deviceClassMappings[]`).

    Source: `pkg/dra/mapper.go`.

    >>> DeviceClassMapping("gpus", device_class_names=["gpu.example.com"]).device_class_names
    ('gpu.example.com',)

    Attributes:
        name: Name of the resource, as listed in `covered_resources` of ClusterQueues.
        device_class_names: Names of the DeviceClasses, at most 8 (`deviceClassNames`).
        sources: Amounts to charge instead of the number of devices. By default, one unit per device is charged.
    """

    name: str
    device_class_names: Sequence[str] = ()
    sources: Sequence[DeviceClassSource] = ()


class Resources(Collection, frozen=True):
    """Rules for computing quota usage from the requests of pods (`resources`).

    >>> Resources(exclude_resource_prefixes=["example.com/"]).quota_check_strategy
    'BlockUndeclared'

    Attributes:
        exclude_resource_prefixes: Prefixes of the names of resources that are not counted (`excludeResourcePrefixes`).
            Default: none.
        transformations: Conversions of requested resources, at most one for each input resource.
        quota_check_strategy: Treatment of requests for resources that the ClusterQueue does not cover
            (`quotaCheckStrategy`). With `BlockUndeclared`, the default, Kueue does not admit a workload that requests a
            resource that the ClusterQueue does not cover. With `IgnoreUndeclared`, which cannot be combined with
            excluded prefixes, Kueue ignores requests for resources that the ClusterQueue does not cover.
        device_class_mappings: Mappings of device classes to resources, at most 16 (`deviceClassMappings`).
    """

    exclude_resource_prefixes: Sequence[str] = ()
    transformations: Sequence[ResourceTransformation] = ()
    quota_check_strategy: QuotaCheckStrategy = "BlockUndeclared"
    device_class_mappings: Sequence[DeviceClassMapping] = ()


ALL_AT_ONCE = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"


class MultiKueueSettings(Timed, frozen=True):
    """Settings of a MultiKueue manager for dispatching workloads to worker clusters (`multiKueue`).

    >>> MultiKueueSettings(dispatcher_name="kueue.x-k8s.io/multikueue-dispatcher-incremental").origin
    'multikueue'

    Attributes:
        gc_interval: Time in seconds between two runs of the garbage collector (`gcInterval`); 0 turns it off.
            Default: 1 minute.
        origin: Value of the label that marks objects created by this manager on workers. Default: `multikueue`.
        worker_lost_timeout: Time in seconds after which a workload on a lost worker is dispatched again
            (`workerLostTimeout`). Default: 15 minutes.
        dispatcher_name: Name of the dispatcher (`dispatcherName`); by default, the dispatcher that nominates all
            workers at once. If the name is not one of Kueue's own dispatchers, Kueue expects an external dispatcher to
            nominate the workers.
        step_size: Number of clusters that the incremental dispatcher adds per round
            (`incrementalDispatcherConfig.stepSize`); `None`, the default, for 3.
        external_frameworks: Custom kinds of jobs that are dispatched, such as `Sweep.v1.example.com`
            (`externalFrameworks`). Their jobs must have `kueue.x-k8s.io/multikueue` in `spec.managedBy`.
    """

    gc_interval: DurationField = default(Seconds.of(60 * SECOND))
    origin: str = "multikueue"
    worker_lost_timeout: DurationField = default(Seconds.of(900 * SECOND))
    dispatcher_name: str = ALL_AT_ONCE
    step_size: Int64 | None = None
    external_frameworks: tuple[str, ...] = ()


MANAGED_NAMESPACES = LabelSelector(
    match_expressions=(
        LabelSelectorRequirement("kubernetes.io/metadata.name", "NotIn", ("kube-system", "kueue-system")),
    )
)
"""All namespaces except those of Kubernetes and Kueue: the default of `managed_jobs_namespace_selector`."""


@checked_methods
class Configuration(Value, frozen=True, kw_only=True):
    """Settings of a Kueue installation (API group `config.kueue.x-k8s.io`).

    A Configuration created in Python has all optional features turned off, even the features that Kueue turns on when a
    manifest omits the corresponding field.

    Source: `apis/config/v1beta2/configuration_types.go`, `apis/config/v1beta2/defaults.go`, `pkg/config/validation.go`.

    >>> config = Configuration(fair_sharing=FairSharingConfig(), feature_gates={"PartialAdmission": False})
    >>> config.wait_for_pods_ready is None
    True

    Attributes:
        fair_sharing: Settings of fair sharing between ClusterQueues (`fairSharing`); `None`, the default, for classical
            preemption.
        admission_fair_sharing: Settings of fair sharing between LocalQueues (`admissionFairSharing`); `None`, the
            default, turns admission fair sharing off.
        wait_for_pods_ready: Settings for the eviction of workloads whose pods do not become ready (`waitForPodsReady`);
            `None`, the default, turns this eviction off. If a v1beta2 manifest omits `waitForPodsReady`, Kueue evicts
            workloads whose pods do not become ready.
        resources: Rules for computing quota usage from the requests of pods.
        manage_jobs_without_queue_name: Whether Kueue also suspends and manages jobs without a queue name
            (`manageJobsWithoutQueueName`). Default: `False`.
        managed_jobs_namespace_selector: Namespaces in which `manage_jobs_without_queue_name` applies
            (`managedJobsNamespaceSelector`). The default selects all namespaces except `kube-system` and
            `kueue-system`.
        feature_gates: Feature gates that differ from their defaults, by name (`featureGates`).
        multi_kueue: Settings for dispatching workloads to worker clusters (`multiKueue`).
        object_retention_policies: Times after which a Scheduler deletes finished workloads and workloads that Kueue
            deactivated (`objectRetentionPolicies.workloads`); `None`, the default, to keep all workloads. Simulations
            keep all jobs, because no decision depends on deleted workloads.
        frameworks: Kinds of jobs that Kueue manages, such as `batch/job` (`integrations.frameworks`); `None`, the
            default, for all kinds. A Kueue installation without `integrations.frameworks` manages only `batch/job`.
        version: Release of Kueue whose decisions to reproduce, such as `v0.18`. Kueue's own configuration file has no
            field for the release. The default is the development version that this library mirrors.
        rules_left_out: Names of rules of the release `version` that are turned off, to measure the effect of each rule.
            Default: none.
        rules_added: Names of rules of other releases that are turned on, to measure the effect of each rule. Default:
            none.
    """

    fair_sharing: FairSharingConfig | None = None
    admission_fair_sharing: AdmissionFairSharing | None = None
    wait_for_pods_ready: WaitForPodsReady | None = None
    resources: Resources = Resources()
    manage_jobs_without_queue_name: bool = False
    managed_jobs_namespace_selector: LabelSelector = MANAGED_NAMESPACES
    feature_gates: dict[str, bool] = field(default_factory=dict)
    multi_kueue: MultiKueueSettings = MultiKueueSettings()
    object_retention_policies: WorkloadRetentionPolicy | None = None
    frameworks: tuple[str, ...] | None = None
    version: str = DEVELOPMENT
    rules_left_out: tuple[str, ...] = ()
    rules_added: tuple[str, ...] = ()

    @property
    def release(self) -> Release:
        """The Kueue release that the field `version` names.

        Raises:
            InvalidSpecError: There is no release profile for `version`.
        """
        return release_of(self.version)

    @property
    def gates(self) -> dict[str, bool]:
        """Whether each feature gate is enabled, by name, according to the defaults of the release and `feature_gates`.

        >>> Configuration(version="v0.17").gates["SchedulingEquivalenceHashing"]
        False
        """
        return _gates(self.release, tuple(self.feature_gates.items()))

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the rules by which the release differs from the development version.

        The names in `rules_left_out` are removed, and the names in `rules_added` are appended.
        """
        own = tuple(rule.name for rule in rules_of(self.release) if rule.name not in self.rules_left_out)
        return (*own, *self.rules_added)

    def enabled(self, gate: str) -> bool:
        """Return whether a feature gate is enabled. An unknown feature gate counts as disabled.

        >>> Configuration(feature_gates={"PartialAdmission": False}).enabled("PartialAdmission")
        False

        Args:
            gate: Name of the feature gate.
        """
        return self.gates.get(gate, False)


@lru_cache(maxsize=64)
def _gates(release: Release, settings: tuple[tuple[str, bool], ...]) -> dict[str, bool]:
    return effective(release, dict(settings))
