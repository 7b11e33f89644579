"""Texts that Python alone reads as numbers or times are errors on every surface, or read the same everywhere."""

import contextlib
import csv as csv_module
import json
import math
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import yaml

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.errors import KueueError
from kueuepy.jobs import from_row
from kueuepy.lab.exploration.measure import promise
from kueuepy.lab.play.answers import Playground
from kueuepy.lab.play.server import Server
from kueuepy.look.serving import Request
from kueuepy.platform.history.writing import _revision
from kueuepy.platform.metrics.series import MetricsServer

CLUSTER = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 3}}))
ROW = {"name": "x", "queue": "a", "submit": "0", "runtime": "60", "cpu": "1", "gpu": "1", "priority": "0", "pods": "9"}
# An underscore, digits of other scripts, a number beyond floats, and one with 400 digits.
NOT_NUMBERS = ("1_000", "\u0661\u0662", "\uff11", "1e400", "9" * 400, "0x10")
WRONG = "wrong"
# What a value means: as an amount of cpu, a number of devices or pods, a priority, a duration, and a time.
COLUMNS = ("cpu", "gpu", "pods", "min_pods", "priority", "runtime", "submit")
ABSENT = (0, 0, 1, -1, 0, math.inf, 0)
VALUES = [
    *((value, ABSENT) for value in (None, "", "  ", "nan", "NaN", "NULL", math.nan, Decimal("NaN"), np.float32("nan"))),
    *((value, ABSENT) for value in (pd.NA, pd.NaT)),
    *((text, (WRONG,) * 7) for text in (*NOT_NUMBERS, "-inf", "yes", "5k5", "--5", "5 5", "0b1")),
    *((value, (WRONG,) * 7) for value in (-math.inf, 1e300, -2e10, 10**400, [5], {"a": 1}, "1e19", "-1e19")),
    *((value, (*(WRONG,) * 5, math.inf, WRONG)) for value in (math.inf, "inf", "Infinity")),
    *(
        (value, (5,) * 7)
        for value in (5, 5.0, "5", " 5 ", "5\t", "+5", "5.0", "05", Decimal(5), np.int64(5), np.uint8(5))
    ),
    *((value, (5,) * 7) for value in (np.float32(5), np.float64(5), np.str_("5"), b"5", "0.5e1")),
    *((value, (1, 1, 1, 1, 1, WRONG, WRONG)) for value in (True, np.True_)),
    *((value, (0, 0, WRONG, WRONG, 0, 0, 0)) for value in (0, -0.0, "-0", "0")),
    *((value, (WRONG, WRONG, WRONG, -1, -1, math.inf, WRONG)) for value in (-1, "-1", -1.0, np.int64(-1))),
    *((value, (2.5, WRONG, WRONG, WRONG, WRONG, 2.5, 2.5)) for value in (2.5, "2.5", Decimal("2.5"), np.float32(2.5))),
    ("5m", (0.005, WRONG, WRONG, WRONG, WRONG, 300, 300)),
    ("5000m", (5, 5, WRONG, WRONG, WRONG, 300_000, 300_000)),
    ("1h30m", (WRONG, WRONG, WRONG, WRONG, WRONG, 5400, 5400)),
    (timedelta(seconds=5), (WRONG, WRONG, WRONG, WRONG, WRONG, 5, 5)),
    (np.timedelta64(5, "s"), (WRONG, WRONG, WRONG, WRONG, WRONG, 5, 5)),
    ("1970-01-01T00:00:05Z", (WRONG, WRONG, WRONG, WRONG, WRONG, WRONG, 5)),
    (datetime(1970, 1, 1, 0, 0, 5, tzinfo=timezone.utc), (WRONG, WRONG, WRONG, WRONG, WRONG, WRONG, 5)),
]


def written(value):
    """The text of a value in a file."""
    return "" if value is None else value.decode() if isinstance(value, bytes) else str(value)


def csv(row, folder):
    path = folder / "jobs.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv_module.writer(file)
        writer.writerow(row)
        writer.writerow(map(written, row.values()))
    return kq.Jobs.read(path)


def lines(row, folder):
    path = folder / "jobs.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return kq.Jobs.read(path)


def submitted(row, _):
    """The job of a row of a Scheduler, in the form of a table."""
    submission = from_row(row)
    workload, requests = submission.workload, {}
    for resource, value in (
        workload.pod_sets[0].template["spec"]["containers"][0]["resources"].get("requests", {}).items()
    ):
        requests[resource] = [value]
    kq.Scheduler(CLUSTER).submit(row)
    columns = {
        "runtime": [submission.duration],
        "submit": [0 if workload.creation_timestamp is None else workload.creation_timestamp.value / 1e9],
        "pods": [workload.pod_sets[0].count],
        "min_pods": [workload.pod_sets[0].min_count],
        "priority": [workload.priority],
    }
    try:
        return kq.Jobs({"queue": ["a"], "cpu": [0], "nvidia.com/gpu": [0], **columns} | requests)
    except KueueError as error:
        raise AssertionError("a value that a Scheduler accepts is not valid in a table") from error


