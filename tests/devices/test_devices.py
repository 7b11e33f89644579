"""Quota for devices of Dynamic Resource Allocation, from manifests and from Python, and in questions."""

import gzip
import json
import re
from pathlib import Path

import msgspec
import pytest

import kueuepy as kq
from kueuepy.lint import lint
from kueuepy.manifest import dump, from_dict, to_dict
from kueuepy.manifest.convert import read_resources
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.validation.devices import review_mappings
from kueuepy.manifest.validation.review import Review
from kueuepy.platform.journal import Journal
from kueuepy.selectors import compile_error, evaluate
from saved import from_bytes, to_bytes

VECTORS = Path(__file__).parents[1] / "vectors/dra_configuration.jsonl.gz"
GPU = "gpu.example.com"
# The kind of a problem, by the beginning of Kueue's error.
KINDS = {
    "Invalid value": "Invalid",
    "Too long": "Invalid",
    "Required value": "Required",
    "Duplicate value": "Duplicate",
    "Too many": "TooMany",
}


def vectors():
    with gzip.open(VECTORS, "rt") as lines:
        return [pytest.param(json.loads(line), id=json.loads(line)["name"]) for line in lines]


@pytest.mark.parametrize("vector", vectors())
def test_invalid_device_mappings_are_rejected_like_in_kueue(vector):
    pytest.importorskip("cel_expr_python")
    findings = Findings()
    resources = read_resources({"deviceClassMappings": vector["mappings"]}, findings)
    assert not findings.problems
    gates = kq.Configuration(feature_gates=vector["gates"]).gates
    review = Review()
    review_mappings(resources.device_class_mappings, gates, review)
    # Kueue's errors begin with the field and the kind of error; kueuepy has words of its own for the rest.
    errors = [error.split(": ", 2)[:2] for error in vector["errors"] or []]
    expected = [(field, KINDS[kind]) for field, kind in errors]
    assert sorted((problem.field, problem.kind) for problem in review.problems) == sorted(expected)


def mapped(*sources, name="gpus", gates=None, version=None):
    resources = kq.objects.Resources(device_class_mappings=(kq.objects.DeviceClassMapping(name, (GPU,), sources),))
    release = {} if version is None else {"version": version}
    return kq.Configuration(resources=resources, feature_gates=gates or {}, **release)


def cluster(*objects, configuration=None, quota=8, resource="gpus"):
    queue = kq.ClusterQueue.of("team-a", {"default": {"cpu": 100, resource: quota}})
    return kq.Cluster(kq.ResourceFlavor("default"), queue, *objects, configuration=configuration or mapped())


def template(count=1, *, name="claim", **fields):
    return kq.objects.ResourceClaimTemplate(name, requests=(kq.objects.DeviceRequest("r", GPU, count=count, **fields),))


def workload(name="w", count=1, claim="claim", **fields):
    spec = {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
        "resourceClaims": [{"name": "d", "resourceClaimTemplateName": claim}],
    }
    return kq.Workload(name, queue_name="team-a", pod_sets=(kq.PodSet(count=count, template={"spec": spec}),), **fields)


def devices(count, driver=GPU, **capacity):
    return kq.objects.ResourceSlice(
        "slice",
        driver=driver,
        pool=kq.objects.ResourcePool("pool"),
        devices=[
            kq.objects.Device(
                f"d{i}", attributes={"index": i, "model": "a100", "firmware": {"version": "1.2.3"}}, capacity=capacity
            )
            for i in range(count)
        ],
    )


def admitted(scheduler, **fields):
    scheduler.submit(workload(**fields))
    scheduler.settle()
    return scheduler.explain(fields.get("name", "w"))


def test_a_claim_is_charged_for_each_pod():
    scheduler = kq.Scheduler(cluster(template(2)), now=0)
    assert admitted(scheduler, count=3).verdict == "Admitted"
    assert scheduler.workload("w").status.admission.pod_set_assignments[0].resource_usage["gpus"] in ("6", 6)
    told = admitted(scheduler, name="v", count=2)
    assert told.verdict == "Pending"
    assert "insufficient unused quota for gpus in flavor default, 2 more needed" in told.message


