"""Reading and writing of Kueue's configuration file.

Fields that do not affect admission are accepted, but not stored.

Source: `apis/config/v1beta2/{configuration_types,defaults}.go`,
`apis/config/v1beta1/{configuration_conversion,defaults}.go`.
"""

from typing import Any

import msgspec

from kueuepy.errors.problems import Path
from kueuepy.manifest.body import present
from kueuepy.manifest.decoding import decode, hold
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.shapes import many, shape
from kueuepy.objects import (
    AdmissionFairSharing,
    Configuration,
    FairSharingConfig,
    LabelSelector,
    LabelSelectorRequirement,
    MultiKueueSettings,
    RequeuingStrategy,
    Resources,
    WaitForPodsReady,
)
from kueuepy.objects.namespace import NAMESPACE_NAME_LABEL
from kueuepy.objects.times import SECOND, Seconds, format_duration, parse_duration
from kueuepy.profiles import RELEASES, Release

CONFIG_GROUP = "config.kueue.x-k8s.io"
_OWN_NAMESPACE = "kueue-system"
_TIMEOUT = {"v1beta1": 300 * SECOND, "v1beta2": 1800 * SECOND}
_WAITS_SINCE = 19
"""First minor release in which waitForPodsReady is on if a v1beta2 file does not contain it (#11855)."""
_SAMPLING = 300 * SECOND
_BOTH = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")

_OTHERS = """
    apiVersion kind metadata webhook leaderElection metrics health pprofBindAddress controller tls
    internalCertManagement clientConnection objectRetentionPolicies visibilityServer
    queueVisibility
"""
_Wait = shape(
    "WaitForPodsReady",
    enable=bool | None,
    timeout=str | None,
    recoveryTimeout=str | None,
    blockAdmission=bool | None,
    requeuingStrategy=RequeuingStrategy | None,
)
_FairSharing = shape("FairSharing", enable=bool | None, preemptionStrategies=list[str] | None)
_AdmissionFairSharing = shape(
    "AdmissionFairSharing",
    usageHalfLifeTime=str | None,
    usageSamplingInterval=str | None,
    resourceWeights=dict[str, float] | None,
)
_Transformation = shape(
    "ResourceTransformation",
    input=str,
    strategy=str | None,
    multiplyBy=str | None,
    outputs=dict[str, str | float] | None,
)
_Cel = shape("CELDeviceSelector", expression=str | None)
_DeviceSelector = shape("DeviceSelector", cel=_Cel | None)
_DeviceSource = shape("DeviceClassSource", name=str | None, driver=str | None, deviceSelector=_DeviceSelector | None)
_DeviceClassSource = shape("DeviceClassSourceConfig", counter=_DeviceSource | None, capacity=_DeviceSource | None)
_DeviceClassMapping = shape(
    "DeviceClassMapping",
    name=str | None,
    deviceClassNames=list[str] | None,
    sources=many(_DeviceClassSource),
)
_Resources = shape(
    "Resources",
    deviceClassMappings=many(_DeviceClassMapping),
    excludeResourcePrefixes=list[str] | None,
    transformations=many(_Transformation),
    quotaCheckStrategy=str | None,
)
_MultiKueue = shape(
    "MultiKueue",
    "externalFrameworks clusterProfile",
    gcInterval=str | None,
    origin=str | None,
    workerLostTimeout=str | None,
    dispatcherName=str | None,
    incrementalDispatcherConfig=shape("IncrementalDispatcherConfig", stepSize=int | None) | None,
)
_Integrations = shape("Integrations", "externalFrameworks podOptions labelKeysToCopy", frameworks=list[str] | None)
_Configuration = shape(
    "Configuration",
    _OTHERS,
    namespace=str | None,
    manageJobsWithoutQueueName=bool | None,
    managedJobsNamespaceSelector=LabelSelector | None,
    waitForPodsReady=_Wait | None,
    fairSharing=_FairSharing | None,
    admissionFairSharing=_AdmissionFairSharing | None,
    resources=_Resources | None,
    integrations=_Integrations | None,
    multiKueue=_MultiKueue | None,
    featureGates=dict[str, bool] | None,
)


