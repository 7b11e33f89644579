"""Conversion of objects and of Kueue's configuration file between Kubernetes' JSON form and Python classes.

Fields of the Configuration that do not affect admission are accepted, but not stored. From the configuration object of
OpenShift's operator, the operator makes Kueue's Configuration, by the rules of openshift/kueue-operator at dc3b6577.

Source: `apis/config/v1beta2/{configuration_types,defaults}.go`,
`apis/config/v1beta1/{configuration_conversion,defaults}.go`.
"""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from kueuepy.errors import ManifestError, Path, UnsupportedError, checked
from kueuepy.files import write_file
from kueuepy.manifest import collector
from kueuepy.manifest.body import Body, part, present
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.forms import Form, decode_text, encode_text, form_of, gathered, path_in_manifest, spread
from kueuepy.manifest.jobkinds import FRAMEWORKS
from kueuepy.manifest.kinds import BY_CLASS, KINDS, KUEUE, Kind
from kueuepy.manifest.manifest import Manifest
from kueuepy.manifest.schema.classes import schema_of_class, schema_of_kind
from kueuepy.manifest.schema.structure import conform, structured
from kueuepy.manifest.schema.table import ANY, FLAG, STRING, Schema, with_fields
from kueuepy.manifest.text.writing import yaml_text
from kueuepy.manifest.versions import OLD_VERSIONS, to_v1beta2, with_usage
from kueuepy.objects import Configuration, LabelSelector, LabelSelectorRequirement, NamespacedObject, Object, Resources
from kueuepy.objects.namespace import NAMESPACE_NAME_LABEL
from kueuepy.objects.readable import decoding_fault, ready
from kueuepy.objects.times import parse_duration
from kueuepy.profiles import DEVELOPMENT, release_of

T = TypeVar("T")


def decode(cls: type[T], raw: Any, path: Path, findings: Findings) -> T | None:
    """Decode a value to an instance of a class that has no other form in a manifest.

    Nulls are treated as absent fields. In lenient mode, unknown fields are removed, and numbers become strings where a
    string is expected.

    Returns:
        The instance, or `None` if problems were added to `findings`.
    """
    before = len(findings.problems)
    clean = conform(schema_of_class(cast("Any", cls)), raw, path, findings)
    return None if len(findings.problems) > before else _converted(cls, None, clean, path, findings)


def decoded(form: Form, flat: dict[str, Any], path: Path, findings: Findings) -> Any:
    """Decode the fields of a class, which `gathered` has returned for a manifest at a path."""
    return _converted(form.cls, form, flat, path, findings)


def _converted(cls: type[T], form: Form | None, flat: Any, path: Path, findings: Findings) -> T | None:
    try:
        return msgspec.convert(flat, ready(cls), dec_hook=decode_text)
    except msgspec.ValidationError as error:
        location, detail = decoding_fault(error, cls)
        findings.problem((*path, *path_in_manifest(form, location)), detail)
        return None


def in_v1beta2(group: str, version: str, doc: Body, findings: Findings, *, is_new: bool) -> Body | None:
    """Convert an object to the form of API version v1beta2.

    The object is validated against the schema of its own version. Objects of versions that Kueue has removed are
    validated against the schema of v1beta2.

    Returns:
        The object, or `None` if `findings` contains problems.
    """
    if group == KUEUE and version not in OLD_VERSIONS:
        doc = structured(str(doc.get("kind")), version, doc, findings, is_new=is_new)
        if findings.problems:
            return None
    body = to_v1beta2(group, version, doc, findings)
    if version in OLD_VERSIONS and not findings.problems:
        body = structured(str(body.get("kind")), KINDS[KUEUE, "Workload"].version, body, findings, is_new=is_new)
    return None if findings.problems else body