def test_before_a_settle_explain_says_that_a_reconcile_is_needed():
    scheduler = kq.Scheduler(cluster(template()), now=0)
    scheduler.submit(workload())
    assert "needs a reconcile" in str(scheduler.explain("w"))
    scheduler.settle()
    assert scheduler.explain("w").verdict == "Admitted"


def test_explain_shows_the_path_and_cause_of_a_rejection():
    scheduler = kq.Scheduler(cluster(), now=0)
    told = admitted(scheduler)
    assert told.reason == "Misconfigured"
    assert told.message == (
        "spec.podSets[0].template.spec.resourceClaims[0]: Internal error: failed to get claim spec for "
        'ResourceClaimTemplate claim in podset main: resourceclaimtemplates.resource.k8s.io "claim" not found'
    )
    assert told.message in str(told)


def test_a_template_added_later_is_used_by_the_next_settle():
    scheduler = kq.Scheduler(cluster(), now=0)
    admitted(scheduler)
    scheduler.apply(template())
    scheduler.settle()
    assert scheduler.explain("w").verdict == "Admitted"


def test_questions_include_devices_without_a_settle():
    scheduler = kq.Scheduler(cluster(template(3)), now=0)
    assert isinstance(scheduler.try_admit(workload(count=2)), kq.Admitted)
    assert isinstance(scheduler.try_admit(workload(count=3)), kq.Pending)
    assert scheduler.largest_count(workload(count=1)) == 2
    refused = scheduler.try_admit(workload(claim="other"))
    assert refused.reason == "Misconfigured"
    assert '"other" not found' in refused.message


def test_whatif_with_a_larger_template():
    scheduler = kq.Scheduler(cluster(template(4)), now=0)
    fork = scheduler.fork()
    fork.apply(template(9))
    assert isinstance(scheduler.try_admit(workload()), kq.Admitted)
    assert isinstance(fork.try_admit(workload()), kq.Pending)


def test_an_extended_resource_of_a_class_counts_as_its_logical_resource():
    device_class = kq.objects.DeviceClass(GPU, extended_resource_name="example.com/gpu")
    scheduler = kq.Scheduler(cluster(device_class), now=0)
    pods = kq.PodSet.of(count=2, requests={"cpu": 1, "example.com/gpu": 3})
    scheduler.submit(kq.Workload("w", queue_name="team-a", pod_sets=(pods,)))
    scheduler.settle()
    usage = scheduler.workload("w").status.admission.pod_set_assignments[0].resource_usage
    assert int(usage["gpus"]) == 6
    assert "example.com/gpu" not in usage


