"""The tools of `kueuepy mcp`. Each tool is a function whose parameters and docstring are the schema that agents see."""

import inspect
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import msgspec
from msgspec import Meta

from kueuepy._core import Quantity
from kueuepy.cli.describe import Started, describe, find, start
from kueuepy.cli.logs import Log
from kueuepy.cli.options import Start
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, NotFoundError, suggestion
from kueuepy.explain.whatif import Edit, edited, outcome_text, workloads_over_quota
from kueuepy.lint import lint
from kueuepy.manifest import CLUSTER, is_live, load
from kueuepy.objects.readable import decoding_fault
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.simulation.catalogue import columns_shown, unit_text
from kueuepy.simulation.simulate import simulate as run
from kueuepy.simulation.table import Jobs

# An evicted workload holds its quota until its pods have stopped.
_HOLDING = ("Admitted", "QuotaReserved", "Evicted")
# Bounds the time of a call of an agent.
_MOST_ITEMS = 1000
# 253 is the maximum length of a Kubernetes name; the other limits only keep the memory of a call small.
_ClusterQueue = Annotated[str, Meta(max_length=253, description="Only this ClusterQueue. Default: all.")]
_Job = Annotated[
    dict[str, Any],
    Meta(
        description="A manifest of a job or Workload, or a row such as "
        '{"name": "train", "queue": "team-a", "pods": 4, "cpu": 2, "memory": "8Gi", "nvidia.com/gpu": 1}: requests '
        "per pod as Kubernetes quantities, queue is a LocalQueue. A row may have namespace and priority."
    ),
]
_Set = Annotated[
    dict[str, Any],
    Meta(
        description="Fields to change by path, with the new value, such as "
        '{"ClusterQueue/team-a:quota[default-flavor/cpu].nominalQuota": 16}. Amounts are Kubernetes quantities.'
    ),
]
_CURSOR = "next_cursor of the previous page; repeat all other arguments unchanged."


class Source:
    """A Scheduler with the objects of files, a running cluster or a recording, read again when it is old.

    Attributes:
        files: The names of the files, clusters or recordings.
    """

    def __init__(
        self, files: list[str], *, jobs: str | None = None, version: str | None = None, max_age: float = 60.0
    ) -> None:
        """Create a source that is read on its first use.

        Args:
            files: Names of files or directories, `cluster:CONTEXT`, or a recording.
            jobs: A log of jobs for simulations. Default: the history in the cluster or recording.
            version: Release of Kueue to emulate; `None` for the default.
            max_age: Time after which a running cluster is read again, in seconds.
        """
        self.files = files
        self._jobs, self._version, self._max_age = jobs, version, max_age
        self._started: Started | None = None
        self._read_at = 0.0

    def read(self) -> Started:
        """Return the Scheduler, which callers must not change, with notes about the source.

        Raises:
            KueueError: The source cannot be read.
        """
        # Files and recordings are read once; only a running cluster becomes old.
        if self._started is None or (self.age or 0) > self._max_age:
            self._started = start(self.files, Start(self._version))
            self._read_at = time.monotonic()
        return self._started

    @property
    def age(self) -> float | None:
        """The time since a running cluster was read, in seconds; `None` for other sources."""
        is_running = any(name.startswith(CLUSTER) for name in self.files)
        return time.monotonic() - self._read_at if is_running else None

    def cluster(self) -> Cluster:
        """Return the configuration without Workloads."""
        manifest = msgspec.structs.replace(self.read().scheduler.cluster.manifest, workloads=(), jobs=())
        return Cluster.from_manifest(manifest, names=False)

    def history(self, censored: Any) -> Jobs:
        """Return the recorded jobs.

        Raises:
            InvalidSpecError: The source has no history, or jobs had not finished and `censored` is not given.
        """
        path = self._jobs or next(filter(is_live, self.files), None)
        if path is None:
            raise InvalidSpecError(
                "simulate: jobs: is missing; it must be a list of jobs, because the source has no history"
            )
        return Log(censored=censored or None).read(path, option="censored")


