"""Fixtures for scenarios: a cluster, submitted jobs and the resulting usage."""

from pathlib import Path

import pytest

import kueuepy as kq

SEEDS = Path(__file__).parents[2] / "examples" / "seeds"
SECOND = 10**9

# These tests also run under sanitizers, except those that start programs or take minutes.
WITHOUT_SANITIZERS = {"test_13_command_line", "test_17_library", "test_18_gaps"}


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.stem not in WITHOUT_SANITIZERS:
            item.add_marker(pytest.mark.sanitizer)


class Stage:
    """A Scheduler with short methods to submit jobs and to read results."""

    def __init__(self, cluster, **options):
        self.scheduler = kq.Scheduler(cluster, **options)
        self._created = 0

    def submit(self, queue, count=1, requests=None, *, name=None, pods=1, created=None, namespace="default", **fields):
        """`count` workloads of `pods` pods each, created one second after the other unless a time is given."""
        pod = {key: fields.pop(key) for key in ("tolerations", "node_selector", "min_count") if key in fields}
        base = name or queue
        for number in range(count):
            self._created += 1
            time = self._created if created is None else created
            self.scheduler.submit(
                kq.Workload(
                    base if count == 1 and name else f"{base}-{number:04d}",
                    namespace=namespace,
                    queue_name=queue,
                    pod_sets=(kq.PodSet.of(count=pods, requests=requests or {"cpu": 1}, **pod),),
                    creation_timestamp=time,
                    **fields,
                ),
                keep_status="status" in fields,
            )

    def settle(self):
        """Advance the time, then run cycles and controllers until nothing changes."""
        self.scheduler.advance(1)
        return self.scheduler.settle()

    def used(self, queue, resource="cpu", flavor=None):
        """Return the usage of a queue: cores, bytes or units."""
        cells = self.scheduler._engine.usage()[queue]
        amounts = [n for cell, n in cells.items() if cell == f"{flavor or cell.partition('/')[0]}/{resource}"]
        return sum(amounts) / (1000 if resource == "cpu" else 1)

    def _keys(self):
        return list(self.scheduler.keys())

    def running(self, prefix=""):
        """Return the names of the workloads with quota, in the order of submission."""
        names = [key.partition("/")[2] for key in self._keys() if self.is_true(key, "QuotaReserved")]
        return [name for name in names if name.startswith(prefix)]

    def is_true(self, key, condition):
        """Whether a workload has this condition, and is not finished."""
        conditions = {c.type: c.status for c in self.scheduler.workload(key).status.conditions}
        return conditions.get(condition) == "True" and conditions.get("Finished") != "True"

    def condition(self, key, kind="QuotaReserved"):
        """The reason and the message of a condition."""
        found = {c.type: c for c in self.scheduler.workload(key).status.conditions}[kind]
        return found.reason, found.message

    def conditions(self, key):
        """Every condition of a workload: its status and its reason, by type."""
        return {c.type: (c.status, c.reason) for c in self.scheduler.workload(key).status.conditions}

    def waiting(self):
        """Return the reason of each pending workload, by name."""
        found = {key: self.conditions(key).get("QuotaReserved", ("", "")) for key in self._keys()}
        return {key.partition("/")[2]: reason for key, (status, reason) in found.items() if status == "False"}

    def flavors(self, key):
        """The flavor of each resource of a workload's first pod set."""
        return self.scheduler.workload(key).status.admission.pod_set_assignments[0].flavors

    def evicted(self):
        """Return the names of all workloads that have been evicted."""
        return [
            key.partition("/")[2]
            for key in self._keys()
            if any(c.type == "Evicted" for c in self.scheduler.workload(key).status.conditions)
        ]


@pytest.fixture
def stage():
    """Return a function that creates a stage with a cluster of these objects, and of manifests of other kinds."""

    def build(*objects, configuration=None, others=(), **options):
        cluster = kq.Cluster(*objects, configuration=configuration)
        return Stage(kq.load([kq.dump(cluster), *others]) if others else cluster, **options)

    return build


@pytest.fixture
def seed():
    """Return a function that creates a stage with one of the example clusters."""

    def build(*names, strict=True):
        return Stage(kq.load([SEEDS / f"{name}.yaml" for name in names], strict=strict))

    return build


@pytest.fixture
def manifest():
    """Return a function that loads an example cluster."""

    def read(*names, strict=True):
        return kq.manifest.load([SEEDS / f"{name}.yaml" for name in names], strict=strict)

    return read
