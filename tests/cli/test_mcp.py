"""The tools of `kueuepy mcp`, called by the client of the official SDK over the pipes of a real process."""

from __future__ import annotations

import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from kueuepy.cli.mcp import MOST_BYTES, Agents, Pages, pages_of
from kueuepy.cli.tools import TOOLS, Answer, Source
from kueuepy.errors import KueueError

ROOT = Path(__file__).parents[2]
FILES = ["examples/seeds/002/two-teams.yaml", "examples/seeds/002/jobs.csv"]
TRAIN = {"name": "train", "queue": "team-a", "pods": 3, "cpu": 2}
MORE = {"ClusterQueue/team-a:quota[default-flavor/cpu].nominalQuota": 24}


@pytest.fixture(scope="module")
def agents():
    """The tools of two teams with jobs."""
    return Agents(Source([str(ROOT / name) for name in FILES]))


def ask(agents, tool, **given):
    text = agents.call(tool, given)
    assert len(text.encode()) <= MOST_BYTES
    return json.loads(text)


def every(agents, tool, **given):
    """The items of all pages."""
    found = ask(agents, tool, **given)
    items = found["items"]
    while "next_cursor" in found:
        found = ask(agents, tool, **given, cursor=found["next_cursor"])
        items += found["items"]
    return items


@asynccontextmanager
async def session(*arguments):
    command = ["-m", "kueuepy", "mcp", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parameters = StdioServerParameters(command=sys.executable, args=command, cwd=ROOT, env=environment)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as client:
        await client.initialize()
        yield client


def test_the_official_client_lists_and_calls_the_tools():
    async def run():
        async with session(*FILES) as client:
            listed = (await client.list_tools()).tools
            assert {tool.name for tool in listed} == set(TOOLS)
            assert all(tool.annotations.read_only_hint for tool in listed)
            assert all("cursor" in tool.input_schema["properties"] for tool in listed)
            answer = await client.call_tool("explain", {"workload": "a-4"})
            assert not answer.is_error
            found = json.loads(answer.content[0].text)
            assert found["root_cause"]["code"] == "QuotaExceeded"
            missing = await client.call_tool("explain", {"workload": "nothing"})
            assert missing.is_error
            assert missing.content[0].text.startswith('"nothing" names no workload')
            unknown = await client.call_tool("delete", {})
            assert unknown.is_error
            again = await client.call_tool("largest_count", {"job": {**TRAIN, "queue": "team-b"}})
            assert json.loads(again.content[0].text) == {"largest_count": 0, "unit": "pods"}

    anyio.run(run)


def test_queues_have_quota_and_counts(agents):
    queues = {one["cluster_queue"]: one for one in every(agents, "queues")}
    assert set(queues) == {"team-a", "team-b"}
    (cpu,) = [one for one in queues["team-a"]["quota"] if one["resource"] == "cpu"]
    assert cpu == {
        "flavor": "default-flavor",
        "resource": "cpu",
        "used": "12",
        "nominal": "8",
        "borrowing_limit": "8",
        "available": "0",
    }
    assert queues["team-a"]["pending"] > 0
    assert queues["team-a"]["holding_quota"] == 3
    assert [one["cluster_queue"] for one in every(agents, "queues", cluster_queue="team-b")] == ["team-b"]


def test_explain_pages_the_whole_explanation(agents):
    lines = every(agents, "explain", workload="a-4")
    assert lines[0] == "default/a-4 is pending: WaitingForQuota"
    assert any("it would fit if" in line for line in lines)


def test_whatif_answers_for_a_job_and_for_a_change(agents):
    (decided,) = every(agents, "whatif", job=TRAIN)
    assert (decided["workload"], decided["decision"]) == ("default/train", "WaitingForQuota")
    by_path = ask(agents, "whatif", set=MORE)
    assert by_path["changes"] > 0
    quotas = [{"name": "cpu", "nominalQuota": 24}]
    groups = [{"coveredResources": ["cpu"], "flavors": [{"name": "default-flavor", "resources": quotas}]}]
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "team-a"}}
    by_object = ask(agents, "whatif", objects=[{**queue, "spec": {"resourceGroups": groups}}])
    assert by_object["changes"] == by_path["changes"]
    assert ask(agents, "whatif", set=MORE) == by_path  # nothing was changed


def test_who_uses_lists_amounts(agents):
    found = every(agents, "who_uses", cluster_queue="team-a", resource="cpu")
    assert [one["uses"] for one in found] == [[{"flavor": "default-flavor", "resource": "cpu", "amount": "4"}]] * 3
    assert every(agents, "who_uses", resource="cpu") != found


def test_check_judges_given_objects_and_those_of_the_source(agents):
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q"}}
    assert "L1" in {one["rule"] for one in every(agents, "check", objects=[queue])}
    assert ask(agents, "check")["valid"] is True
    with pytest.raises(KueueError, match="spec"):
        ask(agents, "check", objects=[{**queue, "spec": {"stopPolicy": "Sometimes"}}])


