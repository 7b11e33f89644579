"""Texts with control characters, formulas or markup are shown as they are."""

import io
import xml.etree.ElementTree as ET

import pytest

import kueuepy as kq
from kueuepy.cli.output import say, table
from kueuepy.look.escapes import escape, plain, visible
from kueuepy.look.notebook import Sheet, repr_text
from kueuepy.pages.html import sheet_html

HOSTILE = "a\x1b[2J\u202e\x00\x9b<b>$\\frac{$"
SHOWN = "a\\x1b[2J\\u202e\\x00\\x9b<b>$\\frac{$"
GPU = "nvidia.com/gpu"
PICTURES = ("usage", "queue", "shares", "waits", "gantt", "preemptions", "slowdown_by_size")


@pytest.fixture(scope="module")
def result():
    cluster = kq.Cluster(
        kq.ResourceFlavor("f"), *(kq.ClusterQueue.of(name, {"f": {GPU: 2}}, cohort_name="all") for name in "ab")
    )
    rows = [
        {"queue": "ab"[n % 2], "submit": 60 * n, "runtime": 900, "gpu": 1 + n % 2, "user": f"{HOSTILE}{n % 3}"}
        for n in range(60)
    ]
    found = kq.simulate(cluster, rows)
    found.policy = HOSTILE
    return found


def test_control_characters_become_escapes_and_other_characters_stay():
    assert visible(HOSTILE) == SHOWN
    assert visible("a\tb\nü “c” 😀") == "a\tb\nü “c” 😀"
    assert escape(HOSTILE) == SHOWN.replace("<", "&lt;").replace(">", "&gt;")


def test_displays_and_printed_tables_show_escapes(result):
    sheet = Sheet([HOSTILE], [[HOSTILE]], HOSTILE)
    assert repr_text([sheet]).count(SHOWN) == 3
    shown = [
        sheet_html(sheet),
        repr_text([sheet]),
        *(form(value) for value in (result, result.by("user")) for form in (str, lambda one: one._repr_html_())),
        *(result.picture(name).svg for name in PICTURES),
        result.picture("waits", by="user").svg,
    ]
    for text in shown:
        assert not {"\x1b", "\u202e", "\x00", "\x9b"} & set(text)
    ET.fromstring(result.picture("waits", by="user").svg)  # noqa: S314 - our own picture


def test_commands_print_escapes(capsys):
    say(HOSTILE)
    say(HOSTILE, stderr=True)
    table(HOSTILE, [HOSTILE], [[HOSTILE]])
    out, err = capsys.readouterr()
    assert out.count(SHOWN) == 4
    assert err == SHOWN + "\n"


def test_charts_show_dollars_and_underscores(result):
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of the backend

    for name in PICTURES:
        ax = getattr(result.plot, name)()
        with mpl.rc_context({"svg.fonttype": "none"}):
            ax.figure.savefig(stream := io.StringIO(), format="svg")
        assert f"Policy: {escape(HOSTILE)}".replace("&gt;", ">") in stream.getvalue().replace("&gt;", ">")
    ax = result.plot.waits(by="user")
    assert any(text.get_text() == plain(f"{HOSTILE}0") for text in ax.figure.findobj(mpl.text.Text))
    plt.close("all")


def test_a_legend_has_names_that_begin_with_an_underscore():
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 1}}))
    rows = [{"queue": "q", "submit": n, "runtime": 60, "gpu": 1, "user": "_batch"} for n in range(9)]
    ax = kq.simulate(cluster, rows).plot.waits(by="user")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all jobs", " _batch"]