def read_configuration(
    doc: dict[str, Any], findings: Findings, release: Release = RELEASES[-1]
) -> tuple[Configuration, str] | None:
    """Read a Configuration, with the defaults of a given Kueue release.

    Returns:
        The Configuration and the namespace of Kueue's manager, or `None` if `findings` contains problems.
    """
    version = str(doc.get("apiVersion")).rpartition("/")[2]
    if version not in _TIMEOUT:
        findings.problem(("apiVersion",), f'"{doc.get("apiVersion")}" is not known; it must be v1beta1 or v1beta2')
        return None
    doc = hold(_Configuration, doc, (), findings) or {}
    if findings.problems:
        return None
    doc = present(doc)
    _refuse_newer(doc, version, findings)
    namespace = doc.get("namespace") or _OWN_NAMESPACE
    gates = doc.get("featureGates", {})
    wait = _wait(doc.get("waitForPodsReady"), version, findings)
    given = doc.get("waitForPodsReady") is not None
    disabled = gates.get("DisableWaitForPodsReady") is True or not (given or release.minor >= _WAITS_SINCE)
    selector: LabelSelector | None = _all_but("kube-system", namespace)
    if (raw := doc.get("managedJobsNamespaceSelector")) is not None:
        selector = decode(LabelSelector, raw, ("managedJobsNamespaceSelector",), findings)
    frameworks = (doc.get("integrations") or {}).get("frameworks")
    configuration = Configuration(
        fair_sharing=_fair_sharing(doc.get("fairSharing"), version, findings),
        admission_fair_sharing=_admission_fair_sharing(doc.get("admissionFairSharing"), findings),
        wait_for_pods_ready=None if disabled else wait,
        resources=read_resources(doc.get("resources") or {}, findings) or Resources(),
        multi_kueue=_multi_kueue(doc.get("multiKueue") or {}, findings),
        manage_jobs_without_queue_name=doc.get("manageJobsWithoutQueueName", False),
        managed_jobs_namespace_selector=selector or LabelSelector(),
        feature_gates=gates,
        frameworks=None if frameworks is None else tuple(frameworks),
        version=release.name,
    )
    return None if findings.problems else (configuration, namespace)


def _refuse_newer(doc: dict[str, Any], version: str, findings: Findings) -> None:
    """Report fields that turn features on or off in v1beta1 but do not exist in v1beta2.

    In v1beta2, a feature is turned on by the presence of its section.
    """
    for name in ("waitForPodsReady", "fairSharing"):
        if version == "v1beta2" and "enable" in doc.get(name, {}):
            findings.odd((name, "enable"), f"unknown field in v1beta2; {name} is on where it is present", "left out")


def _all_but(*namespaces: str) -> LabelSelector:
    return LabelSelector(match_expressions=(LabelSelectorRequirement(NAMESPACE_NAME_LABEL, "NotIn", namespaces),))


def _duration(raw: str | None, path: Path, findings: Findings) -> int:
    """Parse a duration as nanoseconds; return 0 if the duration is absent."""
    if raw is None:
        return 0
    found = parse_duration(raw)
    if found is None:
        findings.problem(path, f'is "{raw}"; it must be a duration such as 5m or 1h30m')
    return found or 0


def _wait(raw: dict[str, Any] | None, version: str, findings: Findings) -> WaitForPodsReady | None:
    if version == "v1beta1" and not (raw or {}).get("enable"):
        return None
    given = present(raw or {})
    path = ("waitForPodsReady",)
    timeout = _duration(given.get("timeout"), (*path, "timeout"), findings)
    if version == "v1beta2" or "timeout" not in given:
        timeout = timeout or _TIMEOUT[version]
    recovery = timeout
    if "recoveryTimeout" in given:
        recovery = _duration(given["recoveryTimeout"], (*path, "recoveryTimeout"), findings)
    strategy = given.get("requeuingStrategy") or {}
    return WaitForPodsReady(
        timeout=Seconds.of(timeout),
        recovery_timeout=Seconds.of(recovery) if recovery else None,
        block_admission=given.get("blockAdmission", version == "v1beta1"),
        requeuing_strategy=decode(RequeuingStrategy, strategy, (*path, "requeuingStrategy"), findings)
        or RequeuingStrategy(),
    )


def _fair_sharing(raw: dict[str, Any] | None, version: str, findings: Findings) -> FairSharingConfig | None:
    if raw is None or (version == "v1beta1" and not raw.get("enable")):
        return None
    strategies = raw.get("preemptionStrategies") or (_BOTH if version == "v1beta1" else ())
    return decode(FairSharingConfig, {"preemptionStrategies": strategies}, ("fairSharing",), findings)


def _multi_kueue(raw: dict[str, Any], findings: Findings) -> MultiKueueSettings:
    """Read the settings of MultiKueue with their defaults (`apis/config/v1beta2/defaults.go`)."""
    given = present(raw)
    found: dict[str, Any] = {}
    for name, field in (("gcInterval", "gc_interval"), ("workerLostTimeout", "worker_lost_timeout")):
        if name in given:
            found[field] = Seconds.of(_duration(given[name], ("multiKueue", name), findings))
            if found[field] < 0:
                findings.problem(("multiKueue", name), f'is "{given[name]}"; it must be 0 or more')
    step = (given.get("incrementalDispatcherConfig") or {}).get("stepSize")
    if step is not None and step < 1:
        path = ("multiKueue", "incrementalDispatcherConfig", "stepSize")
        findings.problem(path, f"is {step}; it must be 1 or more")
    named = {"origin": given.get("origin"), "dispatcher_name": given.get("dispatcherName"), "step_size": step}
    return MultiKueueSettings(**found, **present(named))


