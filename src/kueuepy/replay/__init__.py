"""Replay of recorded scenarios, which consist of objects, steps and Kueue's decisions at each step."""

from kueuepy.errors import ScenarioError
from kueuepy.replay.reader import read_scenarios
from kueuepy.replay.replaying import as_version, replay
from kueuepy.replay.runner import Replay

__all__ = ["Replay", "ScenarioError", "as_version", "read_scenarios", "replay"]
