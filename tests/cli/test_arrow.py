"""Without pyarrow, commands that need it name the extra that installs it, before they run anything."""

import sys
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.cli import simulate

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def without_pyarrow(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)


@pytest.mark.usefixtures("without_pyarrow")
def test_simulate_out_names_the_extra_before_it_runs(kueuepy, tmp_path, monkeypatch):
    monkeypatch.setattr(simulate, "run", lambda *_, **__: pytest.fail("it ran"))
    week = ROOT / "examples" / "week"
    ran = kueuepy("simulate", week / "teams.yaml", "--jobs", week / "jobs.csv", "--out", tmp_path / "out")
    assert ran.code == 1
    assert "pip install pyarrow" in ran.err


@pytest.mark.usefixtures("without_pyarrow")
def test_tables_name_the_extra(tmp_path):
    jobs = kq.Jobs.of([{"queue": "a", "submit": 0, "runtime": 1}])
    for use in (jobs.to_arrow, lambda: jobs.to_parquet(tmp_path / "x.parquet")):
        with pytest.raises(kq.errors.UnsupportedError, match="pip install pyarrow"):
            use()


@pytest.mark.usefixtures("without_pyarrow")
def test_a_parquet_log_names_the_extra_for_logs():
    with pytest.raises(kq.errors.UnsupportedError, match="pip install pyarrow"):
        kq.Jobs.read("x.parquet")


@pytest.mark.parametrize("extra", ["arrow", "logs"])
def test_the_extra_exists_and_is_part_of_all(extra):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    names = {one.partition(">")[0] for one in extras[extra]}
    assert names == {"pyarrow"}
    everything = extras["all"][0].partition("[")[2].rstrip("]").split(",")
    assert set(everything) == set(extras) - {"all"}
