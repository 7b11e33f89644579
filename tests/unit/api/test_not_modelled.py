"""Settings that kueuepy does not model are reported."""

from kueuepy.cli.app import main


def test_check_names_gates_that_change_nothing(tmp_path, capsys):
    path = tmp_path / "configuration.yaml"
    path.write_text(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {ConcurrentAdmission: true}\n"
    )
    main(["check", "examples/seeds/002/two-teams.yaml", str(path)])
    assert "featureGates.ConcurrentAdmission: is not modelled" in capsys.readouterr().out
