"""Write the table of mirrored files into `fidelity.md`: `python docs/fidelity.py [--check]`.

The table lists the files of Kueue that the C++ comments and the Python sources name.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "fidelity.md"
BEGIN, END = "<!-- begin: written by docs/fidelity.py -->\n", "<!-- end -->\n"
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


def written(page: str) -> str:
    """Return the page with a new table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + table() + "\n" + END + after


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
