"""Write `table.json`: the structural schemas of Kueue's custom resources, without descriptions and CEL rules.

Run this script on a checkout of Kueue: `python tools/crds.py KUEUE/config/components/crd/bases`.
The CustomResourceDefinitions in this directory contain every field with its type, including the fields of pod
templates.

Each distinct schema is stored once, and other schemas refer to it by its index.
"""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

_TABLE = Path(__file__).parent.parent / "src" / "kueuepy" / "manifest" / "schema" / "table.json"
_KEPT = (
    *("type", "format", "pattern", "enum", "default", "minimum", "maximum", "minLength", "maxLength"),
    *("minItems", "maxItems", "maxProperties", "required"),
)
_LIST_KEYS = "x-kubernetes-list-map-keys"


class _Table:
    """The distinct schemas found so far, by index."""

    def __init__(self) -> None:
        self.schemas: list[dict[str, Any]] = []
        self._numbers: dict[str, int] = {}

    def number(self, schema: dict[str, Any]) -> int:
        """Return the index of a schema, which is added if it is new."""
        kept: dict[str, Any] = {name: schema[name] for name in _KEPT if name in schema}
        if schema.get("x-kubernetes-int-or-string"):
            kept["type"] = "integer or string"
        if schema.get("x-kubernetes-list-type") == "set":
            kept["set"] = True
        elif schema.get("x-kubernetes-list-type") == "map":
            kept["keys"] = schema[_LIST_KEYS]
        if "properties" in schema:
            kept["properties"] = {name: self.number(inner) for name, inner in schema["properties"].items()}
        for name in ("items", "additionalProperties"):
            if name in schema:
                kept["items"] = self.number(schema[name])
        text = json.dumps(kept, sort_keys=True)
        if text not in self._numbers:
            self._numbers[text] = len(self.schemas)
            self.schemas.append(kept)
        return self._numbers[text]


def table(folder: Path) -> dict[str, Any]:
    """Return the table of all CustomResourceDefinitions in a directory."""
    found = _Table()
    kinds: dict[str, dict[str, Any]] = {}
    for file in sorted(folder.glob("*.yaml")):
        spec = yaml.safe_load(file.read_text())["spec"]
        kinds[spec["names"]["kind"]] = {
            version["name"]: found.number(version["schema"]["openAPIV3Schema"]) for version in spec["versions"]
        }
    return {"kinds": kinds, "schemas": found.schemas}


def main(folder: str) -> None:
    """Write the table to the package, with one schema per line."""
    found = table(Path(folder))
    kinds = json.dumps(found["kinds"])
    schemas = ",\n".join(json.dumps(schema, separators=(",", ":")) for schema in found["schemas"])
    _TABLE.write_text(f'{{"kinds": {kinds},\n"schemas": [\n{schemas}\n]}}\n')


if __name__ == "__main__":
    main(sys.argv[1])
