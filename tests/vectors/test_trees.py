"""Recorded numbers of cohort trees: quota, usage, availability, shares and heights of every node."""

from __future__ import annotations

import math

import pytest

from kueuepy.objects import Configuration
from rules import rules
from vectors.cluster import cell, engine
from vectors.files import lines

UNLIMITED = 2**63 - 1


def integer(text):
    return UNLIMITED if text == "<unlimited>" else int(text)


@pytest.mark.sanitizer
@pytest.mark.parametrize("line", lines("trees"))
def test_every_number_of_a_tree_equals_kueues(line):
    cohorts = [node for node in line["nodes"] if node["cohort"]]
    queues = [{**node, "cohort": node.get("parent")} for node in line["nodes"] if not node["cohort"]]
    queue_names = {queue["name"] for queue in queues}
    made = engine({"cohorts": cohorts, "clusterQueues": queues}, Configuration())
    tables = rules().Tables(made)
    for step in line["steps"] or ():
        change, value = (tables.add, int(step["v"])) if int(step["v"]) >= 0 else (tables.remove, -int(step["v"]))
        change(step["cq"], cell(step), value)
    for value in line["values"]:
        *numbers, borrowing = tables.node(value["Node"], value["Node"] not in queue_names, cell(value))
        assert numbers == [integer(value[key]) for key in ("S", "L", "U", "Avail", "Pot")], value
        assert borrowing == value["Borrowing"], value
    for share in line["shares"]:
        ratio, precise, resource, borrowing, rounded = tables.share(share["Node"], share["Node"] not in queue_names)
        assert ratio == share["Ratio"], share
        assert math.isclose(precise, float(share["Precise"]), rel_tol=1e-15), share
        assert (resource, borrowing, rounded) == (share["Resource"], share["Borrowing"], share["Rounded"]), share
    for ask in line["asks"]:
        assert tables.fits(ask["CQ"], cell(ask), ask["V"]) == ask["Fits"], ask
        assert tables.height(ask["CQ"], cell(ask), ask["V"]) == (ask["Height"], ask["Smaller"]), ask
