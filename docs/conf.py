"""Configuration of Sphinx; run `sphinx-build -n -W docs docs/_build/html`."""

import __future__

import ast
import inspect
import os
import pkgutil
import re
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType

import nbclient
import nbformat
from sphinx.application import Sphinx

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
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
nb_execution_mode = "off"  # `_run_notebooks` has run them
html_theme = "furo"
html_title = "kueuepy"
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
default_role = "code"  # single backticks in docstrings

# The types of other packages, and the modules in which classes of this package are defined, have no pages here. Public
# names, such as kueuepy.Cluster, must resolve.
nitpick_ignore_regex = [("py:.*", r"(?!kueuepy\.).*"), ("py:.*", r"kueuepy\.[a-z_.]+\._?[A-Z]\w*")]
# The short name of a class, such as Rule, may belong to two modules; the reference leads to the first.
suppress_warnings = ["ref.python"]


def _complete(module: ModuleType) -> None:
    """Define the names that a module has only for type checkers, because signatures contain them."""
    for block in ast.parse(inspect.getsource(module)).body:
        if not isinstance(block, ast.If) or ast.unparse(block.test) != "TYPE_CHECKING":
            continue
        for line in block.body:
            if isinstance(line, ast.ImportFrom) and str(line.module).startswith("kueuepy."):
                source = import_module(str(line.module))
                for name in line.names:
                    if not hasattr(source, name.name):
                        _complete(source)
                    setattr(module, name.asname or name.name, getattr(source, name.name))
        if any(isinstance(line, ast.ClassDef) for line in block.body):
            flags = __future__.annotations.compiler_flag
            code = compile(ast.Module(block.body, []), str(module.__file__), "exec", flags)
            exec(code, vars(module))  # noqa: S102 - source of this package


def _run_notebooks() -> None:
    """Run the notebooks, save them with their outputs among the pages, and write a page that lists them."""
    pages = Path(__file__).parent / "notebooks"
    pages.mkdir(exist_ok=True)
    intro = "Each notebook answers a question with code and charts. It runs in less than a minute, without a cluster."
    lines = ["# Notebooks", "", intro, "", "```{toctree}", ":maxdepth: 1", ""]
    for source in sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(source, as_version=4)
        nbclient.execute(notebook, cwd=source.parent, timeout=120)
        _remove_progress_bars(notebook)
        nbformat.write(notebook, pages / source.name)
        lines.append(source.stem)
    (pages / "index.md").write_text("\n".join([*lines, "```", ""]), encoding="utf-8")


