"""A running cluster as a Scheduler."""

import os
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from kueuepy.cluster import Cluster
from kueuepy.errors.arguments import checked
from kueuepy.explain import Explanation
from kueuepy.objects import Timestamp
from kueuepy.pages import Page
from kueuepy.pages.data import MOST_EXPLAINED, state_data
from kueuepy.platform.apiserver import ClusterReader, Connection
from kueuepy.platform.importer import Import, ImportReport, import_cluster
from kueuepy.scheduler import Scheduler


class LiveCluster:
    """A running cluster, which is read when it is first used, and again after `refresh`.

    Only GET requests are sent. Kinds are listed one after the other, so a snapshot of a busy cluster can be slightly
    inconsistent. kueuepy treats a Workload whose queue is missing as Kueue would.
    """

    def __init__(self, reader: ClusterReader) -> None:
        """Create the cluster from a reader, without reading any object."""
        self._reader = reader
        self._imported: Import | None = None

    def refresh(self) -> None:
        """Read the cluster again on the next use."""
        self._imported = None

    def scheduler(self) -> Scheduler:
        """Return a Scheduler in the state of the cluster, on which no cycle has run.

        Returns:
            A new Scheduler; changes to the Scheduler do not affect the LiveCluster.
        """
        # A fork, so that callers cannot change the state that `explain` reads.
        return self._now().scheduler.fork()

    def explain(self, workload: str) -> Explanation:
        """Return why a workload is pending, admitted or evicted; see `Scheduler.explain`.

        Args:
            workload: The key of the workload, `namespace/name`; or only the name, for the namespace `default`.
        """
        return self._now().scheduler.explain(workload)

    def page(
        self, path: str | os.PathLike[str] | None = None, *, title: str = "", explained: int = MOST_EXPLAINED
    ) -> Page:
        """Return a page of the cluster, one HTML file that loads no other files; see `kueuepy.page`.

        Args:
            path: The file to write. Default: no file is written.
            title: The title of the page.
            explained: The number of pending workloads with a full explanation in the page.

        Raises:
            StateError: The file cannot be written.
        """
        data = state_data(self._now().scheduler, title=title, source=self._reader.name, explained=explained)
        data.notes = list(self.notes)
        return Page.written(data, path)

    @property
    def cluster(self) -> Cluster:
        """The configuration of the cluster, without its Workloads."""
        manifest = self._now().scheduler.cluster.manifest
        return Cluster.from_manifest(msgspec.structs.replace(manifest, workloads=()), names=False)

    @property
    def report(self) -> ImportReport:
        """The outcome of the import for each Workload."""
        return self._now().report

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on objects that could not be read, and on fields that were corrected or ignored."""
        return self._now().notes

    @property
    def kueue_version(self) -> str:
        """The release of the running Kueue, such as `v0.18`; an empty string if it is unknown."""
        return self._reader.release

    @property
    def stamp(self) -> Mapping[str, str]:
        """The resourceVersion of the list of each kind that was read."""
        self._now()
        return MappingProxyType(self._reader.stamp)

    @property
    def time(self) -> Timestamp:
        """The time at which the cluster was read, as a datetime in UTC."""
        self._now()
        return Timestamp.of(self._reader.time)

    def __repr__(self) -> str:
        """Return the source and the release of Kueue."""
        return f"<LiveCluster {self._reader.name}: Kueue {self.kueue_version or 'of an unknown release'}>"

    def _now(self) -> Import:
        if self._imported is None:
            self._imported = import_cluster(self._reader)
        return self._imported


@checked
def connect(context: str | None = None, *, kubeconfig: str | os.PathLike[str] | None = None) -> LiveCluster:
    """Connect to a running cluster with the credentials of kubectl. The function requires the extra `live`.

    The release of Kueue and its Configuration are read from the Deployment and the ConfigMap of Kueue's manager. If the
    release or the Configuration cannot be read, `LiveCluster.notes` names the default that is used instead. `kueuepy
    rbac` prints the permissions that reading a cluster needs.

    Args:
        context: The kubeconfig context. Default: the current context. The context `in` is the cluster in which the
            process runs.
        kubeconfig: The kubeconfig file. Default: the file that kubectl uses, `$KUBECONFIG` or `~/.kube/config`.

    Raises:
        ApiError: The cluster cannot be reached or refuses a request, or Kueue is not installed in it.
        UnsupportedError: The Kubernetes client is not installed.
    """
    path = None if kubeconfig is None else str(kubeconfig)
    return LiveCluster(ClusterReader(Connection.open(context or "", path)))
