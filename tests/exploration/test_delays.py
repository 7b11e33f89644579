"""Delays that groups of jobs cause each other."""

import numpy as np
import pytest

import kueuepy as kq
from exploration.conftest import GPU, RECLAIM, arrivals


def sums(cluster, jobs):
    """Return the sum of waits of each ClusterQueue."""
    table = kq.simulate(cluster, jobs).jobs
    queue = table["cluster_queue"]
    return {name: table["waited"][queue.codes == code].sum() for code, name in enumerate(queue.names)}


@pytest.mark.parametrize("reclaim", ["Never", "Any"])
def test_delays_match_simulations_without_the_group(teams, reclaim):
    cluster, jobs = teams.edit(RECLAIM, reclaim), arrivals(6)
    found = kq.lab.delay_matrix(cluster, jobs)
    assert found.groups == ("team-a", "team-b")
    everybody = sums(cluster, jobs)
    for row, name in enumerate(found.groups):
        rest = jobs.where(
            lambda table, name=name: table["queue"].codes != list(table["queue"].names).index(f"default/{name}")
        )
        left = sums(cluster, rest)
        other = 1 - row
        gap = everybody[found.groups[other]] - left[found.groups[other]]
        assert found.matrix[row, other] == pytest.approx(gap / 40)
        assert found.total_hours[row] == pytest.approx(gap / 3600)
        assert found.alone[other] == pytest.approx(gap / 40)  # without one of two groups, only the other remains
        assert np.isnan(found.matrix[row, row])
    assert found.waits == pytest.approx([everybody[name] / 40 for name in found.groups])
    assert abs(found.total_hours).max() > 0


def test_jobs_can_be_grouped_by_any_column():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 1}}))
    rows = [
        {"queue": "q", "submit": 0, "runtime": 100, "gpu": 1, "user": "ann"},
        {"queue": "q", "submit": 1, "runtime": 100, "gpu": 1, "user": "bob"},
        {"queue": "q", "submit": 2, "runtime": 100, "gpu": 1, "user": "cy"},
    ]
    found = kq.lab.delay_matrix(cluster, rows, by="user")
    assert found.groups == ("ann", "bob", "cy")
    assert found.matrix[0].tolist()[1:] == [99, 99]
    assert found.matrix[1, 2] == 100
    assert found.matrix[2].tolist()[:2] == [0, 0]
    assert found.alone.tolist() == [0, 99, 198]
    assert found.total_hours.tolist() == pytest.approx([198 / 3600, 100 / 3600, 0])
    frame = found.frame
    assert frame["left_out"][3] == "all others"
    assert frame["cy"].tolist()[3] == 198
    assert "ann costs the others most" in repr(found)
    with pytest.raises(kq.errors.NotFoundError, match="names no column"):
        kq.lab.delay_matrix(cluster, rows, by="team")


def test_the_number_of_threads_does_not_change_results(teams):
    one, two = (kq.lab.delay_matrix(teams, arrivals(2), threads=threads).frame for threads in (1, 3))
    assert one["team-a"].tobytes() == two["team-a"].tobytes()


def test_a_display_begins_with_the_largest_delays():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 1}}))
    runtimes = {"ann": 10, "bob": 500, "cy": 100}
    rows = [
        {"queue": "q", "submit": 0, "runtime": runtime, "gpu": 1, "user": user} for user, runtime in runtimes.items()
    ]
    found = kq.lab.delay_matrix(cluster, rows, by="user")
    said, matrix = found.sheets()
    order = [found.groups[place] for place in np.argsort(-found.total_hours, kind="stable")]
    assert order != sorted(order)
    assert [row[0] for row in matrix.rows] == [*order, "all others"]
    delayed = [found.groups[place] for place in np.argsort(-found.alone, kind="stable")]
    assert matrix.header[2:] == [f"Wait of {name}" for name in delayed]
    assert said.rows[0][0].startswith(f"{order[0]} delays the others most: its jobs add ")
    assert said.rows[1][0].startswith(f"{delayed[0]} is delayed most")
    for column, name in enumerate(delayed, 2):
        assert [row[column] == "" for row in matrix.rows[:-1]] == [name == row[0] for row in matrix.rows[:-1]]


def test_a_display_of_many_groups_is_limited():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 1}}))
    rows = [{"queue": "q", "submit": n, "runtime": 60, "gpu": 1, "user": f"user-{n}"} for n in range(30)]
    _, matrix = kq.lab.delay_matrix(cluster, rows, by="user").sheets()
    assert len(matrix.rows) == 20
    assert len(matrix.header) == 10
    assert matrix.rows[-1][0] == "all others"
    assert ".frame has all groups" in matrix.caption


def test_groups_without_delays_are_described_in_words():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 9}}))
    rows = [{"queue": "q", "submit": 0, "runtime": 60, "gpu": 1, "user": user} for user in ("ann", "bob")]
    assert "No group delays the other groups." in str(kq.lab.delay_matrix(cluster, rows, by="user"))


def test_the_progress_counts_simulations(teams):
    told = []
    kq.lab.delay_matrix(teams, arrivals(2), threads=1, progress=lambda *numbers: told.append(numbers))
    assert told[-1] == (5, 5)
