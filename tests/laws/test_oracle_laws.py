"""The core equals the specification in plain Python (`tests/oracle`), for random and recorded clusters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kueuepy.objects import Configuration, FairSharingConfig
from laws import described
from oracle import classical, orders, reading, shares
from oracle.quota import UNLIMITED
from rules import rules
from vectors.cluster import SECOND, amount, engine, namespace_of, tables_of
from vectors.files import lines

pytestmark = pytest.mark.sanitizer
Tables = rules().Tables


def nodes(forest):
    return [(node, False) for node in forest.queues.values()] + [(node, True) for node in forest.cohorts.values()]


@given(described.trees(unlimited=True), st.data())
def test_numbers_of_cohort_trees_equal_the_oracle(line, data):
    forest, tables = reading.forest(line), Tables(engine(line, Configuration()))
    charges = st.tuples(st.sampled_from(sorted(forest.queues)), st.sampled_from(described.CELLS), st.integers(0, 9000))
    steps = data.draw(st.lists(charges, max_size=8))
    for queue, cell, value in steps:
        tables.add(queue, cell, value)
        forest.queues[queue].charge({cell: value})
    for queue, cell, value in data.draw(st.permutations(steps[: len(steps) // 2])):
        tables.remove(queue, cell, value)
        forest.queues[queue].charge({cell: value}, -1)
    for node, is_cohort in nodes(forest):
        for cell in described.CELLS:
            expected = (
                node.subtree(cell), node.local(cell), node.usage(cell), node.raw_available(cell),
                node.potential(cell), node.borrows_with(cell, 0),
            )  # fmt: skip
            assert tables.node(node.name, is_cohort, cell) == expected, (node.name, cell)
            if not is_cohort:
                asked = data.draw(st.integers(0, 9)) * 1000
                assert tables.height(node.name, cell, asked) == node.lowest_subtree_that_fits(cell, asked)
                assert tables.fits(node.name, cell, asked) == (asked <= node.available(cell))
        mine = shares.share(node)
        ratio, precise, resource, borrowing, rounded = tables.share(node.name, is_cohort)
        assert (ratio, precise, resource) == (mine.ratio, mine.precise, mine.resource), node.name
        assert (borrowing, rounded) == (bool(mine.borrowed), min(mine.rounded, UNLIMITED)), node.name


def has_one_order(line):
    """Return whether the order of candidates is transitive; LocalQueue usage can make it cyclic."""
    forest = reading.forest(line)
    return orders.is_transitive(reading.admit(forest, line), forest.queues[line["incoming"]["cq"]])


def check_preemption(line):
    tables, forest = tables_of(line), reading.forest(line)
    admitted, preemptor = reading.admit(forest, line), reading.workload(forest, line["incoming"])
    key = f"{namespace_of(line['incoming'])}/in"
    contested = [(entry["flavor"], entry["resource"]) for entry in line["incoming"]["usage"] if entry.get("preempt")]
    before = tables.usage()
    search = reading.search(line, preemptor, admitted, contested, preemptor.usage)
    assert tables.search(key, contested, list(preemptor.usage.items())) == search.targets()
    for cell, value in preemptor.usage.items():
        single = reading.search(line, preemptor, admitted, [cell], {cell: value})
        assert tables.simulate(key, cell, value) == classical.simulate(single), cell
    assert tables.usage() == before
    return search.targets()


@given(described.preemptions().filter(has_one_order))
def test_classical_targets_equal_the_oracle(line):
    check_preemption(line)


@settings(max_examples=2 * settings().max_examples)
@given(described.preemptions(fair=True).filter(has_one_order))
def test_fair_targets_equal_the_oracle(line):
    check_preemption(line)


RECORDED = [p for p in lines("preemption_examples") + lines("preemption") if has_one_order(p.values[0])]


@pytest.mark.parametrize("line", RECORDED)
def test_the_specification_reproduces_the_recorded_targets(line):
    assert check_preemption(line) == [tuple(target) for target in line["targets"] or ()]


def check_fair_order(line):
    gates = orders.Gates(line["prioritizePreemptors"], line["prioritizeNonBorrowing"], line["prioritySorting"])
    names = {
        "FairSharingPrioritizeNonBorrowing": gates.prioritize_non_borrowing,
        "PrioritySortingWithinCohort": gates.priority_sorting,
        "PrioritizePreemptorWorkloads": gates.prioritize_preemptors,
    }
    tables = Tables(engine(line, Configuration(fair_sharing=FairSharingConfig(), feature_gates=names)))
    forest = reading.forest(line)
    reading.admit(forest, line)
    heads, asked = [], []
    for row in line["heads"]:
        one = reading.workload(forest, row)
        charged, preempts = row.get("addUsage", False), row.get("isPreemptor", False)
        heads.append(orders.Head(one.queue, one.priority, one.created, one.usage, preempts, charged))
        used = [amount(entry) for entry in row["usage"]]
        asked.append((row["cq"], row["priority"], row["created"] * SECOND, preempts, used, charged))
    expected = [heads.index(head) for head in orders.fair_order(heads, gates)]
    assert tables.fair_order(asked) == expected
    return [line["heads"][index]["name"] for index in expected]


@given(described.fair_cycles())
def test_fair_orders_equal_the_oracle(line):
    check_fair_order(line)


@pytest.mark.parametrize("line", lines("fair_orders")[::5])
def test_the_specification_reproduces_the_recorded_orders(line):
    assert check_fair_order(line) == line["order"]
