"""The map of racks, and the largest job that fits."""

import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import msgspec
import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.look.chart import Box, Label

from .conftest import FLAVOR, RACKS, centre, hosts, job

GPU = "nvidia.com/gpu"
HOST = kq.objects.HOSTNAME_LABEL


@pytest.fixture
def busy():
    """Two racks of two hosts: one workload of 5 pods, a pod outside Kueue, and a node that is cordoned."""
    nodes = hosts(1, 2, 2)
    away = msgspec.structs.replace(hosts(1, 1, 3)[2], unschedulable=True)
    scheduler = kq.Scheduler(centre(nodes, away))
    scheduler.apply(kq.objects.Pod.of("agent", "b1-r2-h2", requests={GPU: 1, "cpu": 2}))
    scheduler.submit(job("train", 5, kq.objects.required("rack")))
    scheduler.settle()
    return scheduler


def test_each_domain_has_capacity_usage_and_workloads(busy):
    racks = busy.topology("racks")
    found = {rack.name: rack for rack in racks.racks}

    assert list(found) == [
        "b1",
        "b1/r1",
        "b1/r1/b1-r1-h1",
        "b1/r1/b1-r1-h2",
        "b1/r2",
        "b1/r2/b1-r2-h1",
        "b1/r2/b1-r2-h2",
    ]
    assert (found["b1/r2"].nodes, found["b1"].nodes) == (2, 4)
    assert [found["b1/r2"].outside[GPU], found["b1/r2"].outside["cpu"]] == [1, 2000]
    assert sum(rack.used[GPU] for rack in racks.at("rack")) == found["b1"].used[GPU] == 5
    for rack in racks.racks:
        for name in racks.resources:
            assert rack.free[name] == rack.capacity[name] - rack.outside[name] - rack.used[name]
    (use,) = found["b1"].uses
    assert (use.workload, use.pods, use.amounts[GPU]) == ("default/train", 5, 5)
    assert racks.absent == {"b1-r1-h3": "unschedulable"}


SAID = [
    "10 of 16 GPUs are free: at most 10 in one block, 8 in one rack and 4 in one",
    "node. Next step: list the jobs that still fit:",
    f'kueuepy.lab.fragmentation(scheduler, "racks", [{{"{GPU}": 1}}], flavor="h100")',
]


def test_the_table_and_the_text_agree(busy):
    racks = busy.topology("racks")
    rows = {(row["domain"], row["resource"]): row for row in racks.table}

    assert rows["b1", GPU] == {
        "level": "block",
        "domain": "b1",
        "resource": GPU,
        "capacity": 16,
        "outside": 1,
        "used": 5,
        "free": 10,
    }
    assert str(racks).splitlines()[:5] == [
        f"racks (h100): {GPU}",
        *SAID,
        "  b1: 10 of 16 free; default/train 5",
    ]
    assert repr(racks) == f"<RackMap of racks for h100: 4 {HOST}>"
    with pytest.raises(NotFoundError, match='level: "row" is not a level of racks'):
        racks.at("row")


def test_the_largest_jobs_are_admitted_by_a_cycle(busy):
    racks = busy.topology("racks")
    now = racks.largest({GPU: 1})

    for level, request in (
        ("block", kq.objects.required("block")),
        ("rack", kq.objects.required("rack")),
        (HOST, kq.objects.required(HOST)),
    ):
        assert busy.largest_count(job("probe", 1, request)) == now[level]
    assert busy.largest_count(job("probe", 1, kq.objects.unconstrained())) == now[""]
    assert racks.largest({GPU: 1}, empty=True) == {"block": 15, "rack": 8, HOST: 4, "": 15}


