"""Removed names, commands, options and formats, each with the sentence that names the new way.

`docs/releases.md` lists the same entries for readers. Add an entry here when you remove something that users could use.
"""

from __future__ import annotations

FORMER: dict[str, dict[str, str]] = {
    # Attributes of the public modules: an old name is answered in whichever of them it is looked up.
    "name": {
        "persist": "use Scheduler.save and Scheduler.load",
        "Mutator": "use hypothesis or a fuzzer; kueuepy's own is tests/fuzz/mutation.py in a checkout",
        "ScenarioError": "run python tools/replay.py in a checkout",
        "owed": "compare Scheduler.usage with the nominal quota, as docs/testing.md shows",
        "replay": "run python tools/replay.py in a checkout",
    },
    # Commands of the command line, by their full name.
    "command": {
        "perf": "run python tools/perf.py in a checkout",
        "replay": "run python tools/replay.py in a checkout",
    },
    # Options, as "command --option".
    "option": {},
    # Formats of job logs and other values of options.
    "format": {},
}
