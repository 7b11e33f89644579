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
        "cluster-of": "use kueuepy import --jobs FILE",
        "perf": "run python tools/perf.py in a checkout",
        "play": "use kueuepy serve OBJECTS --jobs FILE",
        "rbac": "use kueuepy import --rbac",
        "replay": "run python tools/replay.py in a checkout",
        "risk": "use kueuepy eta --risk WORKLOAD FILE...",
        "serve-metrics": "use kueuepy serve SOURCE... --metrics HOST:PORT --history FILE",
        "shadow": "use kueuepy verify cluster:CONTEXT",
    },
    # Options, as "command --option".
    "option": {
        "--install-completion": "kueuepy no longer writes shell completions",
        "--show-completion": "kueuepy no longer writes shell completions",
    },
    # Formats of job logs and other values of options.
    "format": {},
}
