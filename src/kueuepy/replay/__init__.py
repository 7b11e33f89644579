"""Recorded scenarios: objects, steps and what Kueue decided at each of them, replayed through the engine."""

from .reader import ScenarioError, read_scenarios
from .runner import Replay, replay

__all__ = ["Replay", "ScenarioError", "read_scenarios", "replay"]
