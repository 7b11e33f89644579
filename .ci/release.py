"""Check that a tag is the version of the package, or print the changes of the release.

python .ci/release.py v0.2.0           # fails unless pyproject.toml, CITATION.cff and CHANGELOG.md agree with the tag
python .ci/release.py v0.2.0 --notes   # prints the section of CHANGELOG.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def versions(root: Path = ROOT) -> dict[str, str]:
    """Return the version that each file states."""
    patterns = {
        "pyproject.toml": r'^version = "(.+)"$',
        "CITATION.cff": r'^version: "?([^"\n]+)"?$',
        "CHANGELOG.md": r"^## \[(\d[^\]]*)\] - \d{4}-\d{2}-\d{2}$",
    }
    found = {}
    for name, pattern in patterns.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = match[1] if match else "none"
    return found


def notes(version: str, root: Path = ROOT) -> str:
    """Return the section of a version in CHANGELOG.md, without its heading."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    match = re.search(rf"^## \[{re.escape(version)}\].*?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if match is None:
        raise SystemExit(f"CHANGELOG.md: there is no section [{version}]")
    return match[1].strip() + "\n"


def main(arguments: list[str]) -> int:
    """Check a tag, or print its notes; return the exit status."""
    version = arguments[0].removeprefix("v")
    if "--notes" in arguments:
        sys.stdout.write(notes(version))
        return 0
    wrong = {name: found for name, found in versions().items() if found != version}
    for name, found in wrong.items():
        print(f"{name}: version is {found}; it must be {version}, as in the tag", file=sys.stderr)  # noqa: T201
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
