"""Sphinx: `sphinx-build -n -W docs docs/_build/html`."""

import ast
import inspect
import pkgutil
from importlib import import_module, metadata
from types import ModuleType

import kueuepy

project = "kueuepy"
copyright = "the kueuepy authors"  # noqa: A001 - Sphinx's word
author = "the kueuepy authors"
try:
    release = metadata.version("kueuepy")
except metadata.PackageNotFoundError:  # a build tree that is not installed
    release = "dev"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "kueuepy"
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# Types of other packages, and the modules in which annotations find ours, have no pages here. Names that a page spells
# out, kueuepy.Name, must resolve.
nitpick_ignore_regex = [("py:.*", r"(?!kueuepy\.).*"), ("py:.*", r"kueuepy\.[a-z_.]+\.[A-Z]\w*")]


def _complete(module: ModuleType) -> None:
    """Imports what the module imports for type checkers only, so that signatures can name it."""
    for block in ast.parse(inspect.getsource(module)).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom) and str(line.module).startswith("kueuepy."):
                    for name in line.names:
                        setattr(module, name.asname or name.name, getattr(import_module(str(line.module)), name.name))


for _found in pkgutil.walk_packages(kueuepy.__path__, "kueuepy."):
    if _found.name.startswith("kueuepy._") or ".__" in _found.name:
        continue
    _complete(import_module(_found.name))
