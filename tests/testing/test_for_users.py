"""What users of Hypothesis and pytest expect: one workload, examples as files, a fixture, and hints."""

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.errors import InvalidSpecError
from kueuepy.testing import SchedulerMachine, clusters, workload, workloads

SEED = Path(__file__).parents[2] / "examples" / "seeds" / "001" / "team-ab.yaml"
QUIETLY = settings(database=None, max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))


@given(st.data())
def test_one_workload_for_a_cluster(data):
    cluster = data.draw(clusters())
    one = data.draw(workload(cluster, name="mine"))

    assert one.name == "mine-0"
    kq.Scheduler(cluster).submit(one)


def file_of(failure, path):
    """The file that a failing test has printed before its arguments."""
    told = re.split(r"\n(?:Failing test case|Falsifying example)", "\n".join(failure.value.__notes__))[0]
    path.write_text(told[told.index("---\n") :], encoding="utf-8")
    return str(path)


TEAMS = kq.load(SEED)


@pytest.mark.parametrize(
    "drawn",
    [(clusters(), workloads()), (st.just(TEAMS), workloads(TEAMS, min_size=3))],
    ids=["drawn cluster", "own cluster"],
)
def test_a_failing_example_is_printed_as_a_file_that_explain_reads(tmp_path, capsys, drawn):
    calls = []

    @seed(7)
    @QUIETLY
    @given(*drawn)
    def at_most_two(cluster, waiting):
        calls.append(1)
        scheduler = kq.Scheduler(cluster)
        scheduler.submit(waiting)
        scheduler.settle()
        assert scheduler.workloads["status"].tolist().count("Admitted") < 3

    with pytest.raises(AssertionError) as failure:
        at_most_two()
    path = file_of(failure, tmp_path / "example.yaml")

    assert main(["explain", "workload-0", path]) == 0
    assert "default/workload-0 is admitted" in capsys.readouterr().out
    assert len(calls) < 1000


def test_a_state_machine_prints_the_files():
    class NothingIsAdmitted(SchedulerMachine):
        def settled(self):
            assert "Admitted" not in self.scheduler.workloads["status"].tolist()

    with pytest.raises(AssertionError) as failure:
        run_state_machine_as_test(seed(1)(NothingIsAdmitted), settings=settings(QUIETLY, phases=[Phase.generate]))

    told = "\n".join(failure.value.__notes__)
    assert "kind: ClusterQueue" in told
    assert "kind: Workload" in told


@pytest.mark.parametrize(
    ("name", "value", "meant"), [("cluster", kq.load(SEED), "clusters"), ("workloads", [], "workload_lists")]
)
def test_an_attribute_without_effect_is_an_error(name, value, meant):
    with pytest.raises(InvalidSpecError, match=f'Mine: "{name}" has no effect; did you mean "{meant}"?'):
        type("Mine", (SchedulerMachine,), {name: value})
    assert type("Mine", (SchedulerMachine,), {"limit": 5, "clusters": clusters()}).limit == 5


TEST = """
def test_queues(kueuepy_cluster):
    assert {queue.name for queue in kueuepy_cluster.cluster_queues} == {"team-a-cq", "team-b-cq"}
"""


@pytest.mark.parametrize(
    ("options", "told"), [(["--kueuepy-cluster", str(SEED)], "1 passed"), ([], "needs --kueuepy-cluster FILE")]
)
def test_the_fixture_of_pytest(tmp_path, options, told):
    (tmp_path / "test_mine.py").write_text(TEST, encoding="utf-8")
    is_installed = any(one.value == "kueuepy.pytest_plugin" for one in entry_points(group="pytest11"))
    plugin = [] if is_installed else ["-p", "kueuepy.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, *options, "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own test

    assert told in done.stdout
