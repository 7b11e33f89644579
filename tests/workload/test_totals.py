"""Conversion of pod templates to the integers used for scheduling."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from kueuepy._core import pod_requests
from kueuepy.objects import Configuration, LimitRange, LimitRangeItem, Resources, ResourceTransformation, RuntimeClass
from rules import rules

VECTORS = Path(__file__).parents[1] / "vectors" / "workload_totals.jsonl.gz"
HIGHEST = 2**63 - 1
MEBI, GIBI = 2**20, 2**30


def container(requests=None, limits=None, **fields):
    return {"resources": {"requests": requests or {}, "limits": limits or {}}, **fields}


def template(*containers, **spec):
    return {"spec": {"containers": list(containers), **spec}}


def resources(*transformations, exclude=()):
    return Configuration(resources=Resources(exclude, tuple(transformations)))


KATA = RuntimeClass("kata", overhead={"cpu": "100m", "memory": "128Mi"})


def test_sidecars_add_to_containers_and_to_later_init_containers():
    pod = template(
        container({"cpu": "500m", "memory": "200Mi"}),
        container({"cpu": "250m", "memory": "100Mi", "nvidia.com/gpu": "1"}),
        initContainers=[
            container({"cpu": "1", "memory": "100Mi"}),
            container({"cpu": "200m", "memory": "50Mi"}, restartPolicy="Always"),
            container({"cpu": "2", "memory": "10Mi"}),
            container({"cpu": "300m"}, restartPolicy="Always"),
        ],
    )
    assert pod_requests(pod) == {"cpu": 2200, "memory": 350 * MEBI, "nvidia.com/gpu": 1}


def test_resources_are_visited_in_the_order_of_their_hashes():
    names = ["ephemeral-storage", "amd.com/gpu", "memory", "nvidia.com/gpu", "pods", "example.com/gpu"]
    names += ["hugepages-2Mi", "gpu", "cpu"]
    assert list(pod_requests(template(container(dict.fromkeys(sorted(names), 1))))) == names


def test_pod_level_values_replace_and_the_overhead_of_the_class_adds():
    pod = template(
        container({"cpu": "500m", "memory": "200Mi", "example.com/x": "1"}),
        resources={"requests": {"cpu": "3", "example.com/x": "9"}, "limits": {"memory": "1Gi"}},
        runtimeClassName="kata",
    )
    counted = {"cpu": 3100, "memory": GIBI + 128 * MEBI, "example.com/x": 1}
    assert pod_requests(pod, runtime_classes=[KATA]) == counted


def test_the_overhead_of_the_template_has_precedence_over_the_class():
    pod = template(container({"cpu": "500m"}), runtimeClassName="kata", overhead={"cpu": "1"})
    assert pod_requests(pod, runtime_classes=[KATA]) == {"cpu": 1500}


def test_an_unknown_runtime_class_has_no_overhead():
    assert pod_requests(template(container({"cpu": "500m"}), runtimeClassName="gone")) == {"cpu": 500}


def test_a_default_request_has_precedence_over_the_limit():
    defaults = LimitRangeItem(type="Container", default={"cpu": "2", "memory": "1Gi"}, default_request={"cpu": "250m"})
    pod = template(
        container(),
        container(limits={"cpu": "3", "memory": "2Gi", "nvidia.com/gpu": "1"}),
        container({"cpu": "1", "memory": "100Mi"}),
    )
    counted = pod_requests(pod, limit_ranges=[LimitRange("defaults", limits=(defaults,))])
    assert counted == {"cpu": 1500, "memory": 6652166144 // 2, "nvidia.com/gpu": 1}


def test_limits_replace_missing_requests():
    pod = template(container({"cpu": "1500m"}, {"cpu": "3", "memory": "2Gi"}))
    assert pod_requests(pod) == {"cpu": 1500, "memory": 2 * GIBI}


def test_requests_are_rounded_up_once_per_pod():
    pod = template(
        container({"cpu": "100500u", "memory": "1500m", "example.com/x": "300m"}),
        container({"cpu": "400u", "memory": "1500m", "example.com/x": "300m"}),
    )
    assert pod_requests(pod) == {"cpu": 101, "memory": 3, "example.com/x": 1}
    assert pod_requests(template(*[container({"cpu": "400u"})] * 3)) == {"cpu": 2}


def test_exclusions_and_transformations():
    requests = {"cpu": "1", "memory": "1Gi", "mig-1g.5gb": 2, "mig-2g.10gb": 1}
    requests |= {"networking.example.com/vpc": 1, "example.com/rep": 3}
    configuration = resources(
        ResourceTransformation("mig-1g.5gb", "Replace", outputs={"mem": "5Gi", "credits": "10"}),
        ResourceTransformation("mig-2g.10gb", outputs={"mem": "10Gi", "credits": "15"}),
        ResourceTransformation("memory", "Retain", "example.com/rep", {"totalmem": "1", "memory": "-1"}),
        exclude=("networking.example.com/", "cpu"),
    )
    counted = {"credits": 35, "mem": 20 * GIBI, "example.com/rep": 3, "totalmem": 3 * GIBI}
    counted |= {"memory": GIBI, "mig-2g.10gb": 1}
    assert pod_requests(template(container(requests)), configuration=configuration) == counted


def test_a_multiplier_that_is_not_requested_is_one():
    doubled = ResourceTransformation("gpu", "Replace", "gpus-each", {"credits": "2"})
    assert pod_requests(template(container({"gpu": 3})), configuration=resources(doubled)) == {"credits": 6}


def test_a_multiplier_uses_the_request_and_products_are_exact():
    replaced = ResourceTransformation("each", "Replace", outputs={"other": "1"})
    product = ResourceTransformation("gpu", "Replace", "each", {"credits": "333333333n"})
    counted = pod_requests(
        template(container({"gpu": "999999999n", "each": "3"})), configuration=resources(replaced, product)
    )
    assert counted == {"other": 3, "credits": 1}


def test_outputs_are_not_transformed_again_and_may_cancel_to_zero():
    chain = resources(
        ResourceTransformation("a", "Replace", outputs={"b": "1", "c": "2"}),
        ResourceTransformation("b", "Replace", outputs={"c": "-2"}),
    )
    assert pod_requests(template(container({"a": 1, "b": 1})), configuration=chain) == {"b": 1, "c": 0}


def test_a_replaced_input_without_outputs_is_removed():
    gone = resources(ResourceTransformation("a", "Replace"))
    assert pod_requests(template(container({"a": 1, "b": 1})), configuration=gone) == {"b": 1}


def test_negative_requests_count_as_zero_and_huge_ones_are_clamped():
    assert pod_requests(template(container({"cpu": "-10m", "memory": "5"}))) == {"cpu": 0, "memory": 5}
    assert pod_requests(template(container({"cpu": "1E", "memory": "8Ei"}))) == {"cpu": HIGHEST, "memory": HIGHEST}


def test_a_pod_without_a_spec_requests_nothing():
    assert pod_requests({}) == {}
    assert pod_requests({"spec": None}) == {}
    assert pod_requests(template(container())) == {}


def test_requests_above_limits_are_named():
    pod = template(
        container({"cpu": "1"}, {"cpu": "2", "memory": "1Gi"}),
        container({"memory": "2Gi", "cpu": "3", "gpu": "1"}, {"cpu": "2", "memory": "1Gi"}),
        initContainers=[container({"cpu": "1001m"}, {"cpu": "1"})],
        resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
    )
    path = "spec.podSets[0].template"
    detail = "requests must not exceed its limits"
    assert rules().pod_errors(pod, path=path)[0] == [
        f'{path}.spec.initContainers[0]: Invalid value: ["cpu"]: {detail}',
        f'{path}.spec.containers[1]: Invalid value: ["cpu","memory"]: {detail}',
        f'{path}.spec.resources: Invalid value: ["cpu"]: {detail}',
    ]


def test_requests_are_compared_with_limits_as_integers():
    assert rules().pod_errors(template(container({"cpu": "1000100u"}, {"cpu": "1000001u"}))) == ([], [])


def test_limit_ranges_bound_containers_and_pods():
    ranges = [
        LimitRange("b", limits=(LimitRangeItem(type="Pod", max={"cpu": "3"}, min={"cpu": "2900m"}),)),
        LimitRange("a", limits=(LimitRangeItem(type="Container", max={"cpu": "2"}, min={"memory": "1Mi"}),)),
        LimitRange("c", limits=(LimitRangeItem(type="Container", max={"cpu": "1500m"}, min={"memory": "2Mi"}),)),
        LimitRange("d", limits=(LimitRangeItem(type="PersistentVolumeClaim", max={"cpu": "1m"}),)),
    ]
    above, below = "requests must not be above the limitRange max", "requests must not be below the limitRange min"
    pod = template(container({"cpu": "1600m", "memory": "1Mi"}), container({"cpu": "1"}, {"cpu": "1600m"}))
    assert rules().pod_errors(pod, limit_ranges=ranges)[1] == [
        f'template.spec.containers[0]: Invalid value: ["cpu"]: {above}',
        f'template.spec.containers[0]: Invalid value: ["memory"]: {below}',
        f'template.spec.containers[1]: Invalid value: ["cpu"]: {above}',
        f'template.spec: Invalid value: ["cpu"]: {below}',
    ]
    overhead = template(container({"cpu": "1"}), container({"cpu": "1"}), overhead={"cpu": "1100m"})
    assert rules().pod_errors(overhead, limit_ranges=ranges)[1] == [f'template.spec: Invalid value: ["cpu"]: {above}']


def cluster_of(vector):
    classes = [
        RuntimeClass(item["metadata"]["name"], overhead=item.get("overhead", {}).get("podFixed", {}))
        for item in vector["runtimeClasses"] or ()
    ]
    ranges = [
        LimitRange(item["metadata"]["name"], limits=tuple(limits_of(item["spec"]["limits"])))
        for item in vector["limitRanges"] or ()
    ]
    return {"runtime_classes": classes, "limit_ranges": ranges}


def limits_of(items):
    for item in items or ():
        quantities = {key: item[key] for key in ("max", "min", "default") if key in item}
        yield LimitRangeItem(type=item["type"], default_request=item.get("defaultRequest", {}), **quantities)


def transformation_of(item):
    return ResourceTransformation(
        item["input"], item.get("strategy", "Retain"), item.get("multiplyBy"), item.get("outputs", {})
    )


def test_every_recorded_total():
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        vectors = [json.loads(line) for line in lines]
    assert len(vectors) == 400
    for vector in vectors:
        cluster = cluster_of(vector)
        configuration = resources(
            *map(transformation_of, vector["transformations"] or ()),
            exclude=tuple(vector["excludeResourcePrefixes"] or ()),
        )
        invalid = [0, 0]
        pod_sets = vector["workload"]["spec"]["podSets"]
        for index, (pod_set, total) in enumerate(zip(pod_sets, vector["totals"], strict=True)):
            requests = pod_requests(pod_set["template"], configuration=configuration, **cluster)
            assert {name: min(value * total["count"], HIGHEST) for name, value in requests.items()} == total["requests"]
            errors = rules().pod_errors(pod_set["template"], path=f"spec.podSets[{index}].template", **cluster)
            invalid = [count + len(found) for count, found in zip(invalid, errors, strict=True)]
        assert invalid == [vector["resourcesInvalid"], vector["limitRangeInvalid"]]
