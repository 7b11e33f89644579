"""Random calls on Schedulers and Journals, and random documents: whatever comes, what is promised holds.

`python -m kueuepy.testing.fuzz --steps 1000000 --seed 1` does that many steps: calls of every kind, refused ones
included, changes of every kind of object, rings of cohorts, questions, forks, saved states, backups, full disks, and
kills in the midst of a write. After each the engine's invariants hold, and a Scheduler that was saved, killed and read
again is, to the last byte, the one that just went on. `--documents 1000000` reads mutated manifests in every way.

What comes follows from the seed and the number of the step. A failing run prints a script that repeats it.

| name | is |
| --- | --- |
| `run`, `repeat`, `BrokenInvariant` | many steps; those of a finding, once more; what was found |
| `hold` | a document, read in every way |
"""

from kueuepy.testing.fuzz.documents import hold
from kueuepy.testing.fuzz.steps import BrokenInvariant, repeat, run

__all__ = ["BrokenInvariant", "hold", "repeat", "run"]
