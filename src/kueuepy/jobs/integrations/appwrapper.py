"""AppWrapper: a wrapper for arbitrary objects that are admitted together.

Source: `pkg/controller/jobs/appwrapper/appwrapper_controller.go`.
"""

from collections.abc import Sequence

from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.integrations.appwrapper_pods import ComponentPodSet, component_pod_sets, pod_template
from kueuepy.jobs.job import Finished
from kueuepy.jobs.template import PodSetInfo
from kueuepy.objects import PodSet


class AppWrapper(BaseJob):
    """An AppWrapper, with pod sets `<name>-0`, `<name>-1` and so on from all its components in order.

    The changes that an admission makes are written to `podSetInfos` of the components, not to the templates.
    """

    kind = "AppWrapper"
    ready = "PodsReady"
    checks_topology = False

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return pod set sources with copies of the templates in the components, including the API's defaults."""
        found = [
            (Section(root.owner, f"{component.path}.{pod_set.path}", pod_template(component, pod_set.path)), pod_set)
            for component, pod_sets in self._components(root)
            for pod_set in pod_sets
        ]
        return [
            PodSetSource(f"{self.name}-{i}", pod_set.replicas, template, index=pod_set.index)
            for i, (template, pod_set) in enumerate(found)
        ]

    def started(self, infos: Sequence[PodSetInfo]) -> Document:
        """Return the running manifest, with the changes for each pod set written to the pod set's component.

        Raises:
            InvalidSpecError: The number of PodSetInfos differs from the number of pod sets.
        """
        root = self._copy()
        components = self._components(root)
        self.require_length(sum(len(pod_sets) for _, pod_sets in components), infos)
        rest = iter(infos)
        for component, pod_sets in components:
            if pod_sets:
                component.data["podSetInfos"] = [next(rest).to_dict() for _ in pod_sets]
        self._set_suspend(root, value=False)
        return root.data

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:  # noqa: ARG002 all changes are in the infos
        """Return the suspended manifest, without the changes in its components."""
        root = self._copy()
        self._set_suspend(root, value=True)
        for component, _ in self._components(root):
            component.data.pop("podSetInfos", None)
        return root.data

    def finished(self) -> Finished | None:
        """Determine the outcome of the job from its phase and conditions.

        A failed AppWrapper is finished when all its resources are deleted.
        """
        match self.status().text("phase"):
            case "Succeeded":
                return Finished("AppWrapper finished successfully", success=True)
            case "Failed" if self.condition("ResourcesDeployed") is None:
                return Finished("AppWrapper failed", success=False)
        return None

    def _components(self, root: Section) -> list[tuple[Section, list[ComponentPodSet]]]:
        return [(component, component_pod_sets(component)) for component in root.section("spec").sections("components")]
