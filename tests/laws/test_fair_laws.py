"""Properties of fair sharing: shares, the order of heads, and preemption candidates."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kueuepy import Scheduler
from kueuepy.objects import Configuration, FairSharingConfig
from kueuepy.testing import clusters, workloads
from laws import described
from laws.rivals import rivals
from laws.runs import scaled, story
from rules import rules
from vectors.cluster import SECOND, amount, engine, namespace_of, tables_of

pytestmark = pytest.mark.sanitizer
Tables = rules().Tables
INFINITE = 2**63 - 1
CHARGES = st.lists(st.tuples(st.sampled_from(described.CELLS), st.integers(0, 9000)), min_size=1, max_size=6)


def names(line):
    """Return the nodes of a described tree, each with whether it is a Cohort."""
    cohorts = {cohort["name"] for cohort in line["cohorts"]}
    cohorts |= {queue["cohort"] for queue in line["clusterQueues"] if "cohort" in queue}
    return [(queue["name"], False) for queue in line["clusterQueues"]] + [(name, True) for name in sorted(cohorts)]


@given(st.one_of(described.trees(), described.crowds()), CHARGES, st.data())
def test_a_share_never_falls_when_usage_grows(line, charges, data):
    tables = Tables(engine(line, Configuration()))
    queues = st.sampled_from([queue["name"] for queue in line["clusterQueues"]])
    for cell, value in charges:
        before = {node: tables.share(*node) for node in names(line)}
        tables.add(data.draw(queues), cell, value)
        for node, (ratio, precise, _, borrowing, rounded) in before.items():
            now = tables.share(*node)
            assert now[0] >= ratio >= 0, node
            assert now[1] >= precise >= 0, node
            assert now[4] >= rounded >= min(precise, INFINITE), node
            assert now[3] or not borrowing, node


@given(st.one_of(described.trees(), described.crowds()), CHARGES, st.data())
def test_without_borrowing_or_without_a_parent_the_share_is_0(line, charges, data):
    tables = Tables(engine(line, Configuration()))
    queues = st.sampled_from([queue["name"] for queue in line["clusterQueues"]])
    for cell, value in charges:
        tables.add(data.draw(queues), cell, value)
    parents = {
        node["name"]: node.get("parent", node.get("cohort"))
        for kind in ("cohorts", "clusterQueues")
        for node in line[kind]
    }
    for name, is_cohort in names(line):
        excess = any(
            tables.node(name, is_cohort, cell)[2] > tables.node(name, is_cohort, cell)[0] for cell in described.CELLS
        )
        if parents.get(name) is None or not excess:
            assert tables.share(name, is_cohort)[1] == 0, name


@given(described.fair_cycles(), st.data())
def test_the_fair_order_contains_each_head_once_in_any_input_order(line, data):
    gates = {
        "FairSharingPrioritizeNonBorrowing": line["prioritizeNonBorrowing"],
        "PrioritySortingWithinCohort": line["prioritySorting"],
        "PrioritizePreemptorWorkloads": line["prioritizePreemptors"],
    }
    made = engine(line, Configuration(fair_sharing=FairSharingConfig(), feature_gates=gates))

    def order(heads):
        asked = [
            (
                head["cq"],
                head["priority"],
                head["created"] * SECOND,
                head["isPreemptor"],
                [amount(entry) for entry in head["usage"]],
                head["addUsage"],
            )
            for head in heads
        ]
        taken = Tables(made).fair_order(asked)
        assert sorted(taken) == list(range(len(heads)))
        return [heads[index]["name"] for index in taken]

    assert order(data.draw(st.permutations(line["heads"]))) == order(line["heads"])


def targets(line):
    wanted = line["incoming"]["usage"]
    contested = [(entry["flavor"], entry["resource"]) for entry in wanted if entry.get("preempt")]
    return tables_of(line).search(
        f"{namespace_of(line['incoming'])}/in", contested, [amount(entry) for entry in wanted]
    )


def times(line, factor):
    """The described cluster with all amounts times a factor."""

    def node(row):
        quotas = [
            {name: value * factor if name in ("nominal", "borrow", "lend") else value for name, value in quota.items()}
            for quota in row["quotas"]
        ]
        return {**row, "quotas": quotas}

    def workload(row):
        return {**row, "usage": [{**entry, "amount": entry["amount"] * factor} for entry in row["usage"]]}

    return {
        **line,
        "cohorts": list(map(node, line["cohorts"])),
        "clusterQueues": list(map(node, line["clusterQueues"])),
        "admitted": list(map(workload, line["admitted"])),
        "incoming": workload(line["incoming"]),
    }


@given(described.preemptions(fair=True), st.sampled_from([2, 7, 1000]))
def test_scaling_every_amount_changes_no_target(line, factor):
    assert targets(times(line, factor)) == targets(line)


@given(clusters(fair_sharing=True), workloads(), st.sampled_from([3, 10, 1024]))
def test_scaling_every_amount_changes_neither_decisions_nor_shares(cluster, waiting, factor):
    told = []
    for objects, jobs in ((cluster, waiting), scaled(cluster, waiting, factor)):
        scheduler = Scheduler(objects, now=0)
        scheduler.submit(jobs)
        told.append((story(scheduler), scheduler._engine.shares()))
    assert told[0] == told[1]


OVERLAP = "RecomputeAssignmentUponPreemptionTargetsOverlap"


@pytest.mark.parametrize("recompute", [False, True])
@settings(phases=[Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_queues_that_do_not_borrow_lose_nothing_to_others(recompute, seed):
    """Where two heads of a cycle want the same victim, the second one looks again, and by then counts what the first
    one was promised as in use: a queue can lose something that borrows only with what its own head will get.
    """
    cluster, jobs = rivals(seed)
    gates = replace(cluster.configuration, feature_gates={OVERLAP: recompute})
    scheduler = Scheduler(cluster.replace(configuration=gates), now=0)
    nominal = {
        queue.name: _cpu(queue.resource_groups[0].flavors[0].resources[0].nominal_quota)
        for queue in cluster.cluster_queues
    }
    asked = {
        job.key: _cpu(job.pod_sets[0].template["spec"]["containers"][0]["resources"]["requests"]["cpu"]) for job in jobs
    }
    for job in jobs:
        scheduler.advance(1)
        scheduler.submit(job)
        for _ in range(4):
            scheduler._engine.settle()
            used = {queue: cells.get("default/cpu", 0) for queue, cells in scheduler._engine.usage().items()}
            preempting = scheduler.cycle().preempting
            promised = {decision.cluster_queue: asked[decision.workload] for decision in preempting if recompute}
            for decision in preempting:
                for target in decision.targets:
                    queue = target.cluster_queue
                    if queue != decision.cluster_queue:
                        assert used[queue] + promised.get(queue, 0) > nominal[queue], target


def _cpu(amount):
    return 1000 * int(amount)
