"""The answers of a playground: the metrics of a simulation with the values of its sliders."""

from __future__ import annotations

import math
import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from kueuepy._core import Quantity
from kueuepy.cluster.edit import value_at
from kueuepy.engine.nodes import depth_first, nodes_of
from kueuepy.errors import InvalidSpecError, KueueError, checked_methods, spelled_out
from kueuepy.lab.exploration.sweep import setup_of
from kueuepy.lab.exploration.trial import pairs_of
from kueuepy.look.colours import OTHERS, class_of, colour_of
from kueuepy.manifest.convert import to_dict
from kueuepy.manifest.text.writing import yaml_text
from kueuepy.objects.queue import quotas_of
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.simulation.catalogue import better_of, columns_shown, figure_text, is_shown, label_of, unit_of
from kueuepy.simulation.grouped import resample, series_of
from kueuepy.simulation.model import Recording, RunSettings
from kueuepy.simulation.pages.words import problem
from kueuepy.simulation.pictures.catalogue import colours
from kueuepy.simulation.simulate import Simulation
from kueuepy.tables.columns import exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.objects import ClusterQueue, Cohort
    from kueuepy.simulation.result import Result

Value = int | float | str | None
# Number of time steps of the usage chart.
_POINTS = 120
# Manifests have memory in these units; other powers of 1024 are rare.
_GIB, _MIB = 1 << 30, 1 << 20
_FIELDS = ("nominalQuota", "borrowingLimit", "lendingLimit")
# The columns that the page draws; the table has more.
_FACTS = ("used", "nominal", "borrowed", "waiting")
# The end of the slider of a weight, unless the cluster has a larger weight.
_MOST_WEIGHT = 10
# Seconds of simulation in the first part of an answer: less than a frame, so that a slider moves smoothly.
_SOON = 0.012
# Number of the last part, which runs until the end of the simulation.
_LAST = 3


class Knob(NamedTuple):
    """A number that a slider changes.

    Attributes:
        path: Path of the field, in the syntax of `Cluster.edit`.
        owner: Name of the ClusterQueue or Cohort.
        what: `nominalQuota`, `borrowingLimit`, `lendingLimit` or `weight`.
        pair: Flavor and resource of the quota or limit, as `flavor/resource`; empty for a fair-sharing weight.
        value: Value in the original cluster, in units of `suffix`; `None` if there is no limit.
        most: Largest value of the slider; the smallest is 0.
        step: Difference between two consecutive values of the slider.
        suffix: Suffix of the quantity in a manifest, such as `Gi`.
    """

    path: str
    owner: str
    what: str
    pair: str
    value: float | None
    most: float
    step: float
    suffix: str


