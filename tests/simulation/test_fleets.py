"""Fleets as values, single steps, comparisons, and invalid fleets."""

from __future__ import annotations

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError, NotFoundError, StateError, UnsupportedError
from kueuepy.fleet import CopyStatus, Move

CHECK = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": "mk"}}
MANAGER = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: mk}
spec:
  controllerName: kueue.x-k8s.io/multikueue
  parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: all}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata: {name: all}
spec: {clusters: [%s]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: main}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: 8}]}]
  admissionChecksStrategy: {admissionChecks: [{name: mk}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: default}
spec: {clusterQueue: main}
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
multiKueue:
  dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental
  incrementalDispatcherConfig: {stepSize: 1}
  workerLostTimeout: 2m
"""


def worker(cpu=2, queue="main"):
    return kq.Cluster(kq.ResourceFlavor("any"), kq.ClusterQueue.of(queue, {"any": {"cpu": cpu}}))


def manager(tmp_path, *clusters):
    path = tmp_path / "manager.yaml"
    path.write_text(MANAGER % ", ".join(clusters), encoding="utf-8")
    return kq.load(path)


def job(name, cpu=1, **fields):
    return {"name": name, "queue": "main", "cpu": cpu, **fields}


def test_the_default_manager_has_the_sum_of_the_workers_quotas():
    fleet = kq.Fleet({"w1": worker(2), "w2": worker(3)})
    (queue,) = fleet.manager.cluster_queues
    assert queue.resource_groups[0].flavors[0].resources[0].nominal_quota == "5"
    assert fleet.checks == {"multikueue": ("w1", "w2")}
    assert fleet.remarks == ()
    assert "2 workers: w1, w2" in repr(fleet)
    assert fleet._repr_html_().startswith(("<div", "<details"))


def test_the_objects_of_the_manager_set_clusters_and_dispatcher(tmp_path):
    fleet = kq.Fleet({"w1": worker(), "w2": worker()}, manager(tmp_path, "w2", "w1"))
    assert fleet.checks == {"mk": ("w2", "w1")}
    assert fleet.dispatcher == kq.sim.Incremental(step=1)
    step = kq.FleetScheduler(fleet)
    step.manager.submit(job("a"))
    step.manager.cycle()
    assert step.dispatch() == (Move("created", "w2", "default/a"),)
    step.advance(301)
    assert step.dispatch() == (Move("created", "w1", "default/a"),)
    assert step.status("a").nominated == ("w2", "w1")


def test_the_field_multikueue_of_a_configuration_is_written_back(tmp_path):
    cluster = manager(tmp_path, "w1")
    path = tmp_path / "again.yaml"
    kq.dump(cluster, path)
    assert kq.load(path).configuration.multi_kueue == cluster.configuration.multi_kueue
    assert cluster.configuration.multi_kueue.worker_lost_timeout == 120


def test_invalid_fleets_are_rejected(tmp_path):
    with pytest.raises(NotFoundError, match='"onprm" is not a worker; did you mean "onprem"'):
        kq.Fleet({"onprem": worker()}, manager(tmp_path, "onprm"))
    with pytest.raises(InvalidSpecError, match="is a MultiKueue check; a worker must not dispatch itself"):
        kq.Fleet({"w1": manager(tmp_path, "w1")})
    with pytest.raises(InvalidSpecError, match="has no AdmissionCheck with controllerName"):
        kq.Fleet({"w1": worker()}, worker())
    off = kq.Configuration(feature_gates={"MultiKueue": False})
    with pytest.raises(UnsupportedError, match=r"Configuration: featureGates\.MultiKueue: is false"):
        kq.Fleet({"w1": worker()}, manager(tmp_path, "w1").replace(configuration=off))
    with pytest.raises(UnsupportedError, match="has 21 clusters; Kueue allows at most 20"):
        kq.Fleet({f"w{n}": worker() for n in range(21)})
    assert len(kq.Fleet({f"w{n}": worker() for n in range(21)}, limits=False).clusters) == 21
    with pytest.raises(InvalidSpecError, match="step: is 0; it must be an integer of at least 1"):
        kq.Fleet({"w1": worker()}, dispatcher=kq.sim.Incremental(step=0))
    with pytest.raises(InvalidSpecError, match="dispatcher: is 'Fast'"):
        kq.Fleet({"w1": worker()}, dispatcher="Fast")
    with pytest.raises(InvalidSpecError, match=r"workers: is \{\}"):
        kq.Fleet({})
    with pytest.raises(InvalidSpecError, match="it must be a Cluster"):
        kq.Fleet({"w1": kq.Scheduler(worker())})
    with pytest.raises(InvalidSpecError, match="replace: dispatchers"):
        kq.Fleet({"w1": worker()}).replace(dispatchers="Incremental")


def test_a_worker_without_the_localqueue_causes_a_remark():
    fleet = kq.Fleet({"w1": worker(), "w2": worker(queue="other")}, None)
    assert "w1: has no LocalQueue default/other; copies of its workloads wait there without end" in fleet.remarks
    result = kq.simulate(fleet, [job("a", runtime=10)])
    assert result.warnings[0].startswith("w1: has no LocalQueue")
    assert result.jobs["first_start"].tolist() == [1.0]


def test_jobs_name_clusters_and_queues_that_exist():
    fleet = kq.Fleet({"w1": worker()})
    with pytest.raises(NotFoundError, match='cluster: "w2" is not a cluster; known are manager, w1'):
        kq.simulate(fleet, [job("a", cluster="w2")])
    with pytest.raises(NotFoundError, match=r"not in the cluster: default/mains in manager \(1 job\); did you mean"):
        kq.simulate(fleet, [{"queue": "mains", "cpu": 1}])
    with pytest.raises(NotFoundError, match='events: "w2" is not a cluster'):
        kq.simulate(fleet, [job("a")], events=[kq.sim.Event(5, kq.sim.Disconnect("w2"))])


def test_a_fleet_does_not_run_jobs_that_had_not_finished():
    with pytest.raises(InvalidSpecError, match="1 job had not finished when observed"):
        kq.simulate(kq.Fleet({"w1": worker()}), [job("a", censored=True)])


def test_a_fleet_is_stepped_by_hand():
    step = kq.FleetScheduler(kq.Fleet({"w1": worker(), "w2": worker()}))
    step.manager.submit(job("a"))
    step.manager.cycle()
    step.dispatch()
    step["w2"].cycle()
    assert step.status("a").copies == (
        CopyStatus("w1", "Pending", has_job=False),
        CopyStatus("w2", "Admitted", has_job=False),
    )
    with pytest.raises(StateError, match="runs on no worker"):
        step.finish("a")
    assert step.dispatch() == (Move("deleted", "w1", "default/a"), Move("started", "w2", "default/a"))
    status = step.status("a")
    assert (status.check, status.cluster, status.message) == ("Ready", "w2", 'The workload was admitted on "w2"')
    assert step["w1"].keys() == ()
    assert "admitted on w2" in step.explain("a")
    step.finish("a")
    step.dispatch()
    assert step["w2"].keys() == ()
    assert dict(step.manager._engine.conditions(0))["Finished"][1] == "Succeeded"


def stepped(tmp_path, **gates):
    """Return the scheduler of a fleet of v0.17, after w1 has reserved quota for a copy; w1 has a check of its own."""
    released = kq.Configuration(version="v0.17", feature_gates=gates)
    checked = kq.Cluster(
        kq.ResourceFlavor("any"),
        kq.AdmissionCheck("slow", controller_name="example.com/slow"),
        kq.ClusterQueue.of(
            "main", {"any": {"cpu": 2}}, admission_checks_strategy=[kq.objects.AdmissionCheckStrategyRule("slow")]
        ),
    )
    main = manager(tmp_path, "w1", "w2").replace(configuration=released)
    step = kq.FleetScheduler(kq.Fleet({"w1": checked, "w2": worker()}, main))
    step.manager.submit(job("a", 2))
    step.manager.cycle()
    step.dispatch()
    step["w1"].cycle()
    return step


def test_in_v0_17_a_reservation_on_a_worker_decides_if_the_gate_is_off(tmp_path):
    waiting = stepped(tmp_path)
    assert waiting.dispatch() == ()
    step = stepped(tmp_path, MultiKueueWaitForWorkloadAdmitted=False)
    assert step.dispatch() == (Move("deleted", "w2", "default/a"), Move("started", "w1", "default/a"))
    status = step.status("a")
    assert (status.check, status.cluster, status.message) == ("Ready", "w1", 'The workload got reservation on "w1"')


@pytest.mark.parametrize(
    ("redone", "message"),
    [
        (True, 'Workload evicted on worker cluster: "w1", resetting for re-admission. Previously: "Ready"'),
        (False, 'Reserving remote no longer exists or is not admitted, Previously: "Ready"'),
    ],
)
def test_in_v0_17_only_the_lost_reservation_counts_if_the_gate_is_off(tmp_path, redone, message):
    step = stepped(tmp_path, MultiKueueRedoAdmissionOnEvictionInWorker=redone)
    step["w1"].set_check("a", "slow", "Ready")
    step["w1"].cycle()
    step.dispatch()
    assert step.status("a").check == "Ready"
    step["w1"].apply(kq.LocalQueue("main", cluster_queue="main", stop_policy="HoldAndDrain"))
    step["w1"].cycle()
    assert dict(step["w1"]._engine.conditions(0))["Evicted"][0]
    step.dispatch()
    status = step.status("a")
    assert (status.check, status.message) == ("Retry", message)


def test_a_fork_of_a_fleet_is_independent():
    step = kq.FleetScheduler(kq.Fleet({"w1": worker()}))
    step.manager.submit(job("a"))
    step.manager.cycle()
    twin = step.fork()
    assert twin.dispatch() == step.dispatch() == (Move("created", "w1", "default/a"),)
    twin["w1"].cycle()
    twin.dispatch()
    assert twin.status("a").check == "Ready"
    assert step.status("a").check == "Pending"


def test_an_external_dispatcher_nominates_by_hand_or_by_a_function():
    step = kq.FleetScheduler(kq.Fleet({"w1": worker(), "w2": worker()}, dispatcher="External"))
    step.manager.submit(job("a"))
    step.manager.cycle()
    assert step.dispatch() == ()
    step.nominate("a", ["w2"])
    assert step.dispatch() == (Move("created", "w2", "default/a"),)
    with pytest.raises(NotFoundError, match='"w3" is not a worker'):
        step.nominate("a", ["w3"])
    with pytest.raises(StateError, match="only External"):
        kq.FleetScheduler(kq.Fleet({"w1": worker()})).nominate("a", ["w1"])

    seen = []

    def last(workload, clusters, now):
        seen.append((workload.name, sorted(clusters), now))
        return [max(clusters)]

    fleet = kq.Fleet({"w1": worker(), "w2": worker()}, dispatcher=kq.sim.External(last))
    chosen = kq.FleetScheduler(fleet)
    chosen.manager.submit(job("a"))
    chosen.manager.cycle()
    assert chosen.dispatch() == (Move("created", "w2", "default/a"),)
    assert seen[0] == ("a", ["w1", "w2"], 0.0)
    result = kq.simulate(fleet, [job("a", runtime=10), job("b", runtime=10)])
    assert [result.jobs["cluster"][row] for row in range(2)] == ["w2", "w2"]


def test_an_external_dispatcher_that_nominates_an_unknown_cluster_is_an_error():
    fleet = kq.Fleet({"w1": worker()}, dispatcher=kq.sim.External(lambda *_: ["w9"]))
    with pytest.raises(NotFoundError, match='"w9" is not one of w1'):
        kq.simulate(fleet, [job("a", runtime=10)])


def simulated_with(choose):
    """Return a simulation of five jobs on two workers, which this function chooses."""
    fleet = kq.Fleet({"w1": worker(), "w2": worker()}, dispatcher=kq.sim.External(choose))
    return kq.Simulation(fleet, [job(f"j{n}", runtime=50, submit=10 * n) for n in range(5)])


@pytest.mark.parametrize("continues", [kq.Simulation.run, kq.Simulation.fork])
def test_a_simulation_continues_after_an_exception_of_the_dispatcher(continues):
    def ends(failing):
        calls = []

        def choose(workload, clusters, now):
            calls.append((workload.name, now))
            if len(calls) == failing:
                raise RuntimeError("mine")
            return list(clusters)

        simulation = simulated_with(choose)
        if failing:
            with pytest.raises(RuntimeError, match="mine"):
                simulation.run()
        simulation = continues(simulation) or simulation
        simulation.run()
        return simulation.result().jobs["end"].tolist(), calls

    whole, calls = ends(0)
    assert len(calls) > 5
    assert not any(np.isnan(whole))
    for failing in range(1, len(calls) + 1):
        again, seen = ends(failing)
        assert again == whole
        # The job in hand is seen again, at the same time.
        assert seen == calls[:failing] + calls[failing - 1 :]


def test_a_dispatcher_may_only_read_its_simulation():
    refused = []

    def choose(_workload, clusters, now):
        for advance in (simulation.run, simulation.step, simulation.close, core.advance, core.step, core.close):
            with pytest.raises(StateError, match="in use by a function that it called"):
                advance()
            refused.append(advance)
        assert simulation.fork().now == now
        return list(clusters)

    simulation = simulated_with(choose)
    core = simulation._run.core
    simulation.run()
    assert refused
    alone = simulated_with(lambda _workload, names, _now: list(names))
    alone.run()
    assert simulation.result().jobs["end"].tolist() == alone.result().jobs["end"].tolist()


def test_policies_are_compared():
    fleet = kq.Fleet({"w1": worker(1), "w2": worker(1)})
    jobs = [job(f"j{n}", runtime=600, submit=n) for n in range(6)]
    found = kq.compare({"all at once": fleet, "one by one": fleet.replace(dispatcher=kq.sim.Incremental(step=1))}, jobs)
    assert found.kpis["all at once"].copies > found.kpis["one by one"].copies
    assert "copies_per_start" in repr(found)
    assert "w1/main" in found.queues


def test_tables_have_a_column_of_clusters():
    fleet = kq.Fleet({"w1": worker(1), "w2": worker(1)})
    result = kq.simulate(fleet, [job("a", runtime=5), job("b", runtime=5), job("c", runtime=5, cluster="w1")])
    assert set(result.jobs["cluster"].names) == {"manager", "w1", "w2"}
    assert set(result.by("cluster")["cluster"].names) <= {"w1", "w2"}
    assert {row["cluster"] for row in result.decisions.rows()} == {"manager", "w1", "w2"}
    assert {row["cluster"] for row in result.usage.rows()} == {"w1", "w2"}
    assert {row["cluster_queue"] for row in result.runs.rows()} if "cluster_queue" in result.runs.names else True
    assert result.kpis.finished == 3
    assert result.stats["finished"] == 3
    assert np.isnan(result.jobs["closed"][2])
    assert str(result).startswith("warning") or "copies" in str(result)
    assert result._repr_html_()


def test_the_page_of_a_fleet_shows_the_queues_of_its_workers():
    result = kq.simulate(kq.Fleet({"w1": worker(), "w2": worker()}), [job(f"j{n}", runtime="1h") for n in range(3)])
    names = {node.name for node in result.page().data.nodes}
    assert {"w1/main", "w2/main"} <= names


def test_a_fleet_simulation_can_be_forked_and_questioned():
    fleet = kq.Fleet({"w1": worker(1)})
    run = kq.Simulation(fleet, [job(f"j{n}", runtime=100) for n in range(3)])
    run.run(until=50)
    twin = run.fork()
    run.run()
    twin.run()
    assert run.result().fingerprint == twin.result().fingerprint
    step = run.result().at(50)
    assert step.manager.keys() == ("default/j0", "default/j1", "default/j2")
    assert step["w1"].keys() == ("default/j0",)
    assert step.explain("j0")


def test_settings_may_differ_by_cluster():
    fleet = kq.Fleet({"w1": worker(1), "w2": worker(1)})
    jobs = [job("a", runtime=10, cluster="w1"), job("b", runtime=10, cluster="w2")]
    found = kq.simulate(fleet, jobs, delays={"w2": [kq.sim.Startup("any", "7s")]})
    assert found.jobs["end"].tolist() == [10.0, 17.0]


def test_events_of_one_cluster():
    fleet = kq.Fleet({"w1": worker(0)})
    more = kq.fleet.On("w1", kq.sim.Edit("ClusterQueue/main:nominalQuota", "1"))
    assert isinstance(more.what, kq.sim.Edit)
    queue = kq.ClusterQueue.of("main", {"any": {"cpu": 1}})
    found = kq.simulate(
        fleet.replace(manager=kq.Fleet({"w1": worker(1)}).manager),
        [job("a", runtime=10)],
        events=[kq.sim.Event("60s", kq.fleet.On("w1", queue))],
    )
    assert found.jobs["first_start"].tolist() == [61.0]


def test_automated_quota_follows_the_connected_workers(tmp_path):
    path = tmp_path / "manager.yaml"
    text = MANAGER % "w1, w2" + "featureGates: {MultiKueueManagerQuotaAutomation: true}\n"
    path.write_text(text.replace("[w1, w2]}", "[w1, w2], quotaManagement: Automated}"), encoding="utf-8")
    fleet = kq.Fleet({"w1": worker(2), "w2": worker(3)}, kq.load(path), dispatcher="AllAtOnce")
    assert fleet.manager.cluster_queues[0].resource_groups[0].flavors[0].resources[0].nominal_quota == "5"
    jobs = [job(f"j{n}", runtime=1000) for n in range(5)]
    cut = kq.simulate(fleet, jobs, events=[kq.sim.Event("10s", kq.sim.Disconnect("w2"))], until="20s")
    nominal = [row["nominal"] for row in cut.manager_usage.rows()]
    assert (nominal[0], nominal[-1]) == (5, 2)


def test_the_latency_of_clusters_may_differ():
    near_and_far = kq.Fleet({"near": worker(1), "far": worker(1)}, sync={"near": 2, "far": "10s"})
    jobs = [job("a", runtime=100), job("b", runtime=100)]
    found = kq.simulate(near_and_far, jobs)
    assert found.jobs["first_start"].tolist() == [2.0, 12.0]
    with pytest.raises(NotFoundError, match='sync: "nera" is not a worker; did you mean "near"'):
        near_and_far.replace(sync={"nera": 1})


def test_the_utilisation_while_jobs_arrive_agrees_with_the_table_of_usage():
    fleet = kq.Fleet({"w1": worker(2), "w2": worker(1)})
    jobs = [job(f"j{n}", submit=20 * n, runtime=50) for n in range(8)]
    jobs += [job("own", submit=90, runtime=10) | {"cluster": "w2"}]
    found = kq.simulate(fleet, jobs)
    in_window = found.figures(0, found.jobs["submit"].max()).utilisation
    assert found.kpis.submission_utilisation == pytest.approx(in_window)
    assert found.kpis.submission_utilisation["any/cpu"] > found.kpis.utilisation["any/cpu"]
    assert found.totals["submitted"]["until"] == 140 * 10**9
