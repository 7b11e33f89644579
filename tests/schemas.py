"""Validation of data with the schemas of kueuepy, without any field that a schema lacks."""

from __future__ import annotations

import json

from jsonschema import Draft202012Validator

from explanation_schema import schema


def strict(found):
    """The schema without other fields than its own, so that no fact is undocumented."""
    if isinstance(found, dict):
        made = {name: strict(inner) for name, inner in found.items()}
        return made | {"additionalProperties": False} if "required" in made else made
    return [strict(inner) for inner in found] if isinstance(found, list) else found


_EXPLANATIONS = Draft202012Validator(strict(schema()))


def validate_explanation(found):
    """Expect that the data of an explanation follows its schema and needs no number that JSON lacks."""
    _EXPLANATIONS.validate(json.loads(json.dumps(found, allow_nan=False)))
