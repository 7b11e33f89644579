"""Fuzzing of kueuepy: random calls on Schedulers and Journals, and random documents.

`python -m kueuepy.testing.fuzz --steps 1000000 --seed 1` runs 1,000,000 steps. The steps include calls of every kind
(also calls that are rejected), changes of every kind of object, cyclic cohorts, questions, forks, saved states,
backups, full disks, and processes that are killed during a write. After each step, the engine's invariants are checked.
A Scheduler that was saved, killed and recovered must have exactly the same saved state as one that was not interrupted.
`--documents 1000000` parses 1,000,000 malformed manifests with all parsers.

The seed and the number of a step determine its actions. A failing run prints a script that reproduces the failure.

| name | purpose |
| --- | --- |
| `run`, `repeat`, `BrokenInvariant` | run many steps; repeat the steps of a failure; a failure |
| `hold` | parse a document with all parsers and compare the results |
"""

from kueuepy.testing.fuzz.documents import hold
from kueuepy.testing.fuzz.steps import BrokenInvariant, repeat, run

__all__ = ["BrokenInvariant", "hold", "repeat", "run"]
