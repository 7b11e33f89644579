"""The first clusters of Kueue's documents, read from their original API versions."""

from textwrap import dedent, indent

import pytest

from kueuepy.manifest import ManifestError, load
from kueuepy.objects import (
    BorrowWithinCohort,
    ClusterQueue,
    FlavorFungibility,
    LabelSelector,
    LabelSelectorRequirement,
    LocalQueue,
    Preemption,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    Taint,
)

ALL = LabelSelector()


def test_one_queue_with_minimum_quotas():
    text = dedent("""\
        apiVersion: kueue.x-k8s.io/v1alpha1
        kind: ClusterQueue
        metadata: {name: cluster-total}
        spec:
          namespaceSelector: {}
          resources:
          - name: "cpu"
            flavors:
            - name: default
              quota: {min: 9}
          - name: "memory"
            flavors:
            - name: default
              quota: {min: 36Gi}
        """)
    assert load(text).cluster_queues == (ClusterQueue.of("cluster-total", {"default": {"cpu": 9, "memory": "36Gi"}}),)


def test_codependent_resources_need_a_name_that_exists():
    text = dedent("""\
        apiVersion: kueue.x-k8s.io/v1alpha1
        kind: ClusterQueue
        metadata: {name: cluster-total}
        spec:
          namespaceSelector: {}
          resources:
          - name: "cpu"
            flavors: [{name: spot, quota: {min: 18}}, {name: on_demand, quota: {min: 9}}]
          - name: "memory"
            flavors: [{name: spot, quota: {min: 72Gi}}, {name: on_demand, quota: {min: 36Gi}}]
          - name: "gpu"
            flavors: [{name: vendor1, quota: {min: 10}}, {name: vendor2, quota: {min: 10}}]
        """)
    with pytest.raises(ManifestError, match='is "on_demand"; it must be a DNS subdomain'):
        load(text)
    (queue,) = load(text, strict=False).cluster_queues
    assert queue.resource_groups == (
        ResourceGroup.of({"spot": {"cpu": 18, "memory": "72Gi"}, "on_demand": {"cpu": 9, "memory": "36Gi"}}),
        ResourceGroup.of({"vendor1": {"gpu": 10}, "vendor2": {"gpu": 10}}),
    )


def test_flavors_and_queues_in_one_file():
    text = dedent("""\
        ---
        apiVersion: kueue.x-k8s.io/v1alpha2
        kind: ResourceFlavor
        metadata:
          name: ondemand
          labels: {instance-type: ondemand}
        ---
        apiVersion: kueue.x-k8s.io/v1alpha2
        kind: ResourceFlavor
        metadata:
          name: spot
          labels: {instance-type: spot}
        taints:
        - effect: NoSchedule
          key: spot
          value: "true"
        ---
        apiVersion: kueue.x-k8s.io/v1alpha2
        kind: ClusterQueue
        metadata: {name: research-pool}
        spec:
          namespaceSelector: {}
          resources:
          - name: "cpu"
            flavors:
            - {name: ondemand, quota: {min: 1000}}
            - {name: spot, quota: {min: 2000}}
        ---
        apiVersion: kueue.x-k8s.io/v1alpha2
        kind: LocalQueue
        metadata: {name: training, namespace: team-ml}
        spec: {clusterQueue: research-pool}
        ---
        apiVersion: batch/v1
        kind: Job
        metadata:
          generateName: sample-job-
          annotations: {kueue.x-k8s.io/queue-name: training}
        spec:
          parallelism: 3
          completions: 3
          template:
            spec:
              containers: [{name: c, image: pi, resources: {requests: {cpu: 1}}}]
        """)
    expected = (
        (
            ResourceFlavor("ondemand", node_labels={"instance-type": "ondemand"}),
            ResourceFlavor(
                "spot", node_labels={"instance-type": "spot"}, node_taints=[Taint("spot", "true", "NoSchedule")]
            ),
        ),
        (ClusterQueue.of("research-pool", {"ondemand": {"cpu": 1000}, "spot": {"cpu": 2000}}),),
        (LocalQueue("training", namespace="team-ml", cluster_queue="research-pool"),),
    )
    for source in (text, "---\n".join(reversed(text.split("---\n")[1:]))):
        manifest = load(source)
        assert set(map(repr, manifest.resource_flavors)) == set(map(repr, expected[0]))
        assert (manifest.cluster_queues, manifest.local_queues) == expected[1:]
        assert manifest.jobs[0]["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "training"}
        assert [note.path for note in manifest.notes] == [("metadata", "annotations", "kueue.x-k8s.io/queue-name")]


def beta1(spec: str) -> ClusterQueue:
    text = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: team-a-cq}\nspec:\n"
    (queue,) = load(text + spec).cluster_queues
    return queue


