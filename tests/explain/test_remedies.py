"""Explanations of missing quota at each node of the tree, and remedies."""

from hypothesis import given
from hypothesis import strategies as st

import kueuepy as kq
from teams import DEFAULT, queue, workload


def _pool(name, cpu=0, **fields):
    return kq.Cohort(name, resource_groups=[kq.ResourceGroup.of({"default": {"cpu": cpu}})], **fields)


TREE = kq.Cluster(
    DEFAULT,
    kq.Cohort("root"),
    _pool("left", kq.Quota(2, borrowing_limit=3), parent_name="root"),
    _pool("right", kq.Quota(1, lending_limit=4), parent_name="root"),
    queue("l1", 3, cohort_name="left"),
    queue("l2", 2, cohort_name="left"),
    queue("r1", 6, cohort_name="right"),
    kq.ClusterQueue.of("r2", {"default": {"cpu": kq.Quota(4, lending_limit=1)}}, cohort_name="right"),
)


def _tree(*jobs):
    scheduler = kq.Scheduler(TREE)
    for name, cpu in jobs:
        scheduler.submit(workload(f"of-{name}-{cpu}", name, cpu))
        scheduler.settle()
    return scheduler


def test_the_limit_of_an_intermediate_cohort_applies():
    explanation = _tree(("l2", 4), ("l1", 5), ("l1", 4)).explain("of-l1-4")
    (resource,) = explanation.find("resource")
    assert [resource.facts[name] for name in ("where", "limit", "available", "missing")] == [
        "left",
        "borrowingLimit",
        1000,
        3000,
    ]
    nodes = [(c.facts["name"], c.facts["usage"], c.facts["available"]) for c in explanation.find("node")]
    assert nodes == [("l1", 5000, 1000), ("left", 9000, 1000), ("root", 9000, 2000)]
    (remedy,) = explanation.find("remedy")
    assert remedy.text == (
        "default: 3 cpu became free in left, or the borrowingLimit of left increased by that amount and "
        "the quota of root by 2"
    )


def test_a_cohort_lends_no_more_than_its_lending_limit():
    explanation = _tree(("r1", 7), ("l1", 9)).explain("of-l1-9")
    holders = [(c.facts["kind"], c.facts["name"], c.facts["lends"]) for c in explanation.find("holder")]
    assert holders == [
        ("ClusterQueue", "l2", 2000),
        ("Cohort", "right", 1000),
        ("ClusterQueue", "r1", 0),
        ("ClusterQueue", "r2", 1000),
    ]
    assert explanation.find("sufficient_alone")[0].facts["workloads"] == ("default/of-r1-7",)


def test_quota_is_borrowed_from_the_lowest_cohort_that_does_not_borrow():
    explanation = _tree(("r1", 7)).explain("of-r1-7")
    assert [c.text for kind in ("lender", "pool") for c in explanation.find(kind)] == [
        "from ClusterQueue r2, which lends 1",
        "from Cohort right, which has 1 of its own",
    ]
    (held,) = _tree(("r1", 9)).explain("of-r1-9").find("held")
    assert held.facts["borrowed"] == 3000
    assert [c.facts["name"] for c in held.causes if c.kind in ("lender", "pool")] == [
        "left",
        "l1",
        "l2",
        "r2",
        "right",
    ]


def test_usage_above_a_reduced_quota_is_also_missing():
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queue("q", 9)))
    scheduler.submit(*(workload(f"w{i}", "q") for i in range(10)))
    scheduler.settle()
    scheduler.apply(queue("q", 5))
    scheduler.settle()
    (resource,) = scheduler.explain("w9").find("resource")
    assert (resource.facts["available"], resource.facts["missing"]) == (0, 5000)
    assert resource.text == "cpu: requests 1, 0 available: 5 short, including 4 used beyond quota"
    assert scheduler.explain("w9").find("sufficient_alone") == ()


def _two_groups():
    spot = kq.ResourceFlavor("spot", node_taints=[kq.Taint.of("spot=true:NoSchedule")])
    flavors = [spot, DEFAULT, kq.ResourceFlavor("v1"), kq.ResourceFlavor("v2", node_labels={"gpu": "v2"})]
    groups = [
        kq.ResourceGroup.of({"spot": {"cpu": 9, "memory": "36Gi"}, "default": {"cpu": 6, "memory": "10Gi"}}),
        kq.ResourceGroup.of({"v1": {"gpu": 2}, "v2": {"gpu": 1}}),
    ]
    return kq.Scheduler(kq.Cluster(flavors, kq.ClusterQueue("q", resource_groups=groups)))


def test_every_part_of_a_request_needs_one_of_its_flavors():
    scheduler = _two_groups()
    held = kq.PodSet.of("main", 2, requests={"cpu": 1, "memory": "4Gi", "gpu": 1})
    driver = kq.PodSet.of("driver", requests={"cpu": 1, "memory": "1Gi"})
    workers = kq.PodSet.of("workers", 2, requests={"cpu": 2, "memory": "3Gi", "gpu": 1}, node_selector={"gpu": "v1"})
    scheduler.submit(kq.Workload("held", queue_name="q", pod_sets=(held,)))
    scheduler.submit(kq.Workload("job", queue_name="q", pod_sets=(driver, workers)))
    scheduler.settle()

    explanation = scheduler.explain("job")
    amounts = {c.facts["resource"]: c.facts for c in explanation.find("resource") if c.facts["missing"]}
    assert {name: (facts["before"], facts["asked"], facts["missing"]) for name, facts in amounts.items()} == {
        "cpu": (1000, 5000, 1000),
        "memory": (2**30, 7 * 2**30, 5 * 2**30),
        "gpu": (0, 2, 2),
    }
    (remedies,) = explanation.find("remedies")
    assert remedies.text == "it would fit if all of these were true"
    assert [(c.text, [remedy.text for remedy in c.causes]) for c in remedies.causes] == [
        (
            "cpu, memory of pod set workers: one of these",
            [
                "spot: the pods tolerated its taint spot=true:NoSchedule (not tried)",
                (
                    "default: 1 cpu became free in q, or the quota of q increased by that amount, "
                    "and 5Gi memory became free in q, or the quota of q increased by that amount"
                ),
            ],
        ),
        (
            "gpu of pod set workers: one of these",
            [
                "v1: 2 gpu became free in q, or the quota of q increased by that amount",
                (
                    "v2: the node selector and affinity of the pods allowed its labels, "
                    "and quotas and limits allowed 2 gpu; now they allow at most 1 (not tried)"
                ),
            ],
        ),
    ]


