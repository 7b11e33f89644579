"""Checks, one nox session each: `nox -s quick lint test long cpp sanitizer tsan tidy wheel docs notebooks fuzz bench`.

Each session except `quick` installs its dependencies. With `nox --no-venv --no-install`, all sessions use the active
environment.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["lint", "test", "cpp"]
nox.options.reuse_existing_virtualenvs = True

ROOT = Path(__file__).parent
LARGEST_WHEEL = 4_000_000
"""Maximum size of the wheel, in bytes."""
PYPROJECT = nox.project.load_toml("pyproject.toml")
SANITIZED = {
    "ASAN_OPTIONS": "detect_leaks=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "HYPOTHESIS_PROFILE": "slow-build",
}
"""Environment of programs that run with AddressSanitizer and UBSan."""


def _install(session: nox.Session, *groups: str, package: bool = True) -> None:
    """Install dependency groups and, if `package` is true, the package with all its extras."""
    session.install(*nox.project.dependency_groups(PYPROJECT, *groups))
    if package:
        # KUEUE_TESTING adds kueuepy._testing, which is not part of wheels but is needed by tests of individual rules.
        session.install(".[all]", env={"SKBUILD_CMAKE_DEFINE": "KUEUE_WERROR=ON;KUEUE_TESTING=ON"})


def _configure(session: nox.Session, preset: str) -> None:
    python = session.run("python", "-c", "import sys; print(sys.executable)", silent=True) or sys.executable
    session.run("cmake", "--preset", preset, f"-DPython_EXECUTABLE={python.strip()}", external=True)


def _build(session: nox.Session, preset: str) -> dict[str, str]:
    """Build a preset. Return the environment variables with which Python imports the package with that build's core."""
    _configure(session, preset)
    session.run("cmake", "--build", "--preset", preset, external=True)
    site = ROOT / "build" / preset / "site"
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "kueuepy", site / "kueuepy", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    session.run("cmake", "--install", f"build/{preset}", "--prefix", str(site / "kueuepy"), external=True)
    return {"PYTHONPATH": str(site)}


