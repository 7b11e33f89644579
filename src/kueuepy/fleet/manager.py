"""The default manager of a fleet, created from its workers."""

from collections.abc import Mapping

import kueuepy.objects as api
from kueuepy._core import Quantity
from kueuepy.cluster import Cluster
from kueuepy.fleet.automation import CONTROLLER, totals_of

_CHECK, _FLAVOR = "multikueue", "any"


def manager_of(workers: Mapping[str, Cluster]) -> Cluster:
    """Return a manager with one ClusterQueue for each LocalQueue of the workers.

    The quota of a ClusterQueue is the sum of the nominal quotas of the workers' ClusterQueues to which the LocalQueue
    points. The quota automation of MultiKueue computes the same total quotas
    (`pkg/controller/admissionchecks/multikueue/clusterqueue.go`).
    """
    keys = dict.fromkeys(local.key for cluster in workers.values() for local in cluster.local_queues)
    queues = {key: totals_of({key}, list(workers), workers) for key in keys}
    names = {key.partition("/")[2] for key in queues}
    is_unique = len(names) == len(queues)
    objects: list[api.Object] = [api.ResourceFlavor(_FLAVOR), api.AdmissionCheck(_CHECK, controller_name=CONTROLLER)]
    objects += [api.Namespace(name) for name in dict.fromkeys(key.partition("/")[0] for key in queues)]
    for key, totals in queues.items():
        namespace, _, name = key.partition("/")
        queue = name if is_unique else f"{namespace}-{name}"
        objects += [_queue(queue, totals), api.LocalQueue(name, namespace=namespace, cluster_queue=queue)]
    gates = {gate for cluster in workers.values() for gate in cluster.configuration.feature_gates.items()}
    first = next(iter(workers.values())).configuration
    shared = {name: on for name, on in sorted(gates) if name.startswith("MultiKueue")}
    return Cluster(objects, configuration=api.Configuration(feature_gates=shared, version=first.version))


def _queue(name: str, totals: Mapping[str, int]) -> api.ClusterQueue:
    resources = tuple(
        api.ResourceQuota(resource, nominal_quota=Quantity.format(resource, amount))
        for resource, amount in totals.items()
    )
    group = api.ResourceGroup(tuple(totals), (api.FlavorQuotas(_FLAVOR, resources),))
    return api.ClusterQueue(
        name,
        resource_groups=(group,) if totals else (),
        namespace_selector=api.LabelSelector(),
        admission_checks_strategy=(api.AdmissionCheckStrategyRule(_CHECK),),
    )
