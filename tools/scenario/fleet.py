"""Replay of scenarios with a manager and its workers (MultiKueue)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy._core import Dispatch
from kueuepy.fleet.adapters import ADAPTERS, SharedJob, shared_jobs
from kueuepy.jobs import keys
from scenario.reader import ScenarioError, check_fleet_scenario, dispatcher_options
from scenario.runner import EPOCH, SECOND, Replay

if TYPE_CHECKING:
    from scenario.runner import Result

_CONTROLLER = "kueue.x-k8s.io/multikueue"
_GROUP, _CONFIG, _CLUSTER = "kueue.x-k8s.io", "MultiKueueConfig", "MultiKueueCluster"
_OF_FLEET = (_CONFIG, _CLUSTER)
_MOVES = ("created", "deleted", "updated", "started", "stopped", "opened", "deactivating")


class FleetReplay:
    """A running scenario of a fleet.

    A step acts on one cluster, like the steps of `Replay`, or on the fleet: `dispatch`, `connect`, `disconnect`,
    `collect`, or `nominate` on the manager. The field `job` of the scenario is the kind of all jobs whose workloads
    have no annotation with their owner; `Job` by default.
    """

    def __init__(self, scenario: dict[str, Any]) -> None:
        """Apply the objects of every cluster at time 0; all workers are connected.

        Raises:
            ScenarioError: The scenario is not valid.
        """
        check_fleet_scenario(scenario)
        config = dict(scenario.get("config") or {})
        multi_kueue = config.pop("multiKueue", None) or {}
        clusters = scenario["clusters"]
        self._runs = {cluster["name"]: _replay_of(scenario["name"], cluster, config) for cluster in clusters}
        self._manager = clusters[0]["name"]
        self._objects = {_reference(doc): doc for doc in clusters[0]["objects"] if _is_of_fleet(doc)}
        self._names = [cluster["name"] for cluster in clusters[1:]]
        checks = self._checks()
        engines = [(name, self._runs[name].engine if name in self._runs else None) for name in self._names]
        options = dispatcher_options(multi_kueue, config)
        self._dispatch = Dispatch(self._runs[self._manager].engine, engines, checks, options)
        self._dispatch.set_declared(self._declared())
        self._dispatch.refresh_checks()
        self._job = scenario.get("job") or "Job"
        self._known: dict[int, tuple[Any, ...]] = {}
        self._gated: dict[str, set[int]] = {name: set() for name in self._runs}

    def step(self, step: dict[str, Any]) -> Result:
        """Run a step at its time and return the changes."""
        if "on" in step and "nominate" not in step:
            return self._step_of_cluster(step["on"], {key: value for key, value in step.items() if key != "on"})
        for run in self._runs.values():
            run.engine.set_now(EPOCH + round(float(step["at"]) * SECOND))
        moves: list[tuple[str, str, str]] = []
        touched = [self._manager]
        if step.get("dispatch"):
            moves, touched = self._dispatch.look(self._jobs()), list(self._runs)
        elif step.get("collect"):
            moves, touched = self._dispatch.collect(), list(self._runs)
            moves = [move for move in moves if move[0] != "stopped"]  # the recordings do not include these jobs
        for connected, names in ((True, step.get("connect")), (False, step.get("disconnect"))):
            for name in names or ():
                self._dispatch.set_connected(self._number(name), connected)
        for event in step.get("nominate") or ():
            found = self._runs[self._manager].id_of(event["workload"])
            self._dispatch.nominate(found, [self._number(name) for name in event["clusters"]])
        result: Result = {"clusters": {name: self._runs[name].result() for name in touched}}
        for what in _MOVES:
            if named := [{"cluster": cluster, "workload": key} for kind, cluster, key in moves if kind == what]:
                result[what] = named
        return self._with_changes(result, touched)

    def _jobs(self) -> list[tuple[int, str, SharedJob]]:
        """Return what the core needs to know of the jobs of the manager."""
        run = self._runs[self._manager]
        shared = shared_jobs(run.workloads.values(), lambda _: None, run.configuration)
        kinds = {
            key: one.annotations.get(keys.JOB_OWNER_GVK, self._job).rpartition("=")[2]
            for key, one in run.workloads.items()
        }
        return [(run.id_of(key), ADAPTERS[kinds[key]].copies, shared.get(key, SharedJob())) for key in kinds]

    def _step_of_cluster(self, name: str, step: dict[str, Any]) -> Result:
        if name not in self._runs:
            raise ScenarioError(f"a step is on {name!r}; it must be one of {sorted(self._runs)}")
        if name == self._manager:
            step = self._with_fleet_objects(step)
        return self._with_changes({"clusters": {name: self._runs[name].step(step)}}, [name])

    def _with_fleet_objects(self, step: dict[str, Any]) -> dict[str, Any]:
        """Apply and remove the objects of MultiKueue in a step, and return the step without these objects."""
        run, objects = self._runs[self._manager], dict(self._objects)
        applied = [doc for doc in step.get("apply") or () if _is_of_fleet(doc)]
        removed = [doc for doc in step.get("remove") or () if doc["kind"] in _OF_FLEET]
        if not applied and not removed:
            return step
        run.engine.set_now(EPOCH + round(float(step["at"]) * SECOND))
        for doc in applied:
            self._objects[_reference(doc)] = doc
            if doc["kind"] not in _OF_FLEET:
                run.apply(doc)
        for doc in removed:
            self._objects.pop(_reference(doc), None)
        if self._objects != objects:
            checks = self._checks()
            self._dispatch.set_declared(self._declared())
            self._dispatch.set_clusters(self._names, checks)
        return step | {
            "apply": [doc for doc in step.get("apply") or () if doc not in applied],
            "remove": [doc for doc in step.get("remove") or () if doc not in removed],
        }

    def _checks(self) -> list[tuple[str, list[int] | None]]:
        """Return the cluster indices of each MultiKueue check; None for a check without a MultiKueueConfig.

        Clusters that are not known yet are added to the names.
        """
        checks: list[tuple[str, list[int] | None]] = []
        for (kind, name), doc in self._objects.items():
            if kind in _OF_FLEET:
                continue
            parameters = doc["spec"].get("parameters") or {}
            config = self._objects.get((_CONFIG, parameters.get("name", "")))
            if config is None or (parameters.get("apiGroup"), parameters.get("kind")) != (_GROUP, _CONFIG):
                checks.append((name, None))
                continue
            clusters = config["spec"]["clusters"]
            self._names.extend(cluster for cluster in clusters if cluster not in self._names)
            checks.append((name, [self._names.index(cluster) for cluster in clusters]))
        return checks

    def _declared(self) -> list[bool]:
        """Return for each cluster whether its MultiKueueCluster exists; without one, the manager has no connection."""
        return [(_CLUSTER, name) in self._objects for name in self._names]

    def _number(self, name: str) -> int:
        if name not in self._names:
            raise ScenarioError(f"a step names the worker {name!r}; it must be one of {sorted(self._names)}")
        return self._names.index(name)

    def _with_changes(self, result: Result, touched: list[str]) -> Result:
        """Add the changes of checks, gates and finished jobs to a result."""
        if self._manager in touched and (changes := self._changed_checks()):
            result["checks"] = changes
        if gated := [entry for name in touched for entry in self._newly_gated(name)]:
            result["gated"] = gated
        if finished := self._finished(touched):
            result["finished"] = finished
        return result

    def _changed_checks(self) -> list[Result]:
        engine, entries = self._runs[self._manager].engine, []
        for found in self._runs[self._manager].ids():
            status = self._dispatch.status(found)
            if status is None or self._known.get(found) == status:
                continue
            self._known[found] = status
            _, state, message, nominated, cluster = status
            entry: Result = {"workload": engine.key(found), "state": state, "message": message}
            if nominated:
                entry["nominated"] = [self._names[number] for number in nominated]
            if cluster >= 0:
                entry["cluster"] = self._names[cluster]
            entries.append(entry)
        return entries

    def _newly_gated(self, name: str) -> list[Result]:
        engine = self._runs[name].engine
        gated = set()
        for found in self._runs[name].ids():
            condition = engine.condition(found, "BlockedOnPreemptionGates")
            if condition is not None and condition[0]:
                gated.add(found)
        new, self._gated[name] = gated - self._gated[name], gated
        return [{"cluster": name, "workload": engine.key(found)} for found in sorted(new)]

    def _finished(self, touched: list[str]) -> list[Result]:
        run = self._runs[self._manager]
        entries: list[Result] = []
        if self._manager not in touched:
            return entries
        for found in run.happened("Finished"):
            condition = run.engine.condition(found, "Finished")
            if condition is not None:
                entries.append({"workload": run.engine.key(found), "reason": condition[1], "message": condition[2]})
        return entries


def _replay_of(name: str, cluster: dict[str, Any], config: dict[str, Any]) -> Replay:
    objects = [doc for doc in cluster["objects"] if doc["kind"] not in _OF_FLEET]
    own = {**config, **(cluster.get("config") or {})}
    return Replay({"name": f"{name}: {cluster['name']}", "objects": objects, "steps": [], "config": own})


def _is_of_fleet(doc: dict[str, Any]) -> bool:
    """Return whether an object of the manager configures MultiKueue."""
    is_check = doc["kind"] == "AdmissionCheck" and (doc.get("spec") or {}).get("controllerName") == _CONTROLLER
    return is_check or doc["kind"] in _OF_FLEET


def _reference(doc: dict[str, Any]) -> tuple[str, str]:
    return doc["kind"], doc["metadata"]["name"]
