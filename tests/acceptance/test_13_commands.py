"""Commands by id; `tests/cli` contains the other tests (CL)."""

from pathlib import Path

import kueuepy as kq
from kueuepy.cli import main

SEEDS = Path(__file__).parents[2] / "examples" / "seeds"
CLASSICAL, FAIR, QUEUES, JOBS = (
    str(SEEDS / "003" / name) for name in ("classical.yaml", "fair-sharing.yaml", "two-queues.yaml", "jobs.csv")
)


def test_CL_01_the_exit_code_of_check_reports_findings():
    assert main(["check", str(SEEDS / "003" / "team-a-queue.yaml")]) == 0
    assert main(["check", str(SEEDS / "003" / "notebooks.yaml")]) == 3
    assert main(["check", str(SEEDS / "001" / "borrowing-limit.yaml")]) == 1


def test_CL_03_explain_shows_reasons_and_remedies(capsys):
    folder = SEEDS / "002"
    assert main(["explain", "a-4", str(folder / "two-teams.yaml"), str(folder / "jobs.csv")]) == 0

    told = capsys.readouterr().out
    assert "default/a-4 is pending: WaitingForQuota" in told
    assert "4 short" in told
    assert "it would fit if" in told


def test_CL_08_convert_writes_old_objects_as_v1beta2(capsys):
    for seed in ("000/team-ab", "001/team-ab", "004/research-pool"):
        path = SEEDS / f"{seed}.yaml"
        assert main(["convert", "--to", "v1beta2", str(path)]) == 0
        assert kq.load(capsys.readouterr().out) == kq.load(path)


def test_CL_09_compare_prints_the_decisions_that_differ(capsys):
    arguments = ["--with", QUEUES, "--jobs", JOBS, "--exit-code"]

    assert main(["compare", CLASSICAL, FAIR, *arguments]) == 3
    assert "14 of 20 jobs have a different outcome" in capsys.readouterr().out
    assert main(["compare", CLASSICAL, CLASSICAL, *arguments]) == 0