def _remove_progress_bars(notebook: nbformat.NotebookNode) -> None:
    """Remove the widgets of a notebook: they are progress bars, and a page would load scripts from other sites."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if _WIDGET not in output.get("data", {})]


_WIDGET = "application/vnd.jupyter.widget-view+json"


def _draw_usage() -> None:
    """Draw the usage of the first example of the page on simulation."""
    page = (Path(__file__).parent / "simulate.md").read_text(encoding="utf-8")
    lines = page.split("```pycon\n")[1].split("```")[0].splitlines()
    source = "\n".join(line[4:] for line in lines if line[:4] in (">>> ", "... ") and "plot" not in line)
    names: dict[str, object] = {}
    exec(source, names)  # noqa: S102 - a page of this documentation
    found = names["found"]
    shown = found["shared"].picture("usage")._repr_html_()  # type: ignore[index]
    (Path(__file__).parent / "_static" / "usage.html").write_text(shown, encoding="utf-8")


def _draw_pictures() -> None:
    """Run the code of the page of pictures, and draw each picture into the file that the page names."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("svg")
    docs = Path(__file__).parent
    (docs / "_static" / "pictures").mkdir(parents=True, exist_ok=True)
    names: dict[str, object] = {}
    page = (docs / "pictures.md").read_text(encoding="utf-8")
    here = Path.cwd()
    os.chdir(docs.parent)  # the page names the files of the examples from there
    try:
        for block, text in re.findall(r"^```(pycon|\{image\} .*?)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
            if block == "pycon":
                names |= {"picture": None, "axes": None}
                exec("\n".join(line[4:] for line in text.splitlines()), names)  # noqa: S102 - our own page
            elif (picture := names["picture"]) is not None:
                path = docs / block.split()[1]
                picture.save(path)  # type: ignore[attr-defined]
                path.with_suffix(".narrow.svg").write_text(picture.narrow, encoding="utf-8")  # type: ignore[attr-defined]
            else:
                figure = getattr(names["axes"], "figure", names["axes"])
                figure.savefig(docs / block.split()[1])  # type: ignore[attr-defined]
    finally:
        os.chdir(here)


def _use_narrow_pictures(_app: object, _page: str, _template: str, context: dict[str, str], _tree: object) -> None:
    """Show the drawing for narrow screens on a narrow screen, because the text of the other one would be too small."""

    def both(found: re.Match[str]) -> str:
        name = f"_static/pictures/{found[1]}.narrow.svg"
        if not (Path(__file__).parent / name).exists():
            return found[0]
        return f'<picture><source media="(max-width: 46em)" srcset="{name}">{found[0]}</picture>'

    if "body" in context:
        context["body"] = re.sub(r'<img [^>]*src="_images/(\w+)\.svg"[^>]*>', both, context["body"])


def _prepare(_app: object, what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Convert the Markdown tables of a docstring, and keep the first sentence of a property in one piece.

    Hypothesis passes the argument `draw` of a strategy itself, so the signature does not contain it.
    """
    lines[:] = _TABLE.sub(_list_table, "\n".join(line for line in lines if not _DRAW.match(line))).split("\n")
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]  # otherwise Napoleon takes the words before a colon for a type


_DRAW = re.compile(r" *draw: The draw function, provided by Hypothesis\.$")
_TABLE = re.compile(r"^( *)\|.*\|\n *\| ---.*\|\n(?: *\|.*\|(?:\n|$))+", re.MULTILINE)


def _list_table(table: re.Match[str]) -> str:
    indent = table[1]
    head, _, *body = table[0].splitlines()
    rows = [[cell.strip() for cell in row.strip()[1:-1].split("|")] for row in (head, *body)]
    cells = (f"{indent}   {'-' if column else '* -'} {cell}" for row in rows for column, cell in enumerate(row))
    aligned = (cell.replace(f"{indent}   -", f"{indent}     -", 1) for cell in cells)
    return "\n".join([f"{indent}.. list-table::", f"{indent}   :header-rows: 1", "", *aligned, "", ""])


def _shorten(*event: object) -> None:
    """Show the types of attributes without their modules, as in signatures."""
    lines = event[-1]
    assert isinstance(lines, list)
    lines[:] = [_MODULES.sub(r"~\g<0>", line) if line.lstrip().startswith(":vartype") else line for line in lines]


_MODULES = re.compile(r"(?<![\w.~'])(?:[a-z_]\w*\.)+[A-Z]\w*")


def _defaults(*event: object) -> tuple[str, object] | None:
    """Shorten the defaults of a signature.

    A default that is created for each object becomes `...`, because Sphinx cannot parse `<factory>`. A default object
    with many fields becomes `Configuration(...)`.
    """
    signature, returned = event[-2:]
    if not isinstance(signature, str):
        return None
    parts = _CALL.split(signature.replace("<factory>", "..."))
    return "".join([parts[0], *map(_shorten_arguments, parts[1::2], parts[2::2])]), returned


def _shorten_arguments(call: str, rest: str) -> str:
    """Return a call and the rest of the signature, without the arguments of the call if they are long."""
    depth = 1
    for end, char in enumerate(rest):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return f"{call}...{rest[end:]}" if end > _LONG else call + rest
    return call + rest


_CALL = re.compile(r"(= [A-Z]\w*\()")
_LONG = 50
"""Maximum length of the arguments of a default object, in characters."""


def _skip(_app: object, _what: str, _name: str, member: object, *_more: object) -> bool | None:
    """Leave out the fields of a NamedTuple whose only text is Python's own; the class documents its fields."""
    return True if (inspect.getdoc(member) or "").startswith("Alias for field number") else None


def setup(app: Sphinx) -> None:
    """Register the preparation of docstrings and signatures."""
    app.connect("autodoc-process-docstring", _prepare, priority=400)
    app.connect("autodoc-process-docstring", _shorten, priority=600)  # after Napoleon
    app.connect("autodoc-process-signature", _defaults)
    app.connect("autodoc-skip-member", _skip)
    app.connect("html-page-context", _use_narrow_pictures)


_run_notebooks()
_draw_usage()
_draw_pictures()
for _found in pkgutil.walk_packages(kueuepy.__path__, "kueuepy."):
    if _found.name.startswith("kueuepy._") or ".__" in _found.name:
        continue
    _complete(import_module(_found.name))