def test_without_a_matching_flavor_the_missing_labels_or_tolerations_are_named():
    arm = kq.ResourceFlavor("arm", node_labels={"arch": "arm"})
    bare = kq.ResourceFlavor("bare", node_taints=[kq.Taint.of("alone:NoExecute")])
    scheduler = kq.Scheduler(kq.Cluster(arm, bare, kq.ClusterQueue.of("q", {"arm": {"cpu": 1}, "bare": {"cpu": 1}})))
    x86 = kq.PodSet.of(requests={"cpu": 2}, node_selector={"arch": "x86"})
    scheduler.submit(kq.Workload("job", queue_name="q", pod_sets=(x86,)))
    scheduler.settle()
    explanation = scheduler.explain("job")
    assert explanation.reason == "NoMatchingFlavor"
    assert explanation.find("remedies")[0].text == "it would fit if one of these was true"
    impossible = "quotas and limits allowed 2 cpu; now they allow at most 1 (not tried)"
    assert [c.text for c in explanation.find("remedy")] == [
        f"arm: the node selector and affinity of the pods allowed its labels, and {impossible}",
        f"bare: the pods tolerated its taint alone:NoExecute, and {impossible}",
    ]


def test_a_stopped_queue_explains_why_it_is_inactive():
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queue("q", 9, stop_policy="Hold")))
    scheduler.submit(workload("w", "q"))
    scheduler.settle()
    (why,) = scheduler.explain("w").find("inactive")
    assert why.facts == {"reason": "Stopped"}
    assert "is stopped" in why.text


_QUOTAS = st.integers(0, 6)
_LIMITS = st.none() | st.integers(0, 6)


@st.composite
def _trees(draw):
    """Two levels of Cohorts with limits everywhere, and queues full of what fits."""

    def quota(limited):
        nominal = draw(_QUOTAS)
        lending = draw(_LIMITS) if limited else None
        return kq.Quota(nominal, draw(_LIMITS) if limited else None, None if lending is None else min(lending, nominal))

    cohorts = [_pool("root", kq.Quota(draw(_QUOTAS)))]
    cohorts += [_pool(name, quota(limited=True), parent_name="root") for name in ("left", "right")]
    queues = [
        kq.ClusterQueue.of(name, {"default": {"cpu": quota(limited=True)}}, cohort_name=cohort)
        for name, cohort in (("l1", "left"), ("l2", "left"), ("r1", "right"), ("top", "root"))
    ]
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, cohorts, queues))
    jobs = draw(st.lists(st.tuples(st.sampled_from(["l1", "l2", "r1", "top"]), st.integers(1, 5)), max_size=8))
    for number, (name, cpu) in enumerate(jobs):
        scheduler.submit(workload(f"w{number}", name, cpu))
        scheduler.settle()
    return scheduler


def _raised(obj, limit, amount):
    """The queue or cohort with a quota or borrowing limit that is larger by so many thousandths."""
    quota = obj.resource_groups[0].flavors[0].resources[0]
    nominal, borrowing = quota.nominal_quota, quota.borrowing_limit
    new = kq.Quota(
        f"{int(nominal) * 1000 + (amount if limit == 'quota' else 0)}m",
        None if borrowing is None else f"{int(borrowing) * 1000 + (amount if limit == 'borrowingLimit' else 0)}m",
        quota.lending_limit,
    )
    group = kq.ResourceGroup.of({"default": {"cpu": new}})
    fields = {"parent_name": obj.parent_name} if isinstance(obj, kq.Cohort) else {"cohort_name": obj.cohort_name}
    return type(obj)(obj.name, resource_groups=[group], **fields)


@given(_trees())
def test_suggested_remedies_work(scheduler):
    objects = {obj.name: obj for obj in (*scheduler.cluster.cohorts, *scheduler.cluster.cluster_queues)}
    for row in scheduler.queues.rows():
        explanation = scheduler.explain(row["key"])
        for resource in explanation.find("resource"):
            if not resource.facts["missing"] or resource.facts["asked"] > resource.facts["potential"]:
                continue
            for cause in resource.causes:
                for key in cause.facts["workloads"] if cause.kind == "sufficient_alone" else ():
                    without = scheduler.fork()
                    without.finish(key)
                    assert isinstance(without.try_admit(row["key"]), kq.Admitted)
            grown = scheduler.fork()
            for name, limit, amount in map(dict.values, resource.facts["shortages"]):
                grown.apply(_raised(objects[name], limit, amount))
            assert isinstance(grown.try_admit(row["key"]), kq.Admitted)
            name, limit, amount = resource.facts["shortages"][0].values()
            if amount > 1:
                grown.apply(_raised(objects[name], limit, amount - 1))
                assert not isinstance(grown.try_admit(row["key"]), kq.Admitted)