def _preload(*libraries: str) -> dict[str, str]:
    """Return variables that preload sanitizer libraries, and libstdc++, without which C++ exceptions would abort."""
    found = [
        subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603, S607
        for name in (*libraries, "libstdc++.so")
    ]
    return {"LD_PRELOAD": " ".join(found), "PYTHONMALLOC": "malloc"}


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types, spelling and formats."""
    _install(session, "lint")
    session.run("pre-commit", "run", "--all-files", "--show-diff-on-failure")


@nox.session(venv_backend="none")
def quick(session: nox.Session) -> None:
    """Run the ring quick on the kueuepy of the active environment. Installs and builds nothing."""
    session.run("python", "-m", "pytest", "-m", "quick", *(session.posargs or ["-n", "auto"]))


@nox.session
def test(session: nox.Session) -> None:
    """Run the rings quick and suite on the installed package."""
    _install(session, "test-all")
    session.run("python", "-m", "pytest", *(session.posargs or ["-n", "auto"]))


@nox.session
def dev(session: nox.Session) -> None:
    """Install the package in editable mode: edit Python files in place; run the session again after a change in C++.

    Each C++ file is compiled on its own, so that a change of one file compiles one file.
    """
    _install(session, "build", "test-all", package=False)
    options = ("cmake.define.KUEUE_UNITY=OFF", "cmake.define.KUEUE_TESTING=ON", "build-dir=build/editable")
    settings = [f"--config-settings={option}" for option in options]
    session.install("--no-build-isolation", *settings, "--editable", ".[all]")


@nox.session(python=nox.project.python_versions(PYPROJECT))
def pythons(session: nox.Session) -> None:
    """Build the package with each supported Python on the PATH, and run the ring quick with it."""
    _install(session, "test-all")
    session.run("python", "-m", "pytest", *(session.posargs or ["-n", "auto", "-m", "quick"]))


@nox.session
def oldest(session: nox.Session) -> None:
    """Build the package and run the ring quick with the oldest versions of the dependencies that pyproject.toml allows.

    The constraints are written to `build/oldest.txt`.
    """
    project = PYPROJECT["project"]
    groups = nox.project.dependency_groups(PYPROJECT, "build", "test-all")
    lists = (project["dependencies"], project["optional-dependencies"], groups)
    lowest = re.findall(r"([\w-]+)>=([\w.]+)", str(lists))
    constraints = ROOT / "build" / "oldest.txt"
    constraints.parent.mkdir(exist_ok=True)
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in sorted({*lowest})), "utf-8")
    session.env.update(dict.fromkeys(("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT"), str(constraints)))
    _install(session, "test-all")
    session.run("python", "-m", "pytest", *(session.posargs or ["-n", "auto", "-m", "quick"]))


@nox.session
def long(session: nox.Session) -> None:
    """Run the ring long, and the laws with many examples. Chromium must be installed (`apt-get install chromium`)."""
    _install(session, "test-all")
    options = session.posargs or ["-n", "auto"]
    session.run("python", "-m", "pytest", "-m", "long", *options)
    session.run("python", "-m", "pytest", "tests/laws", *options, env={"HYPOTHESIS_PROFILE": "ci"})


@nox.session
def browser(session: nox.Session) -> None:
    """Run the tests that open pages in Chromium, which must be installed (`apt-get install chromium`)."""
    _install(session, "test", "browser")
    session.run("python", "-m", "pytest", "-m", "long", "tests/browser", *session.posargs)


@nox.session
def cpp(session: nox.Session) -> None:
    """Run the C++ tests with AddressSanitizer and UBSan."""
    _install(session, "build", package=False)
    _configure(session, "asan")
    session.run("cmake", "--build", "--preset", "asan", "--target", "kueue_tests", external=True)
    session.run("ctest", "--preset", "asan", env=SANITIZED, external=True)


@nox.session
def sanitizer(session: nox.Session) -> None:
    """Run the Python tests marked `sanitizer` with AddressSanitizer and UBSan."""
    _install(session, "build", "test")
    environment = _build(session, "asan") | _preload("libasan.so", "libubsan.so") | SANITIZED
    session.run("python", "-m", "pytest", "-m", "sanitizer", "-n", "auto", *session.posargs, env=environment)


@nox.session
def tsan(session: nox.Session) -> None:
    """Run the C++ tests and the Python tests marked `threads` with ThreadSanitizer.

    First verifies that ThreadSanitizer detects an intentional data race.
    """
    _install(session, "build", "test")
    environment = _build(session, "tsan")
    options = {"TSAN_OPTIONS": "halt_on_error=1", "HYPOTHESIS_PROFILE": "slow-build"}
    session.run("ctest", "--preset", "tsan", env=options, external=True)
    environment |= _preload("libtsan.so") | options
    race = str(ROOT / "build" / "tsan" / "race.so")
    session.run("gcc", "-fsanitize=thread", "-shared", "-fPIC", "tests/session/race.c", "-o", race, external=True)
    session.run("python", "tests/session/race.py", race, env=environment, success_codes=[66], silent=True)
    # ThreadSanitizer reports on standard error, which pytest would capture.
    session.run("python", "-m", "pytest", "-m", "threads", "--capture=no", *session.posargs, env=environment)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the wheel from the source archive, repair it, check it, and test it without a compiler.

    Like the wheels built by `[tool.cibuildwheel]`, it contains Abseil: the pinned release, which CMake downloads, or a
    local tree given by `SKBUILD_CMAKE_DEFINE=FETCHCONTENT_SOURCE_DIR_ABSL=/path/to/abseil-cpp`.
    """
    _install(session, "wheel", package=False)
    dist, fresh = ROOT / "dist", ROOT / "build" / "fresh"
    for folder in (dist, fresh):
        shutil.rmtree(folder, ignore_errors=True)
    # Without --wheel and --sdist, `build` builds the source archive first and the wheel from it.
    own = "--config-setting=cmake.define.CMAKE_DISABLE_FIND_PACKAGE_absl=ON"
    session.run("python", "-m", "build", own, "--outdir", str(dist / "raw"), str(ROOT))
    (raw,) = (dist / "raw").glob("*.whl")
    session.run("auditwheel", "repair", "-z", "9", "--wheel-dir", str(dist), str(raw))
    (repaired,) = dist.glob("*.whl")
    session.run("check-wheel-contents", str(repaired))
    size = repaired.stat().st_size
    session.log(f"{repaired.name}: {size:,} bytes")
    if size > LARGEST_WHEEL:
        session.error(f"{repaired.name} has {size:,} bytes; at most {LARGEST_WHEEL:,} are allowed")
    session.run("python", "-m", "venv", str(fresh))
    groups = nox.project.dependency_groups(PYPROJECT, "test-all")
    alone = {"PATH": str(fresh / "bin"), "PYTHONPATH": "", "CC": "false", "CXX": "false"}
    python = str(fresh / "bin" / "python")
    install = ("-m", "pip", "install", "--quiet", "--only-binary", ":all:")
    session.run(python, *install, f"{repaired}[all]", *groups, env=alone, external=True)
    session.run(python, "-m", "pytest", *(session.posargs or ["-n", "auto"]), env=alone, external=True)


@nox.session
def tidy(session: nox.Session) -> None:
    """Run clang-tidy on the core and its bindings."""
    _install(session, "build", "lint", package=False)
    _build(session, "tidy")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation. Unresolved references are errors."""
    _install(session, "docs")
    session.run("sphinx-build", "-n", "-W", "--keep-going", "-j", "auto", "docs", "docs/_build/html")


@nox.session
def notebooks(session: nox.Session) -> None:
    """Execute all notebooks."""
    _install(session, "test", "notebooks")
    session.run("python", "-m", "pytest", "--nbmake", "-n", "auto", "notebooks", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Run a million random calls and parse a million random documents, checking all properties after each."""
    _install(session, "test")
    seed = session.posargs or ["--seed", "1"]
    session.run("python", "tests/fuzz", "--steps", "1000000", "--documents", "1000000", *seed)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure the cost of the engine in instructions. Requires valgrind."""
    _install(session, "build", "test")
    environment = _build(session, "bench")
    for script in sorted((ROOT / "benchmarks").glob("bench_*.py")):
        session.run("python", str(script), *session.posargs, env=environment | {"PYTHONHASHSEED": "0"})
