"""The rules of ARCHITECTURE.md and CONTRIBUTING.md, enforced for all sources."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CPP = ROOT / "src" / "cpp"
PACKAGE = ROOT / "src" / "kueuepy"
CORE_FILES = sorted(path for path in CPP.rglob("*") if path.suffix in {".cc", ".h"})
PYTHON_FILES = sorted(PACKAGE.rglob("*.py"))
INCLUDE = re.compile(r'^#include "(\w+)/', re.MULTILINE)
COMMENT = re.compile(r"//.*")

PINNED = "kueue ff69552e79"
OWN = {
    "engine/fingerprint",
    "engine/waits",
    "flavor/assignment",
    "preemption/fit",
    "queue/check",
    "queue/workload_run",
    "scheduler/threads",
}
"""Files of the rooms below that mirror no file of Kueue: how things are held or checked, not what is decided."""
RULES = {"cohort", "quota", "queue", "workload", "fairness", "flavor", "preemption", "lifecycle", "scheduler", "engine"}

UNORDERED = {"src/cpp/persist/references.cc", "src/cpp/persist/compact.cc", "src/cpp/persist/renumber.h"}
"""Files that go through a hash map all the same, in no order that shows: all of it is sound, or is put elsewhere."""


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def text(path: Path) -> str:
    """The text of a file; each file is read once for all rules."""
    return path.read_text(encoding="utf-8")


@functools.cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a Python file; each file is parsed once for all rules."""
    return ast.parse(text(path))


@functools.cache
def code(path: Path) -> str:
    """A C++ file without its comments."""
    return COMMENT.sub("", text(path))


def rooms(first: str) -> list[str]:
    """The order of rooms that ARCHITECTURE.md declares in the line that starts with `first`."""
    (line,) = re.findall(rf"^{first} →.*$", text(ROOT / "ARCHITECTURE.md"), re.MULTILINE)
    return [room.strip() for room in line.split("→")]


