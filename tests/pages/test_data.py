"""The data of a page equal the state of the Scheduler, the result or the recording at each moment."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import msgspec
import pytest

import kueuepy as kq
from kueuepy.objects import SECOND
from kueuepy.pages.data import ADMITTED, EVICTED, GONE, PENDING, RESERVED, state_data
from kueuepy.platform.history import RecordedState, Recording
from kueuepy.platform.importer import import_cluster
from kueuepy.platform.site.serving import recorded_data
from kueuepy.simulation.prepare import Prepared
from pages.conftest import WEEK, at

GPU = "nvidia.com/gpu"
STATES = {"Pending": PENDING, "QuotaReserved": RESERVED, "Admitted": ADMITTED, "Evicted": EVICTED}


def used_by(scheduler):
    grid = scheduler.usage
    cells = grid.flavor_resources
    return {
        (node.name, *cells[cell]): int(amount)
        for row, node in enumerate(grid.nodes)
        if node.kind == "ClusterQueue"
        for cell, amount in enumerate(grid.array("usage")[row].tolist())
        if amount
    }


def states_in(scheduler):
    table = scheduler.workloads
    return {key: STATES.get(status, GONE) for key, status in zip(table["key"], table["status"], strict=True)}


@pytest.fixture
def teams():
    quotas = {"h100": {"cpu": kq.Quota(8, borrowing_limit=4, lending_limit=2)}}
    cluster = kq.Cluster(
        kq.ResourceFlavor("h100"),
        kq.ClusterQueue.of("a", quotas, cohort_name="all"),
        kq.ClusterQueue.of("b", quotas, cohort_name="all"),
        kq.ClusterQueue.of("broken", {"h100": {"cpu": 1}}, stop_policy="Hold"),
    )
    scheduler = kq.Scheduler(cluster)
    scheduler.submit(*({"name": f"{queue}{n}", "queue": queue, "cpu": 4} for n in range(4) for queue in "a"))
    scheduler.settle()
    return scheduler


def test_a_scheduler_is_shown_with_quota_reasons_and_explanations(teams):
    data = state_data(teams, source="files")
    assert [(node.name, node.kind, node.parent) for node in data.nodes] == [
        ("all", "Cohort", -1),
        ("a", "ClusterQueue", 0),
        ("b", "ClusterQueue", 0),
        ("broken", "ClusterQueue", -1),
    ]
    assert "stopped" in data.nodes[3].note
    assert not data.nodes[1].note
    assert [(one.n, one.borrow, one.lend) for one in data.limits] == [(1, 4000, 2000), (2, 4000, 2000)]
    states, used = at(data, 0)
    assert states == states_in(teams)
    assert used == used_by(teams) == {("a", "h100", "cpu"): 8000}
    waiting = [place for place, name in enumerate(data.workloads.name) if states[name] == PENDING]
    assert [data.workloads.name[place] for place in waiting] == ["default/a2", "default/a3"]
    notes = [data.texts[data.events.note[data.events.first[place]]] for place in waiting]
    assert "insufficient unused quota for cpu" in notes[0]
    assert {data.shapes[data.workloads.shape[place]].text for place in waiting} == {"4 cores, 1 pod"}
    about = data.explained[str(waiting[0])]
    found = teams.explain("a2")
    assert (about.headline, about.message) == (found.headline, found.message)
    assert [data.causes[index][0] for index in about.causes] == [cause.text for cause in found.causes]


def test_the_page_opens_on_the_flavor_and_resource_with_the_highest_utilisation(recording):
    quotas = {"h100": {GPU: 8, "memory": "64Gi", "cpu": 8}}
    cluster = kq.Cluster(kq.ResourceFlavor("h100"), kq.ClusterQueue.of("a", quotas))
    scheduler = kq.Scheduler(cluster)
    scheduler.submit({"name": "job", "queue": "a", "gpu": 5, "cpu": 7, "memory": "32Gi"})
    scheduler.settle()
    # All quota is free at the end of the simulation, and all of the GPUs are used for a shorter time.
    rows = [{"queue": "a", "submit": 0, "runtime": runtime, kind: 8} for kind, runtime in ((GPU, 60), ("cpu", 90))]
    for data in (state_data(scheduler), kq.simulate(cluster, rows).page().data):
        assert data.cells[data.limiting].resource == "cpu"
    data = recorded_data(Recording(recording), explained=0)
    assert (data.cells[data.limiting].flavor, data.cells[data.limiting].resource) == ("on-demand", "cpu")


def test_the_number_of_explanations_is_limited_to_the_first_ones_of_each_queue(large):
    data = state_data(large, explained=100)
    queues = [data.workloads.queue[int(place)] for place in data.explained]
    assert len(queues) == len(set(queues)) == 100


@pytest.mark.parametrize("hours", [0, 9.5, 55.25, 101, 178])
def test_moments_of_a_result_equal_the_scheduler_at_that_time(week, hours):
    data = week.page().data
    states, used = at(data, hours * 3600)
    scheduler = week.at(f"{hours}h")
    there = states_in(scheduler)
    assert used == used_by(scheduler)
    assert {name: state for name, state in states.items() if state not in (0, GONE)} == {
        name: state for name, state in there.items() if state != GONE
    }


def test_the_tree_and_the_colours_of_a_result_survive_saving(week, tmp_path):
    week.save(tmp_path / "run")
    again, data = kq.load_result(tmp_path / "run").page().data, week.page().data
    assert again.nodes == data.nodes
    assert again.used == data.used
    kept = {name: getattr(data, name) for name in ("made", "racks", "causes")}  # need the simulation
    assert msgspec.structs.replace(again, **kept) == data


def test_a_page_of_a_result_repeats_no_part_of_the_simulation(monkeypatch):
    def fail(*_):
        raise AssertionError("simulated again")

    monkeypatch.setattr(Prepared, "at_times", fail)
    with pytest.warns(UserWarning, match="had not finished"):
        until = kq.simulate(kq.load(WEEK / "teams.yaml"), kq.Jobs.read(WEEK / "jobs.csv"), until="161h")
    data = until.page(explained=3).data
    states, _ = at(data, data.end)
    waiting = [row for row, name in enumerate(data.workloads.name) if states[name] == PENDING]
    assert len(waiting) > 3
    assert len(data.explained) == 3
    for row, about in data.explained.items():
        found = until.scheduler.explain(data.workloads.name[int(row)])
        assert int(row) in waiting
        assert about.headline == found.headline
        assert [data.causes[place][0] for place in about.causes] == [cause.text for cause in found.causes]


def test_a_result_without_runs_has_no_page(tmp_path):
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}}))
    jobs = [{"queue": "q", "submit": 0, "runtime": 60, "cpu": 1}]
    for record, missing in (({"runs": False}, "runs"), ({"usage": False}, "usage")):
        result = kq.simulate(cluster, jobs, record=kq.sim.Recording(**record))
        with pytest.raises(kq.errors.StateError, match=f"the {missing}"):
            result.page(tmp_path / "page.html")


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.8, 0.95])
def test_moments_of_a_recording_equal_the_objects_at_that_time(recording, share):
    found = Recording(recording)
    data = recorded_data(found, explained=3)
    t = round(data.end * share, 3)
    states, used = at(data, t)
    moment = round(data.zero * SECOND) + round(t * SECOND)
    scheduler = import_cluster(RecordedState(found, moment)).scheduler
    running = (RESERVED, ADMITTED, EVICTED)
    assert {name for name, state in states.items() if state in running} == {
        name for name, state in states_in(scheduler).items() if state in running
    }
    assert {name for name, state in states.items() if state == PENDING} >= {
        name for name, state in states_in(scheduler).items() if state == PENDING
    }
    # An evicted workload holds its quota until Kueue removes the reservation.
    assert used == held_in(found.state(moment))


def held_in(objects):
    """The quota that Workloads hold, from their manifests."""
    held = {}
    for obj in objects:
        status = obj.get("status") or {}
        conditions = {one["type"] for one in status.get("conditions", ()) if one["status"] == "True"}
        if obj["kind"] != "Workload" or "QuotaReserved" not in conditions or "Finished" in conditions:
            continue
        admission = status["admission"]
        for pod_set in admission["podSetAssignments"]:
            for resource, flavor in pod_set.get("flavors", {}).items():
                place = (admission["clusterQueue"], flavor, resource)
                amount = kq.Quantity(pod_set["resourceUsage"][resource]).request(resource)
                held[place] = held.get(place, 0) + amount
    return {place: amount for place, amount in held.items() if amount}


def test_a_page_is_one_file_that_loads_nothing(teams, tmp_path):
    made = kq.page(teams, tmp_path / "page.html", title="<b>Two & three</b>")
    text = (tmp_path / "page.html").read_text()
    assert text == made.html
    assert "<title>&lt;b&gt;Two &amp; three&lt;/b&gt;</title>" in text
    assert not re.search(r"https?://", text.replace("http://www.w3.org/2000/svg", ""))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    policy = policy.replace("&#x27;", "'")
    assert policy == made.policy
    assert "unsafe" not in policy
    assert "connect-src 'none'" in policy
    for element in ("style", "script"):
        (content,) = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        assert f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in policy
    assert not re.search(r"<[^>]+ (style|on\w+)=", text)
    frame = made._repr_html_()
    assert 'sandbox="allow-scripts"' in frame
    assert "<script" not in frame


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e"


def test_hostile_texts_cannot_end_the_element_of_the_data(teams):
    made = kq.page(teams, title=HOSTILE)
    made.data.texts.append(HOSTILE)
    assert "<script>alert" not in made.html
    assert "<img" not in made.html
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', made.html, re.DOTALL)
    assert json.loads(block)["texts"][-1] == HOSTILE


def test_ten_thousand_workloads_take_less_than_five_megabytes(large):
    assert len(kq.page(large, explained=300).html.encode()) < 5_000_000


@pytest.mark.parametrize(
    "name", ["é" * 300, f"{'é' * 300}.yaml", f"{'a' * 5000}.db", f"{'a' * 5000}.db@2026-01-01", "a\0b"]
)
@pytest.mark.parametrize("read", ["page", "load", "import_cluster", "load_result", "Journal", "read"])
def test_a_name_that_no_file_can_have_is_an_error_of_the_project(read, name):
    verb = kq.Jobs.read if read == "read" else getattr(kq if hasattr(kq, read) else kq.platform, read)
    with pytest.raises(kq.errors.KueueError):
        verb(name)


def test_a_page_of_a_missing_source_or_folder_is_an_error(tmp_path, teams):
    with pytest.raises(kq.errors.NotFoundError, match="cannot be read"):
        kq.page(tmp_path / "none.yaml")
    with pytest.raises(kq.errors.StateError, match="cannot be written"):
        kq.page(teams, tmp_path / "none" / "page.html")
