"""The recipes for other installers, the workflows and the files of a release match pyproject.toml."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def required(line: str) -> set[str]:
    """The packages of a list of pyproject.toml, with the lowest version of each."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (found,) = re.findall(rf"^{line} = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    return {name.split(",")[0].strip() for name in re.findall(r'"([^"]+)"', found)}


def test_the_conda_recipe_requires_what_the_package_requires():
    recipe = ROOT / "recipe" / "meta.yaml"
    if not recipe.exists():
        pytest.skip("not part of what is here")
    text = recipe.read_text(encoding="utf-8")
    listed = {part.replace(" ", "") for part in re.findall(r"^    - (.+)$", text, re.MULTILINE)}
    assert required("dependencies") <= listed
    built = {name for name in required("requires") if not name.startswith("cmeel-eigen")}
    assert built <= listed
    assert "eigen3.4.*" in listed


GITHUB = ROOT / ".github"
needs_repository = pytest.mark.skipif(not GITHUB.is_dir(), reason="the workflows are not part of what is here")


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def workflows():
    return {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in GITHUB.glob("workflows/*.yml")}


@needs_repository
def test_the_versions_of_a_release_agree():
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)[1]
    assert set(script("release").versions().values()) == {version}
    assert script("release").main([f"v{version}"]) == 0
    assert script("release").main(["v99.0.0"]) == 1


@needs_repository
def test_the_notes_of_a_release_are_its_section_of_the_changelog(tmp_path):
    text = "# Changelog\n\n## [Unreleased]\n\n## [0.3.0] - 2027-01-01\n\n- new\n\n## [0.2.0] - 2026-11-23\n\n- old\n"
    (tmp_path / "CHANGELOG.md").write_text(text, encoding="utf-8")
    assert script("release").notes("0.3.0", tmp_path) == "- new\n"
    with pytest.raises(SystemExit, match="no section"):
        script("release").notes("0.4.0", tmp_path)


@needs_repository
def test_the_documentation_lists_releases_newest_first(tmp_path):
    for name in ("latest", "v0.9", "v0.10", "old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").touch()
    script("versions").main(tmp_path)
    assert json.loads((tmp_path / "versions.json").read_text("utf-8")) == ["v0.10", "v0.9", "latest"]
    assert 'url=v0.10/"' in (tmp_path / "index.html").read_text("utf-8")


@needs_repository
def test_the_workflows_test_the_declared_versions_of_python():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    declared = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)
    assert workflows()["ci.yml"]["jobs"]["test"]["strategy"]["matrix"]["python"] == declared
    assert re.search(r'^build = "cp3\{(.+)\}-\*"$', text, re.MULTILINE)[1] == ",".join(v[2:] for v in declared)


@needs_repository
def test_actions_are_pinned_to_commits():
    uses = [
        line.split("uses:")[1].strip()
        for path in GITHUB.glob("workflows/*.yml")
        for line in path.read_text("utf-8").splitlines()
        if "uses:" in line
    ]
    foreign = [use for use in uses if not use.startswith("./")]
    loose = {use for use in foreign if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)}
    assert len(foreign) > 15
    assert loose == {"pypa/gh-action-pypi-publish@release/v1"}


@needs_repository
def test_only_jobs_that_publish_have_permission_to_write():
    writing = {
        (name, job)
        for name, workflow in workflows().items()
        for job, steps in workflow["jobs"].items()
        if "write" in steps.get("permissions", {}).values()
    }
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in workflows().values())
    assert writing == {
        ("release.yml", "publish"),
        ("release.yml", "docs"),
        ("docs.yml", "publish"),
        ("codeql.yml", "analyse"),
    }