def test_simulate_compares_a_change(agents):
    jobs = [{"queue": "team-a", "submit": 60 * n, "runtime": "1h", "cpu": 4} for n in range(12)]
    found = {one["metric"]: one for one in every(agents, "simulate", jobs=jobs, set=MORE)}
    assert found["wait_mean"]["unit"] == "s"
    assert found["wait_mean"]["with_change"] < found["wait_mean"]["value"]
    assert found["utilisation default-flavor/cpu"]["unit"] == "fraction"
    with pytest.raises(KueueError, match="the source has no history"):
        ask(agents, "simulate")


@pytest.mark.parametrize(
    ("tool", "given", "text"),
    [
        ("nothing", {}, '"nothing" is not a tool'),
        ("explain", {}, "explain: workload: is required"),
        ("explain", {"workload": 5}, "explain: workload: is an integer; it must be a string"),
        ("explain", {"workload": "a-4", "namespace": "x"}, 'explain: "namespace" is not an argument'),
        ("explain", {"workload": "a-4", "cursor": "../../etc/passwd"}, "explain: cursor: is"),
        ("explain", {"workload": "a-4", "cursor": "é.1"}, "explain: cursor: is"),
        (
            "explain",
            {"workload": "x" * 601},
            "workload: has a wrong length; it must have at most 600 characters",
        ),
        ("queues", {"cluster_queue": "'; drop table"}, "does not exist"),
        ("whatif", {}, "it must have either job, or set or objects"),
        ("whatif", {"job": TRAIN, "set": MORE}, "it must have either job, or set or objects"),
        ("whatif", {"job": "/etc/passwd"}, "whatif: job: is a string"),
        ("whatif", {"objects": ["/etc/passwd"]}, "whatif: objects"),
        ("whatif", {"set": {"ClusterQueue/team-a:quota[x/cpu].nominalQuota": 1}}, "x"),
        ("whatif", {"set": {"nonsense": 1}}, "nonsense"),
        ("whatif", {"objects": [{"kind": "Secret", "metadata": {"name": "x"}}]}, "Secret"),
        ("largest_count", {"job": {"name": "x", "queue": "team-a", "cpu": "1.5.3"}}, "1.5.3"),
        ("largest_count", {"job": TRAIN, "pod_set": "none"}, "none"),
        ("check", {"objects": [{}] * 1001}, "check: objects"),
        ("check", {"objects": [{"kind": 5}]}, "kind"),
        ("simulate", {"jobs": [{"queue": "team-a"}], "seed": -1}, "simulate: seed"),
        ("simulate", {"jobs": [{"queue": "nowhere", "runtime": 1}]}, "nowhere"),
        ("simulate", {"jobs": [{"queue": "team-a", "runtime": 1}], "until": "soon"}, "soon"),
        ("who_uses", {"flavor": "x\u0000"}, "does not exist"),
    ],
)
def test_a_wrong_call_is_answered_with_the_project_error(agents, tool, given, text):
    answer, is_error = agents.answer(tool, given)
    assert is_error
    assert text in answer
    assert "Traceback" not in answer
    assert "InternalError" not in answer
    assert len(answer.encode()) <= MOST_BYTES


def nested(depth):
    found: dict[str, object] = {}
    for _ in range(depth):
        found = {"a": found}
    return found


@pytest.mark.parametrize("job", [nested(5000), {"cpu": 10**400}, {"queue": "\ud800"}, {"pods": -1}, {1: 2}])
def test_a_hostile_job_is_an_error_and_the_tools_still_answer(agents, job):
    answer, is_error = agents.answer("whatif", {"job": job})
    assert is_error
    assert len(answer.encode()) <= MOST_BYTES
    assert ask(agents, "largest_count", job=TRAIN)["largest_count"] == 0


def test_each_page_is_small_and_no_item_is_lost():
    items = [{"name": f"é{number}" * (number % 90), "list": list(range(number))} for number in range(300)]
    pages = list(map(json.loads, pages_of(Answer({"head": "x" * 9999}, items), "k" * 16)))
    assert all(
        len(json.dumps(page, ensure_ascii=False, separators=(",", ":")).encode()) <= MOST_BYTES for page in pages
    )
    assert sum(len(page["items"]) for page in pages) == pages[0]["total"] == 300
    assert ["next_cursor" in page for page in pages] == [True] * (len(pages) - 1) + [False]


def test_a_cursor_of_a_forgotten_answer_is_an_error():
    pages = Pages()
    key = pages.key("queues", {})
    first = json.loads(pages.first(key, Answer({}, ["x" * 500] * 9)))
    assert pages.page("queues", key, first["next_cursor"])
    with pytest.raises(KueueError, match="call without a cursor"):
        pages.page("queues", key, f"{key}.0000000019")
    for number in range(40):
        pages.first(str(number), Answer({}))
    with pytest.raises(KueueError, match="call without a cursor"):
        pages.page("queues", key, first["next_cursor"])