@checked_methods
class Playground:
    """A cluster and jobs to simulate with changed quotas, limits and weights.

    Attributes:
        knobs: The numbers that can be changed, in the order of the objects.
        policy: The name of the original policy; empty for none.
    """

    @spelled_out(RunSettings)
    def __init__(self, cluster: Cluster, jobs: Any, policy: str = "", **settings: Unpack[RunSettings]) -> None:
        """Create a playground.

        Args:
            cluster: The cluster configuration.
            jobs: The jobs, in any form that `simulate` accepts.
            policy: The name of the original policy, which the page shows; empty for none.
            settings: Further arguments of `simulate`, such as `model` and `clock`.

        Raises:
            InvalidSpecError: The jobs or a setting are not valid.
        """
        setup = setup_of(cluster, jobs, settings)
        self._cluster, self._jobs, self._settings = cluster, setup.jobs_of(0), setup.settings
        self.policy = policy
        self.knobs = tuple(_knobs(cluster))
        self._by_path = {knob.path: knob for knob in self.knobs}
        self._nodes = nodes_of(session_of(Scheduler(cluster, now=0)).engine)  # sliders do not change the tree
        self._seconds = 0.0  # virtual duration of the last complete run
        self._colours: dict[str, int] = {}  # from the first complete run, so that sliders do not change colours
        self._going: tuple[dict[str, Value], Simulation] | None = None

    def cluster(self, values: Mapping[str, Value]) -> Cluster:
        """Return the cluster with changed values.

        Args:
            values: Values by path; `None` removes a limit.

        Raises:
            InvalidSpecError: A path has no slider, or a value is not valid for its field.
        """
        changed = {}
        for path, value in values.items():
            knob = self._by_path.get(path)
            if knob is None:
                raise InvalidSpecError(f'play: "{path}": is not the path of a slider')
            if value != knob.value:
                changed[path] = _written(knob, value)
        return self._cluster.edit_all(changed)

    def result(self, values: Mapping[str, Value]) -> Result:
        """Simulate the jobs on the cluster with the given values and return the result."""
        run = self._begin(values)
        run.run(progress=False)
        return run.close()

    def patch(self, values: Mapping[str, Value]) -> str:
        """Return YAML with the quotas and weights of the objects that differ from the original cluster.

        `kueuepy whatif --edit` and `kubectl patch --type merge` accept this YAML. Resource groups are written
        completely, because a merge patch replaces lists.

        Args:
            values: Values by path; `None` removes a limit.

        Returns:
            The YAML; an empty string if nothing changes.

        Raises:
            InvalidSpecError: A path has no slider, or a value is not valid for its field.
        """
        changed = {
            path for path, value in values.items() if path in self._by_path and value != self._by_path[path].value
        }
        found = []
        for obj in self.cluster(values).objects():
            own = {path for path in changed if path.startswith(f"{type(obj).__name__}/{getattr(obj, 'name', '')}:")}
            if own:
                found.append(_patch_of(to_dict(obj), own, values))
        return yaml_text(found) if found else ""

    def _begin(self, values: Mapping[str, Value]) -> Simulation:
        settings = msgspec.structs.asdict(self._settings)
        settings["record"] = Recording(decisions=False, runs=False, usage="changes")
        return Simulation(self.cluster(values), self._jobs, **settings)

    def answer(self, values: Mapping[str, Value]) -> dict[str, Any]:
        """Simulate the jobs with the given values and return JSON data for the page.

        The data has the keys `figures` (metrics), `queues` (metrics of each ClusterQueue), `series` (usage of each
        ClusterQueue over time), `tree` (Cohorts and ClusterQueues), `policy` (the name of the original policy),
        `problem` (the largest problem and the next step, as sentences), `warnings`, `seconds` (simulated time), `ms`
        (wall time in milliseconds) and `more`, which is false.
        """
        begin = time.perf_counter()
        return self._whole(self.result(values), begin)

    def part(self, values: Mapping[str, Value], part: int = 0) -> dict[str, Any]:
        """Simulate for a limited time and return the answer so far; the next part continues the simulation.

        Part 0 takes about 20 ms, and each part takes four times as long as the previous one. While `more` is true, the
        answer only has `series` and `tree`, for the simulated time until `seconds`. If the values are unchanged since
        the previous call, this part continues the simulation of that call. Otherwise, a new simulation is started. The
        last part of a simulation contains the same data as the result of `answer`.

        Args:
            values: Values by path; `None` removes a limit.
            part: Number of the part, counted from 0.

        Raises:
            InvalidSpecError: A path has no slider, a value is not valid for its field, or `part` is not a number.
        """
        begin = time.perf_counter()
        if isinstance(part, bool) or not isinstance(part, int) or part < 0:
            raise InvalidSpecError(f"play: part {part!r:.99}; it must be an integer of 0 or more")
        # If an error ends this part, the next part begins a new simulation.
        known, self._going = self._going, None
        asked = {**values}
        # Other values, or part 0, start a new simulation.
        run = known[1] if known is not None and part and known[0] == asked else self._begin(asked)
        if run.run_for(_SOON * 4 ** min(part, _LAST)) and part < _LAST:
            self._going = asked, run
            result = run.result()
            shown = {"series": self._series(result), "tree": self._coloured(result)}
            return {"more": True, "seconds": run.now, **shown, "ms": _since(begin)}
        run.run(progress=False)
        return self._whole(run.close(), begin)

    def reply(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request from the page: return the `part` or `patch` for the values in the request, or an `error`."""
        try:
            values = question.get("values", {})
            if question.get("patch"):
                return {"patch": self.patch(values)}
            return self.part(values, question.get("part", 0))
        except KueueError as error:
            return {"error": str(error)}

    def _whole(self, result: Result, begin: float) -> dict[str, Any]:
        # The next partial answer draws its time axis up to here.
        self._seconds = result.seconds
        self._colours = self._colours or colours(result)
        names = ["cluster_queue", *columns_shown("page queues", result.queues.names)]
        return {
            "more": False,
            "seconds": result.seconds,
            "figures": _figures(result),
            "queues": [{name: _finite(row[name]) for name in names} for row in result.queues.rows()],
            "series": self._series(result),
            "tree": self._coloured(result),
            "policy": self.policy,
            "problem": problem(result).lines(),
            "warnings": list(result.warnings),
            "ms": _since(begin),
        }

    def _coloured(self, result: Result) -> list[dict[str, Any]]:
        """Return the nodes of the trees with their colours and ClusterQueues, in the order of a result's charts."""
        places = self._colours or colours(result)
        found: list[dict[str, Any]] = []
        path: list[dict[str, Any]] = []
        for row, depth in depth_first(self._nodes, places):
            name, kind = self._nodes[row].name, self._nodes[row].kind
            index = places.get(name, OTHERS)
            own = {"name": name, "kind": kind, "depth": depth, "colour": colour_of(index), "look": class_of(index)}
            path[depth:] = [{**own, "queues": []}]
            found += path[depth:]
            for node in path if kind == "ClusterQueue" else ():
                node["queues"].append(name)
        return found

    def _series(self, result: Result) -> dict[str, Any]:
        """Return the usage and the number of waiting jobs of each ClusterQueue as means over time steps.

        The duration of the last complete simulation is divided into equal time steps. `all` is the number of time
        steps, and `points` is the number of steps simulated so far.
        """
        seconds = max(self._seconds, result.seconds)
        step = max(seconds / _POINTS, 1.0)
        table = resample(exact(result.usage), step, result.seconds)
        found: dict[str, Any] = {"step": step, "points": 0, "all": max(1, math.ceil(seconds / step)), "rows": []}
        for queue, pair, rows in series_of(table):
            means = {name: np.round(table[name][rows], 3).tolist() for name in _FACTS}
            found["rows"].append({"queue": queue, "pair": pair, **means})
            found["points"] = max(found["points"], len(rows))
        places = self._colours or colours(result)
        found["rows"].sort(key=lambda row: (places.get(row["queue"], len(places)), row["queue"]))
        return found


def _patch_of(manifest: dict[str, Any], paths: set[str], values: Mapping[str, Value]) -> dict[str, Any]:
    """Return the fields of a manifest that sliders change, with `null` for limits that were removed."""
    spec = manifest.get("spec") or {}
    kept: dict[str, Any] = {}
    # A merge patch replaces a whole list, so that all resource groups are written.
    if any("quota[" in path for path in paths):
        kept["resourceGroups"] = spec["resourceGroups"]
        removed = {path.partition(":")[2] for path in paths if values[path] is None}
        for group in kept["resourceGroups"]:
            for flavor in group["flavors"]:
                for quota in flavor["resources"]:
                    path = f"quota[{flavor['name']}/{quota['name']}]"
                    quota.update({field: None for field in _FIELDS if f"{path}.{field}" in removed})
    if any(path.endswith(":fairSharing.weight") for path in paths):
        kept["fairSharing"] = spec["fairSharing"]
    metadata = {"name": manifest["metadata"]["name"]}
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata, "spec": kept}


