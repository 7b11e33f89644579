"""Immutable Python classes for the objects of Kueue's API and the Kubernetes objects that Kueue reads.

Fields have the same meaning as in API version v1beta2. Field names are Kueue's names in snake_case. `metadata` and
`spec` are flattened into one class: `spec.cohortName` of a ClusterQueue is the field `cohort_name`. Enumerated values
are the strings that Kueue uses.

Times are datetimes in UTC. Durations are numbers of seconds. Constructors also accept strings for times and durations,
seconds since the Unix epoch for times, and timedeltas for durations. Quantities are stored as written, for example
`"500m"`.

Further classes for parts of objects, such as `DeviceRequest`, can be imported from this module too. They are documented
with the objects that contain them.

Constructors convert times and durations, and do not validate other values. `kueuepy.manifest.check` validates objects,
and every function that accepts objects validates them too.

>>> queue = ClusterQueue.of("vision", {"h100": {"nvidia.com/gpu": 32}}, cohort_name="research")
>>> queue.cohort_name, queue.preemption.reclaim_within_cohort
('research', 'Never')
"""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
