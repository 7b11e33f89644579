"""Input formats of load, skipped objects, and locations."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent

import pytest

from kueuepy import Cluster, Scheduler
from kueuepy.errors import DuplicateError, NotFoundError
from kueuepy.manifest import LimitError, Limits, ManifestError, load, to_dict
from kueuepy.manifest.text.reading import read
from kueuepy.objects import Cohort, LocalQueue, Namespace

COHORT = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: %s}\n"


def cohorts(source: object) -> list[str]:
    return [cohort.name for cohort in load(source).cohorts]  # type: ignore[arg-type]


def test_texts_bytes_files_and_objects(tmp_path: Path):
    text = COHORT % "a"
    path = tmp_path / "a.yaml"
    path.write_text(text)
    assert cohorts(text) == ["a"]
    assert cohorts(text.encode()) == ["a"]
    assert cohorts(path) == ["a"]
    assert cohorts(str(path)) == ["a"]
    assert cohorts(io.StringIO(text)) == ["a"]
    assert cohorts(io.BytesIO(text.encode())) == ["a"]
    assert cohorts(to_dict(Cohort("a"))) == ["a"]
    assert cohorts([to_dict(Cohort("b")), path, COHORT % "c"]) == ["b", "a", "c"]
    assert cohorts("") == []


def test_directories_are_read_by_name(tmp_path: Path):
    (tmp_path / "deeper").mkdir()
    for name in ("b.yaml", "a.yml", "c.json", "deeper/d.yaml", "e.txt"):
        text = json.dumps(to_dict(Cohort(name[-6]))) if name.endswith("json") else COHORT % Path(name).stem
        (tmp_path / name).write_text(text)
    assert cohorts(tmp_path) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("path", ["nowhere.yaml", Path("nowhere.yaml"), "\0", "x" * 5000])
def test_a_missing_file_is_named(path: str | Path):
    with pytest.raises(NotFoundError, match="cannot be read"):
        load(path)


def test_documents_lists_and_comments():
    text = dedent("""\
        # the first
        %YAML 1.1
        ---
        {apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: a}}
        --- # the second
        apiVersion: v1
        kind: List
        items:
        - {apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: b}}
        - apiVersion: v1
          kind: List
          items: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: c}}]
        ...
        # between
        ---
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: CohortList
        items:
        - metadata: {name: d}
        ---
        apiVersion: v1
        kind: List
        items: null
        """)
    assert cohorts(text) == ["a", "b", "c", "d"]
    assert cohorts("\ufeff" + COHORT % "a") == ["a"]


def test_json_objects_and_lists():
    items = [to_dict(Cohort(name)) for name in ("a", "b")]
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    assert cohorts(json.dumps(listed)) == ["a", "b"]
    assert cohorts(json.dumps(items[0]) + "\n---\n" + json.dumps(items[1])) == ["a", "b"]
    assert cohorts('{apiVersion: kueue.x-k8s.io/v1beta2, "kind": Cohort, metadata: {name: a}}') == ["a"]


def big_list(count: int, item: str, head: str = "apiVersion: v1\nitems:\n", foot: str = "kind: List\n") -> str:
    return head + "".join(item % (i, "x" * 1000) for i in range(count)) + foot


ITEM = dedent("""\
    - apiVersion: kueue.x-k8s.io/v1beta2
      kind: Cohort
      metadata:
        name: c%d
        annotations:
          long: %s
    """)


@pytest.mark.parametrize("margin", ["", "  "])
def test_large_lists_are_split(margin: str):
    manifest = load(big_list(1000, indent(ITEM, margin)))
    assert [cohort.name for cohort in manifest.cohorts] == [f"c{i}" for i in range(1000)]
    assert manifest.where(manifest.cohorts[700], ("metadata", "annotations", "long")) == "text:4208"


def test_the_items_of_a_large_list_may_be_the_last_key():
    text = big_list(600, ITEM, "apiVersion: v1\nkind: List\nitems:\n", "")
    assert len(load(text).cohorts) == 600


@pytest.mark.parametrize(
    ("written", "read"), [("long: |\n        x\n        - y %s\n", "x\n- y xxx"), ('long: "x\n- y %s"', "x - y xxx")]
)
def test_large_lists_with_lines_that_look_like_items(written: str, read: str):
    """Lines inside a text are not items, wherever the text is split."""
    manifest = load(big_list(600, ITEM.replace("long: %s", written)))
    assert manifest.cohorts[599].annotations["long"].startswith(read)


def test_errors_in_a_large_list_are_found():
    text = big_list(700, ITEM)
    with pytest.raises(ManifestError, match=r'^text:3906: Cohort "C650": metadata\.name: is "C650"'):
        load(text.replace("c650", "C650"))
    with pytest.raises(
        ManifestError,
        match=r"^text:3907:16: did not find expected ',' or '\]', while .* that starts in line 3906$",
    ):
        load(text.replace("name: c650", "name: [c650"))


def test_a_large_json_list_names_the_line():
    items = [to_dict(Cohort(f"c{i}", annotations={"long": "x" * 1000})) for i in range(600)]
    items[500]["spec"] = {"parent": "x"}
    text = json.dumps({"kind": "List", "apiVersion": "v1", "items": items}, indent=1)
    line = text[: text.index('"parent"')].count("\n") + 1
    with pytest.raises(
        ManifestError, match=rf'^text:{line}: Cohort "c500": spec\.parent: unknown field; did you mean "par'
    ):
        load(text)


def test_stray_kinds_are_noted_and_skipped():
    text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n---\n" + COHORT % "a"
    manifest = load(text)
    assert [str(note) for note in manifest.notes] == ['text:1: Deployment "web": does not bear on admission; skipped']
    assert len(manifest.cohorts) == 1


JOB = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: {kueue.x-k8s.io/queue-name: q}}\nspec: {}\n"


def test_jobs_are_kept_unchanged():
    manifest = load(JOB)
    assert manifest.jobs[0]["metadata"] == {"name": "j", "annotations": {"kueue.x-k8s.io/queue-name": "q"}}


def test_the_queue_name_of_old_jobs_becomes_a_label():
    old = "apiVersion: kueue.x-k8s.io/v1alpha2\nkind: LocalQueue\nmetadata: {name: q}\nspec: {clusterQueue: cq}\n---\n"
    manifest = load(old + JOB)
    assert manifest.jobs[0]["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "q"}
    assert manifest.versions == {"v1alpha2"}


@pytest.mark.parametrize(
    ("kind", "group"), [("Deployment", "apps/v1"), ("Pod", "v1"), ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1")]
)
def test_only_queued_objects_of_these_kinds_are_jobs(kind: str, group: str):
    text = f"apiVersion: {group}\nkind: {kind}\nmetadata: {{name: x, labels: {{%s: q}}}}\n"
    assert len(load(text % "kueue.x-k8s.io/queue-name").jobs) == 1
    assert len(load(text % "app").jobs) == 0


def test_other_kinds_of_kueue_are_kept():
    text = dedent("""\
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ProvisioningRequestConfig
        metadata: {name: p}
        spec: {provisioningClassName: c}
        """)
    assert [other["kind"] for other in load(text).others] == ["ProvisioningRequestConfig"]


def test_fields_added_by_kubectl_are_ignored():
    text = dedent("""\
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata:
          name: jobs
          namespace: team-a
          uid: 0b4e
          creationTimestamp: "2026-01-31T10:00:00Z"
          generation: 3
          resourceVersion: "12"
          finalizers: [kueue.x-k8s.io/resource-in-use]
          managedFields:
          - manager: kubectl
            operation: Update
            fieldsV1: {"f:spec": {"f:clusterQueue": {}}}
          annotations: null
        spec: {clusterQueue: vision, stopPolicy: None, fairSharing: null}
        status: {pendingWorkloads: 2, conditions: [{type: Active, status: "True"}]}
        """)
    assert load(text).local_queues == (
        LocalQueue("jobs", namespace="team-a", uid="0b4e", creation_timestamp=1769853600, cluster_queue="vision"),
    )


def test_generated_names():
    text = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {generateName: job-}\nspec: {}\n"
    manifest = load(f"{text}---\n{text}")
    assert [workload.name for workload in manifest.workloads] == ["job-00001", "job-00002"]
    assert str(manifest.notes[0]) == 'text:3: Workload "job-": is called "job-00001" here'


def test_a_namespace_has_the_label_of_its_name():
    (namespace,) = load("apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {team: x}}\n").namespaces
    assert namespace.labels == {"team": "x", "kubernetes.io/metadata.name": "a"}
    assert Namespace("b").labels == {"kubernetes.io/metadata.name": "b"}


def test_two_objects_with_one_name_are_rejected_in_a_file():
    text = f"{COHORT % 'a'}---\n{COHORT % 'a'}"
    with pytest.raises(
        DuplicateError, match=r'^text:5: Cohort "a": is given at text:1 already; give each object once$'
    ):
        load(text)
    manifest = load(text.replace("{name: a}\n---", "{name: a}\nspec: {parentName: x}\n---"), strict=False)
    assert manifest.cohorts == (Cohort("a"),)
    assert [str(note) for note in manifest.notes] == ['text:6: Cohort "a": replaces that of text:1']


def test_a_yaml_directive_is_allowed_before_documents():
    text = "%YAML 1.1 # c\n# c\n---\n" + COHORT % "a" + "...\n%YAML 1.1\n---\n" + COHORT % "b"
    assert cohorts(text) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (COHORT % "a" + "%YAML 1.1\n---\n", 4),
        ("%TAG ! x\n---\n", 1),
        ("%YAML 1.2\n---\n", 1),
        ("%YAML 1.1\n%YAML 1.1\n---\n", 1),
        ("%YAML 1.1\na: b\n---\n", 1),
        ("%YAML 1.1\na: b\n", 1),
        ("---\n%YAML 1.1\n---\n", 2),
    ],
)
def test_other_yaml_directives_are_rejected(text: str, line: int):
    with pytest.raises(ManifestError, match=rf"^text:{line}:1: a line starts with %, which only %YAML 1\.1"):
        load(text)


def values(text: str) -> list[object]:
    return [item.value for item in read("f.yaml", text.encode(), Limits(), strict=True)]


def test_text_after_a_document_marker_belongs_to_the_document():
    assert values("--- {a: 1}\n--- |\n b\n--- # c\nd: e\n---\nf: g\n...\n# h\n") == [
        {"a": 1},
        "b\n",
        {"d": "e"},
        {"f": "g"},
    ]
    assert values("---x: 1\n") == [{"---x": 1}]
    with pytest.raises(ManifestError, match=r"^f\.yaml:2:6: mapping values are not allowed"):
        values("\n--- a: 1\n")


@pytest.mark.parametrize("text", ["a: 1\n...\nb: 2\n", "a: 1\n...\n# c\n\nb: 2\n", "a: 1\n... b\n"])
def test_text_after_a_document_end_marker_is_an_error(text: str):
    with pytest.raises(ManifestError, match=r"a document starts here after \.\.\.; write --- before it"):
        values(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"kind": "List", "items": [{"a": 1} {"b": 2}]}',
        '{"kind": "List", "items": [{"a": 1}',
        '{"kind": "List", "items": [{"a": 1},',
        '{"kind": "List", "items": [{"a": 1}]',
        '{"kind": "List", "items": [{"a": 1}, {"b": 2}}',
    ],
)
def test_a_truncated_json_list_is_rejected(text: str):
    with pytest.raises(ManifestError, match=r"^f\.yaml:1:"):
        values(text)


def test_items_that_cannot_be_split_are_read_as_a_whole():
    assert values("kind: List\nitems:\n- a: [x]\n-\n  b: 1\n") == [{"a": ["x"]}, {"b": 1}]


def test_errors_in_json_that_is_not_yaml_have_lines():
    text = '{"a": "\\ud83d\\ude00",\n "b": "\\\\\\/",\n "c": 1}'
    (item,) = read("f.json", text.encode(), Limits(), strict=True)
    assert item.value == {"a": "\U0001f600", "b": "\\/", "c": 1}
    assert item.where(("c",)) == "f.json:3"


def test_limits_apply_to_large_json():
    odd = "\\ud83d\\ude00"  # is not valid YAML
    doc = {"a": [[{}] * 600, "x" * 999]}
    text = json.dumps(doc)[:-1] + f', "b": "{odd}", "c": 12345678901234567890123}}'
    limits = Limits(scalar_bytes=1000)
    (item,) = read("f.json", text.encode(), limits, strict=True)
    assert item.value == {**doc, "b": "\U0001f600", "c": 12345678901234568000000}
    with pytest.raises(LimitError, match=r"^f\.json:1:2410: a string has 1,001 bytes"):
        list(read("f.json", text.replace("xxx", "xxxxx", 1).encode(), limits, strict=True))
    with pytest.raises(ManifestError, match=r"^f\.json:1:1: a key is given twice"):
        list(read("f.json", text.replace('"c"', '"a"').encode(), limits, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5: 6\n", "apiVersion: is required"),
        ("kind: Cohort\nmetadata: {name: a}\n", "apiVersion: is required"),
        ("apiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: a}\n", "kind: is required"),
        ("- a\n", "is not a mapping; an object has apiVersion, kind and metadata"),
        ("a\n", "is not a mapping; an object has apiVersion, kind and metadata"),
        (
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQeue\nmetadata: {name: a}\n",
            'kind: "ClusterQeue" is not a kind of kueue.x-k8s.io; did you mean "ClusterQueue"?',
        ),
        (
            "apiVersion: kueue.x-k8s.io/v2\nkind: Cohort\nmetadata: {name: a}\n",
            'apiVersion: "kueue.x-k8s.io/v2" is not known; it must be one of v1alpha1, v1alpha2, v1beta1, v1beta2',
        ),
        ("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\n", "metadata.name: is required"),
        ("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {}\n", "metadata.name: is required"),
        ("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: ''}\n", "metadata.name: is required"),
        ("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: 5}\n", "metadata.name: is 5, a number"),
        (
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {nam: a}\n",
            'metadata.nam: unknown field; did you mean "name"',
        ),
        (COHORT % "a" + "spec: []\n", "spec: is a list; it must be a mapping"),
        (COHORT % "a" + "spek: {}\n", 'spek: unknown field; did you mean "spec"?'),
        (COHORT % "a" + "spec: {name: b}\n", "spec.name: unknown field; name belongs to metadata"),
        (COHORT % "a" + "spec: {status: b}\n", "spec.status: unknown field; status stands beside spec"),
        (COHORT % "a" + "spec: {parentName: yes}\n", "spec.parentName: is true, a boolean; it must be a string"),
        (COHORT % "a" + "spec: {resourceGroups: {}}\n", "spec.resourceGroups: is a mapping; it must be a list"),
        (COHORT % "{a: 1}", "metadata.name: is a mapping; it must be a string"),
        (
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: a, creationTimestamp: today}\n",
            'metadata.creationTimestamp: is "today"; it must be a time such as',
        ),
    ],
)
def test_documents_that_are_not_objects_are_rejected(text: str, expected: str, refused: Callable[[str], list[str]]):
    assert any(expected in found for found in refused(text)), refused(text)


def test_problems_name_file_line_object_and_field(tmp_path: Path):
    path = tmp_path / "cluster.yaml"
    path.write_text(
        dedent("""\
        # queues
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata:
          name: vision
        spec:
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: h100
              resources:
              - name: cpu
                nominalQuota: -4
              # too much
              - {name: memory, nominalQouta: 1, nominalQuota: 1}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: jobs, namespace: team-a}
        spec:
          clusterQueue: Vision
          stopPolicy: Stop
        """)
    )
    with pytest.raises(ManifestError) as error:
        load(path)
    group = "spec.resourceGroups[0].flavors[0].resources"
    assert str(error.value).splitlines() == [
        f'{path}:15: ClusterQueue "vision": {group}[1].nominalQouta: unknown field; did you mean "nominalQuota"?',
        (
            f'{path}:21: LocalQueue "team-a/jobs": spec.clusterQueue: is "Vision"; it must be a DNS subdomain: '
            "at most 253 of a-z, 0-9, - and ., with a letter or digit at each end"
        ),
        (
            f'{path}:22: LocalQueue "team-a/jobs": spec.stopPolicy: "Stop" is not supported; it must be one of '
            "None, Hold, HoldAndDrain"
        ),
    ]
    with pytest.raises(ManifestError) as error:
        load(path.read_text().replace("nominalQouta: 1, ", "").replace("stopPolicy: Stop", ""))
    assert [line.partition('": ')[0] for line in str(error.value).splitlines()] == [
        'text:11: ClusterQueue "vision',
        'text:13: ClusterQueue "vision',
        'text:21: LocalQueue "team-a/jobs',
    ]


def test_an_object_has_a_location():
    manifest = load(f"{COHORT % 'a'}---\n{COHORT % 'b'}spec:\n  parentName: a\n")
    assert manifest.where(manifest.cohorts[1]) == "text:5"
    assert manifest.where(manifest.cohorts[1], ("spec", "parentName")) == "text:9"
    assert manifest.where(manifest.cohorts[1], ("spec", "fairSharing", "weight")) == "text:8"
    assert manifest.where(Cohort("c")) == ""


def test_the_number_of_reported_problems_is_limited():
    text = "---\n".join((COHORT % f"c{i}") + "spec: {parent: x}\n" for i in range(200))
    with pytest.raises(ManifestError) as error:
        load(text)
    assert len(error.value.problems) == 50


def test_the_number_of_reported_unknown_fields_is_limited():
    text = COHORT % "a" + "spec: {" + ", ".join(f"x{i}: 1" for i in range(20_000)) + "}\n"
    with pytest.raises(ManifestError) as error:
        load(text)
    assert len(error.value.problems) == 50


def test_list_items_are_read_before_the_other_fields():
    text = "kind: List\nitems:\n" + "- a: 1\n" * 100_000 + "- [\n"
    items = read("f.yaml", text.encode(), Limits(), strict=True)
    assert next(items).value == {"a": 1}
    with pytest.raises(ManifestError, match=r"f\.yaml:100003:4: did not find expected node content"):
        list(items)


@pytest.mark.parametrize("kind", ["List", "Other"])
def test_a_mapping_with_items_is_a_list_object_by_its_kind(kind):
    for text in (f"items:\n- a: 1\nkind: {kind}\n", f'{{"items": [{{"a": 1}}], "kind": "{kind}"}}'):
        (item,) = read("f.yaml", text.encode(), Limits(), strict=True)
        listed = item.value == {"a": 1}
        assert listed or item.value == {"items": [{"a": 1}], "kind": kind}
        assert not listed or kind == "List"


def test_a_list_with_a_misleading_kind_is_rejected():
    text = "items:\n- a: 1\nb: '\nkind: List\n'\n"
    with pytest.raises(ManifestError, match="must have a kind that ends in List"):
        list(read("f.yaml", text.encode(), Limits(), strict=True))


def test_a_saved_state_is_rejected_by_name(tmp_path):
    Scheduler(Cluster()).save(tmp_path / "state")
    with pytest.raises(ManifestError, match="state:1:1: this is a saved state, which run, explain"):
        load(tmp_path / "state")


@pytest.mark.parametrize(("items", "shown"), [(3, "3, a number"), ("a", '"a", a string'), ({}, "a mapping")])
def test_a_list_object_whose_items_are_not_a_list_is_rejected(items, shown):
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    with pytest.raises(ManifestError, match=f"text:1: List: items: is {shown}; it must be a list"):
        load(json.dumps(listed))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_a_text_in_utf_16_is_rejected_by_name(encoding):
    text = "kind: List\n".encode(encoding)
    with pytest.raises(ManifestError, match=r"f\.yaml:1:1: this is UTF-16; save it as UTF-8"):
        list(read("f.yaml", b"\xfe\xff" * (encoding == "utf-16-be") + text, Limits(), strict=True))


def test_conditions_of_a_node_are_examined_with_their_paths():
    status = {"conditions": [{"type": "Ready", "status": True}], "nodeInfo": {}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": status}
    with pytest.raises(
        ManifestError, match=r"status\.conditions\[0\]\.status: is true, a boolean; it must be a string"
    ):
        load(node)
    status["conditions"] = [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": None}]
    (found,) = load(node).nodes
    assert (found.ready, found.other_conditions) == (True, {"DiskPressure": ""})


@pytest.mark.parametrize(
    ("version", "kind", "section"),
    [
        ("v1", "Namespace", "spec"),
        ("v1", "Namespace", "status"),
        ("v1", "Pod", "status"),
        ("node.k8s.io/v1", "RuntimeClass", "scheduling"),
        ("resource.k8s.io/v1", "ResourceClaim", "status"),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue", "status"),
        ("kueue.x-k8s.io/v1beta2", "AdmissionCheck", "status"),
    ],
)
@pytest.mark.parametrize("value", [5, "x", []])
def test_a_section_that_is_not_a_mapping_is_rejected(version, kind, section, value):
    given = {"apiVersion": version, "kind": kind, "metadata": {"name": "n"}, section: value}
    with pytest.raises(ManifestError, match=rf'{kind} "n": {section}: is .*; it must be a mapping'):
        load(given)


def test_an_admission_without_a_cluster_queue_is_rejected_by_the_field():
    admission = {"podSetAssignments": []}
    raw = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w"},
        "spec": {"podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": []}}}]},
        "status": {"admission": admission},
    }
    with pytest.raises(ManifestError, match=r"status\.admission\.clusterQueue: is required"):
        load(raw)
