"""What nothing here looks at is said where the answer is given."""

import copy

import msgspec

import kueuepy as kq
from kueuepy.cli.app import main
from kueuepy.persist import from_bytes, to_bytes

SURPRISING = "examples/lint/L20/surprising.yaml"
TOLD = ("asks for devices by resourceClaims: they are not modelled, and count nothing here",)


def test_a_command_says_that_devices_do_not_count(capsys):
    assert main(["run", SURPRISING]) == 0
    told = capsys.readouterr()
    assert "asks for devices, which are not modelled here" in told.err + told.out
    assert main(["explain", "train", SURPRISING]) == 0
    assert "resourceClaims: they are not modelled" in capsys.readouterr().out


def test_submission_says_so_too():
    cluster = kq.load(SURPRISING)
    scheduler = kq.Scheduler(cluster)
    job = dict(cluster.jobs[0])
    job["metadata"] = {**job["metadata"], "name": "again"}
    (remark,) = scheduler.submit(job).remarks
    assert "asks for devices by resourceClaims: they are not modelled, and count nothing here" in remark


def claimant(name, *, claims=True):
    spec = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    claimed = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]} if claims else {}
    return kq.Workload(name, queue_name="q", pod_sets=(kq.PodSet(template={"spec": {**spec, **claimed}}),))


def test_a_decision_says_so_itself():
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": 1}})
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), queue), now=0)
    assert scheduler.try_admit(claimant("first")).not_modelled == TOLD
    scheduler.submit(claimant("first"), claimant("second"), claimant("third", claims=False))
    twin = from_bytes(to_bytes(scheduler)).fork()
    for one in (scheduler, twin):
        cycles = [one.cycle() for _ in range(2)]
        one.delete("first", "second")  # what was decided stays
        admitted, pending = (cycle[0] for cycle in cycles)
        assert isinstance(admitted, kq.Admitted)
        assert isinstance(pending, kq.Pending)
        assert admitted.not_modelled == pending.not_modelled == TOLD
        assert copy.deepcopy(cycles[1])[0].not_modelled == TOLD
    question = scheduler.question(claimant("fourth"))
    answers = scheduler.try_admit_many(["third", claimant("fourth"), question, claimant("fifth", claims=False)])
    assert [answer.not_modelled for answer in answers] == [(), TOLD, TOLD, ()]
    assert scheduler.try_admit(question).not_modelled == TOLD
    assert scheduler.cycle()[0].not_modelled == ()


def test_a_preemption_says_so_itself():
    lower = kq.Preemption(within_cluster_queue="LowerPriority")
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": 1}}, preemption=lower)
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), queue), now=0)
    scheduler.submit(claimant("first", claims=False))
    scheduler.settle()
    (preempting,) = scheduler.try_admit_many([msgspec.structs.replace(claimant("second"), priority=9)])
    assert isinstance(preempting, kq.Preempting)
    assert preempting.not_modelled == (
        "asks for devices by resourceClaims: they are not modelled, and count nothing here",
    )


def test_what_is_remembered_of_devices_goes_with_the_workload():
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}})), now=0)
    scheduler.submit(claimant("first"))
    fork = scheduler.fork()
    scheduler.apply(claimant("first", claims=False))
    assert scheduler.state.store.workloads.not_modelled() is None
    assert fork.cycle()[0].not_modelled
    fork.delete("first")
    assert fork.state.store.workloads.not_modelled() is None


def test_check_names_gates_that_change_nothing(tmp_path, capsys):
    path = tmp_path / "configuration.yaml"
    path.write_text(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {ConcurrentAdmission: true}\n"
    )
    main(["check", "examples/seeds/002/two-teams.yaml", str(path)])
    assert "featureGates.ConcurrentAdmission: is not modelled" in capsys.readouterr().out