class TestSelectors:
    @pytest.fixture(autouse=True)
    def library(self):
        pytest.importorskip("cel_expr_python")

    def test_jobs_wait_with_too_few_devices_and_are_admitted_with_more(self):
        choice = template(2, selectors=['device.attributes["gpu.example.com"].index >= 1'])
        scheduler = kq.Scheduler(cluster(kq.objects.DeviceClass(GPU), choice, devices(2)), now=0)
        assert "1 device(s) match in the cluster but 2 requested" in admitted(scheduler).message
        scheduler.apply(devices(3))
        scheduler.settle()
        assert scheduler.explain("w").verdict == "Admitted"

    @pytest.mark.parametrize(
        ("expression", "matches"),
        [
            ('device.driver == "gpu.example.com"', True),
            ('device.attributes["gpu.example.com"].missing == 1', "no such key: missing"),
            ('device.attributes["other"].x == 1', "no such key: x"),
            ('device.attributes["gpu.example.com"].missing == 1 || true', True),
            ('"x" in device.attributes["other"]', False),
            ('device.attributes["gpu.example.com"].model < 3', "no such overload"),
            ("1 / 0 == 1", "division by zero"),
            ('device.capacity["gpu.example.com"].memory.compareTo(quantity("79Gi")) > 0', True),
            ('device.capacity["gpu.example.com"].memory == quantity("81920Mi")', True),
            ('device.attributes["gpu.example.com"].firmware.isLessThan(semver("1.10.0"))', True),
            ('semver("1.0.0-rc.1").isLessThan(semver("1.0.0"))', True),
            ('cel.bind(g, device.attributes["gpu.example.com"], g.model == "a100" && g.index == 0)', True),
            ('device.attributes["gpu.example.com"].?numa.orValue(7) == 7', True),
            ('has(device.attributes["gpu.example.com"].model)', True),
            ('device.attributes["gpu.example.com"].model in ["a100", "h100"]', True),
            ('device.attributes["gpu.example.com"].index in [0, 1] && size("ab") == 2', True),
            ('device.attributes["gpu.example.com"].model.major() == 1', "no such overload"),
            ("device.allowMultipleAllocations", False),
            ('device.attributes["gpu.example.com"].model', "CEL result of type string could not be converted to bool"),
        ],
    )
    def test_expressions_are_evaluated_as_kubernetes_does(self, expression, matches):
        assert compile_error(expression) == ""
        (subject,) = devices(1, memory="80Gi").subjects
        found, error = evaluate(expression, subject)
        if isinstance(matches, str):
            assert error.startswith(matches)
        else:
            assert (found, error) == (matches, "")

    @pytest.mark.parametrize(
        ("expression", "error"),
        [
            ("device.nothing", "compilation failed: ERROR: <input>:1:7: undefined field 'nothing'"),
            ("device.driver", "must evaluate to bool or the unknown type, not string"),
            ("device.driver ==", "compilation failed: ERROR: <input>:1:17: Syntax error: mismatched input '<EOF>'"),
        ],
    )
    def test_an_invalid_selector_makes_the_workload_inadmissible_like_in_kueue(self, expression, error):
        scheduler = kq.Scheduler(cluster(kq.objects.DeviceClass(GPU), template(selectors=[expression])), now=0)
        assert error in admitted(scheduler).message

    @pytest.mark.parametrize(
        ("expression", "what"),
        [
            ('url("https://a").getHost() == "a"', r"url\(\)"),
            ('ip("10.0.0.1").family() == 4', r"ip\(\)"),
            ('cidr("10.0.0.0/8").containsIP("10.0.0.1")', r"cidr\(\)"),
            ("sets.contains([1], [1])", "a library of sets, lists or formats"),
            ("[2, 1].sort() == [1, 2]", r"sort\(\)"),
            ("[1, 1].distinct().size() == 1", r"distinct\(\)"),
            ("[[1]].flatten() == [1]", r"flatten\(\)"),
            ("[1, 2].slice(0, 1) == [1]", r"slice\(\)"),
            ("[2, 1].sortBy(x, x) == [1, 2]", r"sortBy\(\)"),
            ("lists.range(2) == [0, 1]", r"range\(\)"),
            ("[1].transformList(i, v, v) == [1]", r"transformList\(\)"),
            ('device.attributes["a"].all(key, value, value == 1)', "a macro with two variables"),
            ("[1].exists(i, v, v == 1)", "a macro with two variables"),
            ('format.named("dns1123Label").hasValue()', r"named\(\)"),
            ('"ab".find("a") == "a"', r"find\(\)"),
            ("[1].indexOf(1) == 0", r"indexOf\(\) of a list"),
            ("device == device", "device as a whole"),
            ('cel.bind(a, device.attributes, a["x"].y == 1)', "the domains of a device"),
        ],
    )
    def test_an_unsupported_expression_is_reported_by_name(self, expression, what):
        with pytest.raises(kq.errors.UnsupportedError, match=what):
            kq.Scheduler(cluster(template(selectors=[expression])))

    def test_counters_of_partitions_are_charged_with_the_highest_value(self):
        source = kq.objects.DeviceClassSource(
            counter=kq.objects.CounterSource("memory", GPU, 'device.driver == "gpu.example.com"')
        )
        parts = kq.objects.ResourceSlice(
            "slice",
            driver=GPU,
            pool=kq.objects.ResourcePool("pool"),
            devices=[
                kq.objects.Device(
                    f"d{i}", consumes_counters=[kq.objects.CounterConsumption("set", {"memory": f"{i + 1}Gi"})]
                )
                for i in range(3)
            ],
        )
        declared = cluster(kq.objects.DeviceClass(GPU), template(2), parts, configuration=mapped(source), quota="10Gi")
        scheduler = kq.Scheduler(declared, now=0)
        assert admitted(scheduler).verdict == "Admitted"
        told = admitted(scheduler, name="v")
        assert "insufficient unused quota for gpus in flavor default, 2Gi more needed" in told.message

    def test_capacities_need_their_feature_gate_and_follow_the_policy(self):
        source = kq.objects.DeviceClassSource(capacity=kq.objects.CapacitySource("memory", GPU, "true"))
        with pytest.raises(
            kq.errors.InvalidSpecError, match="needs the feature gate KueueDRAIntegrationConsumableCapacity"
        ):
            cluster(configuration=mapped(source))
        policy = kq.objects.CapacityRequestPolicy(valid_values=("1Gi", "4Gi"))
        shared = devices(1, memory=kq.objects.DeviceCapacity("8Gi", policy))
        declared = cluster(
            kq.objects.DeviceClass(GPU),
            template(capacity={"memory": "2Gi"}),
            shared,
            configuration=mapped(source, gates={"KueueDRAIntegrationConsumableCapacity": True}),
            quota="4Gi",
        )
        scheduler = kq.Scheduler(declared, now=0)
        assert admitted(scheduler).verdict == "Admitted"
        assert scheduler.largest_count(workload(name="v")) == 0

    def test_a_saved_scheduler_keeps_its_devices(self):
        choice = template(2, selectors=['device.attributes["gpu.example.com"].index >= 0'])
        scheduler = kq.Scheduler(cluster(kq.objects.DeviceClass(GPU), choice, devices(4)), now=0)
        scheduler.submit(workload(), workload(name="refused", claim="other"))
        scheduler.settle()
        scheduler.submit(workload(name="later"))
        twin = from_bytes(to_bytes(scheduler)).fork()
        for one in (scheduler, twin):
            one.apply(template(name="other"))
            one.settle()
        assert to_bytes(twin) == to_bytes(scheduler)
        assert {key: twin.explain(key).verdict for key in ("w", "refused", "later")} == dict.fromkeys(
            ("w", "refused", "later"), "Admitted"
        )


