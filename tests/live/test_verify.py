"""Decisions of a recorded cluster compared with those of kueuepy, each in the recorded state."""

from __future__ import annotations

import copy
import gzip
import json
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.objects.times import format_time, parse_time
from kueuepy.platform.live.agreement import CAUSES
from kueuepy.platform.live.closed import verify_closed
from kueuepy.platform.live.following import Follower
from kueuepy.platform.live.judging import verify
from kueuepy.platform.live.recording import changes, read_events
from live.test_closed import History, condition, workload

DATA = Path(__file__).parent / "data"
"""Watch events of a real Kueue on a real API server, without managedFields and kinds that decide nothing."""


def events(name):
    return [json.loads(line) for line in gzip.decompress((DATA / f"{name}.jsonl.gz").read_bytes()).splitlines()]


def written(path, found):
    path.write_text("\n".join(map(json.dumps, found)))
    return path


@pytest.mark.parametrize(
    ("name", "decisions"),
    [("cohort", 180), ("racks", 180), ("ready", 60), ("fair", 60)],
)
def test_kueuepy_decides_like_the_recorded_cluster(name, decisions):
    """`ready` waits for pods with back-off, and `fair` shares quota in a tree of cohorts with weights."""
    found = verify(DATA / f"{name}.jsonl.gz")
    assert found.share == 1
    assert found.counts()["moment"] <= 1
    assert found.share_of("domains") == 1
    assert len(found.decisions) > decisions
    assert not found.notes


def test_a_tie_that_kueue_breaks_at_random_is_told_apart():
    found = verify(DATA / "fair.jsonl.gz")
    assert found.counts("preemption")["tie"] == 2
    assert found.counts("admission")["tie"] == 0


def test_a_preemption_for_another_workload_is_reported(tmp_path):
    found = events("fair")
    uids = {event["object"]["metadata"]["uid"] for event in found if event["kind"] == "Workload"}

    def preempted(event):
        status = event["object"].get("status") or {}
        return next((one for one in status.get("conditions") or () if one["type"] == "Preempted"), None)

    preempting = {
        uid for uid in uids for event in found if f"UID: {uid}," in (preempted(event) or {}).get("message", "")
    }
    other = min(uids - preempting)
    first = next(event for event in found if (preempted(event) or {}).get("status") == "True")
    uid = re.search(r"UID: ([^,]*)", preempted(first)["message"])[1]
    text = json.dumps(found).replace(f"UID: {uid},", f"UID: {other},")
    agreement = verify(written(tmp_path / "events.jsonl", json.loads(text)))
    assert agreement.counts("preemption")["different"] > 0
    assert all(one.cause in CAUSES for one in agreement.differences)
    assert "example:" in str(agreement)


def test_an_interrupted_verification_returns_the_result_so_far():
    def interrupt(done, _):
        if done == 900:
            raise KeyboardInterrupt

    found = verify(DATA / "cohort.jsonl.gz", progress=interrupt)
    assert 20 < len(found.decisions) < 190
    assert "interrupted after 899 of" in found.notes[0]


def test_a_recording_without_decisions_is_noted(tmp_path):
    found = verify(written(tmp_path / "r.jsonl", [one for one in events("cohort") if one["kind"] != "Workload"]))
    assert len(found.decisions) == 0
    assert found.notes == ("the recording has no decisions to compare",)


def admitted_late(found, flavor):
    """The events in which the reservation of one workload names another flavor, and the workload."""
    changed = copy.deepcopy(found)
    for event in changed:
        status = event["object"].get("status") or {}
        if event["kind"] != "Workload" or not status.get("admission"):
            continue
        key = event["object"]["metadata"]["name"]
        assigned = status["admission"]["podSetAssignments"][0]["flavors"]
        if assigned.get("cpu") == "on-demand" and "memory" in assigned and len(assigned) == 2:
            break
    for event in changed:
        if event["object"]["metadata"]["name"] == key and (event["object"].get("status") or {}).get("admission"):
            for assigned in event["object"]["status"]["admission"]["podSetAssignments"]:
                assigned["flavors"] = dict.fromkeys(assigned["flavors"], flavor)
    return changed, key


