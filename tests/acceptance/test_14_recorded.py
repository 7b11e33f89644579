"""The state of a real cluster, simulated with another configuration (SI)."""

import kueuepy as kq
from importer.dumps import admitted, dump, workload
from kueuepy.platform.importer import import_cluster


def _dump(*queues):
    """Five of seven workloads of 2 cpu run on 10 cpu."""
    found = dump(*(workload(f"w{i}", admitted() if i < 5 else None) for i in range(7)))
    found["items"] += queues
    return found


def _larger(cpu):
    return kq.ClusterQueue.of("cq", {"default": {"cpu": cpu}})


def test_SI_12_a_dump_is_simulated_with_other_quotas():
    scheduler = import_cluster(_dump()).scheduler

    changes = scheduler.whatif(_larger(12)).changes

    assert [change.workload for change in changes if change.after.status == "Admitted"] == ["team/w5"]
    assert scheduler.settle().admitted == ()


def test_SI_12_a_dump_is_simulated_with_another_configuration():
    scheduler = import_cluster(_dump()).scheduler
    gates = kq.Configuration(resources=kq.objects.Resources(exclude_resource_prefixes=("cpu",)))

    changed = scheduler.whatif(gates)

    assert {change.workload for change in changed.changes} >= {"team/w5", "team/w6"}


def test_SI_12_two_configurations_are_compared_on_the_workloads_of_a_dump():
    before = kq.load(_dump())
    after = before.replace(_larger(14))

    found = kq.compare(before, after)

    assert [(change.workload, change.before.started, change.after.started) for change in found.changes] == [
        ("team/w5", None, 0.0),
        ("team/w6", None, 0.0),
    ]
    assert found.queues["cq"][1].usage == {"default/cpu": 14000}
