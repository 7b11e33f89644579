import re

import kueuepy as kq
from kueuepy.explain import Cause, Explanation
from kueuepy.look.notebook import Named, Sheet
from kueuepy.pages.html import MOST_BYTES, sheet_html
from teams import DEFAULT, queue, workload


def test_names_are_escaped_in_all_html():
    evil = "<script>alert(1)</script>"
    decisions = [
        kq.Pending(workload=evil, reason="WaitingForQuota", cluster_queue=evil, message=evil),
        kq.Preempting(workload=evil, targets=(kq.Target(evil, "InClusterQueue", evil),), cluster_queue=evil),
        kq.Admitted(evil, evil, (kq.objects.PodSetAssignment(evil, {"cpu": evil}),)),
    ]
    cause = Cause("x", evil, {}, (Cause("y", evil),))
    shown = [d._repr_html_() for d in decisions]
    shown += [
        Explanation(evil, evil, "Pending", evil, "", ("", ""), (cause,))._repr_html_(),
        sheet_html(Sheet([evil], [[evil]], evil)),
    ]
    for html in shown:
        assert "<script" not in html
        assert "&lt;script&gt;" in html


def test_a_cluster_shows_its_cohort_tree_with_usage():
    cluster = kq.Cluster(
        DEFAULT,
        kq.Cohort("org"),
        kq.Cohort("research", parent_name="org"),
        queue("vision", 4, cohort_name="research"),
        queue("nlp", 4, cohort_name="org"),
    )
    html = cluster._repr_html_()
    names = re.findall(r'padding-left:([\d.]+)em">([^<]+)<', html)
    assert names == [("0.5", "org"), ("1.7", "research"), ("2.9", "vision"), ("1.7", "nlp")]
    scheduler = kq.Scheduler(cluster)
    scheduler.submit(workload("w", "vision", 6))
    scheduler.settle()
    assert "6 of 4 cores, borrows 2" in scheduler._repr_html_()


def test_a_large_cluster_is_truncated():
    queues = [queue(f"queue-{i:04}-{'x' * 150}", 1) for i in range(400)]
    html = kq.Cluster(DEFAULT, queues)._repr_html_()
    assert html.count("<tr>") <= 22
    assert len(html.encode()) < MOST_BYTES
    assert "380 more rows" in html


def test_long_tables_are_truncated():
    html = sheet_html(Sheet(["n"], [[i] for i in range(10_000)]))
    assert html.count("<tr>") == 22
    assert ">... 9,980 more rows</td>" in html
    assert len(sheet_html(Sheet(["n"], [["ä" * 10_000]] * 300)).encode()) < MOST_BYTES


def test_every_displayed_object_has_html(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", 30), workload("x", "team-b", 1))
    settled = scheduler.settle()
    shown = [
        settled,
        settled[0],
        *settled.decisions,
        scheduler,
        team,
        scheduler.explain("w"),
        scheduler.usage,
        scheduler.quota,
        scheduler.shares,
        scheduler.queues,
        scheduler.workloads,
        scheduler.whatif(queue("team-a", 30)),
        kq.compare(team, team, [workload("w", "team-a")]),
    ]
    for thing in shown:
        html = thing._repr_html_()
        assert html.count("<table") == html.count("</table>")
        assert len(html) < MOST_BYTES


def test_numbers_are_right_aligned_and_texts_left_aligned():
    html = sheet_html(Sheet(["name", "count"], [["a", 1]]))
    assert re.findall(r"text-align:(\w+)[^>]*>(\w+)<", html) == [
        ("left", "name"),
        ("right", "count"),
        ("left", "a"),
        ("right", "1"),
    ]


def test_a_metric_has_its_title_and_its_name_as_code():
    name = Named("Mean wait", "wait_mean")
    for html in (sheet_html(Sheet(["Metric"], [[name]])), sheet_html(Sheet([name], [["1 s"]]))):
        assert re.search(r">Mean wait(<br>| )<code [^>]*>wait_mean</code></t[dh]>", html)


def test_a_bar_shows_nominal_and_borrowed_usage():
    cluster = kq.Cluster(DEFAULT, queue("a", 3, cohort_name="k"), queue("b", 3, cohort_name="k"))
    scheduler = kq.Scheduler(cluster)
    scheduler.submit(workload("w", "a", 4))
    scheduler.settle()
    assert re.findall(r"width:([\d.]+)%", scheduler._repr_html_()) == ["66.7", "75.0", "25.0"]


def test_a_scheduler_begins_with_its_largest_problem_and_lists_the_largest_queue_first():
    cluster = kq.Cluster(DEFAULT, queue("a", 1, cohort_name="k"), queue("z", 6, cohort_name="k"))
    scheduler = kq.Scheduler(cluster)
    scheduler.submit(workload("big", "z", 9), workload("first", "a", 1))
    scheduler.settle()
    scheduler.advance(3600)
    html, text = scheduler._repr_html_(), str(scheduler)
    said = "Largest problem: z has 1 pending workload; default/big has been pending longest, for 1 h."
    for shown in (html, " ".join(text.split())):
        assert said in shown.replace("&quot;", '"')
        assert 'Next step: scheduler.explain("default/big") says why' in shown.replace("&quot;", '"')
    assert html.index(">z<") < html.index(">a<")
    assert text.index("  z ") < text.index("  a ")
    assert "1 of 1 core" in text
    assert "var(--kq-2)" in html  # the colour of a, the second queue
    empty = kq.Scheduler(cluster)
    assert "Largest problem" not in str(empty)


def test_borrowed_quota_is_hatched():
    cluster = kq.Cluster(DEFAULT, queue("a", 3, cohort_name="k"), queue("b", 3, cohort_name="k"))
    scheduler = kq.Scheduler(cluster)
    scheduler.submit(workload("w", "a", 4))
    scheduler.settle()
    assert scheduler._repr_html_().count("repeating-linear-gradient") == 1