def test_a_journal_restores_devices(tmp_path):
    with Journal(tmp_path / "j.db") as journal:
        live = journal.scheduler(kq.Scheduler(cluster(template(2)), now=0))
        live.submit(workload(count=2))
        live.settle()
        live.apply(template(5))
        live.submit(workload(name="v"))
        live.settle()
        before = to_bytes(live)
        assert live.explain("v").verdict == "Pending"
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == before


def test_simulated_jobs_wait_for_devices():
    jobs = kq.Jobs.from_manifests(
        [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": f"job-{i}", "labels": {"kueue.x-k8s.io/queue-name": "team-a"}},
                "spec": {
                    "template": {
                        "spec": {
                            "containers": [{"name": "c", "image": "x"}],
                            "resourceClaims": [{"name": "d", "resourceClaimTemplateName": "claim"}],
                        }
                    }
                },
            }
            for i in range(3)
        ],
        runtime="1h",
    )
    result = kq.simulate(cluster(template(4)), jobs)
    assert sorted(result.jobs["first_wait"].tolist()) == [0, 0, 3600]


@pytest.mark.parametrize(
    ("version", "access", "message"),
    [
        ("v0.17", False, None),
        ("v0.18", True, "AdminAccess is not supported"),
        ("v0.19", True, "AdminAccess is not supported"),
        ("v0.20", True, None),
    ],
)
def test_releases_differ_on_admin_access(version, access, message):
    declared = cluster(template(9, admin_access=access), configuration=mapped(version=version), quota=1)
    scheduler = kq.Scheduler(declared, now=0)
    told = admitted(scheduler)
    if message is None:
        assert told.verdict == "Admitted"
    else:
        assert message in told.message
        assert told.reason == "Inadmissible"  # the gate UnadmittedWorkloadsObservability is off in these releases


