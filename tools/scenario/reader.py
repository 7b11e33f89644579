"""Reader of scenario files: JSON lines, plain or gzipped, or standard input."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import suggestion
from kueuepy.manifest.convert import read_resources
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.validation import check
from kueuepy.manifest.validation.devices import review_mappings
from kueuepy.manifest.validation.review import Review
from kueuepy.objects import (
    AdmissionFairSharing,
    Configuration,
    FairSharingConfig,
    RequeuingStrategy,
    WaitForPodsReady,
    WorkloadRetentionPolicy,
)
from kueuepy.objects.status import CheckState  # noqa: TC001 - msgspec reads it
from kueuepy.objects.times import Seconds, parse_duration
from kueuepy.profiles import DEFAULTS, DEVELOPMENT, release_of

if TYPE_CHECKING:
    from collections.abc import Iterator


ALL_AT_ONCE = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"


def _open(path: str) -> IO[bytes]:
    if path == "-":
        return sys.stdin.buffer
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return io.BytesIO(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except (OSError, EOFError, zlib.error) as error:
        raise ScenarioError(f"{path}: is not a complete gzip file: {error}") from None


class ScenarioError(InvalidSpecError):
    """A scenario file cannot be read, or a scenario does not have the form that `tools/replay.py` reads."""


def lines(path: str) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file of scenarios, each with the file and its number; `-` is standard input.

    Raises:
        ScenarioError: The file cannot be read.
    """
    with _open(path) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield f"{path}:{number}", line


def decoded(line: bytes) -> dict[str, Any]:
    """Return the scenario in a line of a file.

    Raises:
        ScenarioError: The line is not a JSON object.
    """
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ScenarioError(f"{error}; a scenario is one JSON object a line") from None


