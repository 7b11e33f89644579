import doctest
import importlib
import importlib.metadata
import pydoc
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kueuepy as kq

SOURCE = Path(kq.__file__).parent
MODULES = sorted(
    ".".join(("kueuepy", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if path.stem != "__main__" and ">>> " in path.read_text(encoding="utf-8")
)

PUBLIC = [kq, kq.errors, kq.jobs, kq.lab, kq.live, kq.manifest, kq.objects, kq.platform, kq.sim]


def test_every_public_name_exists_and_is_documented():
    for name in kq.__all__:
        assert getattr(kq, name).__doc__ or name == "Decision", name
    assert dir(kq) == sorted(kq.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kq.nothing  # noqa: B018


def test_the_table_of_modules_names_public_names():
    rows = re.findall(r"^\| (`kueuepy.*?) \| (.*) \|$", kq.__doc__, re.MULTILINE)
    assert len(rows) > 5
    for modules, contents in rows:
        for module in map(importlib.import_module, re.findall(r"`([\w.]+)`", modules)):
            for name in re.findall(r"`(\w+)`", contents):
                assert hasattr(module, name), f"{module.__name__}.{name}"


def test_the_version_equals_that_of_the_installed_package():
    try:
        expected = importlib.metadata.version("kueuepy")
    except importlib.metadata.PackageNotFoundError:
        expected = "of a source tree"
    assert kq.__version__ == expected
    assert kq.fidelity().kueuepy == expected


def _run(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603 - our own


def test_import_loads_only_what_is_needed():
    code = "import sys, kueuepy; print(sorted(m for m in ('numpy', 'pandas', 'kueuepy._core') if m in sys.modules))"
    assert _run(code) == "[]"


def test_a_scheduler_loads_no_numpy():
    assert _run("import sys, kueuepy; kueuepy.Scheduler; print('numpy' in sys.modules)") == "False"


def test_an_import_loads_few_modules():
    """The number of modules determines the time of an import, and does not depend on the load of the machine."""
    code = "import sys; before = set(sys.modules); import kueuepy; print(*sorted(set(sys.modules) - before))"
    loaded = _run(code).split()
    assert len([name for name in loaded if name.startswith("kueuepy")]) <= 8
    assert len(loaded) < 60
    assert "typing" not in loaded  # it takes as long as the rest


def test_datetime_is_imported_before_msgspec():
    """An interrupt during an import of datetime by msgspec would crash the interpreter at the next decoder."""
    code = "import sys, kueuepy; before = list(sys.modules); kueuepy.Cluster; print(*before, '/', *sys.modules)"
    before, _, after = _run(code).partition("/")
    assert "datetime" in before.split()
    assert "msgspec" in set(after.split()) - set(before.split())


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"needs {error.name}")
    found = doctest.testmod(module)
    assert found.failed == 0
    assert found.attempted


def test_the_stub_matches_the_module():
    pytest.importorskip("mypy")
    allowed = Path(__file__).parents[1] / "stubtest.txt"
    command = [
        sys.executable,
        "-m",
        "mypy.stubtest",
        "kueuepy._core",
        "--allowlist",
        str(allowed),
        "--ignore-unused-allowlist",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own interpreter
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long  # measures CPU time
def test_thousands_of_questions_per_second():
    queues = [kq.ClusterQueue.of(f"q{i}", {"default": {"cpu": 20}}, cohort_name=f"c{i % 10}") for i in range(100)]
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), queues))
    pods = (kq.PodSet.of(requests={"cpu": 3}),)
    scheduler.submit(*(kq.Workload(f"w{i}", queue_name=f"q{i % 100}", pod_sets=pods) for i in range(1000)))
    scheduler.settle()
    items = [kq.Workload(f"x{i}", queue_name=f"q{i % 100}", pod_sets=pods) for i in range(1000)]
    start = time.process_time()
    answers = scheduler.try_admit_many(items)
    assert time.process_time() - start < 0.1
    assert len(answers) == 1000
    start = time.process_time()
    for _ in range(100):
        scheduler.fork()
    assert (time.process_time() - start) / 100 < 0.0005


@pytest.mark.parametrize("module", PUBLIC)
def test_help_works_for_every_name(module):
    """`help` evaluates the annotations of msgspec's classes, so each of their types must exist at run time."""
    for name in module.__all__:
        found = getattr(module, name)
        if callable(found):
            assert pydoc.render_doc(found), name
    assert pydoc.render_doc(module)
