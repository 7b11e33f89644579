"""Examples on the documentation pages run and print what the pages show."""

import doctest
import importlib
import re
import shlex
from pathlib import Path

import pytest

import kueuepy
import perf
from kueuepy.cli import main
from kueuepy.lint import RULES

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [
    README,
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if not {"_build", "notebooks"} & set(path.parts)),
]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(path, language):
    return [body for name, body in _FENCE.findall(path.read_text(encoding="utf-8")) if name == language]


def _with(language):
    pages = [page for page in PAGES if _blocks(page, language)]
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.stem)


@_with("pycon")
@pytest.mark.usefixtures("own_kinds")
def test_examples_in_python(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = "\n".join(_blocks(page, "pycon"))
    examples = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    told = []
    doctest.DocTestRunner(verbose=False).run(examples, out=told.append)

    assert "".join(told) == ""
    assert examples.examples


@_with("console")
def test_examples_of_commands(page, monkeypatch, capsys, request):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    text = page.read_text(encoding="utf-8")
    for block in _blocks(page, "console"):
        for example in block.split("$ ")[1:]:
            command, _, expected = example.partition("\n")
            name, *arguments = shlex.split(command)
            assert name == "kueuepy"
            main(arguments)
            captured = capsys.readouterr()
            lines = [line.rstrip() for line in (captured.out + captured.err).splitlines()]
            if request.config.getoption("--regold"):
                ending = expected[len(expected.rstrip("\n")) :] or "\n"
                text = text.replace(f"$ {example}", f"$ {command}\n" + "\n".join(lines) + ending)
            else:
                assert lines == expected.rstrip("\n").splitlines(), command
    if request.config.getoption("--regold"):
        page.write_text(text, encoding="utf-8")


def test_only_one_page_of_the_documentation_says_how_to_install_extras():
    """No index has the package yet; a release changes this page."""
    texts = [
        *PAGES,
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "examples").rglob("*.*"),
        *(ROOT / "notebooks").glob("*.ipynb"),
    ]
    naming = re.compile(r"pip install [^\n`]*(\[|(?<!/)kueuepy\b)")
    names = {
        path.relative_to(ROOT).as_posix()
        for path in texts
        if path.suffix != ".gz" and naming.search(path.read_text(encoding="utf-8", errors="replace"))
    }

    assert names == {"README.md", "docs/index.md"}


def test_the_first_command_of_the_readme_prints_the_documented_output(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    commands = _blocks(README, "bash")[0].replace("\n", " ").split("&&")
    runs = [shlex.split(command) for command in commands if " run " in command or "tools/" in command]
    assert [arguments[:2] for arguments in runs] == [
        [".venv/bin/kueuepy", "run"],
        [".venv/bin/python", "tools/perf.py"],
    ]

    assert main(runs[0][1:]) == 0
    shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown == _blocks(README, "text")[0].splitlines()
    assert perf.main(runs[1][2:]) == 0


def test_no_page_has_an_example_in_another_language():
    known = {"console", "pycon", "text", "bash", ""}
    found = {name for page in PAGES for name, _ in _FENCE.findall(page.read_text(encoding="utf-8"))}

    assert found <= known


def _reference():
    return "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))


def test_every_public_name_is_in_the_reference():
    rooms = {*["errors", "jobs", "lab", "live", "manifest", "objects", "platform", "sim"]}
    assert [name for name in kueuepy.__all__ if name not in rooms and f" kueuepy.{name}\n" not in _reference()] == []


@pytest.mark.parametrize(
    "room",
    [
        "errors",
        "jobs",
        "lab",
        "lint",
        "manifest",
        "objects",
        "platform",
        "platform.live",
        "sim",
        "testing",
    ],
)
def test_every_public_name_of_a_module_is_in_the_reference(room):
    text = _reference()
    names = {*importlib.import_module(f"kueuepy.{room}").__all__} - {"play", "rl"}  # which have a section each
    assert [n for n in names if f" kueuepy.{room}.{n}\n" not in text and f" kueuepy.{n}\n" not in text] == []


def test_the_tables_from_task_to_name_have_names_that_exist():
    text = (ROOT / "docs" / "api" / "names.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ((?:\{py:obj\}`kueuepy[\w.]+`(?:, )?)+) \| ", text, re.MULTILINE)
    assert len(rows) == text.count("\n|") - 2 * text.count("\n## ") > 50
    for _, names in rows:
        for name in re.findall(r"`kueuepy\.([\w.]+)`", names):
            found = kueuepy
            for part in name.split("."):
                if name.partition(".")[0] not in ("play", "rl"):  # which may need an extra
                    found = getattr(found, part, None) or importlib.import_module(f"{found.__name__}.{part}")
    tasks = [task for task, _ in rows]
    assert len(set(tasks)) == len(tasks)


def test_the_page_of_lint_lists_every_rule():
    text = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| L")]

    assert rows == [f"| {rule.id} | {rule.severity} | {rule.title} |" for rule in RULES]


def test_the_page_of_fidelity_lists_the_parts_that_are_not_modelled():
    text = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| not modelled \| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)

    assert dict(rows) == kueuepy.fidelity().left_out


def test_the_dictionary_names_files_that_exist():
    text = (ROOT / "docs" / "dictionary.md").read_text(encoding="utf-8")

    assert [name for name in re.findall(r"`(src/[\w/.]+)`", text) if not (ROOT / name).is_file()] == []


def test_every_page_can_be_reached_from_the_first_one():
    docs = ROOT / "docs"
    named = {"index", *re.findall(r"^([\w/.-]+)$", _toctree(docs / "index.md"), re.MULTILINE)}
    named |= {
        f"concepts/{name}" for name in re.findall(r"^([\w-]+)$", _toctree(docs / "concepts/index.md"), re.MULTILINE)
    }
    pages = {str(path.relative_to(docs).with_suffix("")) for path in PAGES[1:]}
    assert {page for page in pages if not page.startswith("api/")} <= named
    assert {"notebooks/index", "api/index"} <= named


def test_concept_pages_are_about_kueue_and_not_about_code():
    pages = {page.stem for page in (ROOT / "docs" / "concepts").glob("*.md")}
    assert {"queues", "quota", "cohorts", "flavors", "preemption", "fair-sharing"} <= pages
    assert not pages & {"io", "bindings", "engine", "persist", "state", "lifecycle", "scheduler", "questions"}


def test_example_lines_are_short_and_metrics_have_a_guide():
    (width,) = re.findall(r"\.content \{ width: (\d+)rem", (ROOT / "docs/_static/wide.css").read_text(encoding="utf-8"))
    assert int(width) >= 58
    assert "wide.css" in (ROOT / "docs/conf.py").read_text(encoding="utf-8")
    assert ".kpis" in (ROOT / "docs/howto.md").read_text(encoding="utf-8")


def _toctree(path):
    return "\n".join(_FENCE_OF_TOCTREE.findall(path.read_text(encoding="utf-8")))


_FENCE_OF_TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
