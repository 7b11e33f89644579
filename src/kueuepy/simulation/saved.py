"""The file `result.json`, which contains the data of a result that is not in tables, and a checksum."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.recorded import PreemptionLoop  # noqa: TC001 - msgspec looks it up
from kueuepy.simulation.waiting import Waiter  # noqa: TC001 - msgspec looks it up

if TYPE_CHECKING:
    from pathlib import Path

_FORMAT = "kueuepy-result"
_VERSION = 3
_READ = (2, _VERSION)
"""Versions of the format that are read; version 2 has neither fleets nor `not_modelled`."""

Cells = dict[str, float]


class _Queue(TypedDict):
    waits: float
    most_waiting: int
    blocked: float
    somebody_waits: float
    cells: dict[str, tuple[float, float, float, int]]


class _Submitted(TypedDict):
    until: int
    used: Cells
    nominal: Cells


class _TotalsOfAll(TypedDict):
    queues: dict[str, _Queue]
    trees: list[tuple[str, str, float, float]]
    evictions: list[tuple[str, str, str, int, Cells]]
    nominal: Cells
    lost: Cells
    overhead: Cells
    waits: float
    most_waiting: int
    borrowing: float
    assigned: list[list[tuple[str, str, str, int]]]


class _Totals(_TotalsOfAll, total=False):
    submitted: _Submitted
    dispatch_wait: int
    copied: list[list[Cells]]


class FleetFacts(TypedDict):
    """The additional data of a simulation of a fleet."""

    clusters: list[str]
    remarks: list[str]


class _FactsOfAll(TypedDict):
    seconds: float
    warmup: float
    notes: list[tuple[str, int]]
    settings: dict[str, Any]
    stats: dict[str, int]
    weights: dict[str, float]
    trees: dict[str, str]
    totals: _Totals
    loops: list[PreemptionLoop]
    waiting: list[Waiter]
    fingerprint: str


class Facts(_FactsOfAll, total=False):
    """The content of `result.json`, except the format and the checksum."""

    not_modelled: list[str]
    policy: str
    fleet: FleetFacts


def text_of_facts(facts: dict[str, Any]) -> str:
    """Return the text of `result.json`: JSON with a checksum of all other fields."""
    plain = json.loads(json.dumps(facts))
    return json.dumps({"format": _FORMAT, "version": _VERSION, **plain, "checksum": _checksum(plain)}, indent=1)


def read_facts(folder: Path, text: str) -> Facts:
    """Read the text of `result.json`.

    Raises:
        InvalidSpecError: The text is not a saved result, was changed after it was written, or lacks a field.
    """
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSpecError(f"{folder}: result.json: {error}") from None
    if not isinstance(facts, dict) or facts.pop("format", None) != _FORMAT:
        raise InvalidSpecError(f"{folder}: result.json is not of a result; save one with Result.save")
    if (version := facts.pop("version", None)) not in _READ:
        raise InvalidSpecError(
            f"{folder}: result.json: version: is {version!r}; it must be one of {_READ}: run and save again"
        )
    if facts.pop("checksum", None) != _checksum(facts):
        raise InvalidSpecError(f"{folder}: is damaged: result.json was changed after it was written")
    try:
        return msgspec.convert(facts, Facts)
    except msgspec.ValidationError as error:
        raise InvalidSpecError(f"{folder}: is damaged: result.json: {error}") from None


def _checksum(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
