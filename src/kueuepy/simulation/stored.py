"""Loading of results that were saved with `Result.save`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.simulation.fleet_result import CopiesTable, FleetResult
from kueuepy.simulation.recorded import TABLES, UsageSeries
from kueuepy.simulation.result import Result
from kueuepy.simulation.saved import read_facts

if TYPE_CHECKING:
    import os


@checked
def load_result(directory: str | os.PathLike[str]) -> Result:
    """Load a result that was saved with `Result.save`.

    >>> from tempfile import TemporaryDirectory
    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 2}}))
    >>> result = simulate(cluster, [{"queue": "team", "submit": 0, "runtime": "1h", "gpu": 1}])
    >>> with TemporaryDirectory() as directory:
    ...     result.save(directory)
    ...     load_result(directory).fingerprint == result.fingerprint
    True

    Args:
        directory: The directory that was passed to `Result.save`.

    Returns:
        The result; methods that need a Scheduler raise StateError.

    Raises:
        InvalidSpecError: A file is missing or damaged.
        UnsupportedError: pyarrow is not installed.
    """
    from kueuepy.simulation.parquet import read_table  # noqa: PLC0415 - only on use
    from kueuepy.simulation.read import Source  # noqa: PLC0415 - only on use

    folder = Path(directory)
    facts: Any = read_facts(folder, Source(folder / "result.json").text())
    tables = {name: kind(read_table(folder / f"{name}.parquet")) for name, kind in TABLES.items()}
    cls = FleetResult if "fleet" in facts else Result
    found = cls(tables, facts["totals"], tuple(facts["loops"]), facts)
    if isinstance(found, FleetResult):
        found.clusters, found.remarks = tuple(facts["fleet"]["clusters"]), tuple(facts["fleet"]["remarks"])
        found.copies = CopiesTable(read_table(folder / "copies.parquet"))
        found.manager_usage = UsageSeries(read_table(folder / "manager_usage.parquet"))
    if found.fingerprint != facts["fingerprint"]:
        raise InvalidSpecError(f"{folder}: is damaged: its fingerprint does not match")
    return found
