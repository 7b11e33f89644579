"""Flavors: assignment, taints, affinity, borrowing and preemption (FL)."""

import pytest

import kueuepy as kq
from kueuepy.lint import lint


def _flavor(name, **fields):
    return kq.ResourceFlavor(name, node_labels={"instance-type": name}, **fields)


SPOT = _flavor("spot", node_taints=[kq.Taint.of("spot=true:NoSchedule")])
PREFER = kq.Preemption(within_cluster_queue="LowerPriority")


def _queue(name, *flavors, cpu=4, **fields):
    return kq.ClusterQueue.of(name, {flavor: {"cpu": cpu} for flavor in flavors}, **fields)


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({}, False),
        ({"tolerations": [kq.Toleration("spot", "Exists")]}, True),
    ],
)
def test_FL_04_tolerations_of_the_flavor_are_considered(stage, fields, fits):
    story = stage(_flavor("spot", node_taints=SPOT.node_taints, **fields), _queue("q", "spot"))
    story.submit("q", 1, name="job")
    story.settle()

    assert story.running() == (["job"] if fits else [])


def test_FL_04_a_prefer_no_schedule_taint_excludes_no_workload(stage):
    story = stage(_flavor("spot", node_taints=[kq.Taint.of("spot=true:PreferNoSchedule")]), _queue("q", "spot"))
    story.submit("q", 1, name="job")
    story.settle()

    assert story.running() == ["job"]


def _with_affinity(story, *terms, preferred=False):
    kind = "preferredDuringScheduling" if preferred else "requiredDuringScheduling"
    selector = [{"weight": 1, "preference": term} for term in terms] if preferred else {"nodeSelectorTerms": terms}
    spec = {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": 1}}}],
        "affinity": {"nodeAffinity": {f"{kind}IgnoredDuringExecution": selector}},
    }
    pod_set = kq.PodSet("main", template={"spec": spec})
    story.scheduler.submit(kq.Workload("job", queue_name="q", pod_sets=(pod_set,)))
    story.settle()
    return story.flavors("job")["cpu"] if story.running() else None


def _term(operator, *values, key="instance-type"):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("terms", "flavor"),
    [
        ([_term("NotIn", "ondemand")], "spot"),
        ([_term("In", "arm"), _term("In", "spot")], "spot"),
        ([_term("Exists", key="zone")], "ondemand"),
        ([_term("In", "arm")], None),
        ([_term("DoesNotExist", key="zone")], "ondemand"),
        ([_term("DoesNotExist")], None),
        ([_term("Exists")], "ondemand"),
        (
            [
                {
                    "matchExpressions": [
                        *_term("NotIn", "ondemand")["matchExpressions"],
                        *_term("Exists")["matchExpressions"],
                    ]
                }
            ],
            "spot",
        ),
    ],
)
def test_FL_06_required_affinity_excludes_flavors(stage, terms, flavor):
    story = stage(_flavor("ondemand"), _flavor("spot"), _queue("q", "ondemand", "spot"))

    assert _with_affinity(story, *terms) == flavor


@pytest.mark.parametrize(("operator", "flavor"), [("Gt", "new"), ("Lt", "old")])
def test_FL_06_labels_are_compared_as_numbers(stage, operator, flavor):
    flavors = [kq.ResourceFlavor(name, node_labels={"generation": n}) for name, n in (("old", "9"), ("new", "11"))]
    story = stage(flavors, _queue("q", "old", "new"))

    assert _with_affinity(story, _term(operator, "10", key="generation")) == flavor


def test_FL_06_preferred_affinity_is_ignored(stage):
    story = stage(_flavor("ondemand"), _flavor("spot"), _queue("q", "ondemand", "spot"))

    assert _with_affinity(story, _term("In", "spot"), preferred=True) == "ondemand"


@pytest.mark.parametrize(("when", "flavor"), [("MayStopSearch", "one"), ("TryNextFlavor", "two")])
def test_FL_10_FL_12_borrowing_may_end_the_search(stage, when, flavor):
    fungibility = kq.objects.FlavorFungibility(when_can_borrow=when)
    queue = kq.ClusterQueue.of(
        "a", {"one": {"cpu": 0}, "two": {"cpu": 4}}, cohort_name="c", flavor_fungibility=fungibility
    )
    story = stage(_flavor("one"), _flavor("two"), queue, _queue("b", "one", cohort_name="c"))
    story.submit("a", 1, {"cpu": 4}, name="job")
    story.settle()

    assert story.flavors("job") == {"cpu": flavor}


