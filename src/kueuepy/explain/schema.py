"""The JSON Schema of explanations.

`python -m kueuepy.explain.schema` prints the schema, and `docs/_static/kueuepy.explain.v1.schema.json` contains a copy
for other programs.
"""

import json
import sys
from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import msgspec

from kueuepy.explain.explanation import SCHEMA
from kueuepy.explain.kinds import FACTS, ROOT_FACTS

_VERDICTS = ("Fits", "Preempting", "Pending", "Admitted", "QuotaReserved", "Evicted", "Finished")
_TEXT = {"type": "string"}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of `Explanation.to_dict` and of `kueuepy explain --json`."""
    kinds, roots = tuple(FACTS.values()), tuple(ROOT_FACTS.values())
    described, parts = msgspec.json.schema_components((*kinds, *roots), ref_template="#/$defs/{name}")
    facts, root_facts = described[: len(kinds)], described[len(kinds) :]
    causes = {"type": "array", "items": {"$ref": "#/$defs/cause"}}
    parts["cause"] = _by("kind", FACTS, facts, {"causes": causes})
    parts["root_cause"] = _by("code", ROOT_FACTS, root_facts, {})
    _finish(parts)
    found: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        "description": "Why a workload is pending, admitted, evicted or finished. Amounts are integers in base units: "
        "thousandths for cpu, bytes for memory, and units for other resources; null is unlimited. Within this version, "
        "fields, kinds and codes are only added.",
        **_object(
            {
                "schema": {"const": SCHEMA},
                "workload": {**_TEXT, "description": "The key of the workload, namespace/name."},
                "cluster_queue": {**_TEXT, "description": "Its ClusterQueue; empty if it has none."},
                "verdict": {"enum": list(_VERDICTS)},
                "reason": {**_TEXT, "description": "Kueue's reason from an evaluation now."},
                "message": {**_TEXT, "description": "Kueue's message for the reason."},
                "written": {
                    "type": "array",
                    "prefixItems": [_TEXT, _TEXT],
                    "minItems": 2,
                    "maxItems": 2,
                    "description": "Reason and message of the current condition QuotaReserved.",
                },
                "causes": causes,
                "root_cause": {
                    "anyOf": [{"$ref": "#/$defs/root_cause"}, {"type": "null"}],
                    "description": "The cause that decides why the workload does not run; null if it runs, is evicted "
                    "or finished, or if the next cycle would admit it.",
                },
            }
        ),
        "$defs": parts,
    }
    found["properties"]["not_modelled"] = {
        "type": "array",
        "items": _TEXT,
        "description": "Parts of the input that kueuepy does not model and that could change the state.",
    }
    return found


def _by(name: str, values: Iterable[str], facts: Iterable[dict[str, Any]], others: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object whose facts depend on the value of one field."""
    kinds = [
        {"if": {"properties": {name: {"const": value}}}, "then": {"properties": {"facts": found}}}
        for value, found in zip(values, facts, strict=True)
    ]
    return {
        **_object({name: {"enum": list(values)}, "text": _TEXT, "facts": {"type": "object"}, **others}),
        "allOf": kinds,
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _finish(found: Any) -> None:
    """Allow an infinity, written as a string, in place of each number, and remove the indentation of descriptions."""
    if isinstance(found, dict) and isinstance(text := found.get("description"), str):
        # Python 3.13 removes the indentation of docstrings, older versions do not.
        found["description"] = cleandoc(text)
    for inner in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        if isinstance(inner, dict) and inner.get("type") == "number":
            del inner["type"]
            inner["anyOf"] = [{"type": "number"}, {"enum": ["+Inf", "-Inf"]}]
        else:
            _finish(inner)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
