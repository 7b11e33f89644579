"""Delays that groups of jobs cause each other."""

import pytest

import kueuepy as kq
from exploration.conftest import GPU, RECLAIM, arrivals


def delays(cluster, jobs, **options):
    return kq.lab.guarantee("delays", cluster, jobs=jobs, **options)


def sums(cluster, jobs):
    """Return the sum of waits of each ClusterQueue."""
    table = kq.simulate(cluster, jobs).jobs
    queue = table["cluster_queue"]
    return {name: table["waited"][queue.codes == code].sum() for code, name in enumerate(queue.names)}


@pytest.mark.parametrize("reclaim", ["Never", "Any"])
def test_delays_match_simulations_without_the_group(teams, reclaim):
    cluster, jobs = teams.edit(RECLAIM, reclaim), arrivals(6)
    found = delays(cluster, jobs)
    names = ("team-a", "team-b")
    everybody = sums(cluster, jobs)
    for name, other in (names, names[::-1]):
        rest = jobs.where(
            lambda table, name=name: table["queue"].codes != list(table["queue"].names).index(f"default/{name}")
        )
        gap = everybody[other] - sums(cluster, rest)[other]
        assert found.values(f"delays {other}") == {name: pytest.approx(gap / 40)}
        assert found.values("adds in total")[name] == pytest.approx(gap)
        # Without one of two groups, only the other remains.
        assert found.values("delayed by all others")[other] == pytest.approx(gap / 40)
    assert found.values("waits") == pytest.approx({name: everybody[name] / 40 for name in names})
    assert max(map(abs, found.values("adds in total").values())) > 0
    assert found.holds is False


def test_jobs_can_be_grouped_by_any_column():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 1}}))
    rows = [
        {"queue": "q", "submit": 0, "runtime": 100, "gpu": 1, "user": "ann"},
        {"queue": "q", "submit": 1, "runtime": 100, "gpu": 1, "user": "bob"},
        {"queue": "q", "submit": 2, "runtime": 100, "gpu": 1, "user": "cy"},
    ]
    found = delays(cluster, rows, by="user")
    assert found.values("delays ann") == {"bob": 0, "cy": 0}
    assert found.values("delays bob") == {"ann": 99, "cy": 0}
    assert found.values("delays cy") == {"ann": 99, "bob": 100}
    assert found.values("delayed by all others") == {"ann": 0, "bob": 99, "cy": 198}
    assert found.values("adds in total") == pytest.approx({"ann": 198, "bob": 100, "cy": 0})
    assert "ann delays the others most" in str(found)
    with pytest.raises(kq.errors.NotFoundError, match="names no column"):
        delays(cluster, rows, by="team")


def test_the_number_of_threads_does_not_change_results(teams):
    one, two = (delays(teams, arrivals(2), threads=threads).facts for threads in (1, 3))
    assert one.rows() == two.rows()


def test_a_display_begins_with_the_largest_delays():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 1}}))
    runtimes = {"ann": 10, "bob": 500, "cy": 100}
    rows = [
        {"queue": "q", "submit": 0, "runtime": runtime, "gpu": 1, "user": user} for user, runtime in runtimes.items()
    ]
    found = delays(cluster, rows, by="user")
    said, facts = found.sheets()
    total, alone = found.values("adds in total"), found.values("delayed by all others")
    order, delayed = (sorted(values, key=values.get, reverse=True) for values in (total, alone))
    assert order != sorted(order)
    assert [row[0] for row in facts.rows[:6]] == [*order, *delayed]
    assert [row[:2] for row in facts.rows[6:12]] == [
        (name, f"delays {other}") for name in order for other in delayed if other != name
    ]
    assert said.rows[0][0].startswith(f"{order[0]} delays the others most: its jobs add ")
    assert said.rows[1][0].startswith(f"{delayed[0]} is delayed most")


def test_a_negative_delay_has_a_sign():
    """Without the short job of ann, the job of bob starts at once and delays the job of cy."""
    queue = kq.ClusterQueue.of("q", {"f": {GPU: 2}})
    rows = [
        {"queue": "q", "submit": 0, "runtime": 60, "gpu": 1, "user": "ann"},
        {"queue": "q", "submit": 1, "runtime": 500, "gpu": 2, "user": "bob"},
        {"queue": "q", "submit": 2, "runtime": 10, "gpu": 1, "user": "cy"},
    ]
    found = delays(kq.Cluster(kq.ResourceFlavor("f"), queue), rows, by="user")
    assert found.values("delays cy")["ann"] == -499
    assert "-8 min 19 s" in [row["detail"] for row in found.facts.rows()]


def test_groups_without_delays_are_described_in_words():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 9}}))
    rows = [{"queue": "q", "submit": 0, "runtime": 60, "gpu": 1, "user": user} for user in ("ann", "bob")]
    found = delays(cluster, rows, by="user")
    assert found.holds is True
    assert "No group delays the other groups." in str(found)


def test_the_progress_counts_simulations(teams):
    told = []
    delays(teams, arrivals(2), threads=1, progress=lambda *numbers: told.append(numbers))
    assert told[-1] == (5, 5)