def _figures(result: Result) -> list[dict[str, Any]]:
    """Return the metrics of the page, each with its label, and whether smaller or larger values are `better`.

    For a fraction of quota, neither direction is better, because the sliders change the quota.
    """
    found = []
    for name, value in result.kpis.rows():
        if is_shown("page", name):
            better = "" if unit_of(name) == "part" else better_of(name)
            texts = {"text": figure_text(name, value), "label": label_of(name), "better": better}
            found.append({"name": name, "value": _finite(value), **texts})
    return found


def _since(begin: float) -> float:
    return (time.perf_counter() - begin) * 1000


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _written(knob: Knob, value: Value) -> Any:
    """Return a value as it appears in a manifest."""
    if value is None:
        if knob.what in ("nominalQuota", "weight"):
            raise InvalidSpecError(f'play: "{knob.path}": must have a value')
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= knob.most:
        raise InvalidSpecError(f'play: "{knob.path}": {value!r:.99}; it must be a number from 0 to {knob.most:g}')
    if knob.what == "weight":
        return f"{value:g}"
    return _amount(knob, value)


def _amount(knob: Knob, value: float) -> int | str:
    """Return the quantity for a slider's value, such as `2.7` for cpu or `1.5Gi` for memory.

    Raises:
        InvalidSpecError: The value is not a multiple of the unit in which Kueue counts, such as half a GPU.
    """
    # Integers stay integers, so that a patch shows `4` and not `4.0`.
    if value == int(value):
        return f"{int(value)}{knob.suffix}" if knob.suffix else int(value)
    resource = knob.pair.partition("/")[2]
    amount = Decimal(repr(float(value)))
    scaled = amount * _units(resource)[knob.suffix]
    # 1.1Gi of memory is not an integer number of bytes; Kueue rounds it up.
    if scaled != int(scaled) and knob.suffix not in ("Gi", "Mi"):
        finest = "milli" if resource == "cpu" else "whole "
        raise InvalidSpecError(f'play: "{knob.path}": {value!r:.99}; Kueue counts {finest}units of {resource}')
    return f"{amount:f}{knob.suffix}"