class _Form(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Base class for the parts of a scenario; unknown fields are errors."""


class _Metadata(msgspec.Struct):
    """The name and namespace of an object."""

    name: str
    namespace: str | None = None


class _Object(msgspec.Struct):
    """An object, whose fields are validated according to its kind."""

    kind: str
    metadata: _Metadata


class _Named(_Form, rename="camel"):
    """A reference to an object to remove."""

    kind: str
    metadata: _Metadata
    api_version: str | None = None


class _Check(_Form):
    workload: str
    state: CheckState
    check: str | None = None
    name: str | None = None
    message: str | None = None
    requeue_after_seconds: int | None = None
    pod_set_updates: list[dict[str, Any]] | None = None


class _Count(_Form):
    name: str
    count: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


class _Reclaimable(_Form):
    workload: str
    pod_sets: list[_Count]


class _Step(_Form):
    at: Annotated[float, msgspec.Meta(ge=0, lt=10**9)]
    apply: list[_Object] | None = None
    remove: list[_Named] | None = None
    submit: list[_Object] | None = None
    finish: list[str] | None = None
    delete: list[str] | None = None
    checks: list[_Check] | None = None
    pods_ready: list[str] | None = None
    pods_failed: list[str] | None = None
    reclaimable: list[_Reclaimable] | None = None
    settle: bool | None = None
    cycle: bool | None = None


class _FairSharing(_Form):
    preemption_strategies: list[Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]] | None = None


class _AdmissionFairSharing(_Form):
    usage_half_life_time: str = "0s"
    usage_sampling_interval: str = "5m"
    resource_weights: dict[str, float] | None = None


class _RequeuingStrategy(_Form):
    timestamp: Literal["Eviction", "Creation"] = "Eviction"
    backoff_base_seconds: int = 60
    backoff_max_seconds: int = 3600
    backoff_limit_count: int | None = None


class _WaitForPodsReady(_Form):
    timeout: str = "5m"
    recovery_timeout: str | None = None
    block_admission: bool = False
    requeuing_strategy: _RequeuingStrategy | None = None


class _WorkloadRetention(_Form):
    after_finished: str | None = None
    after_deactivated_by_kueue: str | None = None


class _ObjectRetention(_Form):
    workloads: _WorkloadRetention | None = None


class _Config(_Form):
    fair_sharing: _FairSharing | None = None
    admission_fair_sharing: _AdmissionFairSharing | None = None
    wait_for_pods_ready: _WaitForPodsReady | None = None
    object_retention_policies: _ObjectRetention | None = None
    resources: dict[str, Any] | None = None
    version: str | None = None
    feature_gates: dict[str, bool] | None = None


class _IncrementalDispatcher(_Form):
    step_size: Annotated[int, msgspec.Meta(ge=1)] | None = None


class _MultiKueue(_Form):
    worker_lost_timeout: str | None = None
    gc_interval: str | None = None
    origin: str | None = None
    dispatcher_name: str | None = None
    incremental_dispatcher_config: _IncrementalDispatcher | None = None


class _FleetConfig(_Config):
    multi_kueue: _MultiKueue | None = None


class _Cluster(_Form):
    name: str
    objects: list[_Object]
    config: _Config | None = None


class _Nomination(_Form):
    workload: str
    clusters: list[str]


class _FleetStep(_Step):
    on: str | None = None
    dispatch: bool | None = None
    collect: bool | None = None
    connect: list[str] | None = None
    disconnect: list[str] | None = None
    nominate: list[_Nomination] | None = None


class _FleetScenario(_Form):
    name: str
    clusters: Annotated[list[_Cluster], msgspec.Meta(min_length=1)]
    steps: list[_FleetStep]
    config: _FleetConfig | None = None
    job: str | None = None
    results: list[dict[str, Any]] | None = None


class _Scenario(_Form):
    name: str
    objects: list[_Object]
    steps: list[_Step]
    config: _Config | None = None
    results: list[dict[str, Any]] | None = None


def check_scenario(scenario: object, *, where: str = "scenario") -> None:
    """Validate a scenario.

    Raises:
        ScenarioError: The scenario is not valid; the message names the field.
    """
    _check(scenario, _Scenario, where)


def check_fleet_scenario(scenario: object, *, where: str = "scenario") -> None:
    """Validate a scenario of a manager and its workers.

    Raises:
        ScenarioError: The scenario is not valid; the message names the field.
    """
    _check(scenario, _FleetScenario, where)


def _check(scenario: object, form: type, where: str) -> None:
    try:
        msgspec.convert(scenario, form)
    except msgspec.ValidationError as error:
        raise ScenarioError(f"{where}: {error}") from None


def dispatcher_options(multi_kueue: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """Return the dispatcher of a scenario's `multiKueue` and feature gates, in the format of the core."""
    dispatcher = multi_kueue.get("dispatcherName", ALL_AT_ONCE)
    gates = DEFAULTS[release_of(config.get("version") or DEVELOPMENT)] | (config.get("featureGates") or {})
    step = (multi_kueue.get("incrementalDispatcherConfig") or {}).get("stepSize")
    return {
        "kind": {ALL_AT_ONCE: "AllAtOnce", INCREMENTAL: "Incremental"}.get(dispatcher, "External"),
        "step": step if step is not None and gates.get("MultiKueueIncrementalDispatcherConfig") else 3,
        "round": 300 * 10**9,
        "in_config_order": bool(gates.get("MultiKueueIncrementalDispatcherRespectConfigOrder")),
        "worker_lost_timeout": _duration(multi_kueue.get("workerLostTimeout", "15m"), "multiKueue.workerLostTimeout"),
    }


def _duration(value: Any, field: str) -> int:
    parsed = parse_duration(value) if isinstance(value, str) else None
    if parsed is None:
        raise ScenarioError(f"config.{field}: {value!r} is not a duration such as '30s' or '5m0s'")
    return parsed


def configuration(config: dict[str, Any]) -> Configuration:
    """Return the Configuration of a scenario's `config`; features that `config` does not name are disabled.

    Raises:
        ScenarioError: A field is not valid; the message names it.
    """
    gates = dict(config.get("featureGates") or {})
    release = release_of(config.get("version") or DEVELOPMENT)
    for name in gates:
        if name not in DEFAULTS[release]:
            hint = suggestion(name, DEFAULTS[release])
            raise ScenarioError(f"config.featureGates.{name}: unknown feature gate of {release}; {hint}")
    fields: dict[str, Any] = {"version": release.name}
    if (sharing := config.get("fairSharing")) is not None:
        strategies = sharing.get("preemptionStrategies")
        fields["fair_sharing"] = FairSharingConfig(tuple(strategies)) if strategies else FairSharingConfig()
    if (usage := config.get("admissionFairSharing")) is not None:
        half_life = _duration(usage.get("usageHalfLifeTime", "0s"), "usageHalfLifeTime")
        interval = _duration(usage.get("usageSamplingInterval", "5m"), "usageSamplingInterval")
        fields["admission_fair_sharing"] = AdmissionFairSharing(
            usage_half_life_time=Seconds.of(half_life),
            usage_sampling_interval=Seconds.of(interval),
            resource_weights={name: float(weight) for name, weight in (usage.get("resourceWeights") or {}).items()},
        )
    if (wait := config.get("waitForPodsReady")) is not None and not gates.get("DisableWaitForPodsReady"):
        fields["wait_for_pods_ready"] = _wait_for_pods_ready(wait)
    if retention := (config.get("objectRetentionPolicies") or {}).get("workloads"):
        fields["object_retention_policies"] = WorkloadRetentionPolicy(
            after_finished=retention.get("afterFinished"),
            after_deactivated_by_kueue=retention.get("afterDeactivatedByKueue"),
        )
    if (resources := config.get("resources")) is not None:
        findings = Findings()
        fields["resources"] = read_resources(resources, findings)
        if findings.problems:
            raise ScenarioError(f"config.{findings.problems[0]}")
    whole = Configuration(**fields, feature_gates=gates)  # recordings may have any combination of gates
    mappings = whole.resources.device_class_mappings
    review = Review()
    review_mappings(mappings, whole.gates, review)
    if review.problems:
        raise ScenarioError(f"config.{review.problems[0]}")
    try:
        unmapped = msgspec.structs.replace(whole.resources, device_class_mappings=())
        check(msgspec.structs.replace(whole, resources=unmapped, feature_gates={}))
    except InvalidSpecError as error:
        raise ScenarioError(f"config: {error}") from None
    return whole


def _wait_for_pods_ready(wait: dict[str, Any]) -> WaitForPodsReady:
    strategy = wait.get("requeuingStrategy") or {}
    recovery = wait.get("recoveryTimeout")
    return WaitForPodsReady(
        timeout=Seconds.of(_duration(wait.get("timeout", "5m"), "timeout")),
        recovery_timeout=None if recovery is None else Seconds.of(_duration(recovery, "recoveryTimeout")),
        block_admission=bool(wait.get("blockAdmission", False)),
        requeuing_strategy=RequeuingStrategy(
            timestamp=strategy.get("timestamp", "Eviction"),
            backoff_base_seconds=strategy.get("backoffBaseSeconds", 60),
            backoff_max_seconds=strategy.get("backoffMaxSeconds", 3600),
            backoff_limit_count=strategy.get("backoffLimitCount"),
        ),
    )
