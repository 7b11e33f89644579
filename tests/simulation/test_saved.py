"""Saved results: files that were changed afterwards are rejected by name."""

import json
import pickle
import shutil
import warnings

import pytest

import kueuepy as kq
from kueuepy.simulation.comparison import Comparison
from kueuepy.simulation.recorded import _checksum

from .conftest import GPU, cluster, queue

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("result") / "run"
    rows = [{"queue": "q", "submit": 60 * n, "runtime": "1h", "gpu": 1, "priority": n} for n in range(5)]
    there = cluster(queue("q", 2, within_cluster_queue="LowerPriority"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        kq.simulate(there, [*rows, {"queue": "q", "submit": 0, "runtime": 5, "gpu": 9}]).save(folder)
    return folder


def changed(saved, tmp_path, change):
    folder = tmp_path / "changed"
    shutil.copytree(saved, folder)
    facts = json.loads((folder / "result.json").read_text())
    change(facts)
    (folder / "result.json").write_text(json.dumps(facts))
    return folder


def test_a_saved_result_keeps_the_name_of_its_policy(tmp_path):
    rows = [{"queue": "q", "submit": 0, "runtime": 5, "gpu": 1}]
    kq.compare({"ours": cluster(queue("q", 2))}, rows)["ours"].save(tmp_path)
    assert kq.load_result(tmp_path).policy == "ours"


def test_a_saved_result_is_read_back(saved):
    found = kq.load_result(saved)
    assert found.waiting
    assert found.kpis.rows()
    assert found.preemptions.rows()
    assert found.kpis.submission_utilisation


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("result") / "fleet"
    workers = {name: cluster(queue("q", 1)) for name in ("east", "south", "west")}
    rows = [{"queue": "q", "submit": n, "runtime": "1h", "gpu": 1} for n in range(5)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = kq.simulate(kq.Fleet(workers, dispatcher=kq.sim.Incremental(step=2)), rows, until="90m")
    result.save(folder)
    return result, folder


def test_a_result_of_a_fleet_is_read_back_with_its_copies(fleet):
    result, folder = fleet
    found = kq.load_result(folder)
    assert type(found) is type(result)
    assert found.fingerprint == result.fingerprint
    assert dict(found.kpis.rows()) == dict(result.kpis.rows())
    assert (found.kpis.copies, found.kpis.won, found.clusters) == (len(result.copies), result.kpis.won, result.clusters)
    assert repr(found.copies.rows()) == repr(result.copies.rows())  # NaN is not equal to itself
    assert found.manager_usage.rows() == result.manager_usage.rows()
    assert [waiter.name for waiter in found.waiting] == [waiter.name for waiter in result.waiting]


def test_a_changed_table_of_copies_is_rejected(fleet, tmp_path):
    _, folder = fleet
    shutil.copytree(folder, tmp_path / "changed")
    shutil.copy(folder / "cycles.parquet", tmp_path / "changed" / "copies.parquet")
    with pytest.raises(kq.errors.InvalidSpecError, match="is damaged"):
        kq.load_result(tmp_path / "changed")


def test_a_result_of_the_previous_format_is_read(saved, tmp_path):
    def older(facts):
        facts.pop("not_modelled")
        facts.pop("checksum")
        facts.pop("format")
        facts.pop("version")
        facts.update(checksum=_checksum(facts), format="kueuepy-result", version=2)

    found = kq.load_result(changed(saved, tmp_path, older))
    assert found.not_modelled == ()
    assert found.fingerprint == kq.load_result(saved).fingerprint


CHANGES = {
    "seconds": lambda facts: facts.update(seconds=1.0),
    "warmup": lambda facts: facts.update(warmup=100.0),
    "totals": lambda facts: facts["totals"]["nominal"].update({f"f/{GPU}": 1.0}),
    "loops": lambda facts: facts.update(loops=[{}]),
    "settings": lambda facts: facts["settings"].update(seed=7),
    "stats": lambda facts: facts["stats"].update(cycles="many"),
    "checksum": lambda facts: facts.pop("checksum"),
    "nothing": lambda facts: [facts.pop(name) for name in list(facts) if name not in ("format", "version")],
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_metadata_is_rejected(name, saved, tmp_path):
    with pytest.raises(kq.errors.InvalidSpecError, match=r"is damaged: result\.json was changed"):
        kq.load_result(changed(saved, tmp_path, CHANGES[name]))


@pytest.mark.parametrize("name", ["seconds", "totals", "loops", "weights", "trees", "notes", "fingerprint", "waiting"])
def test_a_missing_or_invalid_key_is_named_even_with_a_valid_checksum(name, saved, tmp_path):
    def drop(facts, value=None):
        own = {key: part for key, part in facts.items() if key not in ("format", "version", "checksum", name)}
        if value is not None:
            own[name] = value
        kept = {key: facts[key] for key in ("format", "version")}
        facts.clear()
        facts.update({**kept, **own, "checksum": _checksum(own)})

    with pytest.raises(kq.errors.InvalidSpecError, match=f"is damaged: result.json: .*`{name}`"):
        kq.load_result(changed(saved, tmp_path / "a", drop))
    with pytest.raises(kq.errors.InvalidSpecError, match=rf"is damaged: result\.json: Expected .*`\$.{name}`"):
        kq.load_result(changed(saved, tmp_path / "b", lambda facts: drop(facts, 5 if name != "seconds" else "long")))


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"', "[" * 100_000, '{"format": "kueuepy-result", "version": 1}'])
def test_another_file_is_rejected(text, saved, tmp_path):
    folder = tmp_path / "other"
    shutil.copytree(saved, folder)
    (folder / "result.json").write_text(text)
    with pytest.raises(kq.errors.InvalidSpecError, match=r"result\.json"):
        kq.load_result(folder)


def test_a_missing_table_is_rejected(saved, tmp_path):
    folder = tmp_path / "other"
    shutil.copytree(saved, folder)
    (folder / "usage.parquet").unlink()
    with pytest.raises(kq.errors.InvalidSpecError, match=r"usage\.parquet"):
        kq.load_result(folder)


def test_a_result_with_a_job_that_requests_nothing_is_loaded(tmp_path):
    result = kq.simulate(cluster(queue("q", 2)), [{"queue": "q", "submit": 0, "runtime": 5, "gpu": n} for n in (0, 1)])
    result.save(tmp_path)
    assert "" in result.runs["flavors"].tolist()
    assert list(kq.load_result(tmp_path).runs) == list(result.runs)


def test_a_comparison_of_saved_or_unpickled_results_is_shown(tmp_path):
    """The usage at the end was read from the engine, which files do not contain."""
    queues = [kq.ClusterQueue.of(name, {"f": {"cpu": 2}}, cohort_name="x") for name in "abc"]
    base = kq.Cluster(kq.ResourceFlavor("f"), queues)
    more = base.edit("ClusterQueue/a:quota[f/cpu].nominalQuota", 3)
    rows = [{"queue": "ab"[n % 3 == 0], "submit": n, "runtime": 1000, "cpu": 1} for n in range(8)]
    live = kq.compare({"one": base, "two": more}, rows, until="100s")
    for name, result in live.results.items():
        result.save(tmp_path / name)
    unpickled = pickle.loads(pickle.dumps(live))  # noqa: S301 - of this test
    for found in (unpickled, Comparison({name: kq.load_result(tmp_path / name) for name in live.names})):
        assert str(found) == str(live)
        assert found._repr_html_() == live._repr_html_()
        assert found.to_pandas()["waited"].tolist() == live.to_pandas()["waited"].tolist()
        assert [one.usage for one in found.queues["a"]] == [{"f/cpu": 4000}, {"f/cpu": 4000}]
