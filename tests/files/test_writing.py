"""Every function that writes a file writes it completely, or keeps its previous content and names it in an error."""

import errno
import os
import stat
from pathlib import Path

import pytest

import kueuepy as kq
from fuzz.disk import full
from kueuepy.errors import StateError
from kueuepy.files import write_files

JOBS = {"queue": ["a", "b"], "submit": [0, 60], "runtime": ["1h", "2h"], "cpu": [1, 1]}


@pytest.fixture(scope="module")
def cluster():
    queues = [kq.ClusterQueue.of(name, {"f": {"cpu": 2}}) for name in "ab"]
    return kq.Cluster(kq.ResourceFlavor("f"), *queues)


@pytest.fixture(scope="module")
def result(cluster):
    return kq.simulate(cluster, kq.Jobs(JOBS))


WRITERS = {
    "state": lambda cluster, _, path: kq.Scheduler(cluster).save(path),
    "yaml": lambda cluster, _, path: kq.dump(cluster, path),
    "report": lambda _, result, path: kq.report(result, path),
    "picture": lambda _, result, path: result.picture("shares").save(path),
    "page": lambda _, result, path: result.page().save(path),
    "parquet": lambda _, __, path: kq.Jobs(JOBS).to_parquet(path),
}
BAD = {
    "missing directory": lambda folder: folder / "no" / "x",
    "directory": lambda folder: folder,
    "below a file": lambda folder: folder / "known" / "x",
    "long name": lambda folder: folder / ("x" * 300),
    "null character": lambda folder: f"{folder}/a\0b",
}


def names_in(folder):
    return [path.name for path in folder.iterdir()]


@pytest.fixture(params=WRITERS)
def write(request, cluster, result):
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
    return lambda path: WRITERS[request.param](cluster, result, path)


def test_a_file_on_a_full_disk_keeps_its_content(tmp_path, write):
    (path := tmp_path / "known").write_text("before")
    with full(50), pytest.raises(StateError, match=r"known: cannot be written: File too large"):
        write(path)
    assert path.read_text() == "before"
    assert names_in(tmp_path) == ["known"]


@pytest.mark.parametrize("bad", BAD)
def test_a_path_that_cannot_be_written_is_named(tmp_path, write, bad):
    (tmp_path / "known").write_text("before")
    path = BAD[bad](tmp_path)
    with pytest.raises(StateError, match="cannot be written") as told:
        write(path)
    assert str(path).replace("\0", "\\x00") in str(told.value)
    assert names_in(tmp_path) == ["known"]
    assert (tmp_path / "known").read_text() == "before"


def test_links_permissions_and_names_are_kept(tmp_path, write):
    target = tmp_path / os.fsdecode(b"\xff\xfe name?#%41")
    target.touch(0o640)
    target.chmod(0o640)
    (link := tmp_path / "link").symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.stat().st_size > 100
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert len(names_in(tmp_path)) == 2


@pytest.mark.parametrize("name", ["yaml", "report", "parquet"])
def test_pipes_are_written_directly(tmp_path, cluster, result, name):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    os.mkfifo(path := tmp_path / "pipe")
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    WRITERS[name](cluster, result, path)
    assert len(os.read(reader, 1 << 16)) > 100
    os.close(reader)
    assert path.is_fifo()


def test_a_saved_result_on_a_full_disk_is_still_the_one_before(tmp_path, cluster, result):
    pytest.importorskip("pyarrow")
    other = kq.simulate(cluster, kq.Jobs({**JOBS, "runtime": ["3h", "4h"]}))
    other.save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for limit in range(0, max(map(len, before.values())), 500):
        with full(limit), pytest.raises(StateError, match="cannot be written: File too large"):
            result.save(tmp_path)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert kq.load_result(tmp_path).fingerprint == other.fingerprint


def test_a_file_in_a_directory_without_permissions_is_written_directly(tmp_path, monkeypatch):
    """Tests may run as root, who has all permissions: creating a file fails here as it does for others."""
    (path := tmp_path / "known").write_text("before")

    def refuse(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refuse)
    write_files({path: lambda file: file.write(b"after")})
    assert path.read_bytes() == b"after"
    with pytest.raises(StateError, match=r"new: cannot be written: Permission denied"):
        write_files({Path(tmp_path / "new"): lambda file: file.write(b"after")})
