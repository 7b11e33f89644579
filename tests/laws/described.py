"""Random clusters in the format of the vectors, with small numbers, so that limits are often met exactly."""

from __future__ import annotations

from hypothesis import strategies as st

FLAVORS, RESOURCES = ("f1", "f2"), ("cpu", "memory")
CELLS = [(flavor, resource) for flavor in FLAVORS for resource in RESOURCES]
AMOUNTS = st.integers(0, 7)
WEIGHTS = st.sampled_from(["0", "1", "1", "1", "2", "3", "0.5"])


@st.composite
def quotas(draw, *, in_tree, cells=CELLS, unlimited=False):
    """Quotas for some flavors and resources; limits only for nodes with a parent."""
    rows = []
    for flavor, resource in draw(st.lists(st.sampled_from(cells), unique=True, max_size=len(cells))):
        nominal = st.one_of(AMOUNTS, st.sampled_from(["16E"])) if unlimited else AMOUNTS
        row = {"flavor": flavor, "resource": resource, "nominal": draw(nominal)}
        if in_tree and draw(st.booleans()):
            row["borrow"] = draw(AMOUNTS)
        if in_tree and draw(st.booleans()):
            row["lend"] = draw(AMOUNTS)
        rows.append(row)
    return rows


@st.composite
def trees(draw, *, unlimited=False, max_cohorts=4, max_queues=5):
    """Cohorts and ClusterQueues; each cohort is a child of an earlier one, or a root."""
    cohorts = []
    for i in range(draw(st.integers(0, max_cohorts))):
        parent = draw(st.sampled_from([None, *(f"co{j}" for j in range(i))]))
        rows = draw(quotas(in_tree=parent is not None, unlimited=unlimited))
        row = {"name": f"co{i}", "quotas": rows, "weight": draw(WEIGHTS)}
        cohorts.append({**row, "parent": parent} if parent else row)
    names = [None, *(cohort["name"] for cohort in cohorts), "implicit"]
    queues = []
    for i in range(draw(st.integers(1, max_queues))):
        cohort = draw(st.sampled_from(names))
        row = {
            "name": f"cq{i}",
            "quotas": draw(quotas(in_tree=cohort is not None, unlimited=unlimited)),
            "weight": draw(WEIGHTS),
            "within": draw(st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])),
            "reclaim": draw(st.sampled_from(["Never", "LowerPriority", "Any", "Any"])),
            "stopped": draw(st.sampled_from([False, False, False, True])),
        }
        if draw(st.booleans()) and row["reclaim"] != "Never":
            row["borrowWithinCohort"] = {"policy": "LowerPriority"}
            if draw(st.booleans()):
                row["borrowWithinCohort"]["threshold"] = draw(st.integers(-1, 2))
        queues.append({**row, "cohort": cohort} if cohort else row)
    return {"cohorts": cohorts, "clusterQueues": queues}


@st.composite
def usages(draw, *, min_size=1):
    cells = draw(st.lists(st.sampled_from(CELLS), unique=True, min_size=min_size, max_size=3))
    return [{"flavor": flavor, "resource": resource, "amount": draw(st.integers(1, 5))} for flavor, resource in cells]


@st.composite
def workloads(draw, name, queues, usage):
    return {
        "name": name,
        "cq": draw(st.sampled_from(queues)),
        "priority": draw(st.integers(-2, 2)),
        "created": draw(st.integers(0, 3)),
        "reserved": draw(st.integers(10, 12)),
        "evicted": draw(st.sampled_from([False, False, False, False, True])),
        "usage": draw(usage),
    }


STRATEGIES = (
    ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
    ["LessThanOrEqualToFinalShare"],
    ["LessThanInitialShare"],
)


