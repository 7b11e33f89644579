"""Texts that Python alone reads as numbers or times are errors on every surface, or read the same everywhere."""

import json

import pandas as pd
import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.errors import KueueError

CLUSTER = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 3}}))
ROW = {"name": "x", "queue": "a", "submit": "0", "runtime": "60", "cpu": "1", "priority": "0", "pods": "1"}
# An underscore, digits of other scripts, a number beyond floats, and one with 400 digits.
NOT_NUMBERS = ("1_000", "\u0661\u0662", "\uff11", "1e400", "9" * 400, "0x10")
COLUMNS = ("submit", "runtime", "cpu", "priority", "pods")


def csv(row, folder):
    path = folder / "jobs.csv"
    path.write_text(f"{','.join(row)}\n{','.join(row.values())}\n", encoding="utf-8")
    return kq.Jobs.read(path)


def lines(row, folder):
    path = folder / "jobs.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return kq.Jobs.read(path)


SURFACES = {
    "csv": csv,
    "jsonl": lines,
    "rows": lambda row, _: kq.Jobs.of([row]),
    "frame": lambda row, _: kq.Jobs.from_frame(pd.DataFrame([row])),
}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("text", [*NOT_NUMBERS, "7", "1e3", "+5"])
def test_a_number_in_a_table_is_ascii_and_in_range(surface, column, text, tmp_path):
    if text in NOT_NUMBERS:
        with pytest.raises(KueueError):
            SURFACES[surface](ROW | {column: text}, tmp_path)
    else:
        assert SURFACES[surface](ROW | {column: text}, tmp_path)[column].tolist() == [float(text)]


@pytest.mark.parametrize("text", [*NOT_NUMBERS[:3], NOT_NUMBERS[4]])
def test_a_number_elsewhere_is_ascii_and_in_range(text, tmp_path, capsys):
    calls = (
        lambda: kq.Quantity(text),
        lambda: kq.Scheduler(CLUSTER).advance(text),
        lambda: kq.Scheduler(CLUSTER).submit({"name": "x", "queue": "a", "cpu": text}),
        lambda: kq.load(kq.dump(CLUSTER).replace("nominalQuota: 3", f'nominalQuota: "{text}"')),
        lambda: kq.load(kq.dump(CLUSTER), version=f"v0.{text}"),
    )
    for call in calls:
        with pytest.raises(KueueError):
            call()
    (tmp_path / "cluster.yaml").write_text(kq.dump(CLUSTER), encoding="utf-8")
    for option in ("--cycles", "--rows"):
        assert main(["run", str(tmp_path / "cluster.yaml"), option, text]) in (1, 2)
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize("text", ["2026-01-01t00:00:00Z", "2026-01-01T00:00:00z", "\u0662026-01-01T00:00:00Z"])
def test_a_time_is_written_as_the_api_server_accepts_it(text):
    workload = kq.Workload("w", queue_name="a", creation_timestamp="2026-01-01T00:00:00Z")
    manifest = kq.manifest.dump(workload).replace("2026-01-01T00:00:00Z", text)
    calls = (
        lambda: kq.Workload("w", creation_timestamp=text),
        lambda: kq.load(manifest),
        lambda: kq.Jobs.of([ROW | {"submit": text}]),
        lambda: kq.Scheduler(CLUSTER, now=text),
        lambda: kq.Scheduler(CLUSTER).submit({"name": "x", "queue": "a", "submit": text}),
    )
    for call in calls:
        with pytest.raises(KueueError):
            call()


@pytest.mark.parametrize("value", [{"a": {}}, [{}], {}, 5, "x"])
@pytest.mark.parametrize("field", ["status", "pod_sets", "preemption", "resource_groups", "fair_sharing"])
def test_a_mapping_in_place_of_an_object_is_an_error_of_this_package(field, value):
    kind = kq.Workload if field in ("status", "pod_sets") else kq.ClusterQueue
    try:
        kq.Scheduler(kq.Cluster(kind("a", **{field: value}), names=False))
    except KueueError:
        return
    assert not value  # an empty list of a mapping
