"""`kueuepy explain`: explain the state of a workload."""

import msgspec

from kueuepy.cli.describe import find, start
from kueuepy.cli.options import Start
from kueuepy.cli.output import print_json, say
from kueuepy.explain.whatif import outcome, outcome_text
from kueuepy.session.session import session_of


def explain(
    workload: str,
    files: list[str],
    *,
    as_is: bool = False,
    reading: Start,
    json: bool = False,
) -> None:
    """Explain why a workload is pending, admitted or evicted.

    For a pending workload, this includes the shortage in each flavor and changes that would admit it.

    Examples:
        kueuepy explain a-4 examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv
        kueuepy explain train -n team-a cluster:prod
        kubectl get clusterqueues,localqueues,cohorts,resourceflavors,workloads -A -o yaml | kueuepy explain ns/train -
    """
    started = start(files, reading, settle=not as_is)
    scheduler = started.tell()
    is_plain = "/" in workload or reading.namespace == "default"
    name = workload if is_plain else f"{reading.namespace}/{workload}"
    found = scheduler.explain(find(scheduler, name))
    if json:
        print_json(found.to_dict())
    else:
        say(str(msgspec.structs.replace(found, not_modelled=())))  # `start` has printed them
        if started.has_status and found.verdict in ("Pending", "Preempting", "Fits"):
            later = scheduler.fork()
            later.settle()
            say(f"after the next cycles: {outcome_text(outcome(session_of(later).engine, found.workload))}")