class Answer(NamedTuple):
    """The answer of a tool: fields of the first page, and items that fill the pages."""

    fields: Mapping[str, Any]
    items: Sequence[Any] = ()


def queues(source: Source, *, cluster_queue: _ClusterQueue = "") -> Answer:
    """List ClusterQueues with their cohort, numbers of workloads, and quota.

    The numbers are those of pending workloads and of workloads that hold quota. Quota is used, nominal and available
    quota by flavor and resource. Amounts are Kubernetes quantities (cpu in cores, memory in bytes with suffixes).
    """
    scheduler = source.read().scheduler
    declared = {queue.name: queue for queue in scheduler.cluster.cluster_queues}
    if cluster_queue:
        _expect_known(declared, cluster_queue, "queues")
    limits = {(row["name"], row["flavor"], row["resource"]): row for row in scheduler.quota.quantities().rows()}
    quota: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in scheduler.usage.quantities().rows():
        if row["kind"] == "ClusterQueue":
            quota[row["name"]].append(
                {
                    "flavor": row["flavor"],
                    "resource": row["resource"],
                    "used": row["usage"],
                    "nominal": row["nominal_quota"],
                    "borrowing_limit": limits[row["name"], row["flavor"], row["resource"]]["borrowing_limit"],
                    "available": row["available"],
                }
            )
    counts = Counter((row["cluster_queue"], row["status"]) for row in scheduler.workloads.rows())
    items = [
        {
            "cluster_queue": name,
            "cohort": declared[name].cohort_name,
            "stop_policy": declared[name].stop_policy,
            "pending": counts[name, "Pending"],
            "holding_quota": sum(counts[name, status] for status in _HOLDING),
            "quota": quota[name],
        }
        for name in ([cluster_queue] if cluster_queue else declared)
    ]
    age, notes = source.age, source.read().notes
    read = {} if age is None else {"read_seconds_ago": round(age, 1)}
    return Answer({**read, **({"notes": list(notes)} if notes else {})}, items)


def explain(
    source: Source,
    *,
    workload: Annotated[
        str, Meta(max_length=600, description="namespace/name of a Workload; or its name, or the name of its job.")
    ],
) -> Answer:
    """Explain why a workload is pending, admitted or evicted.

    root_cause has a code, such as QuotaExceeded or BehindInQueue, with facts as integers in base units (thousandths for
    cpu, bytes for memory). Items are the lines of the whole explanation, with the changes that would admit the
    workload.
    """
    started = source.read()
    found = started.scheduler.explain(find(started, workload))
    data = found.to_dict()
    names = ("schema", "workload", "cluster_queue", "verdict", "reason", "message", "root_cause")
    unmodelled = {"not_modelled": data["not_modelled"]} if data.get("not_modelled") else {}
    return Answer({**{name: data[name] for name in names}, **unmodelled}, str(found).splitlines())


def whatif(
    source: Source,
    *,
    job: _Job | None = None,
    set_: _Set = {},  # noqa: B006 - never changed
    objects: Annotated[
        list[dict[str, Any]],
        Meta(max_length=_MOST_ITEMS, description="Objects with the fields to change, merged as kubectl apply does."),
    ] = [],  # noqa: B006 - never changed
) -> Answer:
    """Test what a job or a change would do, without changing anything.

    With job, return the decision for a job submitted now; with set or objects, the workloads whose decision the change
    would alter, and those that would be over quota.
    """
    scheduler = source.read().scheduler
    if (job is not None) == bool(set_ or objects):
        raise InvalidSpecError("whatif: is called without one question; it must have either job, or set or objects")
    if job is not None:
        answers = [(answer.workload, *describe(answer)) for answer in scheduler.try_admit_many([job])]
        return Answer({}, [{"workload": key, "decision": what, "detail": detail} for key, what, detail in answers])
    edits: list[Edit] = [*objects, *([set_] if set_ else [])]
    difference = scheduler.whatif(*edits)
    over = workloads_over_quota(scheduler, *edits)
    items: list[dict[str, Any]] = [
        {"workload": one.workload, "before": outcome_text(one.before), "after": outcome_text(one.after)}
        for one in difference.changes
    ]
    items += [{"workload": key, "over_quota": True} for key in over]
    return Answer({"changes": len(difference), "over_quota": len(over)}, items)


