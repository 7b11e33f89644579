"""Locations in errors of jobs and rows that were read from files."""

import pickle

import pytest

import kueuepy as kq
from kueuepy.jobs import convert

CPU = "spec.template.spec.containers[0].resources.requests.cpu"
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels: {{kueue.x-k8s.io/queue-name: team-a}}
spec:
  parallelism: {parallelism}
  template:
    spec:
      containers:
      - name: c
        resources:
          requests:
            cpu: {cpu}
"""


@pytest.fixture
def teams(seeds):
    return seeds / "002" / "two-teams.yaml"


@pytest.fixture
def rows(tmp_path):
    """A file of rows."""

    def write(*lines):
        path = tmp_path / "rows.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def jobs(tmp_path):
    """A file with a job, after a document that is none."""

    def write(cpu="1", parallelism="1", kind="Job"):
        path = tmp_path / "jobs.yaml"
        text = JOB.format(cpu=cpu, parallelism=parallelism)
        if kind == "CronJob":
            name, _, spec = text.partition("spec:\n")
            inner = "".join(f"    {line}\n" for line in ["spec:", *spec.splitlines()])
            labels = "    metadata: {labels: {kueue.x-k8s.io/queue-name: team-a}}\n"
            text = f"{name.replace('kind: Job', 'kind: CronJob')}spec:\n  jobTemplate:\n{labels}{inner}"
        path.write_text(f"# jobs\n---\n{text}", encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"cpu": "x1"}, f'16: Job "default/train": {CPU}: is "x1"; it must be a quantity'),
        ({"cpu": "-5"}, f'16: Job "default/train": {CPU}: is -5; it must be 0 or more'),
        ({"parallelism": "lots"}, "9: Job \"default/train\": spec.parallelism: is 'lots'; it must be a whole number"),
        ({"parallelism": "-1"}, '9: Job "default/train": spec.parallelism: is -1; it must be 0 or more'),
    ],
)
def test_the_error_of_a_job_names_file_line_job_and_field(kueuepy, teams, jobs, fields, told):
    path = jobs(**fields)
    for command in (["check"], ["run"], ["explain", "train"]):
        ran = kueuepy(*command, teams, path)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith(f"error: {path}:{told}")


def test_the_error_of_a_job_of_a_cron_job_has_a_location(kueuepy, teams, jobs):
    path = jobs(cpu="x1", kind="CronJob")
    ran = kueuepy("run", teams, path)
    assert ran.code == 1
    assert ran.err.startswith(f'error: {path}:19: CronJob "default/train": spec.jobTemplate.{CPU}: is "x1"; it must be')


def test_the_error_of_a_pod_group_has_the_location_of_one_pod(kueuepy, teams, tmp_path):
    path = tmp_path / "pods.yaml"
    labels = "{kueue.x-k8s.io/queue-name: team-a, kueue.x-k8s.io/pod-group-name: crew}"
    metadata = f'{{name: one, labels: {labels}, annotations: {{kueue.x-k8s.io/pod-group-total-count: "2"}}}}'
    spec = "{containers: [{name: c, resources: {requests: {cpu: 1}}}]}"
    path.write_text(f"apiVersion: v1\nkind: Pod\nmetadata: {metadata}\nspec: {spec}\n", encoding="utf-8")
    ran = kueuepy("run", teams, path)
    assert ran.err.startswith(f'error: {path}:1: pod group "default/crew": has 1 runnable pods; it must have 2')


def test_an_error_without_a_field_has_the_location_of_its_job(kueuepy, teams, jobs):
    path = jobs(cpu="18446744073709551616")
    ran = kueuepy("run", teams, path)
    assert ran.code == 1
    assert ran.err.startswith(f'error: {path}:3: Job "train": ')


def test_check_as_json_has_the_location_of_a_job(kueuepy, teams, jobs):
    path = jobs(cpu="-5")
    (problem,) = kueuepy("check", "--json", teams, path).json["problems"]
    assert (problem["where"], problem["field"]) == (f'{path}:16: Job "default/train"', CPU)


@pytest.mark.parametrize("options", [["--job"], ["--largest", "--job"]])
def test_an_error_of_an_explained_job_has_its_location(kueuepy, teams, jobs, options):
    path = jobs(parallelism="lots")
    ran = kueuepy("whatif", teams, *options, path)
    assert ran.err.startswith(f'error: {path}:9: Job "default/train": spec.parallelism: ')


@pytest.mark.parametrize("options", [["--job"], ["--largest", "--job"]])
def test_an_error_of_an_explained_workload_has_its_location(kueuepy, teams, jobs, rows, options):
    path = jobs(cpu="x1")
    ran = kueuepy("whatif", teams, *options, path)
    assert ran.err.startswith(f'error: {path}:16: Job "default/train": {CPU}: is "x1"; it must be a quantity')
    path = rows("name,queue,cpu", "good,team-a,1", "bad,team-a,abc")
    ran = kueuepy("whatif", teams, *options, path)
    assert ran.err.startswith(f"error: {path}:3, column \"cpu\": 'abc'; it must be a quantity")


def test_errors_of_compared_jobs_have_a_location(kueuepy, teams, jobs):
    path = jobs(parallelism="lots")
    ran = kueuepy("compare", teams, teams, "--jobs", path)
    assert ran.err.startswith(f'error: {path}:9: Job "default/train": spec.parallelism: ')


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["good,team-a,1,1", "bad,team-a,1,abc"], "3, column \"cpu\": 'abc'; it must be a quantity"),
        (["good,team-a,1,1", "good,team-a,1,1"], '3: Workload "default/good": is named twice'),
        (["good,team-a,1"], "2: has 3 cells; the first line names 4"),
        (["good,team-a,1,1,1"], "2: has 5 cells; the first line names 4"),
        (["good,team-a,one,1"], "2, column \"pods\": 'one'; it must be a whole number"),
    ],
)
def test_the_error_of_a_row_names_file_and_line(kueuepy, teams, rows, lines, told):
    path = rows("name,queue,pods,cpu", *lines)
    ran = kueuepy("run", teams, path)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"error: {path}:{told}")
    assert (
        kueuepy("compare", teams, teams, "--jobs", path).err.rpartition("error: ")[2].startswith(f"{path}:{told[:1]}")
    )


def test_a_row_with_the_name_of_a_job_is_reported(kueuepy, teams, rows, seeds):
    path = rows("name,queue,cpu", "new,team-a,1", "a-1,team-a,1")
    ran = kueuepy("run", teams, seeds / "002" / "jobs.csv", path)
    assert ran.err.startswith(f'error: {path}:3: Workload "default/a-1": exists already')


def test_a_column_is_named_once(kueuepy, teams, rows):
    path = rows("name,queue,pods,cpu,cpu", "a,team-a,1,1,2")
    assert kueuepy("run", teams, path).err == (f'error: {path}:1: column "cpu" is there twice; name each column once\n')


@pytest.mark.parametrize("submit", ["9e2", "900", "900.0"])
def test_seconds_are_numbers_however_they_are_written(kueuepy, teams, rows, submit):
    path = rows("name,queue,cpu,submit,duration", f"a,team-a,1,{submit},1e1")
    decisions = kueuepy("compare", teams, teams, "--jobs", path, "--json")
    assert decisions.code == 0
    assert decisions.json["jobs"] == 1


def test_a_time_that_is_too_late_is_rejected(kueuepy, teams, rows):
    path = rows("name,queue,cpu,submit", "a,team-a,1,100000000000")
    assert kueuepy("run", teams, path).err == (
        f"error: {path}:2, column \"submit\": '100000000000'; it must be at most 9223372037 s (2262-04-11T23:47:16Z)\n"
    )


def test_the_tables_of_a_directory_are_read(kueuepy, teams, tmp_path, rows):
    rows("name,queue,cpu", "in-a-table,team-a,1")
    (tmp_path / "teams.yaml").write_bytes(teams.read_bytes())
    ran = kueuepy("run", tmp_path)
    assert ran.code == 0
    assert "default/in-a-table" in ran.out
    assert kueuepy("compare", teams, teams, "--jobs", tmp_path, "--json").json["jobs"] == 1


def test_a_job_that_is_given_twice_is_named_with_both_places(kueuepy, teams, jobs):
    path = jobs()
    once = path.read_text(encoding="utf-8")
    path.write_text(f"{once}---\n{once}", encoding="utf-8")
    lines = [number for number, line in enumerate(path.read_text().splitlines(), 1) if line.startswith("apiVersion")]
    ran = kueuepy("compare", teams, teams, "--jobs", path)
    told = f'{path}:{lines[1]}: Job "train": is given at {path}:{lines[0]} already; give each object once'
    assert (ran.code, ran.err) == (1, f"error: {told}\n")
    assert kueuepy("run", teams, path).err.startswith(f"error: {path}:{lines[1]}: Workload ")


@pytest.mark.parametrize("copied", [False, True])
def test_a_job_keeps_its_position_wherever_it_goes(teams, jobs, monkeypatch, copied):
    """The error names the file without another conversion of the jobs."""
    path = jobs(cpu="-1")
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if "cpu:" in text)
    read = kq.manifest.load([path]).jobs
    scheduler = kq.Scheduler(kq.load(teams))
    converted = []
    workload = convert._workload
    monkeypatch.setattr(convert, "_workload", lambda *given: converted.append(given) or workload(*given))
    with pytest.raises(kq.errors.ManifestError) as caught:
        scheduler.submit(*(pickle.loads(pickle.dumps(read)) if copied else read))  # noqa: S301 - our own
    assert str(caught.value).startswith(f'{path}:{line}: Job "default/train": {CPU}: is -1; it must be 0 or more')
    assert len(converted) == 1
