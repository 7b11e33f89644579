"""AppWrapper and SparkApplication: pod sets from nested fields."""

import pytest

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import adapter_for, apply_patch, start_patch, stop_patch, suspend, to_workload
from kueuepy.jobs.integrations.spark import java_memory

TAS = "workload.codeflare.dev.appwrapper/tas-"


@pytest.fixture
def wrapper(example):
    """An AppWrapper of one component."""

    def make(template, **component):
        manifest = example("appwrapper")
        manifest["spec"]["components"] = [{"template": template, **component}]
        return manifest

    return make


def counts(manifest):
    return [p.count for p in to_workload(manifest).pod_sets]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("job", [3]),
        ("jobset", [1, 8]),
        ("pytorchjob", [1, 4]),
        ("raycluster", [1, 3]),
        ("rayjob", [1, 2, 1]),
        ("pod", [1]),
        ("statefulset", [3]),
    ],
)
def test_the_pod_sets_of_known_kinds_are_inferred(example, wrapper, name, expected):
    assert counts(wrapper(example(name))) == expected


def test_the_pod_sets_of_other_kinds_are_declared(wrapper):
    crew = {"apiVersion": "example.com/v1", "kind": "Crew", "spec": {"parts": [{"pod": {"spec": {"containers": []}}}]}}
    index = {f"{TAS}pod-index-label": "i", f"{TAS}sub-group-index-label": "g", f"{TAS}sub-group-count": "2"}
    declared = [{"replicas": 6, "path": "template.spec.parts[0].pod", "annotations": index}]
    (pod_set,) = to_workload(wrapper(crew, podSets=declared)).pod_sets
    assert (pod_set.name, pod_set.count) == ("pipeline-0", 6)
    assert pod_set.topology_request == {"podIndexLabel": "i", "subGroupIndexLabel": "g", "subGroupCount": 2}
    for path in (
        "template.spec.parts[1].pod",
        "template.spec",
        "spec.parts",
        "template.spec.parts[x]",
        "template..spec",
    ):
        with pytest.raises(InvalidSpecError, match="it must lead to a pod template"):
            to_workload(wrapper(crew, podSets=[{"path": path}]))
    with pytest.raises(InvalidSpecError, match="has 0 pod sets; it must have 1 to 18"):
        to_workload(wrapper(crew))


def test_the_pod_set_of_a_component_has_the_fields_that_kueue_reads(wrapper, example):
    pod = example("pod")
    pod["spec"] |= {"volumes": [{"name": "v"}], "nodeSelector": {"a": "b"}}
    pod["spec"]["containers"][0] |= {"env": [{"name": "A"}], "image": "registry.example.com:5000/notebook"}
    (pod_set,) = to_workload(wrapper(pod)).pod_sets
    spec = pod_set.template["spec"]
    assert "volumes" not in spec
    assert (spec["restartPolicy"], spec["nodeSelector"]) == ("Never", {"a": "b"})
    (container,) = spec["containers"]
    assert container["imagePullPolicy"] == "Always"
    assert container["resources"] == {"requests": {"cpu": "2", "memory": "8Gi"}}
    assert "env" not in container


def test_an_app_wrapper_stores_pod_set_info_next_to_its_components(example, admit, flavors):
    held = suspend(example("appwrapper"))
    workload = to_workload(held)
    started = apply_patch(held, start_patch(held, admit(workload), flavors, marks=False))
    infos = [component.get("podSetInfos") for component in started["spec"]["components"]]
    given = {"nodeSelector": {"instance-type": "spot"}, "tolerations": [{"key": "reserved", "operator": "Exists"}]}
    assert infos == [None, [given], [given]]
    assert apply_patch(started, stop_patch(started, workload)) == held


def test_the_phase_of_an_app_wrapper(example):
    def wrapped(phase, *conditions):
        status = {"phase": phase, "conditions": [{"type": c, "status": "True"} for c in conditions]}
        return adapter_for(example("appwrapper") | {"status": status})

    assert wrapped("Succeeded").finished().success
    assert not wrapped("Failed").finished().success
    assert wrapped("Failed", "ResourcesDeployed").finished() is None
    assert wrapped("Running").finished() is None
    assert wrapped("Running", "PodsReady").pods_ready()


@pytest.mark.parametrize(
    ("written", "quantity"), [("512m", "512Mi"), ("4g", "4Gi"), ("1tb", "1Ti"), ("2Gi", "2Gi"), ("1024", "1024")]
)
def test_memory_as_java_writes_it(written, quantity):
    assert java_memory(written) == quantity


