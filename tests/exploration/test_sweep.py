"""Sweeps: the same jobs under many policies."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import numpy as np
import pytest

import kueuepy as kq
from exploration.conftest import CELL, GPU, NOMINAL, RECLAIM, arrivals, team
from kueuepy.lab.exploration.runs import row_of
from kueuepy.lab.exploration.statistics import PairedDifference
from kueuepy.lab.exploration.sweep import SweepProgress

BORROWING = f"ClusterQueue/team-a:quota[{CELL}].borrowingLimit"
GRID = {RECLAIM: ["Never", "Any"], BORROWING: [0, 2, None], "jobs:scale_load": [1.0, 1.5]}


def same(one, other):
    """Return whether all rows are equal, bit by bit, except for their duration."""
    assert one.frame.names == other.frame.names
    for name in set(one.frame.names) - {"wall_s"}:
        a, b = one.frame[name], other.frame[name]
        if isinstance(a, np.ndarray):
            assert a.tobytes() == b.tobytes(), name
        else:
            assert (list(a.names), a.codes.tolist()) == (list(b.names), b.codes.tolist()), name


def test_each_row_equals_the_result_of_simulate(teams):
    grid = kq.sweep(teams, arrivals, GRID, seeds=[0, 5], threads=1)
    rows = grid.frame.rows()
    assert len(rows) == 24
    for row in rows[::5]:
        cluster = teams.edit(RECLAIM, row[RECLAIM])
        cluster = cluster.edit(BORROWING, None if row[BORROWING] is None else int(row[BORROWING]))
        jobs = arrivals(row["seed"]).scale_load(row["jobs:scale_load"])
        kpis = kq.simulate(cluster, jobs).kpis
        assert row["wait_p95"] == kpis.wait_p95
        assert row[f"lost_hours {CELL}"] == kpis.lost_hours.get(CELL, 0)
        assert row["error"] is None


def test_the_number_of_threads_does_not_change_results(teams):
    one, four = (kq.sweep(teams, arrivals, GRID, seeds=2, threads=threads) for threads in (1, 4))
    same(one, four)


def test_all_policies_see_the_same_draws_for_the_same_seed(teams):
    delays = [kq.sim.Startup("h100", kq.sim.Exponential("10m"))]
    grid = kq.sweep(teams, arrivals(0), {"jobs:thin": [1.0, 1.0, 0.5]}, seeds=2, delays=delays)
    waits = grid.frame["wait_mean"]
    assert waits[0] == waits[2] != waits[1] == waits[3]
    assert grid.difference(0, 1, "wait_mean") == PairedDifference(0, 0, 0, 2, 0, 0)
    assert grid.frame["jobs"][4] == grid.frame["jobs"][0] * len(arrivals(0).thin(0.5)) // 80


def test_a_difference_is_paired_by_seed(teams):
    grid = kq.sweep(teams, arrivals, {NOMINAL: [4, 5]}, seeds=4)
    waits = grid.frame["wait_mean"].reshape(2, 4)
    gaps = waits[1] - waits[0]
    found = grid.difference(0, 1, "wait_mean")
    assert found.mean == pytest.approx(gaps.mean())
    half = 3.182446 * gaps.std(ddof=1) / 2
    assert (found.low, found.high) == pytest.approx((gaps.mean() - half, gaps.mean() + half))
    assert (found.n, found.larger, found.smaller) == (4, 0, 4)
    alone = grid.interval(0, "wait_mean")
    assert alone.mean == pytest.approx(waits[0].mean())
    assert found.high - found.low < alone.high - alone.low


def test_a_policy_that_is_not_valid_is_a_row_with_its_error(teams):
    grid = kq.sweep(teams, arrivals(0), {NOMINAL: [4, -1, 6], "model:every": [0, "soon"]})
    errors = [row["error"] for row in grid.frame]
    assert [error is None for error in errors] == [True, False, False, False, True, False]
    assert "it must be 0 or more" in errors[2]
    assert "soon" in errors[1]
    assert np.isnan(grid.frame["wait_mean"][1])
    assert "4 of 6 policies are not valid" in grid.warnings[0]
    assert grid.best("wait_mean").policy == 4
    with pytest.raises(kq.errors.NotFoundError, match="no policy was valid"):
        kq.sweep(teams, arrivals(0), {NOMINAL: [-1]}).best("wait_mean")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("ClusterQueue/team-x:queueingStrategy", 'did you mean "team-'),
        (f"ClusterQueue/team-a:quota[{GPU}].nominalQuota", "names no quota"),
        ("jobs:scale", 'did you mean "scale_load"'),
        ("model:evry", 'did you mean "every"'),
        ("delays[0]:fails", "there are 0 delays"),
        ("Configuration:fairSharin", 'did you mean "fairSharing"'),
    ],
)
def test_an_unknown_path_is_rejected_before_the_sweep_starts(teams, path, message):
    with pytest.raises(kq.errors.NotFoundError, match=message):
        kq.sweep(teams, arrivals(0), {path: [1]})


def test_paths_reach_the_configuration_the_model_the_clock_and_delays():
    over = [
        {"Configuration:fairSharing.preemptionStrategies": ["LessThanOrEqualToFinalShare"]},
        {"model:on_eviction": "resume"},
        {"clock:cycle": "60s"},
        {"delays[0]:fails": 0.5},
        {"jobs:scale_runtime": 2},
    ]
    jobs = arrivals(0)
    delays = [kq.sim.CheckDelay("capacity", 30)]
    there = kq.Cluster(
        kq.ResourceFlavor("h100"),
        kq.AdmissionCheck("capacity", controller_name="example.com/capacity"),
        *(
            kq.ClusterQueue.of(
                name,
                {"h100": {GPU: 4}},
                cohort_name="all",
                admission_checks_strategy=(kq.objects.AdmissionCheckStrategyRule("capacity"),),
                preemption=kq.Preemption(reclaim_within_cohort="Any"),
            )
            for name in ("team-a", "team-b")
        ),
    )
    rows = kq.sweep(there, jobs, over, delays=delays).frame["wait_mean"].tolist()
    fair = there.edit(*next(iter(over[0].items())))
    expected = [
        kq.simulate(fair, jobs, delays=delays),
        kq.simulate(there, jobs, delays=delays, model=kq.sim.RunModel("resume")),
        kq.simulate(there, jobs, delays=delays, clock=kq.sim.Clock("60s")),
        kq.simulate(there, jobs, delays=[kq.sim.CheckDelay("capacity", 30, fails=0.5)]),
        kq.simulate(there, jobs.scale_runtime(2), delays=delays),
    ]
    assert rows == [result.kpis.wait_mean for result in expected]
    assert len(set(rows)) == 5


def test_the_pareto_front_contains_policies_that_no_other_beats(teams):
    space = {NOMINAL: kq.lab.Uniform(2, 6, step=1), BORROWING: kq.lab.Uniform(0, 4, step=1), RECLAIM: ["Never", "Any"]}
    grid = kq.sweep(teams, arrivals(2), kq.lab.sample(space, 30, seed=1, how="random"))
    points = list(zip(grid.means["wait_p95"], -grid.means["utilisation " + CELL], strict=True))
    expected = {
        i for i, (x, y) in enumerate(points) if not any((a <= x and b <= y) and (a < x or b < y) for a, b in points)
    }
    front = grid.pareto(minimise="wait_p95", maximise="utilisation")
    assert set(front["policy"].tolist()) == expected
    assert sorted(front["wait_p95"]) == front["wait_p95"].tolist()
    assert 1 <= len(front) < 30


def test_the_best_policy_is_the_minimum_among_those_that_meet_the_conditions(teams):
    grid = kq.sweep(teams, arrivals, GRID, seeds=2, figures=["wait_p95(team-b)[priority >= 10]"])
    means = grid.means
    text = "wait_p95(team-b)[priority >= 10]"
    allowed = [i for i in range(12) if means["evictions"][i] <= 2 and means[text][i] <= 3000]
    best = grid.best("wait_mean", where=f"evictions <= 2 and {text} <= 50m")
    assert best.policy == min(allowed, key=lambda i: means["wait_mean"][i])
    assert best.edits == grid.policies[best.policy]
    assert grid.best("wait_mean", where="jain > 2") is None
    with pytest.raises(kq.errors.NotFoundError, match="others are asked for with figures="):
        grid.best("wait_p90")


def test_effects_are_means_over_the_policies_that_have_a_value(teams):
    grid = kq.sweep(teams, arrivals(0), GRID)
    rows = {(row["path"], row["value"]): row for row in grid.effects("wait_mean")}
    means = grid.means["wait_mean"]
    assert rows[RECLAIM, "Any"]["wait_mean"] == pytest.approx(means[6:].mean())
    assert rows[BORROWING, "none"]["policies"] == 4


def test_a_row_runs_again_with_all_tables(teams):
    grid = kq.sweep(teams, arrivals, {RECLAIM: ["Never", "Any"]}, seeds=2)
    result = grid.result(3)
    assert result.kpis.wait_p95 == grid.frame["wait_p95"][3]
    assert len(result.decisions)
    assert grid.cluster(1) == teams.edit(RECLAIM, "Any")
    with pytest.raises(kq.errors.NotFoundError, match="names no row"):
        grid.result(4)


def test_progress_is_reported_at_the_end(teams):
    told = []
    kq.sweep(teams, arrivals(0), {NOMINAL: [4, -1]}, progress=told.append)
    assert told[-1] == SweepProgress(2, 2, 1)


def test_seeds_without_effect_are_reported(teams):
    grid = kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, seeds=2)
    assert "all seeds give the same" in repr(grid)
    assert kq.sweep(teams, arrivals, {NOMINAL: [4]}, seeds=2).warnings == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"over": []}, "no policies"),
        ({"seeds": 0}, "seeds 0"),
        ({"seeds": [1, 1]}, "different"),
        ({"limit": 1}, "at most 1"),
        ({"threads": 0}, "threads: is 0; it must be from 1 to 1024"),
        ({"threads": 2000}, "threads: is 2000"),
        ({"threads": 1.5}, "threads: is 1.5"),
        ({"figures": "wait_p95"}, "it must be a list"),
        ({"on": "tcp://127.0.0.1:8786"}, "it must be a dask.distributed.Client"),
        ({"modle": 1}, '"modle" is not an argument'),
        ({"over": [{"jobs:seed": 1}]}, None),
    ],
)
def test_invalid_arguments_are_rejected(teams, fields, message):
    arguments = {"over": {NOMINAL: [4, 5]}, **fields}
    if message is None:
        assert "give a function" in kq.sweep(teams, arrivals(0), **arguments).errors[0]
        return
    with pytest.raises(kq.errors.InvalidSpecError, match=message):
        kq.sweep(teams, arrivals(0), **arguments)


def test_the_seed_of_jobs_can_be_a_path(teams):
    grid = kq.sweep(teams, arrivals, {"jobs:seed": [0, 1]})
    other = kq.sweep(teams, arrivals, {NOMINAL: [4]}, seeds=2)
    assert grid.frame["wait_mean"].tolist() == other.frame["wait_mean"].tolist()


def test_a_stored_sweep_continues_with_the_same_results(teams, tmp_path):
    file = tmp_path / "sweep.db"
    whole = kq.sweep(teams, arrivals, GRID, seeds=2)

    def stop(progress):
        if progress.done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kq.sweep(teams, arrivals, GRID, seeds=2, storage=file, progress=stop)
    assert 5 <= _stored(file) <= 24
    again = kq.sweep(teams, arrivals, GRID, seeds=2, storage=file)
    same(whole, again)
    assert _stored(file) == 24
    kept = kq.sweep(teams, arrivals, GRID, seeds=2, storage=file)
    assert kept.frame["wall_s"].tolist() == again.frame["wall_s"].tolist()


def test_stored_results_are_not_used_for_another_sweep(teams, tmp_path):
    file = tmp_path / "sweep.db"
    first = kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, storage=file)
    for other in (
        kq.sweep(teams, arrivals(1), {NOMINAL: [4]}, storage=file),
        kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, storage=file, until="1h"),
        kq.sweep(teams.edit(RECLAIM, "Any"), arrivals(0), {NOMINAL: [4]}, storage=file),
    ):
        assert other.frame["wait_mean"][0] != first.frame["wait_mean"][0]


def test_a_file_that_is_not_a_storage_is_rejected(teams, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("no database" * 1000)
    with pytest.raises(kq.errors.InvalidSpecError, match="is not a file of a sweep"):
        kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, storage=file)


def test_another_database_is_not_used_as_a_storage(teams, tmp_path):
    with kq.platform.Journal(tmp_path / "journal.db") as journal:
        journal.scheduler(teams)
    before = (tmp_path / "journal.db").read_bytes()
    with pytest.raises(kq.errors.InvalidSpecError, match="is not a file of a sweep: it has other tables: snapshot"):
        kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, storage=tmp_path / "journal.db")
    assert (tmp_path / "journal.db").read_bytes() == before


KILLED = """
import sys
sys.path.insert(0, {tests!r})
import kueuepy as kq
from exploration.conftest import NOMINAL, RECLAIM, arrivals, team
teams = kq.Cluster(kq.ResourceFlavor("h100"), team("team-a", 4), team("team-b", 4))
print("go", flush=True)
over = {{NOMINAL: list(range(3, 9))}}
kq.sweep(teams, lambda seed: arrivals(seed, n=2000), over, seeds=3, storage={file!r}, threads=2)
"""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE runs SET row = '{'", "is not a file of a sweep: "),
        ("UPDATE runs SET row = '[]'", "'\\[\\]' is not a row"),
        ("UPDATE runs SET row = '{}'", "is not a row"),
        ("DROP TABLE runs; CREATE TABLE runs (other TEXT)", "is not a file of a sweep: no such column"),
    ],
)
def test_a_modified_storage_is_rejected(teams, tmp_path, change, told):
    file = tmp_path / "rows"
    kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, storage=file)
    with sqlite3.connect(file) as changed:
        changed.executescript(change)
    changed.close()
    with pytest.raises(kq.errors.InvalidSpecError, match=told):
        kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, storage=file)


def test_a_truncated_storage_is_rejected(teams, tmp_path):
    file = tmp_path / "rows"
    kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, storage=file)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(kq.errors.InvalidSpecError, match="is not a file of a sweep"):
        kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, storage=file)


def test_a_killed_sweep_continues(teams, tmp_path):
    file = str(tmp_path / "sweep.db")
    tests = str(__file__).rpartition("/exploration/")[0]
    child = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", KILLED.format(tests=tests, file=file)], stdout=subprocess.PIPE
    )
    assert child.stdout.readline() == b"go\n"
    rows = 0
    while rows < 2 and child.poll() is None:
        time.sleep(0.01)
        rows = _stored(file)
    child.kill()
    child.wait()
    child.stdout.close()

    def jobs(seed):
        return arrivals(seed, n=2000)

    over = {NOMINAL: list(range(3, 9))}
    told = []
    again = kq.sweep(teams, jobs, over, seeds=3, storage=file, progress=told.append)
    same(kq.sweep(teams, jobs, over, seeds=3), again)
    assert _stored(file) == 18


def _stored(file):
    import sqlite3  # noqa: PLC0415
    from contextlib import closing  # noqa: PLC0415

    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as found:
            return found.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def test_a_stopped_sweep_leaves_no_running_thread(teams, monkeypatch):
    before, started, stopped = set(threading.enumerate()), [], threading.Event()

    def first_alone(*arguments):
        """Simulate; all simulations but the first wait for the stop, so that the load of the machine has no effect."""
        started.append(arguments)
        if len(started) > 1:
            stopped.wait(300)
        return row_of(*arguments)

    def stop(_):
        stopped.set()
        raise KeyboardInterrupt

    monkeypatch.setattr("kueuepy.lab.exploration.sweep.row_of", first_alone)
    with pytest.raises(KeyboardInterrupt):
        kq.sweep(teams, lambda seed: arrivals(seed, n=3000), {NOMINAL: [4] * 50}, threads=4, progress=stop)
    assert len(started) < 50
    assert not {thread for thread in set(threading.enumerate()) - before if thread.name.startswith("sweep")}


@pytest.fixture
def dask():
    """The package distributed, and a function that makes a local cluster of two workers."""
    distributed = pytest.importorskip("distributed")

    def cluster(**options):
        return distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, **options)

    return distributed, cluster


def once(number, act):
    """Return a function for `progress` that calls `act` once, when `number` simulations are finished."""
    left = [act]

    def listen(progress):
        if progress.done >= number and left:
            left.pop()()

    return listen, left


@pytest.mark.long
def test_dask_returns_the_same_rows_although_a_worker_is_killed(teams, dask):
    distributed, cluster = dask
    local = kq.sweep(teams, arrivals, GRID, seeds=2)
    with cluster(processes=True) as workers, distributed.Client(workers) as client:
        same(local, kq.sweep(teams, arrivals, GRID, seeds=2, on=client))
        killed = next(iter(workers.workers.values())).pid
        listen, left = once(3, lambda: os.kill(killed, signal.SIGKILL))
        same(local, kq.sweep(teams, arrivals, GRID, seeds=2, on=client, progress=listen))
        assert not left
        end = time.monotonic() + 60  # the nanny of the worker notices its end a little later
        while killed in {worker.pid for worker in workers.workers.values()}:
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.mark.long
def test_dask_returns_the_same_rows_although_the_scheduler_is_restarted(teams, dask):
    distributed, cluster = dask
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    local = kq.sweep(teams, arrivals, GRID, seeds=2)
    with ExitStack() as stack:
        first = stack.enter_context(cluster(processes=False, protocol="tcp", scheduler_port=port))
        client = stack.enter_context(distributed.Client(first.scheduler_address, timeout=30))

        def restart():
            first.close()
            stack.enter_context(cluster(processes=False, protocol="tcp", scheduler_port=port))

        listen, left = once(3, restart)
        same(local, kq.sweep(teams, arrivals, GRID, seeds=2, on=client, progress=listen))
        assert not left


@pytest.mark.long
def test_an_error_of_a_simulation_on_dask_is_raised(teams, dask, monkeypatch):
    distributed, cluster = dask

    def broken(*_):
        raise OSError("no such disk")

    monkeypatch.setattr("kueuepy.lab.exploration.runs._remote", broken)
    with (
        cluster(processes=False) as workers,
        distributed.Client(workers) as client,
        pytest.raises(OSError, match="no such disk"),
    ):
        kq.sweep(teams, arrivals, GRID, seeds=2, on=client)


@pytest.mark.long
def test_a_dask_scheduler_that_does_not_come_back_is_an_error(teams, dask, monkeypatch):
    distributed, cluster = dask
    monkeypatch.setattr("kueuepy.lab.exploration.runs._RESTART_SECONDS", 0.5)
    with cluster(processes=False, protocol="tcp") as workers, distributed.Client(workers.scheduler_address) as client:
        listen, _ = once(3, workers.close)
        with pytest.raises(kq.errors.InvalidSpecError, match="has lost its scheduler or all workers"):
            kq.sweep(teams, lambda seed: arrivals(seed, n=3000), {NOMINAL: [4] * 100}, on=client, progress=listen)


def test_tables_convert_to_pandas_and_arrow(teams, tmp_path):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    over = [{NOMINAL: 4, "Configuration:fairSharing.preemptionStrategies": ["LessThanInitialShare"]}, {NOMINAL: 5}]
    grid = kq.sweep(teams, arrivals(0), over)
    frame = grid.frame.to_pandas()
    assert frame[NOMINAL].tolist() == [4, 5]
    assert frame["Configuration:fairSharing.preemptionStrategies"][0] == '["LessThanInitialShare"]'
    assert pyarrow.table(grid.frame).num_rows == 2
    grid.save(tmp_path / "sweep.parquet")
    assert pandas.read_parquet(tmp_path / "sweep.parquet")["wait_mean"].tolist() == frame["wait_mean"].tolist()
    assert "wait_mean" in grid._repr_html_()


def test_a_sweep_does_not_change_its_cluster(teams):
    before = kq.dump(teams)
    kq.sweep(teams, arrivals(0), GRID)
    assert kq.dump(teams) == before
    assert teams == kq.Cluster(kq.ResourceFlavor("h100"), team("team-a", 4), team("team-b", 4))


def test_a_storage_distinguishes_all_values_of_a_distribution(teams, tmp_path):
    file = tmp_path / "rows"
    times = np.full(2000, 600.0)
    other = times.copy()
    other[1000] = 90_000.0
    jobs = arrivals(0)

    def waits(values, **options):
        delay = kq.sim.Startup("h100", kq.sim.Empirical(values))
        grid = kq.sweep(teams, jobs, {NOMINAL: [4]}, delays=[delay], **options)
        return grid.rows[0]["figures"]["wait_mean"]

    late = np.full(2000, 40_000.0)
    assert waits(times, storage=file) == waits(times)
    assert waits(late, storage=file) == waits(late) != waits(times)
    assert waits(other, storage=file) == waits(other)
    with sqlite3.connect(file) as kept:
        assert kept.execute("SELECT COUNT(*) FROM runs").fetchone() == (3,)
    kept.close()


@pytest.mark.parametrize("change", ["REPLACE(row, '\"jobs\": ', '\"jobs\": 1')", "'5'", "5", "NULL", "x'ff'"])
def test_an_edited_row_of_a_storage_is_rejected(change, teams, tmp_path):
    file = tmp_path / "rows"
    kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, storage=file)
    with sqlite3.connect(file) as kept:
        kept.execute(f"UPDATE runs SET row = {change}")  # noqa: S608 - of this test
    kept.close()
    with pytest.raises(kq.errors.InvalidSpecError, match="is not a row that a sweep wrote"):
        kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, storage=file)


def test_policies_of_arrays_are_stored(teams, tmp_path):
    policies = [{"jobs:scale_load": np.float64(2.0)}]
    grid = kq.sweep(teams, arrivals(0), policies, storage=tmp_path / "rows")
    assert grid.rows[0]["error"] is None
    assert kq.sweep(teams, arrivals(0), policies, storage=tmp_path / "rows").rows == grid.rows