def test_a_decision_that_differs_from_kueuepys_is_reported(tmp_path):
    changed, key = admitted_late(events("cohort"), "spot")
    found = verify(written(tmp_path / "events.jsonl", changed))
    assert found.counts("admission")["different"] >= 1
    first = found.differences[0]
    assert first.workload.endswith(key)
    assert first.kind == "admission"
    assert "admitted on on-demand" in str(first)
    assert "different" in str(found)


def test_a_decision_that_the_cluster_did_not_make_is_reported(tmp_path):
    found = events("cohort")
    name = next(event["object"]["metadata"]["name"] for event in found if event["kind"] == "Workload")
    created = [event for event in found if event["object"]["metadata"]["name"] == name][:1]
    others = [event for event in found if event["kind"] != "Workload"]
    later = copy.deepcopy(next(event for event in others if event["kind"] == "Namespace"))
    later["received"] = "2026-11-23T02:12:00Z"
    later["object"]["metadata"] |= {"name": "later", "resourceVersion": "999999"}
    agreement = verify(written(tmp_path / "events.jsonl", [*others, *created, later]))
    assert [one.cause for one in agreement.differences] == ["only kueuepy makes the decision"]
    assert not len(agreement.decisions)


def test_writes_are_ordered_by_revision_not_by_receipt():
    found = changes(reversed(events("racks")))
    assert [change.revision for change in found] == sorted(change.revision for change in found)
    assert all(one.time <= other.time for one, other in pairwise(found))


def test_a_version_received_twice_counts_once():
    found = events("cohort")
    assert len(changes([*found, *found])) == len(changes(found))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"events\.jsonl:2: .*must be a watch event"),
        ('{"type": "ADDED"}', r"events\.jsonl:2: object: metadata\.name: is missing"),
        ('{"type": "ADDED", "object": {"metadata": {"name": "a", "resourceVersion": "x"}}}', "must be a number"),
        (
            '{"type": "ADDED", "received": "now", "object": {"metadata": {"name": "a", "resourceVersion": "1"}}}',
            r"received: is 'now'",
        ),
    ],
)
def test_a_line_that_is_not_an_event_is_reported(tmp_path, line, message):
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps(events("racks")[0]) + "\n" + line)
    with pytest.raises(InvalidSpecError, match=message):
        read_events(path)


def test_a_missing_recording_is_not_found(tmp_path):
    with pytest.raises(NotFoundError, match="cannot be read"):
        verify(tmp_path / "none.jsonl")


def cut_in(found, place):
    """The events from a place on, after the objects that existed then."""
    state = {}
    for event in found[:place]:
        metadata = event["object"]["metadata"]
        key = (event["kind"], metadata.get("namespace"), metadata["name"])
        if event["type"] == "DELETED":
            state.pop(key, None)
        elif event["type"] != "BOOKMARK":
            state[key] = {**event, "type": "ADDED", "received": found[place]["received"]}
    return [*state.values(), *found[place:]]