def test_spark_fields_that_affect_requests(example):
    manifest = example("sparkapplication")
    executor = manifest["spec"]["executor"]
    executor |= {
        "coreLimit": "3",
        "memoryLimit": "5g",
        "labels": {"own": "1"},
        "template": {"metadata": {"labels": {"of": "template"}}, "spec": {"containers": [{"name": "ignored"}]}},
        "sidecars": [{"name": "proxy", "resources": {"requests": {"cpu": "100m"}}}],
        "initContainers": [{"name": "init"}],
        "volumeMounts": [{"name": "data", "mountPath": "/d"}, {"name": "spark-local-dir-1"}, {"name": "none"}],
        "priorityClassName": "system-node-critical",
        "nodeSelector": {"disk": "ssd"},
    }
    manifest["spec"]["volumes"] = [{"name": "data"}, {"name": "spark-local-dir-1"}]
    workload = to_workload(manifest)
    template = workload.pod_sets[1].template
    assert template["metadata"]["labels"] == {"of": "template", "own": "1"}
    spec = template["spec"]
    assert [c["name"] for c in spec["containers"]] == ["spark-kubernetes-executor", "proxy"]
    limits = {"cpu": "3", "memory": "5Gi", "nvidia.com/gpu": "1"}
    assert spec["containers"][0]["resources"]["limits"] == limits
    assert spec["volumes"] == [{"name": "data"}]
    assert spec["initContainers"] == [{"name": "init"}]
    assert spec["nodeSelector"] == {"disk": "ssd"}
    assert workload.priority == 2_000_001_000


def test_an_upper_case_java_unit_is_not_a_quantity(example):
    manifest = example("sparkapplication")
    manifest["spec"]["driver"]["memory"] = "4G"
    with pytest.raises(InvalidSpecError, match=r'spec.driver.memory: is "4G"; it must be an amount such as 512m or 4g'):
        to_workload(manifest)


def test_invalid_spark_applications_are_rejected(example):
    manifest = example("sparkapplication")
    manifest["spec"]["mode"] = "client"
    with pytest.raises(InvalidSpecError, match='mode: is "client"'):
        to_workload(manifest)
    manifest["spec"] |= {"mode": "cluster", "dynamicAllocation": {"enabled": True}}
    with pytest.raises(InvalidSpecError, match="must not change its executors"):
        to_workload(manifest)


def test_a_stopped_spark_role_is_restored(example, run):
    manifest = example("sparkapplication")
    manifest["spec"]["executor"] |= {
        "labels": {"own": "1"},
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "x", "operator": "Exists"}],
        "template": {"metadata": {"labels": {"of": "template"}}, "spec": {"containers": []}},
    }
    held, started, stopped = run(manifest)
    assert started["spec"]["executor"]["nodeSelector"] == {"disk": "ssd", "instance-type": "spot"}
    assert started["spec"]["executor"]["labels"]["kueue.x-k8s.io/podset"] == "executor"
    executor = stopped["spec"]["executor"]
    assert executor["labels"] == {"own": "1", "of": "template"}
    assert executor["instances"] == held["spec"]["executor"]["instances"]
    del executor["labels"]["of"]
    assert executor == held["spec"]["executor"]
    container = {"name": "spark-kubernetes-driver"}
    assert stopped["spec"]["driver"] == held["spec"]["driver"] | {"template": {"spec": {"containers": [container]}}}


def test_spark_executors_without_a_count_have_none_after_a_stop(example, run):
    manifest = example("sparkapplication")
    del manifest["spec"]["executor"]["instances"]
    *_, stopped = run(manifest)
    assert stopped["spec"]["executor"]["instances"] == 0


def test_the_common_node_selector_of_spark_is_moved_to_its_roles_permanently(example, run):
    manifest = example("sparkapplication")
    manifest["spec"]["nodeSelector"] = {"disk": "ssd"}
    _, started, stopped = run(manifest)
    for role in ("driver", "executor"):
        assert started["spec"][role]["nodeSelector"] == {"disk": "ssd", "instance-type": "spot"}
    assert "nodeSelector" not in started["spec"]
    assert "ssd" not in str(stopped)


def test_the_state_of_a_spark_application(example):
    def spark(state, **executors):
        status = {"applicationState": {"state": state, "errorMessage": "e"}, "executorState": executors}
        return adapter_for(example("sparkapplication") | {"status": status})

    assert spark("COMPLETED").finished() == ("e", True)
    assert spark("FAILED").finished() == ("e", False)
    assert spark("RUNNING").finished() is None
    assert spark("RUNNING", a="RUNNING", b="COMPLETED", c="RUNNING").pods_ready()
    assert not spark("RUNNING", a="RUNNING", b="PENDING").pods_ready()