def test_v0_17_with_its_gate_counts_templates_without_selectors():
    configuration = mapped(version="v0.17", gates={"DynamicResourceAllocation": True})
    scheduler = kq.Scheduler(cluster(template(9), configuration=configuration), now=0)
    assert "current podset request (9) > maximum capacity (8)" in admitted(scheduler).message
    scheduler = kq.Scheduler(cluster(template(selectors=["true"]), configuration=configuration), now=0)
    assert "CEL selectors are not supported" in admitted(scheduler).message


GATES_OF_V0_17 = {"DynamicResourceAllocation": True, "DRAExtendedResources": True}
RESOURCE = "example.com/gpu"


def requesting(containers, init=(), name="w"):
    """A Workload whose containers request these numbers of the extended resource."""

    def listed(prefix, amounts):
        return [
            {"name": f"{prefix}{i}", "resources": {"requests": {RESOURCE: amount}}} for i, amount in enumerate(amounts)
        ]

    spec = {"containers": listed("c", containers), "initContainers": listed("i", init)}
    return kq.Workload(name, queue_name="team-a", pod_sets=(kq.PodSet("main", 1, template={"spec": spec}),))


def extended(version, *names, mapped_class=GPU, resource="gpus"):
    """A Scheduler with device classes of these names, which have the extended resource."""
    resources = kq.objects.Resources(
        device_class_mappings=(kq.objects.DeviceClassMapping("gpus", (mapped_class,)),),
    )
    gates = GATES_OF_V0_17 if version == "v0.17" else {}
    configuration = kq.Configuration(resources=resources, feature_gates=gates, version=version)
    classes = [kq.objects.DeviceClass(name, extended_resource_name=RESOURCE) for name in names]
    return kq.Scheduler(cluster(*classes, configuration=configuration, resource=resource), now=0)


def usage_of(scheduler, item):
    scheduler.submit(item)
    scheduler.settle()
    admission = scheduler.workload("w").status.admission
    return admission and admission.pod_set_assignments[0].resource_usage


@pytest.mark.parametrize(
    ("version", "expected"),
    # The class `a` is selected in v0.19 since it has the first name, but it has no mapping.
    [("v0.17", {"gpus": "3"}), ("v0.19", None)],
)
def test_v0_17_charges_an_extended_resource_to_any_mapped_class(version, expected):
    assert usage_of(extended(version, "a", GPU), requesting([2, 1])) == expected


def test_v0_17_takes_maxima_of_init_containers_after_the_translation():
    assert usage_of(extended("v0.17", GPU), requesting([2, 1], init=[5, 4])) == {"gpus": "5"}


def test_v0_17_rejects_fractions_of_each_container():
    scheduler = extended("v0.17", GPU)
    scheduler.submit(requesting(["500m", 1]))
    scheduler.settle()
    assert (
        "spec.podSets[0].template.spec.containers[0].resources.requests.example.com/gpu: "
        'Invalid value: "500m": extended resource quantity must be an integer'
    ) in scheduler.workload("w").status.conditions[0].message


def test_v0_17_admits_an_extended_resource_without_a_class_by_its_own_name():
    assert usage_of(extended("v0.17", resource=RESOURCE), requesting([3])) == {RESOURCE: "3"}


V1 = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "claim", "namespace": "default"},
    "spec": {
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "r",
                        "exactly": {
                            "deviceClassName": GPU,
                            "count": 2,
                            "selectors": [{"cel": {"expression": "true"}}],
                            "capacity": {"requests": {"memory": "1Gi"}},
                        },
                    }
                ]
            }
        }
    },
}


