"""Recorded preemptions: whom a workload would take, in order and why, and what the choice of flavors learns of it."""

from __future__ import annotations

import pytest

from kueuepy import _core
from kueuepy.objects import AdmissionFairSharing, Configuration, FairSharingConfig
from vectors.cluster import add_workload, amount, cell, engine, namespace_of
from vectors.files import lines


def tables_of(line):
    configuration = Configuration(
        fair_sharing=FairSharingConfig(line.get("strategies") or FairSharingConfig().preemption_strategies)
        if line["fairSharing"]
        else None,
        admission_fair_sharing=AdmissionFairSharing() if line.get("afs") else None,
        feature_gates={"FairSharingPreemptWithinNominal": line["preemptWithinNominal"]},
    )
    made = engine(line, configuration)
    add_workload(made, line["incoming"], admitted=False)
    tables = _core._testing.Tables(made)
    for workload in line["admitted"]:
        if line.get("afs"):
            tables.set_consumed(namespace_of(workload), workload["lq"], "cpu", workload["lqUsage"] * 10**9)
    return tables


@pytest.mark.parametrize("line", lines("preemption_examples") + lines("preemption"))
def test_targets_levels_and_shares_are_kueues(line):
    tables = tables_of(line)
    before = tables.usage()
    wanted, key = line["incoming"]["usage"], f"{namespace_of(line['incoming'])}/in"
    contested = [cell(entry) for entry in wanted if entry.get("preempt")]
    targets = tables.search(key, contested, [amount(entry) for entry in wanted])
    assert targets == [tuple(target) for target in line["targets"] or ()]
    for answer in line["oracle"]:
        assert tables.simulate(key, *amount(answer)) == (answer["Possibility"], answer["Borrow"]), answer
    for answer in line["heights"]:
        assert tables.height(line["incoming"]["cq"], *amount(answer)) == (answer["Height"], answer["Smaller"]), answer
    for node, share in line["drs"].items():
        kind, name = node.split("/")
        assert tables.share(name, kind == "cohort")[1] == float(share), node
    assert tables.usage() == before