@pytest.mark.parametrize(
    ("when", "quota", "tried"),
    [
        ("MayStopSearch", 4, ["one"]),
        ("TryNextFlavor", 4, ["one"]),
        ("MayStopSearch", 0, ["one"]),
        ("TryNextFlavor", 0, ["one", "two"]),
    ],
)
def test_FL_10_the_search_ends_at_a_fit_unless_it_borrows_and_a_later_flavor_may_not(stage, when, quota, tried):
    fungibility = kq.objects.FlavorFungibility(when_can_borrow=when)
    quotas = {"one": {"cpu": quota}, "two": {"cpu": 4}}
    queue = kq.ClusterQueue.of("a", quotas, cohort_name="c", flavor_fungibility=fungibility)
    story = stage(_flavor("one"), _flavor("two"), queue, _queue("b", "one", cohort_name="c"))
    story.submit("a", 1, {"cpu": 4}, name="job")
    (decision,) = story.scheduler.cycle()

    assert [attempt.flavor for attempt in decision.attempts] == tried
    assert {attempt.mode for attempt in decision.attempts} == {"Fit"}


def test_FL_09_flavors_with_overlapping_node_labels_are_reported():
    same = [kq.ResourceFlavor(name, node_labels={"type": "gpu"}) for name in ("a", "b")]
    found = [finding.object for finding in lint(kq.Cluster(same, _queue("q", "a", "b"))) if finding.rule == "L10"]
    apart = lint(kq.Cluster(_flavor("a"), _flavor("b"), _queue("q", "a", "b")))

    assert found == ['ResourceFlavor "a"']
    assert "L10" not in {finding.rule for finding in apart}


@pytest.mark.parametrize(("when", "victims", "low"), [("TryNextFlavor", [], "one"), ("MayStopSearch", ["low"], "two")])
def test_FL_11_preemption_may_end_the_search(stage, when, victims, low):
    queue = _queue(
        "q", "one", "two", preemption=PREFER, flavor_fungibility=kq.objects.FlavorFungibility(when_can_preempt=when)
    )
    story = stage(_flavor("one"), _flavor("two"), queue)
    story.submit("q", 1, {"cpu": 4}, name="low")
    story.settle()
    story.submit("q", 1, {"cpu": 4}, name="high", priority=10)
    story.settle()

    assert story.evicted() == victims
    assert story.flavors("low") == {"cpu": low}
    assert len(story.running()) == 2


@pytest.mark.parametrize(
    ("preference", "flavor", "victims"),
    [
        (None, "one", []),
        ("BorrowingOverPreemption", "one", []),
        ("PreemptionOverBorrowing", "two", ["low"]),
    ],
)
def test_FL_13_borrowing_or_preemption_is_preferred(stage, preference, flavor, victims):
    fungibility = kq.objects.FlavorFungibility("TryNextFlavor", "TryNextFlavor", preference)
    quotas = {"one": {"cpu": 0}, "two": {"cpu": 4}}
    queue = kq.ClusterQueue.of("a", quotas, cohort_name="c", preemption=PREFER, flavor_fungibility=fungibility)
    story = stage(_flavor("one"), _flavor("two"), queue, _queue("b", "one", cohort_name="c"))
    story.submit("a", 1, {"cpu": 4}, name="low", node_selector={"instance-type": "two"})
    story.settle()
    story.submit("a", 1, {"cpu": 4}, name="high", priority=10)
    story.settle()

    assert story.evicted() == victims
    assert story.flavors("high") == {"cpu": flavor}


def test_FL_14_the_worst_resource_determines_the_mode_of_a_flavor(stage):
    queue = kq.ClusterQueue.of("q", {"one": {"cpu": 4, "memory": 4}}, preemption=PREFER)
    story = stage(_flavor("one"), queue)
    story.submit("q", 1, {"cpu": 4, "memory": 1}, name="low")
    story.settle()
    story.submit("q", 1, {"cpu": 1, "memory": 1}, name="high", priority=1)
    story.submit("q", 1, {"cpu": 5, "memory": 1}, name="never", priority=2)
    first = story.scheduler.cycle()[0]
    second = story.scheduler.cycle()[0]

    assert [attempt.mode for attempt in first.attempts] == ["NoFit"]
    assert [attempt.mode for attempt in second.attempts] == ["Preempt"]


def test_FL_15_the_flavor_search_continues_where_it_stopped(stage):
    quotas = {flavor: {"cpu": 3, "memory": "600Mi"} for flavor in ("one", "two")}
    groups = [kq.ResourceGroup.of(quotas), kq.ResourceGroup.of({"vendor1": {"gpu": 9}, "vendor2": {"gpu": 9}})]
    fungibility = kq.objects.FlavorFungibility(when_can_preempt="MayStopSearch")
    queue = kq.ClusterQueue("q", resource_groups=groups, preemption=PREFER, flavor_fungibility=fungibility)
    story = stage(*map(_flavor, ("one", "two", "vendor1", "vendor2")), queue)
    story.submit("q", 1, {"cpu": 3}, name="busy", priority=100)
    story.settle()
    story.submit("q", 1, {"cpu": 1, "memory": "200Mi", "gpu": 1}, name="job", pods=3)
    story.settle()

    assert story.flavors("job") == {"cpu": "two", "memory": "two", "gpu": "vendor1"}


