"""Write `versions.json` and the first page of a folder with one folder for each version of the documentation."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

_RELEASE = re.compile(r"v(\d+)\.(\d+)")


def versions(folder: Path) -> list[str]:
    """Return the names of the versions: the newest release first, `latest` (the main branch) at the end."""
    names = [path.name for path in folder.iterdir() if (path / "index.html").is_file()]
    releases = [name for name in names if _RELEASE.fullmatch(name)]
    releases.sort(key=lambda name: tuple(map(int, name[1:].split("."))), reverse=True)
    return releases + [name for name in names if name == "latest"]


def main(folder: Path) -> None:
    """Write both files."""
    names = versions(folder)
    (folder / "versions.json").write_text(json.dumps(names) + "\n", encoding="utf-8")
    page = f'<!doctype html><meta http-equiv="refresh" content="0; url={names[0]}/"><title>kueuepy</title>\n'
    (folder / "index.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
