"""Fixtures: the command line, run in this process."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from kueuepy.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"

JOB = """
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  labels: {{kueue.x-k8s.io/queue-name: {queue}}}
spec:
  parallelism: {pods}
  template:
    spec:
      containers: [{{name: main, image: registry.example/main:1, resources: {{requests: {{cpu: 1}}}}}}]
      restartPolicy: Never
"""


class Ran(NamedTuple):
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def kueuepy(capsys):
    """Runs a command."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def seeds():
    return EXAMPLES / "seeds"


@pytest.fixture
def lint_examples():
    return EXAMPLES / "lint"


@pytest.fixture
def job(tmp_path):
    """A file with a job."""

    def write(name="train", queue="team-a", pods=1):
        path = tmp_path / f"{name}.yaml"
        path.write_text(JOB.format(name=name, queue=queue, pods=pods), encoding="utf-8")
        return path

    return write


@pytest.fixture
def week():
    return EXAMPLES / "week" / "teams.yaml"