def test_all_versions_of_a_template_are_one_object():
    read = from_dict(V1)
    assert read == template(2, selectors=("true",), capacity={"memory": "1Gi"})
    assert to_dict(read) == V1
    assert from_dict({**V1, "apiVersion": "resource.k8s.io/v1beta2"}) == read
    (request,) = V1["spec"]["spec"]["devices"]["requests"]
    old = {"requests": [{"name": "r", **request["exactly"]}]}
    beta1 = {**V1, "apiVersion": "resource.k8s.io/v1beta1", "spec": {"spec": {"devices": old}}}
    assert from_dict(beta1) == read


def test_devices_of_a_slice_survive_writing_and_reading():
    policy = kq.objects.CapacityRequestPolicy(default="1Gi", valid_range=kq.objects.CapacityRange("1Gi", "8Gi", "1Gi"))
    published = devices(2, memory=kq.objects.DeviceCapacity("8Gi", policy), plain="3")
    assert from_dict(to_dict(published)) == published
    document = to_dict(published)
    plain = [
        {"name": d["name"], "basic": {k: v for k, v in d.items() if k != "name"}} for d in document["spec"]["devices"]
    ]
    beta1 = {**document, "apiVersion": "resource.k8s.io/v1beta1", "spec": {**document["spec"], "devices": plain}}
    assert from_dict(beta1) == published


def test_a_whole_cluster_survives_writing_and_reading(tmp_path):
    source = kq.objects.DeviceClassSource(counter=kq.objects.CounterSource("memory", GPU, "true"))
    pytest.importorskip("cel_expr_python")
    whole = cluster(
        kq.objects.DeviceClass(GPU, selectors=("true",)),
        template(3),
        devices(1, memory="1Gi"),
        configuration=mapped(source),
    )
    path = tmp_path / "cluster.yaml"
    kq.dump(whole, path)
    assert kq.load(str(path)) == whole


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"count": -1}, r"spec\.spec\.devices\.requests\[0\]\.exactly\.count: is -1; it must be 1 or more"),
        ({"allocationMode": "Some"}, r"requests\[0\]\.exactly\.allocationMode: Some is not supported|allocationMode"),
        ({"selectors": [{}]}, r"requests\[0\]\.exactly\.selectors\[0\]\.cel: is required"),
        ({"counts": 1}, r"requests\[0\]\.exactly\.counts: unknown field"),
    ],
)
def test_errors_in_a_template_name_the_field(tmp_path, change, error):
    (request,) = V1["spec"]["spec"]["devices"]["requests"]
    wrong = {"name": "r", "exactly": {**request["exactly"], **change}}
    path = tmp_path / "template.json"
    path.write_text(json.dumps({**V1, "spec": {"spec": {"devices": {"requests": [wrong]}}}}))
    with pytest.raises(kq.errors.InvalidSpecError, match=error):
        kq.load(str(path))


@pytest.mark.parametrize(
    ("device", "field"),
    [
        ({}, "name"),
        ({"name": None}, "name"),
        ({"name": "g", "capacity": {"memory": {}}}, "capacity.memory.value"),
        ({"name": "g", "consumesCounters": [{"counters": {}}]}, "consumesCounters[0].counterSet"),
        ({"name": "g", "consumesCounters": [{"counterSet": "s"}]}, "consumesCounters[0].counters"),
        (
            {"name": "g", "consumesCounters": [{"counterSet": "s", "counters": {"c": {}}}]},
            "consumesCounters[0].counters.c.value",
        ),
    ],
)
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_device_without_a_required_field_is_rejected_by_name(device, field, version):
    document = {**to_dict(devices(1, memory="1Gi")), "apiVersion": f"resource.k8s.io/{version}"}
    rest = {name: value for name, value in device.items() if name != "name"}
    named = {"name": device["name"]} if "name" in device else {}
    document["spec"]["devices"] = [{**named, "basic": rest} if version == "v1beta1" else device]
    with pytest.raises(kq.errors.InvalidSpecError, match=re.escape(f"spec.devices[0].{field}: is required")):
        kq.load(document)


