"""Validation rules for a Configuration.

Source: `pkg/config/validation.go`.
"""

from kueuepy.errors import suggestion
from kueuepy.manifest.formats import read_quantity
from kueuepy.manifest.jobkinds import FRAMEWORKS
from kueuepy.manifest.validation.devices import review_mappings
from kueuepy.manifest.validation.queue import review_selector
from kueuepy.manifest.validation.review import Review
from kueuepy.objects import (
    NAMESPACE_NAME_LABEL,
    AdmissionFairSharing,
    Configuration,
    FairSharingConfig,
    Resources,
    WaitForPodsReady,
)
from kueuepy.profiles import DEFAULTS, DEPENDENCIES, LOCKED, RELEASES, Release, effective

_STRATEGIES = (
    ("LessThanOrEqualToFinalShare",),
    ("LessThanInitialShare",),
    ("LessThanOrEqualToFinalShare", "LessThanInitialShare"),
)
_WAIT = ("waitForPodsReady",)
_RETENTION = ("objectRetentionPolicies", "workloads")
_SELECTOR = ("managedJobsNamespaceSelector",)


def review_configuration(configuration: Configuration, review: Review, own_namespace: str = "kueue-system") -> None:
    """Check a Configuration.

    Args:
        configuration: The Configuration.
        review: Collects the problems.
        own_namespace: The namespace of Kueue's manager.
    """
    review_gates(configuration.feature_gates, configuration.release, review)
    if configuration.fair_sharing is not None:
        _review_fair_sharing(configuration.fair_sharing, review)
    if configuration.admission_fair_sharing is not None:
        _review_admission_fair_sharing(configuration.admission_fair_sharing, review)
    if configuration.wait_for_pods_ready is not None:
        _review_wait(configuration.wait_for_pods_ready, review)
    if (kept := configuration.object_retention_policies) is not None:
        for name, time in (("Finished", kept.after_finished), ("DeactivatedByKueue", kept.after_deactivated_by_kueue)):
            if time is not None and time < 0:
                review.problem((*_RETENTION, f"after{name}"), "is negative; it must be 0 or more")
    _review_resources(configuration.resources, review)
    review_mappings(configuration.resources.device_class_mappings, configuration.gates, review)
    _review_frameworks(configuration.frameworks or (), review)
    selector = configuration.managed_jobs_namespace_selector
    review_selector(selector, _SELECTOR, review)
    for name in ("kube-system", own_namespace):
        if selector.matches({NAMESPACE_NAME_LABEL: name}):
            review.problem(_SELECTOR, f"matches namespace {name}; it must not")


def review_gates(gates: dict[str, bool], release: Release, review: Review) -> None:
    """Check that feature gates exist in the release, are not locked, and depend only on enabled gates."""
    known = DEFAULTS[release]
    for name, value in gates.items():
        path = ("featureGates", name)
        if name not in known:
            review.problem(path, f"unknown feature gate{_of(release)}; {suggestion(name, known)}", "Unknown")
        elif name in LOCKED[release] and value != known[name]:
            review.problem(path, f"is {str(value).lower()}; it is locked to {str(known[name]).lower()}")
    on = effective(release, gates)
    for name, needed in DEPENDENCIES.items():
        off = [other for other in needed if not on.get(other)]
        if off and on.get(name):
            review.problem(("featureGates", name), f"is on, but needs {', '.join(off)}; turn that on, or this off")


def _of(release: Release) -> str:
    """Return the name of a release for error messages; empty for the development version."""
    return "" if release == RELEASES[-1] else f" of {release}"


def _review_fair_sharing(sharing: FairSharingConfig, review: Review) -> None:
    path = ("fairSharing", "preemptionStrategies")
    if not sharing.preemption_strategies:
        review.problem(path, "is required", "Required")
    elif sharing.preemption_strategies not in _STRATEGIES:
        given = ", ".join(sharing.preemption_strategies)
        allowed = " or ".join(f"[{', '.join(strategies)}]" for strategies in _STRATEGIES)
        review.problem(path, f"[{given}] is not supported; it must be {allowed}", "NotSupported")


def _review_admission_fair_sharing(sharing: AdmissionFairSharing, review: Review) -> None:
    path = ("admissionFairSharing",)
    if sharing.usage_half_life_time < 0:
        review.problem((*path, "usageHalfLifeTime"), "is negative; it must be 0 or more")
    if sharing.usage_sampling_interval <= 0:
        review.problem((*path, "usageSamplingInterval"), "must be more than 0")
    for name, weight in sharing.resource_weights.items():
        if not weight >= 0:
            review.problem((*path, "resourceWeights", name), f"is {weight}; it must be 0 or more")


def _review_wait(wait: WaitForPodsReady, review: Review) -> None:
    if wait.timeout <= 0:
        review.problem((*_WAIT, "timeout"), "must be more than 0")
    if wait.recovery_timeout is not None and wait.recovery_timeout < 0:
        review.problem((*_WAIT, "recoveryTimeout"), "is negative; it must be 0 or more")
    strategy, path = wait.requeuing_strategy, (*_WAIT, "requeuingStrategy")
    review.one_of(strategy.timestamp, ("Creation", "Eviction"), (*path, "timestamp"))
    review.int32(strategy.backoff_limit_count, (*path, "backoffLimitCount"), least=0)
    review.int32(strategy.backoff_base_seconds, (*path, "backoffBaseSeconds"), least=0)
    review.int32(strategy.backoff_max_seconds, (*path, "backoffMaxSeconds"), least=0)


def _review_frameworks(frameworks: tuple[str, ...], review: Review) -> None:
    path = ("integrations", "frameworks")
    review.unique(frameworks, path, "framework")
    for position, name in enumerate(frameworks):
        if name not in FRAMEWORKS:
            review.problem((*path, position), f'"{name}" is not a framework; {suggestion(name, FRAMEWORKS)}')


def _review_resources(resources: Resources, review: Review) -> None:
    path = ("resources", "quotaCheckStrategy")
    review.one_of(resources.quota_check_strategy, ("BlockUndeclared", "IgnoreUndeclared"), path)
    if resources.quota_check_strategy == "IgnoreUndeclared" and resources.exclude_resource_prefixes:
        review.problem(path, "is IgnoreUndeclared; with excludeResourcePrefixes it must be BlockUndeclared")
    location = ("resources", "transformations")
    review.unique((transformation.input for transformation in resources.transformations), location, "input")
    for position, transformation in enumerate(resources.transformations):
        review.one_of(transformation.strategy, ("Retain", "Replace"), (*location, position, "strategy"))
        for name, factor in transformation.outputs.items():
            found = read_quantity(factor)
            if isinstance(found, str):
                review.problem((*location, position, "outputs", name), found)
