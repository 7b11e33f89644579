"""The source that the tools ask about: files, a running cluster or a recording, read again when it is old."""

import time
from typing import Any

import msgspec

from kueuepy.cli.describe import start
from kueuepy.cli.logs import Log
from kueuepy.cli.options import Start
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError
from kueuepy.manifest.text.sources import CLUSTER, is_live
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.table import Jobs


class Source:
    """A Scheduler with the objects of a source.

    Attributes:
        files: The names of the files, clusters or recordings.
        notes: What could not be read, and which defaults are used instead.
    """

    def __init__(
        self, files: list[str], *, jobs: str | None = None, version: str | None = None, max_age: float = 60.0
    ) -> None:
        """Create a source that is read on its first use.

        Args:
            files: Names of files or directories, `cluster:CONTEXT`, or a recording.
            jobs: A log of jobs for simulations. Default: the history in the cluster or recording.
            version: Release of Kueue to emulate; `None` for the default.
            max_age: Time after which a running cluster is read again, in seconds.
        """
        self.files = files
        self.notes: tuple[str, ...] = ()
        self._jobs = jobs
        self._version = version
        self._max_age = max_age
        self._scheduler: Scheduler | None = None
        self._read_at = 0.0

    def scheduler(self) -> Scheduler:
        """Return the Scheduler; callers must not change it.

        Raises:
            KueueError: The source cannot be read.
        """
        is_old = self._is_running and time.monotonic() - self._read_at > self._max_age
        if self._scheduler is None or is_old:
            started = start(self.files, Start(self._version))
            self._scheduler, self.notes = started.scheduler, started.notes
            self._read_at = time.monotonic()
        return self._scheduler

    @property
    def age(self) -> float | None:
        """The time since a running cluster was read, in seconds; `None` for other sources."""
        return time.monotonic() - self._read_at if self._is_running else None

    def cluster(self) -> Cluster:
        """Return the configuration without Workloads."""
        manifest = msgspec.structs.replace(self.scheduler().cluster.manifest, workloads=(), jobs=())
        return Cluster.from_manifest(manifest, names=False)

    def history(self, censored: Any) -> Jobs:
        """Return the recorded jobs.

        Raises:
            InvalidSpecError: The source has no history, or jobs had not finished and `censored` is not given.
        """
        path = self._jobs or next(filter(is_live, self.files), None)
        if path is None:
            raise InvalidSpecError(
                "simulate: jobs: is missing; it must be a list of jobs, because the source has no history"
            )
        return Log(censored=censored or None).read(path, "censored")

    @property
    def _is_running(self) -> bool:
        return any(name.startswith(CLUSTER) for name in self.files)
