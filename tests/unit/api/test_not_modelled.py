"""What nothing here looks at is said where the answer is given."""

import kueuepy as kq
from kueuepy.cli.app import main

SURPRISING = "examples/lint/L20/surprising.yaml"


def test_a_command_says_that_devices_do_not_count(capsys):
    assert main(["run", SURPRISING]) == 0
    told = capsys.readouterr()
    assert "asks for devices, which are not modelled here" in told.err + told.out
    assert main(["explain", "train", SURPRISING]) == 0
    assert "resourceClaims: they are not modelled" in capsys.readouterr().out


def test_submission_says_so_too():
    cluster = kq.load(SURPRISING)
    scheduler = kq.Scheduler(cluster)
    job = dict(cluster.jobs[0])
    job["metadata"] = {**job["metadata"], "name": "again"}
    (remark,) = scheduler.submit(job).remarks
    assert "asks for devices by resourceClaims, which count nothing here" in remark


def test_check_names_gates_that_change_nothing(tmp_path, capsys):
    path = tmp_path / "configuration.yaml"
    path.write_text(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {ConcurrentAdmission: true}\n"
    )
    main(["check", "examples/seeds/002/two-teams.yaml", str(path)])
    assert "featureGates.ConcurrentAdmission: is not modelled" in capsys.readouterr().out