SURFACES = {
    "csv": csv,
    "jsonl": lines,
    "rows": lambda row, _: kq.Jobs.of([row]),
    "columns": lambda row, _: kq.Jobs({name: [value] for name, value in row.items()}),
    "frame": lambda row, _: kq.Jobs.from_frame(pd.DataFrame([row])),
    "simulation": lambda row, _: kq.Simulation(CLUSTER, [row]).jobs,
    "scheduler": submitted,
}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("column", COLUMNS)
def test_a_value_means_the_same_on_every_surface(surface, column, tmp_path):
    read = SURFACES[surface]
    for value, meanings in VALUES:
        meaning = meanings[COLUMNS.index(column)]
        if surface == "jsonl" and not isinstance(value, str | int | type(None)):
            continue  # JSON has no such value
        if surface == "csv" and isinstance(value, bool | np.bool_):
            continue  # a file has a text, which is no number
        if (
            column == "submit"
            and meaning == 0
            and surface in ("csv", "jsonl", "columns", "frame")
            and meanings == ABSENT
        ):
            continue  # a submission time is required there
        row = ROW | {column: value}
        if meaning == WRONG:
            with pytest.raises(KueueError):
                read(row, tmp_path)
        else:
            assert read(row, tmp_path)[{"gpu": "nvidia.com/gpu"}.get(column, column)].tolist() == [meaning], value


# A log of Slurm with one job, without its memory.
SACCT = """JobID|User|Account|Submit|Start|End|Elapsed|NNodes|NCPUS|ReqMem|AllocTRES|State
7|ann|a|2026-05-01T08:00:00|Unknown|Unknown|00:00:00|1|16|{}||PENDING
"""
# Options of the command line, each with the column whose values have the same meaning.
OPTIONS = {
    "run {cluster} {jobs} --rows={}": "pods",
    "run {cluster} {jobs} --cycles={}": "pods",
    "simulate {cluster} --jobs {jobs} --until={}": "submit",
    "simulate {cluster} --jobs {jobs} --model checkpoint --every={}": "submit",
    "guarantee limits {cluster} --flavor-resource f/cpu --amount a={}": "cpu",
}


@pytest.fixture
def told(tmp_path, capsys):
    """Return the exit code and the texts of a command in which `{}` stands for a value."""
    files = {"cluster": tmp_path / "cluster.yaml", "jobs": tmp_path / "jobs.csv"}
    files["cluster"].write_text(kq.dump(CLUSTER), encoding="utf-8")
    files["jobs"].write_text("name,queue,submit,runtime,cpu\nx,a,0,60,1\ny,a,0,60,3\n", encoding="utf-8")

    def tell(words, value):
        return main([word.format(value, **files) for word in words.split(" ")]), capsys.readouterr()

    return tell


def expect_told(told, words, value, meaning):
    """Check that a command refuses a value, or prints the same as for its meaning."""
    code, texts = told(words, value)
    if meaning == WRONG:
        assert code in (1, 2), value
        assert "error: " in texts.err, value
    else:
        assert (code, texts) == told(words, meaning), value


@pytest.mark.parametrize("words", OPTIONS)
def test_a_value_means_the_same_on_the_command_line(words, told):
    for value, meanings in VALUES:
        if isinstance(value, str):
            is_none = meanings == ABSENT or "T" in value  # no option is a date
            expect_told(told, words, value, WRONG if is_none else meanings[COLUMNS.index(OPTIONS[words])])


TIME = "2026-01-01T00:00:00Z"
# Fields of manifests: an object, the field with its value in the manifest, and how to read it.
FIELDS = {
    "quantity": (CLUSTER.cluster_queues[0], "nominalQuota: 3", lambda found: nominal(found.cluster_queues[0])),
    "integer": (kq.Workload("w", priority=3), "priority: 3", lambda found: found.workloads[0].priority),
    "duration": (
        kq.Configuration(wait_for_pods_ready=kq.objects.WaitForPodsReady(timeout="3s")),
        "timeout: 3s",
        lambda found: found.configuration.wait_for_pods_ready.timeout,
    ),
    "time": (
        kq.Workload("w", creation_timestamp=TIME),
        f'creationTimestamp: "{TIME}"',
        lambda found: str(found.workloads[0].creation_timestamp),
    ),
}
# The value of a plain scalar is that of YAML 1.1 in Go. A text is no integer, but may be a quantity.
WRITTEN = {
    **dict.fromkeys(("5", "5.0", "05", "0x5", "+5", "0.5e1"), ("5", 5, WRONG, WRONG)),
    **dict.fromkeys(("1_000", "1e3"), ("1000", 1000, WRONG, WRONG)),
    **dict.fromkeys(('"5"', '"+5"', '" 5 "', '"5e0"', '"05"'), ("5", WRONG, WRONG, WRONG)),
    **dict.fromkeys((".nan", ".inf", "nan", '"NaN"', '"inf"', "true", '""', '" "', "[5]", "{}"), (WRONG,) * 4),
    **dict.fromkeys(('"1_000"', '"0x10"', "\u0665", '"\uff15"', "1:30", "5 5", "--5", "9" * 400), (WRONG,) * 4),
    "-1": (WRONG, -1, WRONG, WRONG),
    "2.5": ("2.5", WRONG, WRONG, WRONG),
    **dict.fromkeys(("5m", '"5m"'), ("5m", WRONG, 300, WRONG)),
    **dict.fromkeys(("1h30m", "1.5h"), (WRONG, WRONG, 5400, WRONG)),
    **dict.fromkeys((TIME, f'"{TIME}"'), (WRONG, WRONG, WRONG, TIME)),
    "2026-01-01": (WRONG,) * 4,
}


