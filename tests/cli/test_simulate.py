"""`simulate`, `jobs` and `report`."""

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from .conftest import EXAMPLES

WEEK = EXAMPLES / "week"
JOBS = WEEK / "jobs.csv"


@pytest.fixture
def week(kueuepy):
    def run(*arguments, policy="teams"):
        return kueuepy("simulate", WEEK / f"{policy}.yaml", "--jobs", JOBS, *arguments)

    return run


def test_metrics_and_queues_are_printed(week):
    ran = week()
    assert ran.code == 0
    assert re.search(r"^95th percentile of the wait +wait_p95 +43 min 1 s$", ran.out, re.MULTILINE)
    assert re.search(r"^robots +230 +230 ", ran.out, re.MULTILINE)
    assert "of virtual time" in ran.out
    assert ran.err == ""


def test_json_has_settings_metrics_warnings_and_a_fingerprint(week):
    found = week("--json").json
    assert set(found) >= {"settings", "figures", "queues", "warnings", "loops", "notes", "fingerprint", "seconds"}
    assert found["figures"]["jobs"] == found["jobs"] == 993
    assert found["fingerprint"] == week("--json").json["fingerprint"]
    assert found["fingerprint"] != week("--json", "--model", "resume").json["fingerprint"]
    assert found["settings"]["model"]["on_eviction"] == "restart"


def test_options_are_passed_to_the_simulation(week):
    found = week("--json", "--window", "1d:3d", "--load", "2", "--warmup", "2h", "--cycle", "1s", "--until", "12h").json
    assert found["seconds"] == 12 * 3600
    assert 200 < found["jobs"] < 400
    assert found["settings"]["clock"]["cycle"] == "1s"
    assert any("had not finished" in text for text in found["warnings"])


def test_events_are_read_from_a_file(week, tmp_path):
    assert week("--at", WEEK / "events.yaml", "--json").json["fingerprint"] != week("--json").json["fingerprint"]
    wrong = tmp_path / "events.yaml"
    wrong.write_text("- when: 1d\n  edit: {'ClusterQueue/nobody:stopPolicy': Hold}\n- when: soon\n  delete: X/y\n")
    ran = week("--at", wrong)
    assert (ran.code, ran.out) == (1, "")
    assert f"{wrong}:3" in ran.err
    assert "when: 'soon'" in ran.err or "nobody" in ran.err
    wrong.write_text("- when: 1d\n  do: nothing\n")
    assert "must be a mapping with one of edit, apply" in week("--at", wrong).err


def test_tables_pictures_and_a_report_are_written(week, tmp_path):
    pytest.importorskip("pyarrow")
    out, page, svg = tmp_path / "out", tmp_path / "week.html", tmp_path / "usage.svg"
    assert week("--out", out, "--report", page, "--picture", f"usage={svg}").code == 0
    assert {path.name for path in out.iterdir()} >= {"result.json", "jobs.parquet", "usage.parquet"}
    assert ET.parse(svg).getroot().tag.endswith("svg")  # noqa: S314 - our own
    assert page.stat().st_size < 5_000_000


def test_wrong_command_lines_exit_with_2_and_wrong_input_with_1(week, kueuepy):
    assert week("--picture", "pie=x.svg").code == 2
    assert week("--map", "queue").code == 2
    assert week("--until", "never").code == 1
    assert "must be a number of seconds" in week("--until", "never").err
    missing = kueuepy("simulate", EXAMPLES / "seeds" / "002" / "two-teams.yaml", "--jobs", JOBS)
    assert missing.code == 1
    assert "name LocalQueues that are not in the cluster" in missing.err
    skipped = kueuepy("simulate", EXAMPLES / "seeds" / "002" / "two-teams.yaml", "--jobs", JOBS, "--missing", "skip")
    assert skipped.code == 0


def test_jobs_are_described(kueuepy):
    ran = kueuepy("jobs", "describe", JOBS, "--on", WEEK / "teams.yaml")
    assert ran.code == 0
    assert "default/robots" in ran.out
    found = kueuepy("jobs", "describe", EXAMPLES / "logs" / "philly.csv.gz", "--json").json
    assert (found["jobs"], len(found["queues"])) == (12380, 12)


