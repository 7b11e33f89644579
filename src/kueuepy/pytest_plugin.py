"""A plugin of pytest, which loads it by itself: the option `--kueuepy-cluster` and the fixture `kueuepy_cluster`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kueuepy.cluster import Cluster


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    text = "File or directory with the objects of the fixture kueuepy_cluster; repeatable."
    parser.addoption("--kueuepy-cluster", action="append", metavar="FILE", help=text)


@pytest.fixture(scope="session")
def kueuepy_cluster(pytestconfig: pytest.Config) -> Cluster:
    """Return the cluster in the files of the option `--kueuepy-cluster`.

    Raises:
        pytest.UsageError: The option is missing.
    """
    files = pytestconfig.getoption("kueuepy_cluster")
    if not files:
        raise pytest.UsageError("the fixture kueuepy_cluster needs --kueuepy-cluster FILE")
    import kueuepy  # noqa: PLC0415 - pytest imports a plugin in each of its runs

    return kueuepy.load(files)