@pytest.mark.parametrize(
    ("spec", "queue"),
    [
        (
            """
          namespaceSelector: {} # all of them
          cohort: "team-ab"
          resourceGroups:
          - coveredResources: ["cpu"]
            flavors:
            - name: "default-flavor"
              resources:
              - name: "cpu"
                nominalQuota: 12
                lendingLimit: 1
            """,
            ClusterQueue.of("team-a-cq", {"default-flavor": {"cpu": Quota(12, None, 1)}}, cohort_name="team-ab"),
        ),
        (
            """
          namespaceSelector:
            matchExpressions:
            - {key: team, operator: In, values: [team-a]}
            """,
            ClusterQueue(
                "team-a-cq",
                namespace_selector=LabelSelector(
                    match_expressions=[LabelSelectorRequirement("team", "In", ("team-a",))]
                ),
            ),
        ),
        (
            """
          preemption:
            reclaimWithinCohort: Any
            borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 100}
            withinClusterQueue: LowerPriority
            """,
            ClusterQueue(
                "team-a-cq",
                namespace_selector=None,
                preemption=Preemption("Any", "LowerPriority", BorrowWithinCohort("LowerPriority", 100)),
            ),
        ),
        (
            "  flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: Preempt}",
            ClusterQueue(
                "team-a-cq",
                namespace_selector=None,
                flavor_fungibility=FlavorFungibility("TryNextFlavor", "MayStopSearch"),
            ),
        ),
        ("  stopPolicy: Hold", ClusterQueue("team-a-cq", namespace_selector=None, stop_policy="Hold")),
    ],
)
def test_queues_of_v1beta1(spec: str, queue: ClusterQueue):
    assert beta1(indent(dedent(spec), "  ")) == queue


def test_two_teams_with_both_limits():
    queues = [
        ClusterQueue.of(
            name,
            {"default-flavor": {"cpu": Quota(*cpu), "nvidia.com/gpu": Quota(*gpu)}},
            cohort_name="shared-cohort",
        )
        for name, cpu, gpu in (("team-a", (8, 8, 4), (2, 2, 1)), ("team-b", (16, 4, 8), (4, 0, 2)))
    ]
    (flavor,) = queues[1].resource_groups[0].flavors
    assert (flavor.resources[0].borrowing_limit, flavor.resources[1].lending_limit) == (4, 2)


def test_a_queue_that_preempts_and_one_that_does_not():
    text = dedent("""\
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: team-a-queue}
        spec:
          namespaceSelector: {}
          preemption:
            reclaimWithinCohort: Any
            borrowWithinCohort:
              policy: LowerPriority
            withinClusterQueue: LowerPriority
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: non-preemptive-queue}
        spec:
          namespaceSelector: {}
          preemption:
            withinClusterQueue: Never
            reclaimWithinCohort: Never
            borrowWithinCohort:
              policy: Never
        """)
    assert load(text).cluster_queues == (
        ClusterQueue(
            "team-a-queue", preemption=Preemption("Any", "LowerPriority", BorrowWithinCohort("LowerPriority"))
        ),
        ClusterQueue("non-preemptive-queue"),
    )