# --- sliders ---------------------------------------------------------------------------------------------------------


def _knobs(cluster: Cluster) -> Iterator[Knob]:
    fair = cluster.configuration.fair_sharing is not None
    objects: list[ClusterQueue | Cohort] = [*cluster.cohorts, *cluster.cluster_queues]
    totals = _totals(objects)
    parents = {queue.name: queue.cohort_name for queue in cluster.cluster_queues}
    parents |= {cohort.name: cohort.parent_name for cohort in cluster.cohorts}
    for obj in objects:
        for pair in pairs_of(obj):
            # Without a Cohort, nothing can be borrowed or lent.
            for field in _FIELDS if parents[obj.name] else _FIELDS[:1]:
                yield _quota_knob(cluster, obj, field, pair, totals[pair])
        # A weight matters only beside others below the same Cohort.
        if fair and parents[obj.name]:
            yield _weight_knob(obj)


def _quota_knob(
    cluster: Cluster, obj: ClusterQueue | Cohort, field: str, pair: tuple[str, str], amounts: list[int]
) -> Knob:
    """Return the slider of a quota or limit; its maximum is twice the sum of all quotas and limits."""
    name, resource = "/".join(pair), pair[1]
    unit, suffix = _unit(resource, amounts)
    path = f"{type(obj).__name__}/{obj.name}:quota[{name}].{field}"
    given = value_at(cluster.objects(), path)
    value = None if given is None else Quantity(str(given)).quota(resource) / unit
    # Up to twice all quota: a policy may also need more than there is.
    return Knob(path, obj.name, field, name, value, max(1, 2 * math.ceil(sum(amounts) / unit)), 1, suffix)


def _weight_knob(obj: ClusterQueue | Cohort) -> Knob:
    weight = 1.0 if obj.fair_sharing is None else float(Quantity(str(obj.fair_sharing.weight)))
    path = f"{type(obj).__name__}/{obj.name}:fairSharing.weight"
    return Knob(path, obj.name, "weight", "", weight, max(_MOST_WEIGHT, 2 * weight), 0.1, "")


def _totals(objects: Iterable[ClusterQueue | Cohort]) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for flavor, quota in quotas_of(*objects):
        given = (quota.nominal_quota, quota.borrowing_limit, quota.lending_limit)
        amounts = [Quantity(str(amount)).quota(quota.name) for amount in given if amount is not None]
        found.setdefault((flavor, quota.name), []).extend(amounts)
    return found


def _unit(resource: str, amounts: list[int]) -> tuple[int, str]:
    """Return the largest unit that divides all amounts, in the engine's units, and its suffix in a manifest."""
    large = any(amount >= _MIB for amount in amounts)
    known = [(unit, suffix) for suffix, unit in _units(resource).items() if large or suffix not in ("Gi", "Mi")]
    return next((unit, suffix) for unit, suffix in known if not any(amount % unit for amount in amounts))


def _units(resource: str) -> dict[str, int]:
    """Return the size of each unit of a resource, by suffix, in the engine's units; the largest unit comes first."""
    return {"": 1000, "m": 1} if resource == "cpu" else {"Gi": _GIB, "Mi": _MIB, "": 1}