def tracked() -> list[Path]:
    """Return every file of the repository, or of the source archive outside a repository."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        found = [path for part in ("src", "tests", "docs", "cmake") for path in (ROOT / part).rglob("*")]
        return [path for path in found if path.is_file() and "__pycache__" not in path.parts]
    names = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S603
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def test_every_folder_of_the_core_is_a_declared_component():
    assert {path.name for path in CPP.iterdir() if path.is_dir()} | {"topology"} == set(rooms("quantity"))


@pytest.mark.parametrize("room", rooms("quantity"))
def test_a_component_of_the_core_uses_no_later_component(room):
    order = rooms("quantity")
    later = set(order[order.index(room) + 1 :])
    used = {
        (relative(path), include)
        for path in sorted((CPP / room).glob("*"))
        if path.suffix in {".cc", ".h"}
        for include in INCLUDE.findall(text(path))
    }
    assert {(path, include) for path, include in used if include in later} == set()


ANONYMOUS = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"^ *(?:class|struct) (\w+)[^;(]*\{", re.MULTILINE)
FUNCTION = re.compile(
    r"^(?!(?:return|else|using|typedef|static_assert|namespace)\b)[A-Za-z][\w:<>,&* ]*?[ &*](?:(\w+)::)?(~?\w+)\("
    r"|^(\w+)::(~?\w+)\(",
    re.MULTILINE,
)
"""A function that is declared or defined at the beginning of a line: its class, if it is of one, and its name."""


@functools.cache
def shared(path: Path) -> str:
    """A C++ file without its comments and without what no other file sees."""
    return COMMENT.sub("", ANONYMOUS.sub("", text(path)))


@pytest.mark.parametrize("room", rooms("quantity"))
def test_a_function_of_the_core_is_defined_in_the_component_that_declares_it(room):
    headers = "".join(shared(path) for path in sorted((CPP / room).glob("*.h")))
    declared = {name for scope, name, *_ in FUNCTION.findall(headers) if not scope}
    elsewhere = set()
    for path in sorted((CPP / room).glob("*.cc")):
        types = {*TYPE.findall(headers), *TYPE.findall(shared(path))}
        for found in FUNCTION.findall(shared(path)):
            scope, name = found[0] or found[2], found[1] or found[3]
            if name.startswith("Bind") or name == "PYBIND11_MODULE":  # declared in bindings/module.cc
                continue
            if scope not in types if scope else name not in declared:
                elsewhere.add(f"{relative(path)}: {scope}::{name}" if scope else f"{relative(path)}: {name}")
    assert elsewhere == set()


def test_only_the_bindings_use_python():
    knows = {
        relative(path)
        for path in CORE_FILES
        if re.search(r"\bpybind11\b|\bPython\.h\b|\bPyObject\b|\bpy::", code(path))
    }
    assert {path for path in knows if not path.startswith("src/cpp/bindings/")} == set()
    assert {path for path in knows if "#include <pybind11" in text(ROOT / path)} == {"src/cpp/bindings/pybind.h"}


def hash_maps(source: str) -> set[str]:
    """The names of the variables of a file that are hash maps or hash sets."""
    found = set()
    for match in re.finditer(r"\b(?:absl::(?:flat|node)_hash_(?:map|set)|std::unordered_\w+)<", source):
        depth, end = 1, match.end()
        while depth:
            depth += {"<": 1, ">": -1}.get(source[end], 0)
            end += 1
        found.update(re.findall(r"^[&*]?\s+(\w+)\s*[;={]", source[end : end + 100]))
    return found


def test_no_hash_map_of_the_core_is_iterated():
    ordered = {
        name for path in CORE_FILES for name in re.findall(r"\bstd::(?:vector|map)<.*>&? (\w+)[;,)]", code(path))
    }
    names = {name for path in CORE_FILES for name in hash_maps(code(path))} - ordered
    assert names, "the pattern finds no hash map at all"
    alternatives = "|".join(sorted(names))
    iterated = re.compile(rf"for \([^;()]*:[^;()]*\b(?:{alternatives})\)|\b(?:{alternatives})(?:\.|->)c?begin\(")
    assert {relative(path) for path in CORE_FILES if iterated.search(code(path))} - UNORDERED == set()


def test_the_core_reads_no_clock_and_draws_no_random_number():
    forbidden = re.compile(r"<random>|<chrono>|\brand\(|\btime\(nullptr\)|absl::Now\(|absl::BitGen|random_device")
    core = [path for path in CORE_FILES if path.parent.name != "bindings"]  # which look for Ctrl-C now and then
    assert [relative(path) for path in core if forbidden.search(code(path))] == []


def test_every_file_with_rules_names_the_files_it_mirrors():
    units: dict[str, str] = {}
    for path in CORE_FILES:
        if path.parent.name in RULES:
            unit = f"{path.parent.name}/{path.stem}"
            units[unit] = units.get(unit, "") + text(path).replace("\n//", "")
    assert {unit for unit, files in units.items() if PINNED not in files} - OWN == set()
    assert set(units) >= OWN


def test_the_list_of_mirrored_files_is_up_to_date():
    done = subprocess.run([sys.executable, "docs/fidelity.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run `python docs/fidelity.py`"


ENTRANCES = {"", "__main__", "_home", "lab", "platform", "pytest_plugin", "sim"}
"""Modules that know all rooms: those that users import, and the one that they start."""


def module_name(path: Path) -> str:
    """The name of a module below `kueuepy`; that of a package is the name of its folder."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in PYTHON_FILES}


def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports, when it runs, on use, or for types alone."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kueuepy" and not node.level:
            base = (node.module or "").removeprefix("kueuepy").removeprefix(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}".removeprefix(".")
                found.add(inner if inner in MODULES else base)
        if isinstance(node, ast.Import):
            found.update(
                alias.name.removeprefix("kueuepy.") for alias in node.names if alias.name.startswith("kueuepy.")
            )
    return (found & set(MODULES)) - {"", module_name(path)}


def test_imports_are_absolute():
    assert [
        relative(path)
        for path in PYTHON_FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and node.level
    ] == []


def test_no_file_imports_from_the_package_root():
    asking = {
        relative(path)
        for path in PYTHON_FILES
        if module_name(path) not in ENTRANCES
        for node in ast.walk(tree(path))
        if (isinstance(node, ast.ImportFrom) and node.module == "kueuepy" and not node.level)
        or (isinstance(node, ast.Import) and any(alias.name == "kueuepy" for alias in node.names))
    }
    assert asking == set()