def read_object(kind: Kind, doc: Body, findings: Findings) -> Object | None:
    """Create the Python object for an object in its current version; `None` if `findings` contains problems."""
    if kind.group != KUEUE:  # `structured` has already examined objects of Kueue's API
        doc = conform(schema_of_kind(kind), doc, (), findings)
    if "metadata" not in doc or (isinstance(doc["metadata"], dict) and not doc["metadata"].get("name")):
        findings.problem(("metadata", "name"), "is required", "Required")
    if findings.problems:
        return None
    flat = gathered(form_of(kind.cls), kind.read(doc) if kind.read else doc)
    # Exports of some tools have an empty namespace, which means the default one.
    if "namespace" in flat and not (kind.namespaced and flat["namespace"]):
        del flat["namespace"]
    found = decoded(form_of(kind.cls), flat, (), findings)
    return None if findings.problems else found


def split_api_version(doc: Mapping[str, Any]) -> tuple[str, str]:
    """Return the API group and version of an object; the group is empty for Kubernetes' core API."""
    group, slash, version = str(doc.get("apiVersion") or "").partition("/")
    return (group, version) if slash else ("", group)


@checked
def from_dict(doc: Mapping[str, Any]) -> Object:
    """Create the Python object for a dict in Kubernetes' JSON form, in any version of Kueue's API.

    The function checks types and field names, but does not check formats, lengths or the rules of `validate`.

    >>> from_dict({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "org"}}).name
    'org'

    Args:
        doc: The object as a dict.

    Returns:
        The object.

    Raises:
        ManifestError: A field is unknown, missing or of the wrong type.
        UnsupportedError: kueuepy has no Python class for the kind.
    """
    group, version = split_api_version(doc)
    findings = Findings(formats=False)
    if (group, str(doc.get("kind"))) not in KINDS and (group, version in OLD_VERSIONS) != (KUEUE, True):
        raise UnsupportedError(f"{doc.get('kind')} of {group or 'core'}: kueuepy has no class for this kind")
    body = in_v1beta2(group, version, dict(doc), findings, is_new=False)
    kind = None if body is None else KINDS.get((group, str(body.get("kind"))))
    if body is not None and kind is None:
        raise UnsupportedError(f"{doc.get('kind')} of {group or 'core'}: kueuepy has no class for this kind")
    found = None if body is None or kind is None else read_object(kind, body, findings)
    if found is None:
        where = object_name(doc)
        raise ManifestError([(where, problem) for problem in findings.problems])
    return with_usage(found) if version in OLD_VERSIONS else found


@checked
def to_dict(obj: Object) -> dict[str, Any]:
    """Convert an object to a dict in Kubernetes' JSON form, version v1beta2. Fields with default values are omitted.

    >>> from kueuepy.objects import Cohort
    >>> to_dict(Cohort("org"))["kind"]
    'Cohort'

    Args:
        obj: The object.

    Returns:
        The dict.
    """
    kind = BY_CLASS[type(obj)]
    namespace = {"namespace": obj.namespace} if isinstance(obj, NamespacedObject) else {}
    doc: Body = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": obj.name, **namespace}}
    spread(form_of(kind.cls), msgspec.to_builtins(obj, enc_hook=encode_text), doc)
    doc = kind.write(doc) if kind.write else doc
    status = doc.pop("status", None)  # kubectl prints it last
    return {**doc, "status": status} if status else doc


def generated_name(prefix: str, number: int) -> str:
    """Return the name of an object with `generateName`.

    kueuepy appends a number; an API server would append five random characters to `generateName`.
    """
    return f"{prefix}{number:05d}"


def object_name(doc: Mapping[str, Any]) -> str:
    """Return the name of an object in error messages: its kind, followed by namespace and name in quotes."""
    metadata = part(doc, "metadata")
    name = metadata.get("name") or metadata.get("generateName") or ""
    namespace = metadata.get("namespace")
    return f'{doc.get("kind") or "object"} "{f"{namespace}/" if namespace else ""}{name}"'


CONFIG_GROUP = "config.kueue.x-k8s.io"
_OWN_NAMESPACE = "kueue-system"
_PODS_READY_TIMEOUT = {"v1beta1": "5m", "v1beta2": "30m"}
# First minor release in which waitForPodsReady is on if a v1beta2 file does not contain it (#11855).
_WAITS_SINCE = 19
_BOTH_STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
# Sections that turn a feature on: by their field `enable` in v1beta1, by their presence in v1beta2.
_SWITCHED_SECTIONS = ("waitForPodsReady", "fairSharing")

