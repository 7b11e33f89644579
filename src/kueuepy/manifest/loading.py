"""`load`: read files, strings and parsed objects into a Manifest."""

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NoReturn, TypeAlias

import msgspec

import kueuepy.objects as api
from kueuepy.errors import DuplicateError, ManifestError, Path, Problem, checked, suggestion
from kueuepy.manifest import collector
from kueuepy.manifest.body import part
from kueuepy.manifest.convert import (
    CONFIG_GROUP,
    OPERATOR,
    configuration_of,
    generated_name,
    in_v1beta2,
    object_name,
    read_configuration,
    read_object,
    split_api_version,
)
from kueuepy.manifest.findings import AllValidated, Findings, Validated
from kueuepy.manifest.jobkinds import (
    DEFAULT_QUEUE,
    QUEUE_NAME,
    UNREAD,
    is_annotated,
    is_job,
    is_other,
    may_get_default_queue,
    review_fields,
    with_queue_label,
)
from kueuepy.manifest.kinds import KINDS, KUEUE
from kueuepy.manifest.manifest import Manifest, Note, ReadJob, group
from kueuepy.manifest.schema.examine import named
from kueuepy.manifest.text.reading import Item, Source, items, live_parts, opened, read
from kueuepy.manifest.text.text import Limits, Text, unpaired_surrogate
from kueuepy.manifest.validation import called, review_names, review_object
from kueuepy.manifest.validation.configuration import review_configuration
from kueuepy.manifest.validation.other import review_parameters
from kueuepy.manifest.validation.review import Review
from kueuepy.manifest.versions import OLD_VERSIONS, with_usage
from kueuepy.objects.namespace import NAMESPACE_NAME_LABEL
from kueuepy.profiles import DEVELOPMENT, version_of
from kueuepy.sources import LiveSource

# Before v0.3, an annotation named the queue of a job.
_ANNOTATION = ("metadata", "annotations", QUEUE_NAME)
# The problems after so many mostly repeat one mistake, such as a file of another program.
_ENOUGH = 50
_DEFAULT_LIMITS = Limits()
Pick: TypeAlias = Callable[[Item], bool]
"""A function that is called with every object and returns whether to leave it out; it may replace `Item.value`."""


@checked
def load(
    source: Source,
    *,
    strict: bool = True,
    limits: Limits = _DEFAULT_LIMITS,
    pick: Pick | None = None,
    namespace: str = "default",
    version: str | None = None,
) -> Manifest:
    """Read YAML or JSON: single objects, multiple documents, lists and dumps of whole clusters.

    Objects in versions v1alpha1, v1alpha2, v1beta1 and v1beta2 of Kueue's API get the defaults of their version, are
    validated as on an API server, and are converted to v1beta2. Fields that kubectl adds are ignored. Kinds that do not
    affect admission are skipped with a note. References between objects are not checked. Workloads of a running
    cluster have been validated by its API server and are not validated again.

    Strict mode rejects everything that an API server would reject. Lenient mode makes the following corrections and
    adds a note for each: it removes unknown fields, sets a missing quota of a covered resource to 0, converts numbers
    and strings where the other type is expected, accepts invalid names, and uses the last of several duplicate keys or
    objects.

    >>> manifest = load("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: org}}")
    >>> manifest.cohorts[0].name
    'org'

    Args:
        source: A path, a directory, a string, an open file, a parsed object, or an iterable of these. `cluster:` and
            `cluster:CONTEXT` name running clusters and require the extra `live`. A path such as `history.db` names a
            recording.
        strict: `True`, the default, for strict mode; `False` for lenient mode.
        limits: Limits on the size of a file.
        pick: Function that is called with every object before the object is read. If `pick` returns true for an object,
            the object is left out of the manifest.
        namespace: Namespace for namespaced objects that do not specify a namespace. Default: `default`.
        version: Release of Kueue for which the objects are written, such as `v0.18`. The release determines defaults
            and feature gates, and becomes the `version` of the Configuration. If `version` is `None`, the default, and
            a running cluster is read, the release of that cluster is used. When files are read, the default is the
            development version that this library mirrors.

    Returns:
        The objects, jobs and notes.

    Raises:
        ManifestError: Some input is invalid. The message has one line per problem, with the file, the line, the object
            and the field.
        LimitError: A file exceeds a limit.
        DuplicateError: Two objects of the same kind have the same name.
        NotFoundError: A file does not exist.
    """
    # A cluster is connected first, because its release decides about the defaults of all other sources.
    source = opened(source)
    live = live_parts(source)
    version = version or next((one.release for one in live if one.release), DEVELOPMENT)
    served = frozenset(one.name for one in live if one.is_validated)
    loader = _Loader(strict=strict, pick=pick, namespace=namespace, version=version_of(version), served=served)
    with collector.at_rest():
        try:
            for item in items(source, limits, strict=strict):
                loader.take(item)
        except ManifestError as error:
            loader.failed(error)
        for one in live:
            loader.note(one)
        return loader.manifest()


