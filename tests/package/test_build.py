"""The build finds or downloads Abseil, and the core refuses interpreters that it does not support."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CMAKE = shutil.which("cmake")
needs_cmake = pytest.mark.skipif(
    CMAKE is None or not (ROOT / "cmake").is_dir(), reason="CMake or the build files are not installed"
)

PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES NONE)
include("{ROOT.as_posix()}/cmake/abseil.cmake")
get_target_property(system absl_strings SYSTEM)
message(STATUS "system: ${{system}}")
"""


def configure(folder, archive, sha256):
    """Configure a project without an installed Abseil, with an archive in place of the download."""
    (folder / "CMakeLists.txt").write_text(PROJECT, "utf-8")
    options = ("-DCMAKE_DISABLE_FIND_PACKAGE_absl=ON", f"-DKUEUE_ABSL_URL={archive}", f"-DKUEUE_ABSL_SHA256={sha256}")
    command = [CMAKE, "-S", folder, "-B", folder / "build", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own build files


@pytest.fixture
def folder(tmp_path):
    """A folder whose path has spaces."""
    (tmp_path / "a b").mkdir()
    return tmp_path / "a b"


@pytest.fixture
def archive(folder):
    """An archive with the layout of an Abseil release."""
    tree = folder / "abseil-cpp-1.0"
    tree.mkdir()
    (tree / "CMakeLists.txt").write_text("add_library(absl_strings INTERFACE)\n", "utf-8")
    with tarfile.open(folder / "absl.tar.gz", "w:gz") as packed:
        packed.add(tree, tree.name)
    return folder / "absl.tar.gz"


@needs_cmake
def test_abseil_is_built_from_the_archive_if_it_is_not_installed(folder, archive):
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
    ran = configure(folder, archive, sha256)
    assert ran.returncode == 0, ran.stderr
    assert "system: ON" in ran.stdout
    archive.unlink()  # a second build does not download it again
    assert configure(folder, archive, sha256).returncode == 0


@needs_cmake
@pytest.mark.parametrize("fault", ["missing", "damaged"])
def test_a_failed_download_names_the_package_to_install(folder, archive, fault):
    if fault == "missing":
        archive.unlink()
    ran = configure(folder, archive, 64 * "0")
    assert ran.returncode != 0
    error = " ".join(ran.stderr.split())
    assert f"Abseil is not installed and cannot be downloaded from {archive}" in error
    assert "apt-get install libabsl-dev" in error


SUB_INTERPRETER = '''
import importlib, sys
interpreters = importlib.import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
interpreters.run_string(interpreters.create(), f"""
import sys
sys.path[:] = {sys.path!r}
try:
    import kueuepy._core
except ImportError as error:
    print(error)
""")
'''


def run(code):
    """Run Python code in a new process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)  # noqa: S603


def test_a_sub_interpreter_is_refused():
    assert "kueuepy does not support sub-interpreters" in run(SUB_INTERPRETER).stdout


def test_an_interpreter_without_the_gil_is_refused():
    ran = run("import sys; sys._is_gil_enabled = lambda: False; import kueuepy")
    assert "ImportError: kueuepy needs the GIL; set PYTHON_GIL=1" in ran.stderr