def test_lint_reports_dangling_claims_classes_and_resources():
    wrong = mapped(name="cards")
    mapping = msgspec.structs.replace(wrong.resources.device_class_mappings[0], device_class_names=("missing",))
    configuration = kq.Configuration(resources=kq.objects.Resources(device_class_mappings=(mapping,)))
    declared = cluster(
        kq.objects.DeviceClass(GPU),
        template(),
        workload(),
        workload(name="v", claim="other"),
        configuration=configuration,
    )
    assert [finding.rule for finding in lint(declared)] == ["L30", "L30", "L31", "L32"]
    assert lint(cluster(kq.objects.DeviceClass(GPU), template(), workload())) == []


def test_dumps_keep_devices():
    assert "ResourceClaimTemplate" in dump([template()])


def test_sign_of_a_quantity_is_a_function_and_not_a_method():
    pytest.importorskip("cel_expr_python")
    (subject,) = devices(1, memory="40Gi").subjects
    capacity = f'device.capacity["{GPU}"].memory'
    assert compile_error(f"sign({capacity}) == 1") == ""
    assert evaluate(f"sign({capacity}) == 1", subject) == (True, "")
    with pytest.raises(kq.errors.UnsupportedError, match="a quantity or a version outside of its functions"):
        compile_error(f"{capacity}.sign() == 1")


_MODEL = 'device.attributes["gpu.example.com"].model'


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ('semver("v01.2", true) == semver("1.2.0")', (True, "")),
        ('isSemver("1-rc.1", true)', (False, "")),
        ('isSemver("v1.2.3", false)', (False, "")),
        ("device.attributes[\"gpu.example.com\"].`model` == 'a100'", (True, "")),
        ("device.attributes[\"gpu.example.com\"].`a-b` == 'a100'", (False, "no such key: a-b")),
    ],
)
def test_functions_and_tokens_of_expressions_are_those_of_kubernetes(expression, found):
    pytest.importorskip("cel_expr_python")
    attributes = {GPU: {"model": "a100", "mig": True}}
    subject = json.dumps({"driver": GPU, "attributes": attributes, "capacity": {}})
    assert compile_error(expression) == ""
    assert evaluate(expression, subject) == found


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        (f'{_MODEL}.exists(x, x == "a")', "ERROR: <input>:1:37: expression of type 'any' cannot be"),
        ('device.driver + 1 == "a"', "ERROR: <input>:1:15: found no matching overload for '_+_'"),
        ("1 == 1 ? 2 : 3", "must evaluate to bool or the unknown type, not int"),
    ],
)
def test_the_compiler_rejects_types_like_kueue(expression, error):
    pytest.importorskip("cel_expr_python")
    assert error in compile_error(expression)


@pytest.mark.parametrize(
    ("exactly", "count"),
    [({}, 1), ({"count": 0}, 1), ({"count": 2}, 2), ({"allocationMode": "All"}, 0)],
)
def test_the_count_of_a_request_is_defaulted_as_by_the_api(exactly, count):
    request = {"name": "r", "exactly": {"deviceClassName": GPU, **exactly}, "firstAvailable": []}
    body = {"metadata": {"name": "claim"}, "spec": {"spec": {"devices": {"requests": [request]}}}}
    read = from_dict({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", **body})
    assert read.requests[0].count == count
    assert read.requests[0].first_available is None


def test_empty_parts_of_device_objects_survive_writing_and_reading():
    consumed = kq.objects.CounterConsumption("set")
    pool = kq.objects.ResourcePool("p")
    device = kq.objects.Device("d", consumes_counters=[consumed])
    for one in (
        kq.objects.ResourceSlice("s", driver=GPU, pool=pool, devices=[device]),
        kq.objects.ResourceClaim("c"),
        kq.objects.ResourceClaimTemplate("t"),
    ):
        assert from_dict(to_dict(one)) == one
    assert to_dict(kq.objects.ResourceClaim("c"))["spec"] == {"devices": {}}