def test_the_pods_that_a_node_can_hold_limit_the_largest_job():
    nodes = kq.objects.nodes(RACKS, (1, 1, 2), labels={"gpu": "h100"}, capacity={GPU: 4, "cpu": 96, "pods": 3})
    racks = kq.Scheduler(centre(nodes)).topology("racks")
    assert racks.largest({GPU: 1}, empty=True) == {"block": 6, "rack": 6, HOST: 3, "": 6}
    assert racks.largest({GPU: 1, "pods": 1})[HOST] == 1  # one more than the request, as Kueue counts each pod


def test_a_rack_map_is_a_snapshot(busy):
    racks = busy.topology("racks")
    before = racks.largest({GPU: 1})
    busy.finish("train")
    busy.remove(*busy.cluster.nodes)

    assert racks.largest({GPU: 1}) == before


def test_fragmentation_by_size_and_level(busy):
    found = kq.lab.fragmentation(busy, "racks", [{GPU: 1}, {GPU: 4}])

    assert found.largest("rack") == [8, 2]  # the rack of 7 was the closest fit for 5
    assert found.largest("") == [10, 2]
    assert {row.profile for row in found.rows} == {"now"}
    assert found.rows[0].if_empty == 15
    assert "requests per pod" in str(found)


def test_fragmentation_with_another_profile_places_the_same_workloads():
    """Two hosts of 4: LeastFreeCapacity places unconstrained pods in the gap that BestFit would also use."""
    scheduler = kq.Scheduler(centre(hosts(1, 1, 3)))
    for name, pods in (("a", 3), ("b", 2), ("c", 5)):
        scheduler.submit(job(name, pods, kq.objects.unconstrained()))
        scheduler.settle()
    found = kq.lab.fragmentation(scheduler, "racks", [{GPU: 1}], profiles=("Mixed", "BestFit", "Balanced"))

    assert {row.profile for row in found.rows} == {"now", "Mixed", "BestFit", "Balanced"}
    assert found.largest("", "Mixed") == found.largest("", "now") == found.largest("", "BestFit") == [2]
    assert found.largest(HOST, "Mixed") == found.largest(HOST, "now")
    assert {row.unplaced for row in found.rows} == {0}
    assert list(found.table.names) == ["profile", "pod", "level", "largest", "if_empty", "unplaced"]


@pytest.mark.parametrize(
    ("name", "options", "error", "text"),
    [
        ("rows", {}, NotFoundError, 'Topology "rows": no ResourceFlavor uses it; flavors use racks'),
        ("racks", {"flavor": "spot"}, NotFoundError, 'ResourceFlavor "spot" does not use it'),
    ],
)
def test_unknown_names_are_reported(busy, name, options, error, text):
    with pytest.raises(error) as caught:
        busy.topology(name, **options)
    assert text in str(caught.value)


def test_one_of_several_flavors_must_be_named():
    other = msgspec.structs.replace(FLAVOR, name="h200")
    queue = kq.ClusterQueue.of("vision", {"h100": {GPU: 8}, "h200": {GPU: 8}})
    scheduler = kq.Scheduler(kq.Cluster(RACKS, FLAVOR, other, queue, hosts(1, 1, 2)))

    with pytest.raises(InvalidSpecError, match="is used by 2 flavors; pass flavor, one of h100, h200"):
        scheduler.topology("racks")
    assert scheduler.topology("racks", flavor="h200").flavor == "h200"


def test_an_unknown_profile_is_rejected(busy):
    with pytest.raises(InvalidSpecError, match='profiles: is "Worst"; it must be one of Mixed, BestFit, Balanced'):
        kq.lab.fragmentation(busy, "racks", [{GPU: 1}], profiles=["Worst"])


# --- the picture ----------------------------------------------------------------------------------------------------


def bars_of(drawing):
    """The bars of domains, which have tooltips."""
    return [mark for mark in drawing.marks if isinstance(mark, Box) and mark.title]


def labels_of(drawing):
    return [mark for mark in drawing.marks if isinstance(mark, Label)]


