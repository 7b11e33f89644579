"""P13: import a dump of 50,000 workloads, in the format of kubectl, as YAML and as JSON.

    python benchmarks/time_p13_load.py [WORKLOADS]

The target is under 5 s and 1 GB. Each import runs in a process of its own, which shows a progress bar if standard error
is a terminal. For comparison, PyYAML parses a hundredth of the dump, and the script extrapolates its time.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from timing import middle, say_load, sort, taking

from kueuepy.platform.importer import import_cluster

QUEUES, ROUNDS, SAMPLE = 1_000, 3, 100
WHEN = "2026-08-01T10:{:02}:{:02}Z"


def namespace(i):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"team-{i}"}, "status": {"phase": "Active"}}


def queues(i):
    quota = {"name": "default", "resources": [{"name": name, "nominalQuota": "100"} for name in ("cpu", "memory")]}
    group = {"coveredResources": ["cpu", "memory"], "flavors": [quota]}
    spec = {"cohortName": f"cohort-{i % 10}", "namespaceSelector": {}, "resourceGroups": [group]}
    head = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
    yield {**head, "kind": "ClusterQueue", "metadata": {"name": f"queue-{i}"}, "spec": spec}
    metadata = {"name": "main", "namespace": f"team-{i}"}
    yield {**head, "kind": "LocalQueue", "metadata": metadata, "spec": {"clusterQueue": f"queue-{i}"}}


def condition(kind, i):
    when = WHEN.format(i // 60 % 60, i % 60)
    message = "Quota reserved in ClusterQueue" if kind == "QuotaReserved" else "The workload is admitted"
    return {
        "lastTransitionTime": when,
        "message": message,
        "observedGeneration": 1,
        "reason": kind,
        "status": "True",
        "type": kind,
    }


def workload(i):
    """Return a Workload as Kueue creates it for a Job; every third one is admitted."""
    team, name = i % QUEUES, f"job-train-{i}-{i * 2654435761 % 2**20:05x}"
    uid = f"{i:08x}-7c1d-4b5e-9f3a-0242ac120002"
    container = {
        "args": ["--epochs", "90", "--data", "/data/imagenet"],
        "command": ["python", "train.py"],
        "image": "registry.example.com/train:1.7",
        "imagePullPolicy": "IfNotPresent",
        "name": "main",
        "resources": {"limits": {"memory": "2Gi"}, "requests": {"cpu": f"{500 + i % 4 * 250}m", "memory": "2Gi"}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [{"mountPath": "/data", "name": "data", "readOnly": True}],
    }
    pod = {
        "containers": [container],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Never",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "imagenet"}}],
    }
    usage = {"cpu": f"{500 + i % 4 * 250}m", "memory": "2Gi"}
    assignment = {
        "count": 1,
        "flavors": {"cpu": "default", "memory": "default"},
        "name": "main",
        "resourceUsage": usage,
    }
    status = {
        "admission": {"clusterQueue": f"queue-{team}", "podSetAssignments": [assignment]},
        "conditions": [condition("QuotaReserved", i), condition("Admitted", i)],
    }
    owner = {"apiVersion": "batch/v1", "blockOwnerDeletion": True, "controller": True, "kind": "Job"}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "creationTimestamp": WHEN.format(i // 60 % 60, i % 60),
            "finalizers": ["kueue.x-k8s.io/resource-in-use"],
            "generation": 1,
            "labels": {"kueue.x-k8s.io/job-uid": f"{i:08x}-1111-4b5e-9f3a-0242ac120002"},
            "name": name,
            "namespace": f"team-{team}",
            "ownerReferences": [{**owner, "name": f"train-{i}", "uid": f"{i:08x}-1111-4b5e-9f3a-0242ac120002"}],
            "resourceVersion": str(100_000 + i),
            "uid": uid,
        },
        "spec": {
            "active": True,
            "podSets": [{"count": 1, "name": "main", "template": {"metadata": {}, "spec": pod}}],
            "priority": i % 5,
            "queueName": "main",
        },
        **({"status": status} if i % 3 == 0 else {}),
    }


def items(count):
    yield {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "default"}}
    for i in range(QUEUES):
        yield namespace(i)
        yield from queues(i)
    yield from map(workload, range(count))


def write(folder, count):
    """Write the dump as kubectl prints it, as YAML and as JSON; return both paths."""
    paths = folder / "dump.yaml", folder / "dump.json"
    with paths[0].open("w") as text, paths[1].open("w") as data:
        text.write("apiVersion: v1\nitems:\n")
        data.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        for number, item in enumerate(items(count)):
            text.write(yaml.dump([item], Dumper=yaml.CSafeDumper, width=80))
            lines = json.dumps(item, indent=4).replace("\n", "\n        ")
            data.write(f"{',' if number else ''}\n        {lines}")
        text.write('kind: List\nmetadata:\n  resourceVersion: ""\n')
        data.write('\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')
    return paths


def load(path):
    """Import the dump in this process; print the time, the peak memory and the counts as JSON."""
    times = []
    with taking(times):
        found = import_cluster(path)
    print(json.dumps([*times[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, found.report.counts]))


def in_child(path):
    command = [sys.executable, __file__, "--load", str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=os.environ)  # noqa: S603 - runs this script
    return json.loads(done.stdout)


def pyyaml(folder, count):
    """Return the estimated CPU time of PyYAML for the whole dump, in seconds."""
    sample = folder / "sample.yaml"
    sample.write_text(yaml.dump(list(map(workload, range(count // SAMPLE))), Dumper=yaml.CSafeDumper))
    times = []
    with sample.open() as file, taking(times):
        yaml.load(file, Loader=yaml.CSafeLoader)
    return times[0].cpu * SAMPLE


def main(count):
    say_load("P13")
    with tempfile.TemporaryDirectory(dir=".") as name:
        for path in write(Path(name), count):
            rows, sorts = [], []
            for _ in range(ROUNDS):
                yardstick = sort().cpu
                rows.append(in_child(path))
                sorts.append(rows[-1][1] / yardstick)
            wall, cpu, peak = (middle([row[i] for row in rows]) for i in (0, 1, 2))
            print(f"{path.name}, {path.stat().st_size / 10**6:,.0f} MB: {rows[0][3]}")
            print(f"  {wall} s wall time, {cpu} s CPU time or {middle(sorts)} sorts; peak memory {peak} kB")
        print(f"PyYAML: {pyyaml(Path(name), count):.0f} s CPU time to parse the YAML")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--load"]:
        load(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