def test_jobs_are_converted(kueuepy, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "jobs.parquet"
    assert kueuepy("jobs", "convert", JOBS, "--to", path).code == 0
    first, second = (kueuepy("jobs", "describe", name, "--json").json for name in (JOBS, path))
    assert first["queues"] == second["queues"]
    assert kueuepy("jobs", "convert", JOBS, "--to", tmp_path / "jobs.csv").code == 1


class _Page(HTMLParser):
    """Return the references of a page, and whether its elements are closed."""

    VOID = ("meta", "br", "link", "img", "wbr")

    def __init__(self):
        super().__init__()
        self.open, self.addresses, self.titles = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "action")]

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["h2"]:
            self.titles.append(data)


def parsed(path):
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.open == []
    assert page.addresses == []
    return page


def test_a_report_is_one_self_contained_file(week, tmp_path):
    page = tmp_path / "week.html"
    week("--report", page, "--until", "4d")
    assert parsed(page).titles == [
        "Usage and waiting",
        "ClusterQueues",
        "Evictions",
        "Pending jobs",
        "All metrics",
        "Settings and provenance",
    ]
    text = page.read_text(encoding="utf-8")
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert len(re.search(r"<script>(.*)</script>", text, re.DOTALL)[1]) < 20_000
    assert text.count("<svg") == 2 * 4 + 1  # half of the page and narrow, and one as wide as the page
    assert text.count("<title>") > 4


def test_two_results_are_compared(week, kueuepy, tmp_path):
    pytest.importorskip("pyarrow")
    week("--out", tmp_path / "shared")
    week("--out", tmp_path / "alone", policy="alone")
    page = tmp_path / "difference.html"
    ran = kueuepy("report", tmp_path / "alone", tmp_path / "shared", "-o", page, "--title", "Share <them>?")
    assert ran.code == 0
    titles = parsed(page).titles
    assert titles == [
        "Policies side by side",
        "ClusterQueues and jobs that gain or lose under shared",
        "Usage and waiting",
        "Evictions",
        "Pending jobs",
        "First decisions that differ",
        "All metrics",
        "Settings and provenance",
    ]
    text = page.read_text(encoding="utf-8")
    assert "<h1>Share &lt;them&gt;?</h1>" in text
    figures = json.loads((tmp_path / "shared" / "result.json").read_text())
    assert figures["stats"]["finished"] == 993


@pytest.mark.parametrize("source", [".", "file.yaml"])
def test_a_report_of_what_is_no_result_says_what_it_reads(kueuepy, tmp_path, source):
    (tmp_path / "file.yaml").write_text("")
    ran = kueuepy("report", tmp_path / source, "-o", tmp_path / "x.html")
    assert ran.code == 1
    assert "has no result.json; it must be a directory of Result.save or kueuepy simulate --out" in ran.err


def test_the_output_begins_with_the_result_in_words_and_lists_queues_like_charts(kueuepy):
    folder = EXAMPLES / "week"
    ran = kueuepy("simulate", folder / "teams.yaml", "--jobs", folder / "jobs.csv")
    assert ran.out.startswith("Result\nThe mean wait is 7 min 3 s (95% confidence interval ")
    assert "Largest problem: robots has 23.2% of the jobs" in ran.out
    assert "Next step: find the nominal quota that meets a target:\nkueuepy plan" in ran.out
    assert [line.split()[0] for line in ran.out.splitlines()[-4:-1]] == ["speech", "vision", "robots"]


def test_missing_columns_and_units_are_named_as_options(kueuepy, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("team,at,seconds,mem\na,0,nan,64\nb,5,10,32\n")
    ran = kueuepy("jobs", "describe", path)
    assert 'columns "queue", "submit", "runtime" are missing; there are team, at, seconds, mem' in ran.err
    assert "--map queue=COLUMN --map submit=COLUMN --map runtime=COLUMN takes them from other columns" in ran.err
    ran = kueuepy("jobs", path, "--map", "runtime=seconds", "--map", "memory=mem:GB")
    assert 'columns "queue", "submit" are missing; there are team, at, seconds, mem; --map' in ran.err
    names = ["--map", "queue=team", "--map", "submit=at", "--map", "runtime=seconds"]
    ran = kueuepy("jobs", "describe", path, *names, "--map", "memory=mem")
    assert "map memory to COLUMN:GB" in ran.err
    assert "runtime is missing; treated as infinite" in ran.err
    ran = kueuepy("jobs", "describe", path, *names, "--map", "memory=mem:GB")
    assert ("MiB" in ran.err, "29.8 GiB" in ran.out) == (False, True)