@pytest.mark.parametrize("name", ["cohort", "racks"])
@pytest.mark.parametrize("how", ["shuffled", "begins late", "ends early"])
def test_decisions_of_a_cut_or_shuffled_recording_agree(tmp_path, name, how):
    found = sorted(events(name), key=lambda event: int(event["object"]["metadata"]["resourceVersion"]))
    if how == "shuffled":
        random.Random(2).shuffle(found)  # noqa: S311
    elif how == "begins late":
        found = cut_in(found, len(found) * 2 // 5)
    else:
        found = found[: len(found) * 3 // 5]
    path = written(tmp_path / "events.jsonl", found)
    agreement = verify(path)
    assert agreement.share >= 0.99
    assert agreement.share_of("domains") >= 0.99
    assert len(agreement.decisions) > 80
    assert not agreement.notes
    own = verify_closed(path, explained=0)
    assert own.share > 0.8
    assert not own.notes


def test_decisions_in_queues_that_the_recording_lacks_are_named(tmp_path):
    found = sorted(events("cohort"), key=lambda event: int(event["object"]["metadata"]["resourceVersion"]))
    agreement = verify(written(tmp_path / "events.jsonl", found[-300:]))
    assert agreement.share < 0.5
    causes = {one.cause for one in agreement.differences}
    assert "the recording does not contain the ClusterQueue" in causes


def test_reclaimable_pods_of_a_recording_free_quota(tmp_path):
    history = History()
    history.submit(10, "a")
    history.admit(10.2, "a")
    status = {**history.last("a")["status"], "reclaimablePods": [{"name": "main", "count": 1}]}
    history.add(20, workload("a", **status))
    history.submit(30, "b")
    history.admit(30.2, "b")
    agreement = verify(written(tmp_path / "events.jsonl", history.events))
    assert agreement.share == 1
    assert len(agreement.decisions) == 2


@pytest.mark.parametrize(("strategy", "different"), [("StrictFIFO", 1), ("BestEffortFIFO", 0)])
def test_only_the_first_workload_of_a_strict_queue_is_admitted(tmp_path, strategy, different):
    """In a BestEffortFIFO queue, the workload before it can be inadmissible, which no object shows."""
    history = History()
    history.submit(10, "a")
    history.submit(11, "b")
    history.admit(11.5, "b")
    found = history.events
    for event in found:
        if event["kind"] == "ClusterQueue":
            event["object"]["spec"]["queueingStrategy"] = strategy
    agreement = verify(written(tmp_path / "events.jsonl", found))
    assert agreement.counts("admission")["different"] == different


@pytest.mark.parametrize(("reason", "outcome"), [("WaitingForQuota", "moment"), ("", "different")])
def test_a_workload_that_was_refused_may_continue_with_the_next_flavor(tmp_path, reason, outcome):
    """No object shows the next flavor. Without a refusal, the first flavor is the next one."""
    history = History()
    history.add(1, {"kind": "ResourceFlavor", "metadata": {"name": "g"}}, "ADDED")
    history.submit(10, "a")
    if reason:
        history.add(10.1, workload("a", conditions=[condition("QuotaReserved", 10, "False", reason)]))
    history.admit(11.5, "a", cpu="g")
    found = history.events
    for event in found:
        if event["kind"] == "ClusterQueue":
            flavors = event["object"]["spec"]["resourceGroups"][0]["flavors"]
            flavors.append(flavors[0] | {"name": "g"})
    agreement = verify(written(tmp_path / "events.jsonl", found))
    assert agreement.counts("admission") == {outcome: 1}


def test_a_write_between_a_failure_and_the_replacement_does_not_delay_the_replacement(tmp_path):
    found = events("racks")
    rows = [event for event in found if (event["object"].get("status") or {}).get("unhealthyNodes")]
    failed = copy.deepcopy(rows[1])  # replaced 1.3 seconds later
    since = parse_time(failed["received"])
    failed["received"] = format_time(since + 6 * 10**8)
    used = {int(event["object"]["metadata"]["resourceVersion"]) for event in found}
    later = [event for event in found if event["received"] > failed["received"]]
    last = min(int(event["object"]["metadata"]["resourceVersion"]) for event in later)
    failed["object"]["metadata"]["resourceVersion"] = str(last - 1)
    assert last - 1 not in used
    failed["object"]["metadata"]["labels"] = {"written": "again"}
    agreement = verify(written(tmp_path / "events.jsonl", [*found, failed]))
    assert agreement.counts("replacement") == {"same": 2}
    assert not agreement.notes


def test_heads_of_one_cycle_are_considered_together():
    """The second of two heads is refused if the first one takes the quota that both need."""
    follower = Follower.start(())
    cpu = {"f": {"cpu": 1}}
    follower.scheduler.apply(
        kq.ResourceFlavor("f"),
        *(kq.ClusterQueue.of(name, quota, cohort_name="c") for name, quota in (("a", cpu), ("b", {"f": {"cpu": 0}}))),
        *(kq.LocalQueue(name, cluster_queue=name) for name in "ab"),
    )
    for name in "ab":
        follower.scheduler.submit(kq.Workload(name, queue_name=name, pod_sets=(kq.PodSet.of(requests={"cpu": 1}),)))
    assert all(isinstance(follower.ask(f"default/{name}"), kq.Admitted) for name in "ab")
    made = {one.workload: isinstance(one, kq.Admitted) for one in follower.fork().consider(["default/a", "default/b"])}
    assert made == {"default/a": True, "default/b": False}


@pytest.mark.parametrize("text", ["apiVersion: v1\nkind: List\nitems: []\n", '{"kind": "List", "items": []}'])
def test_a_dump_is_not_a_recording(tmp_path, text):
    path = tmp_path / "dump.yaml"
    path.write_text(text)
    with pytest.raises(InvalidSpecError, match="a dump has no history to verify"):
        verify(path)
