"""Events of every kind survive saving, compaction and recovery."""

from __future__ import annotations

import re
from typing import get_args

import pytest

import kueuepy as kq
from kueuepy import _core
from kueuepy.engine.records import EventKind
from kueuepy.objects.times import EPOCH
from kueuepy.platform.journal import Journal
from kueuepy.platform.metrics import Watch
from kueuepy.platform.visibility import SchedulerEvent
from saved import from_bytes, to_bytes

RACKS = kq.Topology("racks", levels=["rack", kq.objects.HOSTNAME_LABEL])


def centre() -> kq.Cluster:
    """A rack of three hosts of 4 GPUs."""
    hosts = kq.objects.nodes(RACKS, (1, 3), labels={"gpu": "h100"}, capacity={"cpu": 96, "nvidia.com/gpu": 4})
    flavor = kq.ResourceFlavor("h100", node_labels={"gpu": "h100"}, topology_name="racks")
    return kq.Cluster(RACKS, flavor, kq.ClusterQueue.of("vision", {"h100": {"nvidia.com/gpu": 64}}), hosts)


def lose_a_node(scheduler: kq.Scheduler) -> None:
    """Eight pods run on two hosts, of which one is lost; they get a place on the third."""
    pods = kq.PodSet.of("main", 8, requests={"nvidia.com/gpu": 1}, topology_request=kq.objects.required("rack"))
    scheduler.submit(kq.Workload("train", queue_name="vision", pod_sets=(pods,)))
    scheduler.settle()
    held = scheduler.workload("train").status.admission.pod_set_assignments[0].topology_assignment.domains[0].values
    scheduler.remove(next(node for node in scheduler.cluster.nodes if node.name == held[-1]))
    scheduler.advance(5)
    scheduler.settle()


def kinds_of(scheduler: kq.Scheduler) -> list[str]:
    return [view[2] for view in scheduler._engine.drain_events()]


def test_a_state_with_a_lost_node_in_its_events_is_saved_and_loaded():
    scheduler = kq.Scheduler(centre(), now=0)
    Watch(scheduler)
    lose_a_node(scheduler)

    loaded = from_bytes(to_bytes(scheduler))

    kinds = kinds_of(loaded)
    assert kinds == kinds_of(scheduler)
    assert {"UnhealthyNodes", "Assigned"} <= set(kinds)


def test_a_journal_compacted_with_a_lost_node_in_its_events_opens_again(tmp_path):
    with Journal(tmp_path / "j") as journal:
        scheduler = journal.scheduler(centre(), now=0)
        Watch(scheduler)
        lose_a_node(scheduler)
        journal.compact()
        before = to_bytes(scheduler)
    with Journal(tmp_path / "j") as journal:
        assert to_bytes(journal.scheduler()) == before


def test_the_kinds_of_events_are_those_of_the_core():
    table = re.findall(r"^ *\| `(\w+)` \|", SchedulerEvent.__doc__ or "", re.MULTILINE)
    assert set(get_args(EventKind)) == set(table) == set(_core.EVENT_KINDS)
    assert len(table) == len(_core.EVENT_KINDS)


@pytest.mark.parametrize("kind", _core.EVENT_KINDS)
def test_an_event_of_each_kind_is_a_row_of_the_table(kind):
    from kueuepy.platform.visibility import event_table  # noqa: PLC0415

    event = SchedulerEvent(EPOCH, 0, kind, "default/w", *[""] * 9, EPOCH, None)
    assert event_table([event])["kind"] == [kind]