_OTHER_FIELDS = """
    apiVersion kind metadata webhook leaderElection metrics health pprofBindAddress controller tls
    internalCertManagement clientConnection visibilityServer
    queueVisibility
"""
_OTHER_FIELDS_IN = {
    "multiKueue": "clusterProfile",
    "integrations": "externalFrameworks podOptions labelKeysToCopy",
}


@cache
def _schema() -> Schema:
    """Return the schema of the configuration file: the fields of the class, and those that are not stored."""
    own = schema_of_class(Configuration)
    found = with_fields(own, namespace=STRING, **dict.fromkeys(_OTHER_FIELDS.split(), ANY))
    for name, others in _OTHER_FIELDS_IN.items():
        found = with_fields(found, **{name: with_fields(own.properties[name], **dict.fromkeys(others.split(), ANY))})
    return with_fields(found, **{name: with_fields(own.properties[name], enable=FLAG) for name in _SWITCHED_SECTIONS})


def read_configuration(
    doc: dict[str, Any], findings: Findings, of_release: str = DEVELOPMENT
) -> tuple[Configuration, str] | None:
    """Read a Configuration, with the defaults of a given Kueue release.

    Returns:
        The Configuration and the namespace of Kueue's manager, or `None` if `findings` contains problems.
    """
    version = str(doc.get("apiVersion")).rpartition("/")[2]
    if version not in _PODS_READY_TIMEOUT:
        findings.problem(("apiVersion",), f'"{doc.get("apiVersion")}" is not known; it must be v1beta1 or v1beta2')
        return None
    doc = conform(_schema(), {**doc, "resources": _with_texts(doc.get("resources"))}, (), findings)
    for name in _SWITCHED_SECTIONS if version == "v1beta2" else ():
        if "enable" in part(doc, name):
            findings.odd((name, "enable"), f"unknown field in v1beta2; {name} is on where it is present", "left out")
    if findings.problems:
        return None
    namespace = doc.get("namespace") or _OWN_NAMESPACE
    fields = gathered(form_of(Configuration), doc)
    is_given = "waitForPodsReady" in doc or release_of(of_release).minor >= _WAITS_SINCE
    is_off = part(doc, "featureGates").get("DisableWaitForPodsReady") is True or not is_given
    wait = None if is_off or not _is_on(doc, "waitForPodsReady", version) else _wait(doc, version)
    # Without a default in v1beta2, absent strategies are an error that the rules report.
    fair = part(doc, "fairSharing").get("preemptionStrategies") or (_BOTH_STRATEGIES if version == "v1beta1" else ())
    has_fair = "fairSharing" in doc and _is_on(doc, "fairSharing", version)
    selector = LabelSelectorRequirement(NAMESPACE_NAME_LABEL, "NotIn", ("kube-system", namespace))
    fields |= {"waitForPodsReady": wait, "version": of_release}
    fields["fairSharing"] = {"preemptionStrategies": fair} if has_fair else None
    found: Configuration | None = decoded(form_of(Configuration), fields, (), findings)
    if found is None:
        return None
    if "managedJobsNamespaceSelector" not in doc:
        own = LabelSelector(match_expressions=(selector,))
        found = msgspec.structs.replace(found, managed_jobs_namespace_selector=own)
    return found, namespace


def _is_on(doc: Body, section: str, version: str) -> bool:
    return version == "v1beta2" or part(doc, section).get("enable", False)


def _wait(doc: Body, version: str) -> Body:
    """Return the section waitForPodsReady with its defaults."""
    given = {name: value for name, value in part(doc, "waitForPodsReady").items() if name != "enable"}
    is_unset = "timeout" not in given or (version == "v1beta2" and not parse_duration(given["timeout"]))
    timeout = _PODS_READY_TIMEOUT[version] if is_unset else given["timeout"]
    recovery = given.get("recoveryTimeout", timeout)
    found = {"blockAdmission": version == "v1beta1", **given, "timeout": timeout}
    return {**found, "recoveryTimeout": recovery if parse_duration(recovery) else None}


