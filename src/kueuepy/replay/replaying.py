"""Replay of a scenario with one cluster or a fleet."""

from __future__ import annotations

from typing import Any

from kueuepy.errors.arguments import checked
from kueuepy.replay.fleet import FleetReplay
from kueuepy.replay.runner import Replay


@checked
def replay(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """Replay a scenario.

    Args:
        scenario: The scenario: `objects`, `steps` and an optional `config`.

    Returns:
        The results, one for each step.

    Raises:
        ScenarioError: The scenario is not valid.
    """
    run = FleetReplay(scenario) if "clusters" in scenario else Replay(scenario)
    return [run.step(step) for step in scenario["steps"]]


@checked
def as_version(scenario: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a copy of a scenario for another release of Kueue, such as `v0.18`."""
    return {**scenario, "config": {**(scenario.get("config") or {}), "version": version}}
