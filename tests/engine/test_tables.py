import re
from datetime import datetime, timezone

import msgspec
import numpy as np
import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.tables.columns import UNLIMITED
from teams import workload


@pytest.fixture
def busy(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", 18), workload("x", "team-a", 9), workload("y", "team-b", 3))
    scheduler.settle()
    return scheduler


def test_usage_is_a_read_only_snapshot(busy):
    usage = busy.usage
    row = [node[0] for node in usage.nodes].index("team-a")
    values = usage.values
    assert values[row, 0] == 18000
    assert not values.flags.writeable
    assert not values.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        values[row, 0] = 1
    busy.finish("w")
    busy.settle()
    del usage
    assert values[row, 0] == 18000
    assert busy.usage.value("team-a", "default", "cpu") == 9000


def test_two_views_of_one_table_share_the_memory(busy):
    usage = busy.usage
    assert np.shares_memory(usage.array("usage"), usage.array("usage"))


def test_usage_has_a_row_with_quota_and_usage_for_each_node(busy):
    rows = {row["name"]: row for row in busy.usage.rows()}
    assert rows["team-b"] == {
        "name": "team-b",
        "kind": "ClusterQueue",
        "flavor": "default",
        "resource": "cpu",
        "usage": 3,
        "nominal_quota": 12,
        "available": 0,
    }
    assert rows["all"]["usage"] == 21


def test_quota_has_limits_and_derived_values(busy):
    quota = busy.quota
    assert quota.value("team-a", "default", "cpu", "borrowing_limit") == UNLIMITED
    assert quota.value("team-a", "default", "cpu", "potential") == 21000
    assert quota.value("all", "default", "cpu", "subtree_quota") == 21000
    with pytest.raises(kq.errors.NotFoundError, match="no such name"):
        quota.value("nobody", "default", "cpu")


def test_a_pending_workload_has_a_position_in_both_queues(busy):
    busy.submit(workload("z", "team-a", 9, priority=5))
    rows = busy.queues.rows()
    assert [(r["key"], r["position_in_cluster_queue"], r["position_in_local_queue"]) for r in rows] == [
        ("default/z", 0, 0),
        ("default/x", 1, 1),
    ]
    assert [r["inadmissible"] for r in rows] == [False, True]


def test_workloads_have_a_status_and_a_reason(busy):
    table = busy.workloads
    assert [row["status"] for row in table.rows()] == ["Admitted", "Pending", "Admitted"]
    assert table.rows()[1]["reason"] == "WaitingForQuota"
    assert table["priority"].dtype == np.int64
    # Each column is compared row by row, as in pandas.
    assert table[table["key"] == "default/x"].rows() == table[table["status"] == "Pending"].rows() == table.rows()[1:2]
    assert table[table["key"] != "default/x"]["key"].tolist() == ["default/w", "default/y"]
    with pytest.raises(kq.errors.NotFoundError, match="names no column"):
        table["colour"]


def test_shares_are_exact_and_rounded_as_in_the_status(fair):
    scheduler = kq.Scheduler(fair)
    scheduler.submit(*(workload(f"a{i}", "a") for i in range(3)))
    scheduler.settle()
    row = next(row for row in scheduler.shares.rows() if row["name"] == "a")
    assert (row["share"], row["rounded"], row["borrowed"], row["lendable"]) == (375.0, 375, 3, 8)


@pytest.mark.suite  # imports pandas and pyarrow
def test_tables_convert_to_frames(busy):
    pandas = pytest.importorskip("pandas")
    frame = busy.usage.to_pandas()
    assert frame.set_index("name").loc["team-a", "usage"] == 18
    assert isinstance(frame["resource"].dtype, pandas.CategoricalDtype)
    assert list(busy.workloads.to_pandas()["key"]) == ["default/w", "default/x", "default/y"]


def test_tables_convert_to_arrow(busy):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(busy.workloads)
    assert table.column("key").to_pylist() == ["default/w", "default/x", "default/y"]
    assert table.column("status").to_pylist() == ["Admitted", "Pending", "Admitted"]


def test_a_missing_library_is_named(busy, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(kq.errors.UnsupportedError, match="pip install polars"):
        busy.usage.to_polars()


def test_iterating_over_a_table_yields_its_rows(busy):
    for table in (busy.usage, busy.quota, busy.shares, busy.queues, busy.workloads):
        assert list(table) == table.rows()
        assert table.rows()[0] in table
        assert "name" not in table
    assert busy.workloads.rows(limit=2) == list(busy.workloads)[:2]


def test_amounts_are_shown_as_in_kubernetes():
    queue = kq.ClusterQueue.of("team", {"default": {"cpu": 9, "memory": "36Gi"}})
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), queue))
    scheduler.submit({"name": "a", "queue": "team", "cpu": 0.5, "memory": "24Gi"})
    scheduler.settle()
    rows = {row["resource"]: row for row in scheduler.usage.quantities().rows()}
    assert (rows["cpu"]["usage"], rows["cpu"]["available"], rows["memory"]["usage"]) == ("500m", "8500m", "24Gi")
    assert scheduler.usage.quantity("team", "default", "memory") == kq.Quantity("24Gi")
    assert ">24Gi</td>" in scheduler.usage._repr_html_()
    assert scheduler.quota.quantity("team", "default", "cpu", "borrowing_limit") is None
    assert {row["borrowing_limit"] for row in scheduler.quota.quantities().rows()} == {"unlimited"}


@pytest.mark.parametrize("given", ["2026-08-01T12:00:00Z", datetime(2026, 8, 1, 12, tzinfo=timezone.utc)])
def test_a_time_can_be_a_text_or_a_datetime(given):
    moment = datetime(2026, 8, 1, 12, tzinfo=timezone.utc)
    job = kq.Workload("a", queue_name="team", pod_sets=[kq.PodSet.of(requests={"cpu": 1})], creation_timestamp=given)
    assert job.creation_timestamp == moment
    scheduler = kq.Scheduler(
        kq.Cluster(kq.ResourceFlavor("default"), kq.ClusterQueue.of("team", {"default": {"cpu": 9}}))
    )
    scheduler.submit(job)
    assert scheduler.workload("a").creation_timestamp == moment


@pytest.mark.parametrize("given", ["yesterday", "5m", float("nan"), True, datetime(2026, 8, 1)])  # noqa: DTZ001 - without a zone
def test_an_invalid_time_is_rejected(given):
    with pytest.raises(
        kq.errors.InvalidSpecError, match=r"Workload: creation_timestamp: is .* a datetime with a time zone"
    ):
        kq.Workload("a", creation_timestamp=given)


def test_usage_includes_held_queues(capsys, tmp_path):
    queue = kq.ClusterQueue.of("team", {"default": {"cpu": 9, "memory": "36Gi"}})
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), queue), now=0)
    scheduler.submit({"name": "a", "queue": "team", "cpu": 2, "memory": "24Gi"})
    scheduler.settle()
    scheduler.apply(msgspec.structs.replace(queue, stop_policy="Hold"))
    assert {row["resource"]: row["usage"] for row in scheduler.usage.quantities().rows()} == {
        "cpu": "2",
        "memory": "24Gi",
    }
    assert scheduler._engine.usage() == {"team": {"default/cpu": 2000, "default/memory": 24 * 2**30}}
    assert scheduler._engine.usage(active=True) == {}
    scheduler.save(tmp_path / "state")
    assert main(["run", str(tmp_path / "state")]) == 0
    assert re.search(r"team +default +memory +24Gi", capsys.readouterr().out)
