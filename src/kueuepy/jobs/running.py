"""Jobs held back, started and stopped: their manifests, and the patches that make them so."""

from collections.abc import Iterable

from kueuepy.errors.arguments import checked
from kueuepy.jobs import patch
from kueuepy.jobs.fields import Document, without_nulls
from kueuepy.jobs.podset_info import pod_set_infos
from kueuepy.jobs.registry import adapter_for
from kueuepy.objects import Configuration, ResourceFlavor, Workload

_NO_CONFIGURATION = Configuration()


@checked
def suspend(
    manifest: Document, *, config: Configuration = _NO_CONFIGURATION, related: Iterable[Document] = ()
) -> Document:
    """The manifest of a new job as Kueue's webhook changes it: suspended, whatever its user wrote.

    >>> template = {"spec": {"containers": []}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": template}}
    >>> suspend(job)["spec"]["suspend"]
    True

    Raises:
        InvalidSpecError: A field is wrong.
        UnsupportedError: Kueue doesn't know the kind.
    """
    return adapter_for(manifest, config=config, related=related).suspended()


@checked
def start_patch(
    manifest: Document,
    workload: Workload,
    flavors: Iterable[ResourceFlavor],
    *,
    config: Configuration = _NO_CONFIGURATION,
    related: Iterable[Document] = (),
    marks: bool = True,
) -> Document:
    """The one change to a suspended job by which Kueue starts it, as a JSON merge patch.

    It ends the suspension and gives the pod templates the node labels and the tolerations of the assigned flavors, and
    what admission checks add; no toleration is added for a flavor's taints. A job that is admitted in part gets the
    admitted number of pods. A pod loses its scheduling gate.

    Args:
        manifest: The job, suspended.
        workload: Its Workload, with an admission in its status.
        flavors: The cluster's flavors.
        config: The Configuration, for its feature gates.
        related: Manifests that the job refers to.
        marks: Whether the pods get the labels and annotations by which Kueue finds them again: the names of their
            pod set, workload and queues.

    Raises:
        StateError: The Workload has no admission.
        NotFoundError: An assigned flavor is not given.
        InvalidSpecError: What is added contradicts a template. Kueue then finishes the Workload as `FailedToStart`.
        UnsupportedError: Kueue doesn't know the kind.
    """
    infos = pod_set_infos(workload, flavors, config=config, marks=marks)
    return adapter_for(manifest, config=config, related=related).start_patch(infos)


@checked
def stop_patch(
    manifest: Document,
    workload: Workload,
    *,
    config: Configuration = _NO_CONFIGURATION,
    related: Iterable[Document] = (),
) -> Document | None:
    """The change to a running job by which Kueue stops it, as a JSON merge patch; `None` for pods, which it deletes.

    The job is suspended, and its pod templates are again those of its Workload, so that it is as it was before it
    started. With another number of pod sets than the Workload's, only the suspension is changed.

    Raises:
        InvalidSpecError: A field is wrong.
        UnsupportedError: Kueue doesn't know the kind.
    """
    return adapter_for(manifest, config=config, related=related).stop_patch(workload.pod_sets)


@checked
def apply_patch(manifest: Document, change: Document) -> Document:
    """A copy of a manifest with a JSON merge patch applied; fields that are null in the manifest are left out."""
    applied: Document = without_nulls(manifest)
    return patch.apply(applied, change)
