"""Recorded preemptions: targets, their order and reasons, and the answers for the flavor search."""

from __future__ import annotations

import pytest

from vectors.cluster import amount, cell, namespace_of, tables_of
from vectors.files import lines


@pytest.mark.parametrize("line", lines("preemption_examples") + lines("preemption"))
def test_targets_levels_and_shares_equal_those_of_kueue(line):
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