ARROWS = {name: imports(path) for name, path in MODULES.items() if name not in ENTRANCES}
WINGS = {"platform": rooms("apiserver"), "lab": rooms("exploration")}


def room_of(module: str) -> str:
    return module.partition(".")[0]


def test_every_file_of_the_package_is_in_a_declared_component():
    assert {room_of(name) for name in ARROWS} == set(rooms("errors"))


@pytest.mark.parametrize("room", rooms("errors"))
def test_a_component_of_the_package_uses_only_earlier_components_and_the_core(room):
    order = rooms("errors")
    later = set(order[order.index(room) + 1 :])
    used = {(name, other) for name, others in ARROWS.items() if room_of(name) == room for other in others}
    assert used or room in {"errors", "_stubs", "sources"}
    assert {(name, other) for name, other in used if room_of(other) in later or other in ENTRANCES} == set()


@pytest.mark.parametrize(("wing", "room"), [(wing, room) for wing, order in WINGS.items() for room in order])
def test_a_component_of_a_wing_uses_only_earlier_components_of_it(wing, room):
    order = WINGS[wing]
    later = {f"{wing}.{other}" for other in order[order.index(room) + 1 :]}
    files = {name: others for name, others in ARROWS.items() if f"{name}.".startswith(f"{wing}.{room}.")}
    assert files
    used = {(name, other) for name, others in files.items() for other in others}
    assert {(name, other) for name, other in used if ".".join(other.split(".")[:2]) in later} == set()


@pytest.mark.parametrize("wing", WINGS)
def test_every_folder_of_a_wing_is_a_declared_component(wing):
    assert {path.name for path in (PACKAGE / wing).iterdir() if path.is_dir()} - {"__pycache__"} == set(WINGS[wing])


WITHOUT_WINGS = """
import importlib, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("kueuepy.lab", "kueuepy.platform")):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
for name in sys.argv[1:]:
    importlib.import_module(name)
import kueuepy as kq
cluster = kq.load("examples/seeds/000/team-ab.yaml")
jobs = kq.Jobs({"queue": ["default/team-a-cq"], "submit": [0], "runtime": [60], "cpu": [1]})
result = kq.simulate(cluster, jobs)
assert result.kpis.finished == 1
assert "team-a-cq" in result.page().html
"""


def test_the_package_works_without_the_wings():
    parts = {"cli", *WINGS, "__main__", "_home", "pytest_plugin", "sim"}
    names = [f"kueuepy.{name}" for name in sorted(MODULES) if name and room_of(name) not in parts]
    script = [sys.executable, "-c", WITHOUT_WINGS, *names]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr


ONLY_REQUIRED = """
import importlib, sys
ours = {"kueuepy", "_kueuepy_editable", "msgspec", "numpy", "yaml", "_yaml", *sys.stdlib_module_names}
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ours:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def test_only_parts_with_an_extra_import_optional_packages():
    extra = ("testing", "pytest_plugin", "lab.rl", "lab.play.traits", "__main__")
    names = [f"kueuepy.{name}" for name in sorted(MODULES) if name and not name.startswith(extra)]
    script = [sys.executable, "-c", ONLY_REQUIRED, *names]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr


def test_no_two_files_of_the_package_use_each_other():
    left = {name: set(others) for name, others in ARROWS.items()}
    while ends := {name for name, others in left.items() if not others & set(left)}:
        left = {name: others for name, others in left.items() if name not in ends}
    # The remaining modules are in an import cycle or use one.
    while unused := set(left) - {other for others in left.values() for other in others}:
        left = {name: others for name, others in left.items() if name not in unused}
    assert set(left) == set()


def test_files_of_a_folder_do_not_share_a_prefix():
    prefixed = {
        relative(path)
        for path in PYTHON_FILES
        for other in path.parent.glob("*.py")
        if path.stem.startswith(f"{other.stem}_") and other.stem != "__init__"
    }
    assert prefixed == set()


FUNCTIONS = [
    (relative(path), node)
    for path in PYTHON_FILES
    for node in ast.walk(tree(path))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
]
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.Match)


def cognitive_complexity(node: ast.AST, depth: int = 0) -> int:
    """Return the complexity of a function: each branch counts one plus its nesting depth."""
    total = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.BoolOp):
            total += 1
        if isinstance(child, _BRANCHES):
            is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
            total += 1 if is_elif else 1 + depth
            total += cognitive_complexity(child, depth if is_elif else depth + 1)
        else:
            total += cognitive_complexity(child, depth + isinstance(child, ast.FunctionDef | ast.Lambda))
    return total


def test_functions_are_short_and_have_few_positional_arguments():
    # The help of a command is its docstring, which describes each option in a line.
    long = {
        (name, node.name, lines)
        for name, node in FUNCTIONS
        if (lines := (node.end_lineno or 0) - node.lineno + 1 - len((ast.get_docstring(node) or "").splitlines())) > 80
    }
    wide = {
        (name, node.name, count)
        for name, node in FUNCTIONS
        if (count := sum(arg.arg not in ("self", "cls") for arg in [*node.args.posonlyargs, *node.args.args])) > 6
    }
    assert long == set()
    assert wide == set()


def test_functions_are_easy_to_follow():
    hard = {(name, node.name, found) for name, node in FUNCTIONS if (found := cognitive_complexity(node)) > 25}
    assert hard == set()


_OF_MESSAGE = r"(?:message|why|str\(error\))"
READS_MESSAGE = re.compile(
    rf"{_OF_MESSAGE}\.(?:startswith|endswith|r?partition|r?split(?!\(\))|remove\w+|replace|find|index)\("
    rf"|\bin {_OF_MESSAGE}(?!\[|\.splitlines)"
    rf"|\w\.(?:match|search|fullmatch|findall|finditer|sub|split)\([^)]*{_OF_MESSAGE}"
    rf"|\b{_OF_MESSAGE} [!=]= |[!=]= {_OF_MESSAGE}(?!\[)"
)
TESTS_OF_TEXT = {
    *("startswith", "endswith", "partition", "rpartition", "split", "removeprefix", "removesuffix", "replace"),
    *("find", "index", "match", "search", "fullmatch", "findall", "finditer"),
}


def reads_an_error(source: ast.AST) -> bool:
    """Return whether code reads the text of a caught exception, under any name."""
    for handler in (node for node in ast.walk(source) if isinstance(node, ast.ExceptHandler) and node.name):
        nodes = [node for statement in handler.body for node in ast.walk(statement)]
        texts = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and ast.unparse(node.value) == f"str({handler.name})"
            for target in node.targets
            if isinstance(target, ast.Name)
        } | {f"str({handler.name})", f"{handler.name}.args[0]"}
        for node in nodes:
            asked: list[ast.AST] = []
            if isinstance(node, ast.Compare):
                asked = [node.left, *node.comparators]
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) in TESTS_OF_TEXT:
                asked = [node.func.value, *node.args]
            if any(ast.unparse(part) in texts for part in asked):
                return True
    return False


@pytest.mark.parametrize("code", ["text = str(e)\n  if text.startswith('a'): pass", "print('a' in str(e))"])
def test_reading_a_result_off_an_error_message_is_detected(code):
    assert reads_an_error(ast.parse(f"try:\n  pass\nexcept ValueError as e:\n  {code}"))


READERS_OF_MESSAGES = {
    "src/kueuepy/errors/arguments.py",  # Python: only the message names an unknown argument
    "src/kueuepy/cli/signature.py",  # spells the arguments that a message names as options
    "src/kueuepy/platform/journal/lock.py",  # sqlite3, before Python 3.11
    "src/kueuepy/platform/live/recording.py",  # recorded from Kueue: only the message names the preemptor
    "src/kueuepy/objects/readable.py",  # msgspec
    "src/kueuepy/selectors/evaluation.py",  # the CEL library
}
"""Files that read a message of a library with no other form of its facts, or that change a message for display."""


def test_no_code_parses_messages_for_facts():
    reads = {relative(path) for path in PYTHON_FILES if READS_MESSAGE.search(text(path)) or reads_an_error(tree(path))}
    assert reads == READERS_OF_MESSAGES


def test_importing_the_package_imports_no_extras():
    extras = {"pandas", "matplotlib", "hypothesis", "yaml", "numpy", "pyarrow"}
    script = f"import sys, kueuepy; print(*sorted({extras!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.split() == []


def exported(path: Path) -> set[str]:
    """The public names that an `__init__.py` imports from the modules of its own package."""
    package = ".".join(["kueuepy", *path.parent.relative_to(PACKAGE).parts])
    nodes = [node for node in tree(path).body if isinstance(node, ast.ImportFrom)]
    own = [node for node in nodes if node.level == 1 or (node.module or "").startswith(f"{package}.")]
    names = {alias.asname or alias.name for node in own for alias in node.names}
    return {name for name in names if not name.startswith("_")}


FACADES = [path for path in PYTHON_FILES if path.name == "__init__.py" and "__all__" in text(path)]


@pytest.mark.parametrize("path", FACADES, ids=relative)
def test_every_name_in_all_exists_once(path):
    module = importlib.import_module(".".join(["kueuepy", *path.parent.relative_to(PACKAGE).parts]))
    assert len(set(module.__all__)) == len(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_the_package_exports_all_imported_names():
    assert exported(PACKAGE / "__init__.py") - set(importlib.import_module("kueuepy").__all__) == set()


def test_every_package_that_exports_names_lists_them_in_all():
    assert [
        relative(path) for path in PYTHON_FILES if path.name == "__init__.py" and exported(path) and path not in FACADES
    ] == []


def test_files_are_small():
    lines = {relative(path): text(path).count("\n") for path in [*CORE_FILES, *PYTHON_FILES]}
    assert {name for name, count in lines.items() if count > 600} == set()


def test_the_guide_names_existing_files():
    named = re.findall(r"`(src/[\w./]+)`", text(ROOT / "CONTRIBUTING.md"))
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_no_todo_comments():
    later = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
    sources = [path for path in tracked() if path.suffix in {".py", ".pyi", ".cc", ".h", ".cmake", ".md"}]
    assert [relative(path) for path in sources if later.search(text(path))] == []


MEASURES_TIME = {
    "tests/crash/kills.py",
    "tests/examples/test_platform.py",
    "tests/exploration/test_sweep.py",
    "tests/fuzz/__main__.py",
    "tests/live/server.py",  # ends a watch, as a real server does
    "tests/session/test_ctrl_c.py",
}
"""Where time is measured: in tests of the ring long, which may fail on a busy machine, and in their helpers."""


def test_only_the_ring_long_measures_time():
    clock = re.compile(r"\btime\.(?:monotonic|perf_counter)\(\)")
    tests = (ROOT / "tests").rglob("*.py")
    assert {relative(path) for path in tests if clock.search(text(path))} == MEASURES_TIME


def test_no_file_mentions_local_paths_or_tools():
    words = [
        "/wo" + "rk/",
        "/ro" + "ot/",
        "../sha" + "red",
        "contract" + "_tmp",
        "Cla" + "ude",
        "Anthro" + "pic",
        "Chat" + "GPT",
    ]
    strange = re.compile("|".join(rf"(?<![\w.\"]){re.escape(word)}" for word in words), re.IGNORECASE)
    parts = [word.lower().encode() for word in words]
    found = []
    for path in tracked():
        raw = path.read_bytes()
        lower = raw.lower()
        # The search for parts is much faster than the pattern, and nearly always finds nothing.
        if b"\0" in raw or not any(part in lower for part in parts):
            continue
        if match := strange.search(raw.decode("utf-8", errors="replace")):
            found.append((relative(path), match.group()))
    assert found == []


def test_the_readme_and_the_packaging_name_the_same_python_and_licence():
    pyproject = text(ROOT / "pyproject.toml")
    (oldest,) = re.findall(r'^requires-python = ">=(3\.\d+)"$', pyproject, re.MULTILINE)
    assert f"Python {oldest}" in text(ROOT / "README.md")
    assert "Apache License" in text(ROOT / "LICENSE")
