"""Pages of Schedulers, clusters and recordings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kueuepy.cluster import Cluster
from kueuepy.errors.arguments import checked
from kueuepy.manifest.text.sources import is_recording, live_parts, opened
from kueuepy.pages.document import Page
from kueuepy.pages.state import MOST_EXPLAINED, state_data
from kueuepy.platform.history import Recording
from kueuepy.platform.importer import import_cluster
from kueuepy.platform.site.recorded import recorded_data
from kueuepy.scheduler import Scheduler

if TYPE_CHECKING:
    from kueuepy.pages.data import PageData


@checked
def page(
    source: Any, path: str | os.PathLike[str] | None = None, *, title: str = "", explained: int = MOST_EXPLAINED
) -> Page:
    """Return a page of a cluster: one HTML file that works without a server and loads no other files.

    The page shows the cohort trees with their quota, the pending workloads and why each is pending, the running
    workloads, and the racks. The page of a simulation or of a recording has a time slider.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
    >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
    >>> keys = scheduler.submit({"name": "job", "queue": "team", "cpu": 9})
    >>> settled = scheduler.settle()
    >>> page(scheduler, "/dev/null", title="Two teams")
    <Page 'Two teams': 1 workload>

    Args:
        source: A Scheduler, a Cluster, a Result, a LiveCluster, a recording such as `history.db`, or any other source
            that `kueuepy.platform.import_cluster` accepts.
        path: The file to write. Default: no file is written.
        title: The title of the page.
        explained: The number of pending workloads with a full explanation in the page: the first workloads of each
            queue.

    Returns:
        The page, which a notebook displays inline.

    Raises:
        StateError: The file cannot be written, or a Result does not contain the runs or the usage.
        KueueError: The source cannot be read.
    """
    if not isinstance(source, Scheduler | Cluster) and callable(getattr(source, "page", None)):
        made: Page = source.page(path, title=title, explained=explained)
        return made
    found = Page(_data(source, title, explained))
    if path is not None:
        found.save(path)
    return found


def _data(source: Any, title: str, explained: int) -> PageData:
    if isinstance(source, Scheduler):
        return state_data(source, title=title, explained=explained)
    if isinstance(source, Cluster):
        return state_data(Scheduler(source), title=title, explained=explained)
    if is_whole_recording(source):
        return recorded_data(Recording(source), title=title, source=str(source), explained=explained)
    source = opened(source)
    imported = import_cluster(source, progress=lambda *_: None)
    name = ", ".join(one.name for one in live_parts(source))
    data = state_data(imported.scheduler, title=title, source=name, explained=explained)
    data.notes = [*(note for one in live_parts(source) for note in one.notes), *imported.notes]
    return data


def is_whole_recording(source: object) -> bool:
    """Return whether a source is the name of a recording without a time."""
    if not isinstance(source, str | os.PathLike):
        return False
    name = os.fspath(source)
    return isinstance(name, str) and is_recording(name) and "@" not in os.path.basename(name)  # noqa: PTH119 - text
