"""`python tools/replay.py --record`: scenarios are recorded, compared, and shrunk to what a difference needs."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from replay import main
from stories import scenario, workload

RECORDER = """
import json, sys
sys.path.insert(0, {tools!r})
from replay import replay
with open(sys.argv[2], "w") as out:
    for line in open(sys.argv[1]):
        one = json.loads(line)
        one["results"] = replay(one)
        for result in one["results"]:
            if {other!r} in result.get("admitted", ()):
                result["admitted"].remove({other!r})
        out.write(json.dumps(one) + "\\n")
"""
STEPS = [{"submit": [workload(name, "1")], "cycle": True} for name in ("a", "b", "c", "d")]


@pytest.mark.parametrize(("other", "code", "left"), [("ns/c", 1, ["c"]), ("ns/none", 0, [])])
def test_a_scenario_without_results_is_recorded_and_shrunk(tmp_path, capfdbinary, other, code, left):
    """The recorder stands for Kueue: it decides like kueuepy, but for one workload."""
    recorder, given = tmp_path / "recorder.py", tmp_path / "given.jsonl"
    recorder.write_text(RECORDER.format(tools=str(Path(__file__).parents[2] / "tools"), other=other))
    given.write_text(json.dumps({**scenario(*STEPS), "name": "four"}))
    assert main(["--record", shlex.join([sys.executable, str(recorder)]), str(given)]) == code
    out, err = capfdbinary.readouterr()
    assert [
        d["metadata"]["name"] for line in out.splitlines() for s in json.loads(line)["steps"] for d in s["submit"]
    ] == left
    assert f"1 scenarios, 1 recorded, {code} differ" in err.decode()