def _driver_and_workers(free):
    return kq.ClusterQueue.of("q", {"one": {"cpu": free}})


@pytest.mark.parametrize(("free", "running"), [(6, []), (7, ["default/job"])])
def test_FL_16_all_pod_sets_or_none(free, running):
    scheduler = kq.Scheduler(kq.Cluster(_flavor("one"), _driver_and_workers(free)))
    sets = (kq.PodSet.of("driver", requests={"cpu": 1}), kq.PodSet.of("workers", 3, requests={"cpu": 2}))
    scheduler.submit(kq.Workload("job", queue_name="q", pod_sets=sets))

    assert [decision.workload for decision in scheduler.settle().admitted] == running


def test_FL_17_a_request_of_zero_counts_as_no_request(stage):
    story = stage(_flavor("one"), _queue("q", "one"))
    story.submit("q", 1, {"cpu": 1, "gpu": 0}, name="none")
    story.submit("q", 1, {"cpu": 1, "gpu": 1}, name="one")
    story.settle()

    assert story.running() == ["none"]
    assert "resource gpu unavailable in ClusterQueue" in story.condition("one")[1]


def test_FL_18_obstacles_have_the_messages_of_kueue(stage):
    story = stage(SPOT, _flavor("ondemand"), _queue("q", "spot", "ondemand"))
    story.submit("q", 1, {"cpu": 3}, name="first")
    story.settle()
    story.submit("q", 1, {"cpu": 2}, name="waits")
    story.settle()

    assert story.condition("waits")[1] == (
        "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor ondemand, 1 more needed, "
        "untolerated taint {spot true NoSchedule <nil>} in flavor spot"
    )


def test_FL_18_each_reason_has_its_message(stage):
    story = stage(_flavor("ondemand"), _queue("q", "ondemand"))
    story.submit("q", 1, {"cpu": 3}, name="first")
    story.submit("q", 1, {"cpu": 5}, name="never")
    story.submit("q", 1, {"gpu": 1}, name="undeclared")
    story.submit("q", 1, {"cpu": 1}, name="elsewhere", node_selector={"instance-type": "arm"})
    story.submit("q", 1, {"cpu": 2}, name="waits")
    story.settle()

    names = ("never", "undeclared", "elsewhere", "waits")
    texts = {name: story.condition(name)[1].partition("pod set main: ")[2] for name in names}
    assert texts == {
        "never": (
            "insufficient quota for cpu in flavor ondemand, previously considered podsets requests (0) + current "
            "podset request (5) > maximum capacity (4)"
        ),
        "undeclared": "resource gpu unavailable in ClusterQueue",
        "elsewhere": "flavor ondemand doesn't match node affinity",
        "waits": "insufficient unused quota for cpu in flavor ondemand, 1 more needed",
    }


@pytest.mark.parametrize(
    ("gates", "written"),
    [
        ({}, None),
        (
            {"UnadmittedWorkloadsExplicitStatus": True},
            "Bypassed scheduling evaluation because an equivalent workload recently failed",
        ),
    ],
)
def test_FL_18_the_reason_is_explained_where_kueue_writes_none(stage, gates, written):
    story = stage(_flavor("one"), _queue("q", "one"), configuration=kq.Configuration(feature_gates=gates))
    story.submit("q", 1, {"cpu": 3}, name="first")
    story.submit("q", 2, {"cpu": 2}, name="waits")
    story.settle()

    conditions = {c.type: c.message for c in story.scheduler.workload("waits-0001").status.conditions}
    assert conditions.get("QuotaReserved") == written
    told = story.scheduler.explain("waits-0001")
    assert (told.reason, told.message) == story.condition("waits-0000")
    assert told.message.endswith("insufficient unused quota for cpu in flavor one, 1 more needed")


def test_FL_20_flavors_by_architecture_with_a_separate_flavor_for_memory(stage):
    groups = [
        kq.ResourceGroup.of({"x86": {"cpu": 9}, "arm": {"cpu": 12}}),
        kq.ResourceGroup.of({"default-flavor": {"memory": "84Gi"}}),
    ]
    story = stage(*map(_flavor, ("x86", "arm", "default-flavor")), kq.ClusterQueue("q", resource_groups=groups))
    story.submit("q", 25, {"cpu": 1, "memory": "4Gi"})
    story.settle()

    assert (story.used("q", flavor="x86"), story.used("q", flavor="arm")) == (9, 12)
    assert story.used("q", "memory") == 84 * 2**30