def _admission_fair_sharing(raw: dict[str, Any] | None, findings: Findings) -> AdmissionFairSharing | None:
    if raw is None:
        return None
    path = ("admissionFairSharing",)
    interval = _duration(raw.get("usageSamplingInterval"), (*path, "usageSamplingInterval"), findings)
    half_life = _duration(raw.get("usageHalfLifeTime"), (*path, "usageHalfLifeTime"), findings)
    return AdmissionFairSharing(
        usage_half_life_time=Seconds.of(half_life),
        usage_sampling_interval=Seconds.of(interval or _SAMPLING),
        resource_weights={name: float(weight) for name, weight in (raw.get("resourceWeights") or {}).items()},
    )


def read_resources(raw: dict[str, Any], findings: Findings) -> Resources | None:
    """Read the section `resources` of a Configuration; `None` if `findings` contains problems."""
    given = present(raw)
    if "deviceClassMappings" in given:
        place = ("resources", "deviceClassMappings")
        held = hold(list[_DeviceClassMapping], given["deviceClassMappings"], place, findings)  # type: ignore[valid-type]
        given["deviceClassMappings"] = [_mapping(item) for item in held or ()]
    if "transformations" in given:
        given["transformations"] = [_transformation(item) for item in given["transformations"]]
    return decode(Resources, given, ("resources",), findings)


def _mapping(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping of device classes with selectors as plain CEL expressions."""
    sources = [{kind: _source(one) for kind, one in present(source).items()} for source in raw.get("sources") or ()]
    return {
        "name": raw.get("name") or "",
        "deviceClassNames": raw.get("deviceClassNames") or (),
        "sources": sources,
    }


def _source(raw: dict[str, Any]) -> dict[str, Any]:
    cel = (raw.get("deviceSelector") or {}).get("cel") or {}
    texts = {name: raw.get(name) or "" for name in ("name", "driver")}
    return {**texts, "deviceSelector": cel.get("expression") or ""}


def _write_resources(resources: Resources) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(resources)
    for mapping in written.get("deviceClassMappings", ()):
        for source in mapping.get("sources", ()):
            for one in source.values():
                if one is not None and "deviceSelector" in one:
                    one["deviceSelector"] = {"cel": {"expression": one["deviceSelector"]}}
    return written


def _transformation(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a transformation with string outputs; in Kueue's configuration file, outputs can also be floats."""
    given = {name: value for name, value in raw.items() if value not in (None, "")}
    outputs = given.get("outputs", {})
    given["outputs"] = {name: str(value) if isinstance(value, float) else value for name, value in outputs.items()}
    return given


def write_configuration(configuration: Configuration) -> dict[str, Any]:
    """Convert a Configuration to the form of Kueue's configuration file.

    A Configuration without waitForPodsReady is written in v1beta1, because v1beta2 would turn the feature on.
    """
    wait, fair = configuration.wait_for_pods_ready, configuration.fair_sharing
    version = "v1beta2" if wait else "v1beta1"
    switch = {"enable": True} if version == "v1beta1" else {}
    body: dict[str, Any] = {
        "waitForPodsReady": _write_wait(wait) if wait else None,
        "fairSharing": {**switch, "preemptionStrategies": list(fair.preemption_strategies)} if fair else None,
        "admissionFairSharing": _write_admission_fair_sharing(configuration.admission_fair_sharing),
        "resources": _write_resources(configuration.resources) or None,
        "multiKueue": _write_multi_kueue(configuration.multi_kueue),
        "manageJobsWithoutQueueName": configuration.manage_jobs_without_queue_name or None,
        "managedJobsNamespaceSelector": msgspec.to_builtins(configuration.managed_jobs_namespace_selector),
        "integrations": None if configuration.frameworks is None else {"frameworks": list(configuration.frameworks)},
        "featureGates": configuration.feature_gates or None,
    }
    return {"apiVersion": f"{CONFIG_GROUP}/{version}", "kind": "Configuration", **present(body)}


def _write_wait(wait: WaitForPodsReady) -> dict[str, Any]:
    recovery = wait.recovery_timeout  # 0 turns it off; without the field, it would be `timeout`
    return {
        "timeout": format_duration(wait.timeout.value),
        "recoveryTimeout": format_duration(recovery.value if recovery else 0),
        "blockAdmission": wait.block_admission,
        "requeuingStrategy": msgspec.to_builtins(wait.requeuing_strategy),
    }


def _write_multi_kueue(settings: MultiKueueSettings) -> dict[str, Any] | None:
    if settings == MultiKueueSettings():
        return None
    found: dict[str, Any] = {
        "gcInterval": format_duration(settings.gc_interval.value),
        "origin": settings.origin,
        "workerLostTimeout": format_duration(settings.worker_lost_timeout.value),
        "dispatcherName": settings.dispatcher_name,
    }
    if settings.step_size is not None:
        found["incrementalDispatcherConfig"] = {"stepSize": settings.step_size}
    return found


def _write_admission_fair_sharing(sharing: AdmissionFairSharing | None) -> dict[str, Any] | None:
    if sharing is None:
        return None
    return {
        "usageHalfLifeTime": format_duration(sharing.usage_half_life_time.value),
        "usageSamplingInterval": format_duration(sharing.usage_sampling_interval.value),
        "resourceWeights": sharing.resource_weights,
    }