@st.composite
def crowds(draw):
    """One tree in which every queue has little quota, may preempt, and mostly borrows."""
    nominal = st.integers(0, 2)
    resources = draw(st.sampled_from([["cpu"], ["cpu", "memory"]]))

    def rows(*, limits):
        return [
            {"flavor": "f1", "resource": resource, "nominal": draw(nominal)}
            | ({"lend": draw(nominal)} if limits and draw(st.integers(0, 4)) == 0 else {})
            for resource in resources
        ]

    cohorts = [{"name": "co0", "quotas": rows(limits=False), "weight": "1"}]
    for i in range(1, 1 + draw(st.integers(0, 2))):
        parent = f"co{draw(st.integers(0, i - 1))}"
        cohorts.append({"name": f"co{i}", "parent": parent, "quotas": rows(limits=True), "weight": draw(WEIGHTS)})
    queues = [
        {
            "name": f"cq{i}",
            "cohort": draw(st.sampled_from([cohort["name"] for cohort in cohorts])),
            "quotas": rows(limits=True),
            "weight": draw(WEIGHTS),
            "within": draw(st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])),
            "reclaim": draw(st.sampled_from(["LowerPriority", "Any", "Any"])),
            "stopped": False,
        }
        for i in range(draw(st.integers(2, 4)))
    ]
    return {"cohorts": cohorts, "clusterQueues": queues}


@st.composite
def preemptions(draw, *, fair=False):
    """A tree with admitted workloads and one incoming workload that needs preemption."""
    crowded = draw(st.sampled_from([fair, True]))
    line = draw(crowds() if crowded else trees())
    line["clusterQueues"][0]["stopped"] = False
    queues = [queue["name"] for queue in line["clusterQueues"]]
    usage = crowd_usages(line) if crowded else usages()
    count = draw(st.integers(3, 8) if crowded else st.integers(0, 10))
    line["admitted"] = [draw(workloads(f"w{i:02}", queues, usage)) for i in range(count)]
    incoming = draw(workloads("in", queues[:1], usage))
    incoming["evicted"] = False
    marks = draw(st.lists(st.booleans(), min_size=len(incoming["usage"]), max_size=len(incoming["usage"])))
    for entry, mark in zip(incoming["usage"], [True, *marks[1:]], strict=True):
        entry["preempt"] = mark
    line |= {"incoming": incoming, "fairSharing": fair, "afs": draw(st.sampled_from([False, False, True]))}
    if fair:
        line |= {"strategies": draw(st.sampled_from(STRATEGIES)), "preemptWithinNominal": draw(st.booleans())}
    if line["afs"]:
        for workload in line["admitted"]:
            workload["lq"] = f"lq{draw(st.integers(0, 2))}"
        doors = sorted({(workload["cq"], workload["lq"]) for workload in line["admitted"]})
        used = {door: draw(st.integers(0, 3)) for door in doors}
        for workload in line["admitted"]:
            workload["lqUsage"] = used[workload["cq"], workload["lq"]]
    return line


@st.composite
def crowd_usages(draw, line):
    """Requests for every resource of the queues."""
    resources = [row["resource"] for row in line["clusterQueues"][0]["quotas"]]
    return [{"flavor": "f1", "resource": resource, "amount": draw(st.integers(1, 3))} for resource in resources]


@st.composite
def fair_cycles(draw):
    """A tree with admitted workloads, and a head for each of its queues."""
    line = draw(trees())
    queues = [queue["name"] for queue in line["clusterQueues"]]
    count = draw(st.integers(0, 6))
    line["admitted"] = [draw(workloads(f"w{i:02}", queues, usages())) for i in range(count)]
    line["heads"] = [
        {
            **draw(workloads(f"h{i:02}", [queue], usages(min_size=0))),
            "isPreemptor": draw(st.booleans()),
            "addUsage": draw(st.booleans()),
        }
        for i, queue in enumerate(queues)
    ]
    for gate in ("prioritizeNonBorrowing", "prioritySorting", "prioritizePreemptors"):
        line[gate] = draw(st.booleans())
    return line