# Key in the ConfigMap `kueue-manager-config` with the Configuration of Kueue's manager.
_MANAGER_FILE = "controller_manager_config.yaml"


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _why_skipped(doc: dict[str, Any], api_group: str) -> str:
    """Return the reason why an object that kueuepy does not read is skipped."""
    if (api_group, doc["kind"]) == ("operator.openshift.io", "Kueue"):  # of the operator's previews
        return "is the configuration of OpenShift's operator; give the ConfigMap that the operator makes of it"
    if QUEUE_NAME in part(doc, "metadata", "labels"):
        return f"has the label {QUEUE_NAME}, but Kueue has no integration for its kind, and does not manage it"
    return "does not bear on admission"


class _Loader:
    """Collector of the objects, notes and problems that are found while documents are read."""

    def __init__(
        self, *, strict: bool, pick: Pick | None, namespace: str, version: str, served: frozenset[str]
    ) -> None:
        self._strict = strict
        self._served = served
        self._version = version
        self._pick = pick
        self._namespace = namespace
        self._objects: dict[tuple[str, str], tuple[api.Object, Item]] = {}
        self._configuration: tuple[api.Configuration, str, Item] | None = None
        self._jobs: list[ReadJob] = []
        self._unqueued: list[tuple[ReadJob, dict[str, Any], int]] = []
        self._annotated: list[tuple[Item, str]] = []
        self._others: list[dict[str, Any]] = []
        self._notes: list[Note] = []
        self._problems: list[tuple[int, str, Problem]] = []
        self._position = 0
        self._positions: dict[tuple[str, str], int] = {}
        self._duplicates: list[tuple[str, Problem]] = []
        self._versions: set[str] = set()
        self._generated = 0
        self._validated = Validated()

    def failed(self, error: ManifestError) -> None:
        """Add the problems found in an unreadable document."""
        known = [(where, problem) for _, where, problem in self._problems]
        self._problems += [(self._position, *found) for found in error.problems if found not in known]

    def note(self, source: LiveSource) -> None:
        """Add the notes on objects that could not be read from a running cluster."""
        location, prefix = Item(None, Text(source.name, b"")), f"{source.name}: "
        self._notes += [Note(location, (), note.removeprefix(prefix)) for note in source.notes]

    def _is_served(self, item: Item) -> bool:
        """Return whether an API server has already validated an object; if so, its values are not checked again."""
        return item.text.name in self._served and not item.text.size

    def take(self, item: Item) -> None:
        """Read a document: an object, or a list of objects."""
        doc = item.value
        self._position += 1
        if not isinstance(doc, dict):
            table = "; add -o yaml if it is the output of kubectl get; Jobs.read and --format read a table of jobs"
            text = f"is not a mapping; an object has apiVersion, kind and metadata{table * isinstance(doc, str)}"
            self._fail(item, Problem((), "Invalid", text))
        # A text in UTF-8 cannot contain surrogates, and an API server refuses them.
        elif not item.text.size and not self._is_served(item) and (path := unpaired_surrogate(doc)) is not None:
            name = object_name(doc).encode("utf-8", "replace").decode()
            self._fail(item, Problem(path, "Invalid", "must be valid Unicode, without unpaired surrogates"), name)
        elif str(doc.get("kind")).endswith("List") and (doc.get("items") is None or isinstance(doc["items"], list)):
            for part in item.items():
                self.take(part)
        elif doc.get("kind") == "List":
            self._fail(item, Problem(("items",), "Invalid", f"is {named(doc['items'])}; it must be a list"), "List")
        elif self._pick is None or not _is_word(doc.get("kind")) or not self._pick(item):
            self._take_object(item, item.value)
        item.value = None  # a dump of a large cluster need not be in memory twice

    def _take_object(self, item: Item, doc: dict[str, Any], *, decided: bool = False) -> None:
        api_group, version = split_api_version(doc)
        kind = doc.get("kind")
        if not (_is_word(doc.get("apiVersion")) and _is_word(kind)):
            self._no_object(item, doc)
            return
        if api_group == KUEUE:
            self._versions.add(version)
        if (api_group, kind) == (CONFIG_GROUP, "Configuration"):
            self._take_configuration(item, doc)
        elif is_job(doc, api_group) or (not decided and may_get_default_queue(doc, api_group)):
            self._take_job(item, doc, api_group)
        elif (api_group, kind) in KINDS or ((api_group, kind) == (KUEUE, "Queue") and version in OLD_VERSIONS):
            self._read(item, doc, api_group, version)
        elif is_other(str(kind), api_group):
            if api_group == KUEUE and kind != UNREAD:
                doc = self._parameters(item, doc, version)
            self._others.append(doc if str(kind).startswith("Cluster") or kind == UNREAD else self._placed(doc))
        elif api_group == KUEUE:
            findings = Findings(strict=self._strict)
            known = [name for known_group, name in KINDS if known_group == KUEUE]
            findings.odd(("kind",), f'"{kind}" is not a kind of {KUEUE}; {suggestion(str(kind), known)}', "skipped")
            self._collect(findings, item, object_name(doc))
        elif (api_group, kind) == (OPERATOR, "Kueue"):
            text = "is read as the Configuration that OpenShift's operator makes of it"
            self._notes.append(Note(item, (), f"{object_name(doc)}: {text}"))
            self._take_configuration(item, configuration_of(doc))
        elif not self._take_manager(item, doc):
            self._notes.append(Note(item, (), f"{object_name(doc)}: {_why_skipped(doc, api_group)}; skipped"))

    def _no_object(self, item: Item, doc: dict[str, Any]) -> None:
        """Report a document without apiVersion or kind."""
        if "apiVersion" not in doc and "kind" not in doc and "managerConfig" in doc:
            how = "these are values of Kueue's Helm chart; give the output of helm template with this file"
            self._fail(item, Problem(("managerConfig", "controllerManagerConfigYaml"), "Invalid", how), "values")
            return
        for name in ("apiVersion", "kind"):
            if not _is_word(doc.get(name)):
                self._fail(item, Problem((name,), "Required", "is required"), object_name(doc))

    def _take_job(self, item: Item, doc: dict[str, Any], api_group: str) -> None:
        """Add a job, or an object that is a job only if its namespace contains a LocalQueue `default`."""
        self._jobs.append(ReadJob(self._placed(doc), item))
        if not is_job(doc, api_group):
            self._unqueued.append((self._jobs[-1], doc, self._position))
            return
        self._review_job(item, doc)
        if is_annotated(doc):
            self._annotated.append((item, object_name(doc)))

    def _decide_unqueued(self) -> None:
        """Keep objects without a queue name as jobs if their namespace is managed and has a LocalQueue `default`."""
        # Only now is it known which namespaces have such a LocalQueue: it may follow its jobs.
        queues = {obj.namespace for obj, _ in self._objects.values() if isinstance(obj, api.LocalQueue)}
        defaults = {space for space in queues if ("LocalQueue", f"{space}/{DEFAULT_QUEUE}") in self._objects}
        own = self._configuration[0] if self._configuration else api.Configuration()
        left = []
        for job, doc, position in self._unqueued:
            space = str(job["metadata"].get("namespace") or "default")
            there = self._objects.get(("Namespace", space))
            labels = {NAMESPACE_NAME_LABEL: space} | (there[0].labels if there else {})
            if space in defaults and own.managed_jobs_namespace_selector.matches(labels):
                self._review_job(job.origin, doc)
            else:
                left.append((job, doc, position))
        for job, doc, position in left:
            self._position = position
            self._take_object(job.origin, doc, decided=True)
        gone = {id(job) for job, _, _ in left}
        self._jobs = [job for job in self._jobs if id(job) not in gone]

    def _take_manager(self, item: Item, doc: dict[str, Any]) -> bool:
        """Read the Configuration in the ConfigMap of Kueue's manager.

        Return whether the object is the ConfigMap of Kueue's manager.
        """
        data = doc.get("data")
        text = data.get(_MANAGER_FILE) if doc.get("kind") == "ConfigMap" and isinstance(data, dict) else None
        if not isinstance(text, str) or CONFIG_GROUP not in text:
            return False
        name = f"{item.where(('data', _MANAGER_FILE))}: {object_name(doc)}: data[{_MANAGER_FILE}]"
        for inner in read(name, text.encode("utf-8", "surrogatepass"), Limits(), strict=self._strict):
            if isinstance(inner.value, dict) and split_api_version(inner.value)[0] == CONFIG_GROUP:
                self.take(inner)
        return True

    def _review_job(self, item: Item, doc: dict[str, Any]) -> None:
        """Report fields of a job that the job's kind does not define."""
        findings = Findings(strict=self._strict)
        review_fields(doc, findings)
        self._collect(findings, item, object_name(doc))

    def _parameters(self, item: Item, doc: dict[str, Any], version: str) -> dict[str, Any]:
        """Validate an object that contains parameters of admission checks, and return it."""
        review = Review(strict=self._strict)
        named = self._named(item, doc)
        found = review_parameters(version, named, review)
        if not review.problems:
            review_names(found.get("metadata", {}), review)
        self._collect(review, item, object_name(doc))
        return found

    def _take_configuration(self, item: Item, doc: dict[str, Any]) -> None:
        findings = Findings(strict=self._strict)
        found = read_configuration(doc, findings, self._version)
        self._collect(findings, item, "Configuration")
        if found is None:
            return
        if self._configuration:
            self._twice("Configuration", item, self._configuration[2])
        self._configuration = (*found, item)

    def _read(self, item: Item, doc: dict[str, Any], api_group: str, version: str) -> None:
        validated = AllValidated() if self._served and self._is_served(item) else self._validated
        findings = Findings(strict=self._strict, validated=validated)
        obj: api.Object | None = None
        body = in_v1beta2(api_group, version, self._named(item, doc), findings, is_new=True)
        if body is not None:
            kind = KINDS[api_group, str(body["kind"])]
            obj = read_object(kind, self._placed(body) if kind.namespaced else body, findings)
        if obj is not None and not self._strict:
            obj = complete_quotas(obj, findings)
        self._collect(findings, item, object_name(doc))
        if obj is None:
            return
        if version in OLD_VERSIONS:
            obj = with_usage(obj)
        location = (type(obj).__name__, obj.key)
        if location in self._objects:
            self._twice(called(obj), item, self._objects.pop(location)[1])
        self._objects[location] = (obj, item)
        self._positions[location] = self._position

    def _placed(self, doc: dict[str, Any]) -> dict[str, Any]:
        """Add the default namespace to an object that does not specify a namespace."""
        metadata = doc.get("metadata")
        if self._namespace == "default" or not isinstance(metadata, dict) or metadata.get("namespace"):
            return doc
        return {**doc, "metadata": {**metadata, "namespace": self._namespace}}

    def _named(self, item: Item, doc: dict[str, Any]) -> dict[str, Any]:
        """Add a name to an object that only has `generateName`."""
        metadata = doc.get("metadata")
        if not isinstance(metadata, dict) or metadata.get("name") or not isinstance(metadata.get("generateName"), str):
            return doc
        self._generated += 1
        name = generated_name(metadata["generateName"], self._generated)
        self._notes.append(Note(item, ("metadata", "generateName"), f'{object_name(doc)}: is called "{name}" here'))
        return {**doc, "metadata": {**metadata, "name": name}}

    def _twice(self, name: str, item: Item, first: Item) -> None:
        if self._strict:
            detail = f"is given at {first.where()} already; give each object once"
            self._duplicates.append((f"{item.where()}: {name}", Problem((), "Duplicate", detail)))
            return
        self._notes.append(Note(item, (), f"{name}: replaces that of {first.where()}"))

    def _collect(self, findings: Findings, item: Item, name: str) -> None:
        for problem in findings.problems:
            self._fail(item, problem, name)
        self._notes += [Note(item, note.path, f"{name}: {note}") for note in findings.notes]

    def _fail(self, item: Item, problem: Problem, name: str = "document") -> None:
        where = item.where(problem.path)
        self._problems.append((self._position, f"{where}: {name}", _with_hint(problem, item, where)))
        if len(self._problems) >= _ENOUGH:
            self._raise()

    def _raise(self) -> NoReturn:
        """Raise an error with all problems, in the order of the objects."""
        # Problems of the rules are found last, but belong to objects in between.
        ordered = sorted(self._problems, key=itemgetter(0))
        found = [(where, problem) for _, where, problem in ordered]
        raise ManifestError([*found, *self._duplicates])

    def _note_annotations(self, *, is_old: bool) -> None:
        """Add notes about queue-name annotations, which only the first releases of Kueue read."""
        counts = "counts beside objects of v1alpha2; since v0.3" if is_old else "does not count; since v0.3"
        text = f"metadata.annotations[{QUEUE_NAME}]: {counts} a label of that key names the queue"
        self._notes += [Note(item, _ANNOTATION, f"{name}: {text}") for item, name in self._annotated]

    def manifest(self) -> Manifest:
        """Validate all objects and return the manifest."""
        self._decide_unqueued()
        configuration = self._review()
        if self._problems:
            self._raise()
        if self._duplicates:
            raise DuplicateError("\n".join(f"{where}: {problem}" for where, problem in self._duplicates))
        jobs = self._jobs
        is_old = bool(self._versions.intersection(OLD_VERSIONS))
        if is_old:
            jobs = [ReadJob(with_queue_label(job), job.origin) for job in jobs]
        self._note_annotations(is_old=is_old)
        return Manifest(
            **group(obj for obj, _ in self._objects.values()),
            configuration=configuration,
            jobs=tuple(jobs),
            others=tuple(self._others),
            notes=tuple(self._notes),
            versions=frozenset(self._versions),
            origins=self._origins(),
        )

    def _origins(self) -> dict[tuple[str, str], Item]:
        found = {location: item for location, (_, item) in self._objects.items()}
        if self._configuration:
            found["Configuration", ""] = self._configuration[2]
        return found

    def _review(self) -> api.Configuration | None:
        configuration = None
        if self._configuration:
            configuration, namespace, item = self._configuration
            review = Review(strict=self._strict)
            review_configuration(configuration, review, namespace)
            self._collect(review, item, "Configuration")
        elif self._version != DEVELOPMENT:
            configuration = api.Configuration(version=self._version)
        # A Configuration with problems may name unknown gates, so the defaults apply.
        gates = configuration.gates if configuration and not self._problems else {}
        validated = Validated()
        for location, (obj, item) in self._objects.items():
            if isinstance(obj, api.Workload) and self._is_served(item):
                continue
            review = Review(strict=self._strict, gates=gates, validated=validated)
            review_object(obj, review)
            if review.problems or review.notes:
                self._position = self._positions[location]
                self._collect(review, item, called(obj))
        return configuration


