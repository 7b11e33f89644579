"""Recorded orders of the heads of a cycle with fair sharing."""

from __future__ import annotations

import pytest

from kueuepy.objects import Configuration, FairSharingConfig
from rules import rules
from vectors.cluster import SECOND, amount, engine
from vectors.files import lines

GATES = {
    "prioritizeNonBorrowing": "FairSharingPrioritizeNonBorrowing",
    "prioritySorting": "PrioritySortingWithinCohort",
    "prioritizePreemptors": "PrioritizePreemptorWorkloads",
}


@pytest.mark.parametrize("line", lines("fair_orders"))
def test_heads_are_processed_in_kueues_order(line):
    gates = {gate: line[field] for field, gate in GATES.items()}
    made = engine(line, Configuration(fair_sharing=FairSharingConfig(), feature_gates=gates))
    heads = [
        (
            head["cq"],
            head["priority"],
            head["created"] * SECOND,
            head.get("isPreemptor", False),
            [amount(entry) for entry in head["usage"]],
            head.get("addUsage", False),
        )
        for head in line["heads"]
    ]
    order = rules().Tables(made).fair_order(heads)
    assert [line["heads"][index]["name"] for index in order] == line["order"]