def test_the_picture_has_a_bar_for_each_host_filled_by_usage(busy):
    drawing = busy.topology("racks").drawn()
    bars = bars_of(drawing)
    filled = sum(part.width for bar in bars for part in bar.parts)

    assert len(bars) == 4
    assert filled == pytest.approx(bars[0].width * (5 + 1) / 4)
    texts = [label.text for label in labels_of(drawing)]
    assert {"b1", "r1", "r2", "default/train", "pods outside Kueue", "b1-r1-h3: unschedulable"} <= set(texts)
    for bar in bars:
        assert 0 <= bar.x <= bar.x + bar.width <= drawing.x.ends[1]
        assert 0 <= bar.y <= bar.y + bar.height <= drawing.y.ends[0]


def test_bars_of_640_nodes_do_not_overlap():
    scheduler = kq.Scheduler(centre(hosts(10, 8, 8), gpus=10_000))
    drawing = scheduler.topology("racks").drawn()
    frames = bars_of(drawing)
    places = {(frame.x, frame.y) for frame in frames}

    assert len(frames) == len(places) == 640
    assert drawing.x.ends[1] <= 1060
    assert len(scheduler.topology("racks")._repr_html_()) < 200_000
    order = [label.text for label in labels_of(drawing) if label.bold]
    assert order == [f"b{n}" for n in range(1, 11)]


def test_with_more_than_a_thousand_hosts_each_bar_is_a_rack():
    scheduler = kq.Scheduler(centre(hosts(2, 30, 20), gpus=10_000))
    drawing = scheduler.topology("racks").drawn()

    assert len(bars_of(drawing)) == 60
    assert "free; a bar is one rack with 80 GPUs" in [label.text for label in labels_of(drawing)]


def test_html_is_well_formed_and_escaped():
    scheduler = kq.Scheduler(centre(hosts(1, 1, 2)))
    scheduler.submit(job("train", 3, kq.objects.required("rack")))
    scheduler.settle()
    html = scheduler.topology("racks")._repr_html_()
    root = ET.fromstring(html)  # noqa: S314 - our own

    titles = [node.text for node in root.iter() if node.tag.endswith("title")]
    assert any("default/train: 3 pods, 3" in (title or "") for title in titles)
    assert "currentColor" in html
    assert "5 of 8 GPUs are free" in root.findtext("p")


def test_a_full_topology_is_described_in_words():
    scheduler = kq.Scheduler(centre(hosts(1, 1, 1)))
    scheduler.submit(job("all", 4, kq.objects.required("rack")))
    scheduler.settle()
    assert "0 of 4 GPUs are free. Next step: wait until a workload ends" in str(scheduler.topology("racks"))


def test_a_picture_is_written_for_light_and_dark(busy, tmp_path):
    pytest.importorskip("matplotlib")
    racks = busy.topology("racks")
    for dark in (False, True):
        racks.plot(tmp_path / f"{dark}.png", dark=dark)
        racks.plot(tmp_path / f"{dark}.svg", dark=dark, resource="cpu", title="CPUs")
    assert (tmp_path / "True.png").read_bytes() != (tmp_path / "False.png").read_bytes()
    assert re.search(r"CPUs", (tmp_path / "False.svg").read_text(encoding="utf-8"))
    with pytest.raises(NotFoundError, match='resource: no node has "tpu"'):
        racks.plot(resource="tpu")


def test_a_notebook_does_not_load_matplotlib():
    code = (
        "import sys, kueuepy as kq; t = kq.Topology('t', levels=['rack']);"
        "c = kq.Cluster(t, kq.ResourceFlavor('f', node_labels={'a': 'b'}, topology_name='t'),"
        "kq.ClusterQueue.of('q', {'f': {'cpu': 1}}), "
        "kq.objects.nodes(t, (2, 1), labels={'a': 'b'}, capacity={'cpu': 1}));"
        "kq.Scheduler(c).topology('t')._repr_html_(); print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout.strip() == "False"