def complete_quotas(obj: api.Object, findings: Findings) -> api.Object:
    """Add a quota of 0 for each missing pair of flavor and covered resource, and sort the quotas by resource."""
    if not isinstance(obj, api.ClusterQueue | api.Cohort):
        return obj
    groups = tuple(
        _complete_group(group, ("spec", "resourceGroups", position), findings)
        for position, group in enumerate(obj.resource_groups)
    )
    return obj if groups == obj.resource_groups else msgspec.structs.replace(obj, resource_groups=groups)


def _complete_group(group: api.ResourceGroup, path: Path, findings: Findings) -> api.ResourceGroup:
    flavors = tuple(
        _complete_flavor(quotas, group.covered_resources, (*path, "flavors", position), findings)
        for position, quotas in enumerate(group.flavors)
    )
    return msgspec.structs.replace(group, flavors=flavors)


def _complete_flavor(row: api.FlavorQuotas, covered: Sequence[str], path: Path, findings: Findings) -> api.FlavorQuotas:
    given = {quota.name: quota for quota in row.resources}
    if not given.keys() <= set(covered) or len(given) < len(row.resources):
        return row
    for name in covered:
        if name not in given:
            detail = f'flavor "{row.name}" has no quota for covered resource {name}'
            findings.odd((*path, "resources"), detail, "taken as 0", "Required")
    complete = tuple(given.get(name) or api.ResourceQuota(name, 0) for name in covered)
    return msgspec.structs.replace(row, resources=complete)


_PLACEHOLDER = re.compile(rb"\$\{[\w.\[\]-]+\}|\$\([\w.-]+\)|\{\{.*?\}\}")


def _with_hint(problem: Problem, item: Item, where: str) -> Problem:
    """Return a problem, with a hint if the line of its field has a placeholder."""
    line = where.rpartition(":")[2]
    lines = item.text.whole.split(b"\n") if item.text.size and line.isdigit() else []
    found = _PLACEHOLDER.search(lines[int(line) - 1]) if lines and int(line) <= len(lines) else None
    if found is None:
        return problem
    how = "helm template" if found[0].startswith(b"{{") else "envsubst or terraform"
    hint = f"{found[0].decode(errors='replace')} is a placeholder that is not replaced yet: render the file with {how}"
    return msgspec.structs.replace(problem, detail=f"{problem.detail}; {hint} first")