def _with_texts(resources: Any) -> Any:
    """Return the section resources without empty texts, and with strings for floats, which Kueue accepts as amounts."""

    def item(one: Any) -> Any:
        if not isinstance(one, dict):
            return one
        found = {name: value for name, value in one.items() if value not in (None, "")}
        if isinstance(found.get("outputs"), dict):
            found["outputs"] = {k: str(v) if isinstance(v, float) else v for k, v in found["outputs"].items()}
        return found

    if not isinstance(resources, dict):
        return resources
    changed = dict(resources)
    if isinstance(resources.get("transformations"), list):
        changed["transformations"] = [item(one) for one in resources["transformations"]]
    if isinstance(resources.get("deviceClassMappings"), list):
        # The rules report a missing name, in Kueue's words.
        changed["deviceClassMappings"] = [
            {**one, "name": one.get("name") or ""} if isinstance(one, dict) else one
            for one in resources["deviceClassMappings"]
        ]
    return changed


def read_resources(raw: dict[str, Any], findings: Findings) -> Resources | None:
    """Read the section `resources` of a Configuration; `None` if `findings` contains problems."""
    doc = conform(schema_of_class(Resources), _with_texts(raw), ("resources",), findings)
    form = form_of(Resources)
    return None if findings.problems else decoded(form, gathered(form, doc), ("resources",), findings)


def write_configuration(configuration: Configuration) -> dict[str, Any]:
    """Convert a Configuration to the form of Kueue's configuration file.

    A Configuration without waitForPodsReady is written in v1beta1, because v1beta2 would turn the feature on.
    """
    wait, fair = configuration.wait_for_pods_ready, configuration.fair_sharing
    version = "v1beta2" if wait else "v1beta1"
    doc: Body = {"apiVersion": f"{CONFIG_GROUP}/{version}", "kind": "Configuration"}
    spread(form_of(Configuration), msgspec.to_builtins(configuration, enc_hook=encode_text), doc)
    for name in [name for name in doc if name.startswith("@")]:
        del doc[name]
    if configuration.frameworks is not None:  # a tuple in the encoded form; YAML has lists
        doc["integrations"] = {"frameworks": list(configuration.frameworks)}
    if wait:  # a file without recoveryTimeout has the value of timeout
        doc["waitForPodsReady"] = {"recoveryTimeout": "0s", **present(doc["waitForPodsReady"])}
    if fair:
        switch = {"enable": True} if version == "v1beta1" else {}
        doc["fairSharing"] = {**switch, "preemptionStrategies": list(fair.preemption_strategies)}
    doc["managedJobsNamespaceSelector"] = msgspec.to_builtins(configuration.managed_jobs_namespace_selector)
    return doc


OPERATOR = "kueue.openshift.io"
_OPERATOR_NAMESPACE = "openshift-kueue-operator"
_OPERATORS_FRAMEWORKS = {"batchjob": "batch/job"} | {name.rpartition("/")[2]: name for name in FRAMEWORKS}
# The fields of a requeuing strategy, by the operator's names.
_REQUEUING = {
    "timeReference": "timestamp",
    "retryLimit": "backoffLimitCount",
    "backoffBaseSeconds": "backoffBaseSeconds",
    "backoffMaxSeconds": "backoffMaxSeconds",
}


