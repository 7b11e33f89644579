"""`kueuepy explain`: explain the state of a workload."""

import msgspec

from kueuepy.cli.describe import find, start
from kueuepy.cli.options import AsIs, Files, Json, KueueVersion, Lenient, Namespace, WorkloadName, examples
from kueuepy.cli.output import print_json, say

EXAMPLES = examples(
    "kueuepy explain a-4 examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv",
    "kueuepy explain train -n team-a cluster:prod",
    "kubectl get clusterqueues,localqueues,cohorts,resourceflavors,workloads -A -o yaml | kueuepy explain ns/train -",
)


def explain(
    workload: WorkloadName,
    files: Files,
    *,
    as_is: AsIs = False,
    namespace: Namespace = "default",
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Explain why a workload is pending, admitted or evicted.

    For a pending workload, this includes the shortage in each flavor and changes that would admit it.
    """
    scheduler = start(files, lenient=lenient, version=kueue_version, namespace=namespace, settle=not as_is).tell()
    name = workload if "/" in workload or namespace == "default" else f"{namespace}/{workload}"
    found = scheduler.explain(find(scheduler, name))
    if json:
        print_json(found.to_dict())
    else:
        say(str(msgspec.structs.replace(found, not_modelled=())))  # `start` has printed them
