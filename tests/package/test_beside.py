"""Imports next to modules that bundle C++ libraries, some of them Abseil."""

from __future__ import annotations

import importlib.util
import itertools
import os
import subprocess
import sys

import pytest

OWN = """
import kueuepy as kq
cluster = kq.load("examples/seeds/002/two-teams.yaml")
scheduler = kq.Scheduler(cluster)
scheduler.submit({"name": f"job-{n}", "queue": "team-a", "cpu": 1} for n in range(3))
assert len(scheduler.settle().admitted) == 3
"""
OTHERS = {
    "grpc": """
import grpc
from concurrent.futures import ThreadPoolExecutor
server = grpc.server(ThreadPoolExecutor(1))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
    grpc.channel_ready_future(channel).result(timeout=60)
server.stop(None).wait()
""",
    "pyarrow": """
import pyarrow, pyarrow.compute
assert pyarrow.compute.sum(pyarrow.array([1, 2, 3])).as_py() == 6
""",
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("own_first", [True, False])
def test_import_next_to_a_module_that_bundles_the_same_libraries(other, own_first, request):
    if importlib.util.find_spec(other) is None:
        pytest.skip(f"needs {other}")
    parts = [OWN, OTHERS[other]] if own_first else [OTHERS[other], OWN]
    script = "".join(itertools.chain(parts, [OWN]))
    quiet = os.environ | {"GRPC_VERBOSITY": "NONE"}  # whether gRPC logs the end of a connection depends on timing
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=request.config.rootpath,
        env=quiet,
    )
    assert (done.returncode, done.stderr) == (0, "")
