"""Sphinx: `sphinx-build -n -W docs docs/_build/html`."""

import ast
import inspect
import pkgutil
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType

import nbclient
import nbformat

import kueuepy

project = "kueuepy"
copyright = "the kueuepy authors"  # noqa: A001 - Sphinx's word
author = "the kueuepy authors"
try:
    release = metadata.version("kueuepy")
except metadata.PackageNotFoundError:  # a build tree that is not installed
    release = "dev"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_static_path = ["_static"]
html_css_files = ["wide.css"]
nb_execution_mode = "off"  # they have been run when they come here
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


def _run_notebooks() -> None:
    """Runs the notebooks, which have a folder of their own, puts what came out among the pages, and lists them."""
    pages = Path(__file__).parent / "notebooks"
    pages.mkdir(exist_ok=True)
    lines = ["# Notebooks", "", "Each runs in a minute, without a cluster.", "", "```{toctree}", ":maxdepth: 1", ""]
    for source in sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(source, as_version=4)
        nbclient.execute(notebook, cwd=source.parent, timeout=120)
        nbformat.write(notebook, pages / source.name)
        lines.append(source.stem)
    (pages / "index.md").write_text("\n".join([*lines, "```", ""]), encoding="utf-8")


def _draw_usage() -> None:
    """Draws the picture of the first page: the week of three teams, of the page on simulation."""
    page = (Path(__file__).parent / "simulate.md").read_text(encoding="utf-8")
    lines = page.split("```pycon\n")[1].split("```")[0].splitlines()
    source = "\n".join(line[4:] for line in lines if line[:4] in (">>> ", "... ") and "plot" not in line)
    names: dict[str, object] = {}
    exec(source, names)  # noqa: S102 - our own page
    found = names["found"]
    found["shared"].picture("usage").save(Path(__file__).parent / "_static" / "usage.svg")  # type: ignore[index]


_run_notebooks()
_draw_usage()
for _found in pkgutil.walk_packages(kueuepy.__path__, "kueuepy."):
    if _found.name.startswith("kueuepy._") or ".__" in _found.name:
        continue
    _complete(import_module(_found.name))
