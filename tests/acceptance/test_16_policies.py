"""Two policies with the same jobs, and shares over time (SW, PL)."""

from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.cli.rows import rows_of

SEED = Path(__file__).parents[2] / "examples" / "seeds" / "003"


@pytest.fixture(scope="module")
def compared():
    """The two policies of the first documents on preemption, on ten jobs of each of two teams."""
    names = ("classical", "fair-sharing")
    before, after = (kq.load([SEED / f"{name}.yaml", SEED / "two-queues.yaml"]) for name in names)
    with rows_of(str(SEED / "jobs.csv")) as rows:
        return kq.compare(before, after, rows, names=names)


def test_SW_02_WI_07_classical_and_fair_sharing_side_by_side(compared):
    facts = {
        queue: [
            (outcome.admitted, outcome.evictions, outcome.waited, outcome.longest, outcome.peak_share)
            for outcome in outcomes
        ]
        for queue, outcomes in compared.queues.items()
    }
    assert facts == {
        "team-a-queue": [(10, 0, 720, 3600, 1000), (10, 6, 2856, 7200, 1000)],
        "team-b-queue": [(10, 0, 4980, 7140, 750), (10, 2, 2868, 7140, 750)],
    }
    assert len(compared.changes) == 14
    assert (compared.before.seconds, compared.after.seconds) == (10800, 10800)
    # Four jobs of team a lost their first minute.
    means = {
        queue: [outcome.mean_usage["default-flavor/cpu"] for outcome in pair] for queue, pair in compared.queues.items()
    }
    assert means["team-a-queue"] == [pytest.approx(36000 / 10.8), pytest.approx((36000 + 4 * 60) / 10.8)]
    assert means["team-b-queue"] == [pytest.approx(36000 / 10.8), pytest.approx(36000 / 10.8)]


def test_SW_02_the_first_decisions_that_differ_are_four_fair_preemptions(compared):
    first = [decision for decision in compared.decisions if decision.seconds == 60]
    taken = [decision.after[0] for decision in first if decision.after[0].kind == "Evicted"]
    given = [decision.after[0] for decision in first if decision.after[0].kind == "QuotaReserved"]
    assert [decision.before for decision in first] == [()] * 8
    assert [(move.workload, move.rule, move.preemptor) for move in taken] == [
        (f"default/a-{n}", "InCohortFairSharing", f"default/b-{n}") for n in range(4)
    ]
    assert [move.workload for move in given] == [f"default/b-{n}" for n in range(4)]


def changes_of(usage, column):
    """Return the changes of a column of usage by ClusterQueue: times and new values."""
    found = {}
    for row in usage.rows():
        moments = found.setdefault(row["cluster_queue"], {})
        moments[row["seconds"]] = row[column]
    return {queue: _without_repeats(moments.items()) for queue, moments in found.items()}


def _without_repeats(moments):
    kept = []
    for at, value in moments:
        if value != (kept[-1][1] if kept else 0):
            kept.append((at, value))
    return kept


def test_PL_04_shares_over_time_with_a_line_for_each_queue(compared):
    classical, fair = (changes_of(run.usage, "share") for run in (compared.before, compared.after))
    assert classical == {
        "team-a-queue": [(0, 1000), (3600, 250), (7200, 0)],
        "team-b-queue": [(3600, 750), (7200, 500), (10800, 0)],
    }
    assert fair["team-a-queue"][:2] == [(0, 1000), (60, 500)]
    assert fair["team-b-queue"][0] == (60, 500)
    assert compared.picture("shares").svg.count("<polyline") == 4
