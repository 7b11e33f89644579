"""Write the tables of `fidelity.md`: `python docs/fidelity.py [--check]`.

The first tables list the feature gates and the fields of Kueue's API with their effect in kueuepy. The last one lists
the files of Kueue that the C++ comments and the Python sources name.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import fill

from kueuepy.cluster.unmodelled import fields as fields_of_kinds
from kueuepy.profiles import ALWAYS_OPEN
from kueuepy.profiles.gates import COVERAGE, DEFAULTS, LATER
from kueuepy.profiles.rules import RELEASES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "fidelity.md"
EFFECTS = ("modelled", "no effect", "not modelled")
END = "<!-- end -->\n"
_CITATION = re.compile(
    r"(?<![\w.-])(?:pkg|apis|cmd|keps|(?:sigs\.)?k8s\.io)/[\w.-]+(?:/[\w.-]+)*(?:/?\{[\w,. ]+\})?(?:\.go)?"
)
_COMMENT = re.compile(r"^\s*//+ ?(.*)$", re.MULTILINE)


def citations(path: Path) -> list[str]:
    """Return the files and packages of Kueue that a source names, in alphabetical order."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        text = "\n".join(_COMMENT.findall(text))
    found: set[str] = set()
    for match in _CITATION.findall(text):
        head, brace, rest = match.partition("{")
        names, _, tail = rest.partition("}")
        options = [name.strip() for name in names.split(",")] if brace else [""]
        found.update((head + name + tail).rstrip("./-") for name in options)
    return sorted(found)


def table() -> str:
    """Return the table, with one row for each folder whose files name files of Kueue."""
    folders: dict[str, set[str]] = {}
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in {".cc", ".h", ".py"} and (cited := citations(path)):
            folders.setdefault(path.parent.relative_to(ROOT).as_posix(), set()).update(cited)
    rows = ["| folder of kueuepy | files of Kueue |", "| --- | --- |"]
    for folder, cited in folders.items():
        names = ", ".join(f"`{name}`" for name in sorted(cited))
        rows.append(f"| `{folder}` | {names} |")
    return "\n".join(rows) + "\n"


def gates() -> str:
    """Return the table of the feature gates of the mirrored commit, and of those that are newer."""
    rows = ["| effect | feature gate | on by default | note |", "| --- | --- | --- | --- |"]
    defaults = DEFAULTS[RELEASES[-1]]
    for effect in EFFECTS:
        for name in sorted(defaults):
            if COVERAGE[name].effect == effect:
                newer = " (this gate is newer than the mirrored commit)" if name in LATER else ""
                rows.append(
                    f"| {effect} | `{name}` | {'yes' if defaults[name] else 'no'} | {COVERAGE[name].note}{newer} |"
                )
    return "\n".join(rows) + "\n"


def fields() -> str:
    """Return the table of the fields of Kueue's API and of its configuration file."""
    rows = ["| kind | effect | fields |", "| --- | --- | --- |"]
    for kind, paths in fields_of_kinds().items():
        for effect in EFFECTS:
            listed: dict[str, list[str]] = {}
            for path, coverage in paths.items():
                if coverage.effect == effect:
                    listed.setdefault(coverage.note, []).append(f"`{path}`")
            for note, names in listed.items():
                rows.append(f"| {kind} | {effect}{': ' if note else ''}{note} | {', '.join(names)} |")
    return "\n".join(rows) + "\n"


def open_answers() -> str:
    """Return the list of the cases in which Kueue's result is random or undefined."""
    return "".join(f"{fill(f'- {text}', 120, subsequent_indent='  ')}\n" for text in ALWAYS_OPEN)


BLOCKS = {"open answers": open_answers, "feature gates": gates, "fields": fields, "mirrored files": table}
"""The generated parts of the page, by the name in their first line."""


def written(page: str) -> str:
    """Return the page with new tables between their marks."""
    for name, made in BLOCKS.items():
        begin = f"<!-- begin: {name}, written by docs/fidelity.py -->\n"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(END)
        page = before + begin + "\n" + made() + "\n" + END + after
    return page


def main() -> int:
    """Write the page; with `--check`, return 1 if it is out of date."""
    old = PAGE.read_text(encoding="utf-8")
    new = written(old)
    if "--check" in sys.argv[1:]:
        return int(old != new)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
