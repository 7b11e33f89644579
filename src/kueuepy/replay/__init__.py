"""Recorded scenarios: objects, steps and what Kueue decided at each of them, replayed through the engine."""

from kueuepy.errors import ScenarioError

from .reader import read_scenarios
from .runner import Replay, as_version, replay

__all__ = ["Replay", "ScenarioError", "as_version", "read_scenarios", "replay"]
