"""Replay of recorded scenarios, which consist of objects, steps and Kueue's decisions at each step."""

from kueuepy.errors import ScenarioError

from .reader import read_scenarios
from .runner import Replay, as_version, replay

__all__ = ["Replay", "ScenarioError", "as_version", "read_scenarios", "replay"]