def largest_count(
    source: Source,
    *,
    job: _Job,
    pod_set: Annotated[str, Meta(max_length=253, description="The pod set that varies. Default: the first.")] = "",
    preempting: Annotated[bool, Meta(description="Also accept an admission that requires preemption.")] = False,
) -> Answer:
    """Return the largest number of pods with which a job would be admitted now; 0 if not even one pod would be."""
    count = source.read().scheduler.largest_count(job, pod_set=pod_set or None, preempting=preempting)
    return Answer({"largest_count": count, "unit": "pods"})


def check(
    source: Source,
    *,
    objects: Annotated[
        list[dict[str, Any]], Meta(max_length=_MOST_ITEMS, description="Manifests of objects, as JSON.")
    ] = [],  # noqa: B006 - never changed
) -> Answer:
    """Validate objects as an API server does, and report valid settings with surprising effects.

    Without objects, check those of the source.
    """
    findings = lint(load(objects, namespace="default") if objects else source.cluster())
    names = ("rule", "severity", "object", "field", "message")
    items = [{name: getattr(found, name) for name in names} for found in findings]
    return Answer({"valid": True, "findings": len(items)}, items)


def simulate(
    source: Source,
    *,
    jobs: Annotated[
        list[dict[str, Any]],
        Meta(
            max_length=_MOST_ITEMS,
            description='Rows such as {"queue": "team-a", "submit": 0, "runtime": 3600, "pods": 2, "cpu": 1}: submit '
            "and runtime in seconds, or as durations such as 2h30m. Default: the recorded history of the source.",
        ),
    ] = [],  # noqa: B006 - never changed
    set_: _Set = {},  # noqa: B006 - never changed
    until: Annotated[
        str, Meta(max_length=40, description="Stop at this virtual time: seconds, or a duration such as 7d.")
    ] = "",
    censored: Annotated[
        Literal["", "drop", "exponential"],
        Meta(description="How to treat jobs of the history that had not finished: drop them, or draw their rest."),
    ] = "",
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1, description="Seed of the random number generator.")] = 0,
) -> Answer:
    """Simulate jobs in virtual time, on the present configuration and, with set, on a changed one.

    Return metrics with their units: s for seconds, h for resource-hours, fraction for 0 to 1.
    """
    cluster = source.cluster()
    table: Any = jobs or source.history(censored)
    options: dict[str, Any] = {"until": until or None, "seed": seed, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # they are in the result
        now = run(cluster, table, **options)
        changed = run(edited(Scheduler(cluster), set_).cluster, table, **options) if set_ else None
    values = dict(now.kpis.rows())
    others = {} if changed is None else dict(changed.kpis.rows())
    items = [
        {
            "metric": name,
            "unit": unit_text(name),
            "value": _rounded(values[name]),
            **({} if changed is None else {"with_change": _rounded(others.get(name))}),
        }
        for name in columns_shown("run", values)
    ]
    return Answer({"jobs": len(now.jobs), "notes": list(now.warnings)}, items)


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def who_uses(
    source: Source,
    *,
    flavor: Annotated[str, Meta(max_length=253, description="Only this ResourceFlavor. Default: all.")] = "",
    resource: Annotated[str, Meta(max_length=317, description="Only this resource, e.g. cpu. Default: all.")] = "",
    cluster_queue: _ClusterQueue = "",
) -> Answer:
    """List the workloads that hold quota of a flavor, resource or ClusterQueue.

    Each has its amounts as Kubernetes quantities, its priority, and the time of its reservation (UTC).
    """
    scheduler = source.read().scheduler
    cluster = scheduler.cluster
    if cluster_queue:
        _expect_known([queue.name for queue in cluster.cluster_queues], cluster_queue, "who_uses")
    if flavor:
        _expect_known([one.name for one in cluster.resource_flavors], flavor, "who_uses", "flavor")
    engine = session_of(scheduler).engine
    items = []
    for row in scheduler.workloads.rows():
        if row["status"] not in _HOLDING or cluster_queue not in ("", row["cluster_queue"]):
            continue
        admission = engine.admission(engine.find(row["key"]))
        totals: Counter[tuple[str, str]] = Counter()
        for pod_set in admission.pod_sets if admission is not None else ():
            for name, (of, amount) in pod_set.resources.items():
                if flavor in ("", of) and resource in ("", name):
                    totals[of, name] += amount
        if totals:
            uses = [
                {"flavor": of, "resource": name, "amount": Quantity.format(name, amount)}
                for (of, name), amount in totals.items()
            ]
            facts = {name: row[name] for name in ("cluster_queue", "priority", "reserved", "status")}
            items.append({"workload": row["key"], **facts, "uses": uses})
    return Answer({"workloads": len(items)}, items)


def _expect_known(names: Any, name: str, tool: str, argument: str = "cluster_queue") -> None:
    """Check that a name exists.

    Raises:
        NotFoundError: It does not exist.
    """
    if name not in names:
        raise NotFoundError(f'{tool}: {argument}: "{name}" does not exist; {suggestion(name, list(names))}')


class Tool:
    """A tool: a function of a source, and the Struct of its other parameters.

    Attributes:
        description: The text that agents read: the docstring of the function.
        schema: The JSON Schema of the arguments.
    """

    def __init__(self, ask: Callable[..., Answer]) -> None:
        """Create the tool of a function; every tool also has the argument `cursor`."""
        self._ask, self.name = ask, ask.__name__
        self.description = " ".join((inspect.getdoc(ask) or "").split())
        hints = get_type_hints(ask, include_extras=True)
        cursor = ("cursor", Annotated[str, Meta(max_length=100, description=_CURSOR)], "")
        fields: list[Any] = [cursor]
        # `set` is a builtin, so that the parameter of this argument ends with an underscore.
        self._parameters = {name.rstrip("_"): name for name in list(inspect.signature(ask).parameters)[1:]}
        for argument, name in self._parameters.items():
            default = inspect.signature(ask).parameters[name].default
            fields.append((argument, hints[name], *(() if default is inspect.Parameter.empty else (default,))))
        self._kind = msgspec.defstruct(self.name, fields, forbid_unknown_fields=True, kw_only=True)
        (_, definitions) = msgspec.json.schema_components((self._kind,))
        self.schema = {name: value for name, value in definitions[self.name].items() if name != "title"}

    def read(self, given: Mapping[str, Any]) -> Any:
        """Convert the arguments of a call.

        Raises:
            InvalidSpecError: An argument is unknown, missing or not valid.
        """
        names = list(self._kind.__struct_fields__)
        for name in given:
            if name not in names:
                guess = suggestion(str(name), names)
                raise InvalidSpecError(f'{self.name}: "{str(name)[:80]}" is not an argument; {guess}')
        try:
            return msgspec.convert(dict(given), self._kind)
        except msgspec.ValidationError as error:
            path, problem = decoding_fault(error, self._kind)
            where = ".".join(map(str, path))
            raise InvalidSpecError(f"{self.name}: {f'{where}: ' if where else ''}{problem}") from None

    def ask(self, source: Source, arguments: Any) -> Answer:
        """Return the answer for arguments that `read` has converted."""
        return self._ask(source, **{name: getattr(arguments, own) for own, name in self._parameters.items()})


TOOLS = {ask.__name__: Tool(ask) for ask in (queues, explain, whatif, largest_count, check, simulate, who_uses)}
"""The tools by name."""