def nominal(queue):
    return kq.Quantity(str(queue.resource_groups[0].flavors[0].resources[0].nominal_quota))


def documents(field, value):
    """Yield manifests whose field has a value: in blocks, in JSON's notation, parsed, and in a ConfigMap."""
    obj, entry, _ = FIELDS[field]
    name, block = entry.partition(":")[0], kq.manifest.dump(obj)
    assert entry in block
    changed = block.replace(entry, f"{name}: {value}")
    yield changed
    whole = json.dumps(yaml.safe_load(block.replace(entry, f"{name}: HERE"))).replace('"HERE"', value)
    yield whole
    with contextlib.suppress(ValueError):
        yield json.loads(whole)
    if field == "duration":
        meta = {"name": "kueue-manager-config", "namespace": "kueue-system"}
        data = {"controller_manager_config.yaml": changed}
        yield yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data})


@pytest.mark.parametrize("field", FIELDS)
def test_a_value_means_the_same_in_every_manifest(field):
    for value, meanings in WRITTEN.items():
        meaning = meanings[list(FIELDS).index(field)]
        for document in documents(field, value):
            if meaning == WRONG:
                with pytest.raises(KueueError):
                    kq.load(document, names=False)
            else:
                found = FIELDS[field][2](kq.load(document, names=False))
                assert found == (kq.Quantity(meaning) if field == "quantity" else meaning), document


def test_an_option_with_a_field_of_a_manifest_has_its_values(told):
    words = "whatif {cluster} {jobs} --set ClusterQueue/a:quota[f/cpu].nominalQuota={}"
    for value, (meaning, *_) in WRITTEN.items():
        # Only for a new object, Kueue's webhook removes blanks before the API server reads the value.
        expect_told(told, words, value, WRONG if value == '" 5 "' else meaning)


def test_a_value_in_the_body_of_a_request_is_a_number_in_range():
    path = "ClusterQueue/a:quota[f/cpu].nominalQuota"
    server = Server(Playground(CLUSTER, [ROW]))
    server.close()
    for value in (5, 5.0, 0, -0.0, 2.5, None, math.nan, math.inf, -1, 1e300, 10**400, True, "5", [5], {}):
        body = json.dumps({"values": {path: value}, "patch": True}).encode()
        found = json.loads(server._server.RequestHandlerClass.site(Request("answer", {}, body)).body)
        if type(value) in (int, float) and 0 <= value <= 5:
            assert value == 3 or nominal(kq.load(found["patch"], names=False).cluster_queues[0]) == kq.Quantity(
                str(value)
            )
        else:
            assert "error" in found, value


@pytest.mark.parametrize("text", [*NOT_NUMBERS[:3], NOT_NUMBERS[4], "1.2.3", "\u00b2"])
def test_a_number_elsewhere_is_ascii_and_in_range(text, tmp_path, capsys):
    (log := tmp_path / "log").write_text(SACCT.format(text), encoding="utf-8")
    calls = (
        lambda: kq.Quantity(text),
        lambda: kq.Scheduler(CLUSTER).advance(text),
        lambda: kq.Scheduler(CLUSTER).submit({"name": "x", "queue": "a", "cpu": text}),
        lambda: kq.load(kq.dump(CLUSTER).replace("nominalQuota: 3", f'nominalQuota: "{text}"')),
        lambda: kq.load(kq.dump(CLUSTER), version=f"v0.{text}"),
        lambda: kq.Jobs.poisson("a", f"{text}/h", 1, {}, n=1),
        lambda: promise(f"wait_mean <= {text}"),
        lambda: CLUSTER.edit(f"ClusterQueue/a:resourceGroups[{text}].coveredResources", ["cpu"]),
        lambda: kq.Simulation(CLUSTER, [ROW]).apply(kq.sim.Finish(f"j{text}")),
        lambda: MetricsServer(text, str),
        lambda: _revision({"metadata": {"resourceVersion": text}}),
        lambda: kq.Jobs.read(log, "sacct"),
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
