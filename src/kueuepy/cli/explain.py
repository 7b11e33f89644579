"""`kueuepy explain`: explain the state of a workload."""

import msgspec

from kueuepy.cli.describe import find, start
from kueuepy.cli.options import Start
from kueuepy.cli.output import print_json, say


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
    scheduler = start(files, reading, settle=not as_is).tell()
    is_plain = "/" in workload or reading.namespace == "default"
    name = workload if is_plain else f"{reading.namespace}/{workload}"
    found = scheduler.explain(find(scheduler, name))
    if json:
        print_json(found.to_dict())
    else:
        say(str(msgspec.structs.replace(found, not_modelled=())))  # `start` has printed them
