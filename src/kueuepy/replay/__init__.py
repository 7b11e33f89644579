"""Replay of recorded scenarios, which consist of objects, steps and Kueue's decisions at each step."""

from .reader import ScenarioError, read_scenarios
from .runner import Replay, as_version, replay

__all__ = ["Replay", "ScenarioError", "as_version", "read_scenarios", "replay"]
