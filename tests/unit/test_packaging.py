"""The recipes for other installers match pyproject.toml."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
    assert required("dependencies") | required("cli") <= listed
    built = {name for name in required("requires") if not name.startswith("cmeel-eigen")}
    assert built <= listed
    assert "eigen3.4.*" in listed