def configuration_of(doc: Body) -> Body:
    """Return the Configuration that the operator makes of its object `Kueue`."""
    config = part(doc, "spec", "config")
    given = part(config, "integrations").get("frameworks")
    names = list(map(str, given)) if isinstance(given, list) else []
    mappings = part(config, "resources").get("deviceClassMappings")
    is_fair = part(config, "preemption").get("preemptionPolicy") == "FairSharing"
    strategies = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
    return present(
        {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "namespace": _OPERATOR_NAMESPACE,
            "integrations": {"frameworks": [_OPERATORS_FRAMEWORKS.get(name.lower(), name) for name in names]},
            "managedJobsNamespaceSelector": {"matchLabels": {f"{OPERATOR}/managed": "true"}},
            "manageJobsWithoutQueueName": part(config, "workloadManagement").get("labelPolicy") == "None",
            "waitForPodsReady": _gang_wait(part(config, "gangScheduling")),
            "fairSharing": {"preemptionStrategies": strategies} if is_fair else None,
            "resources": {"deviceClassMappings": _untyped(mappings)} if mappings else None,
            "featureGates": {"SparkApplicationIntegration": True} if "SparkApplication" in names else None,
            "admissionFairSharing": _usage(part(config, "admissionFairSharing")),
        }
    )


def _gang_wait(gang: Body) -> Body | None:
    """Return the section waitForPodsReady; `None` for Kueue's defaults."""
    if gang.get("policy") == "None":
        return {"timeout": "8760h", "blockAdmission": False}
    own = part(gang, "byWorkload")
    asked = part(own, "requeuingStrategy")
    found = {
        "blockAdmission": own.get("admission") == "Sequential",
        "timeout": _seconds(own.get("timeoutSeconds")),
        "recoveryTimeout": _seconds(own.get("recoveryTimeoutSeconds")),
        "requeuingStrategy": {_REQUEUING.get(name, name): value for name, value in asked.items()} or None,
    }
    return present(found) if gang.get("policy") == "ByWorkload" else None


def _usage(fair: Body) -> Body | None:
    """Return the section admissionFairSharing; `None` without one."""
    if not fair:
        return None
    own = part(fair, "custom")
    weights = own.get("resourceWeights")
    given = [one for one in weights if isinstance(one, dict)] if isinstance(weights, list) else []
    found = {
        "usageHalfLifeTime": _seconds(own.get("usageHalfLifeTimeSeconds")) if own else "30m",
        "usageSamplingInterval": _seconds(own.get("usageSamplingIntervalSeconds")),
        "resourceWeights": {str(one.get("name")): _number(one.get("weight")) for one in given} or None,
    }
    return present(found)


def _seconds(value: Any) -> Any:
    return f"{value}s" if isinstance(value, int) and not isinstance(value, bool) else value


def _number(text: Any) -> Any:
    from kueuepy.tables.kinds import number_of  # noqa: PLC0415 - it loads NumPy, which most manifests do not need

    number = number_of(text)
    return text if number is None else number


def _untyped(value: Any) -> Any:
    """Return the value without the operator's discriminators of unions."""
    if isinstance(value, dict):
        return {name: _untyped(one) for name, one in value.items() if name != "type"}
    return [_untyped(one) for one in value] if isinstance(value, list) else value


Dumpable = Manifest | Object | Configuration | Iterable[Object | Configuration]


@checked
def dump(objects: Dumpable, path: str | os.PathLike[str] | None = None) -> str:
    """Write objects as YAML in API version v1beta2. Fields with default values are omitted.

    `load` reads equal objects back from the text.

    >>> from kueuepy.objects import Cohort
    >>> print(dump(Cohort("research", parent_name="org")), end="")
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: Cohort
    metadata:
      name: research
    spec:
      parentName: org

    Args:
        objects: A Manifest, an object, a Configuration, or an iterable of objects.
        path: File to which the text is also written. With `path=None`, the default, no file is written.

    Returns:
        The YAML text.
    """
    with collector.at_rest():
        text = yaml_text(_documents(objects))
    if path is not None:
        write_file(path, text)
    return text


def _documents(objects: Dumpable) -> list[dict[str, Any]]:
    if isinstance(objects, Manifest):
        documents = [to_dict(obj) for obj in objects.objects()]
        if objects.configuration is not None:
            documents.append(write_configuration(objects.configuration))
        return [*documents, *objects.others, *objects.jobs]
    several = [objects] if isinstance(objects, Object | Configuration) else objects
    return [write_configuration(o) if isinstance(o, Configuration) else to_dict(o) for o in several]
