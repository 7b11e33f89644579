"""The training jobs of Kubeflow, and MPIJob: pod sets by the types of their replicas.

Mirrors `pkg/controller/jobs/kubeflow/kubeflowjob/kubeflowjob_controller.go`, the kinds in
`pkg/controller/jobs/kubeflow/jobs`, and `pkg/controller/jobs/mpijob/mpijob_controller.go`.
"""

from collections.abc import Sequence
from typing import ClassVar

from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.fields import Section
from kueuepy.jobs.job import Finished
from kueuepy.jobs.topology import PodIndex
from kueuepy.manifest.jobkinds import BUILT_IN


class KubeflowJob(BaseJob):
    """A training job: one pod set for each type of replica that it has, in the order of the kind.

    Attributes:
        replica_specs: The field with the replicas by their type.
        replica_types: The types, in the order of the pod sets.
    """

    suspend_path = "spec.runPolicy"
    checks_groups = False
    replica_specs: ClassVar[str]
    replica_types: ClassVar[tuple[str, ...]] = ("Master", "Worker")

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """The templates of the types of replicas that the job has."""
        return [
            PodSetSource(
                name, replica.count("replicas", 1), replica.section("template"), index=PodIndex(keys.REPLICA_INDEX)
            )
            for name, replica in self.replicas(root).items()
        ]

    def replicas(self, root: Section) -> dict[str, Section]:
        """The replicas that the job has, by their type."""
        specs = root.section("spec").section(self.replica_specs)
        found = {name: specs.find(name) for name in self.replica_types}
        return {name: section for name, section in found.items() if section is not None}

    def priority_class(self) -> str:
        """That of the scheduling policy, or else of the first type of replica that names one."""
        policy = self.root.section("spec").find("runPolicy")
        scheduling = policy and policy.find("schedulingPolicy")
        named = scheduling.text("priorityClass") if scheduling else ""
        specs = (replica.section("template").find("spec") for replica in self.replicas(self.root).values())
        return named or next((name for spec in specs if spec and (name := spec.text("priorityClassName"))), "")

    def finished(self) -> Finished | None:
        """Succeeded or failed, as the conditions say."""
        end = self.condition("Succeeded", "Failed")
        return None if end is None else Finished(end.text("message"), end.text("type") != "Failed")

    def pods_ready(self) -> bool:
        """Whether condition `Running` is true."""
        return self.condition("Running") is not None


class PyTorchJob(KubeflowJob):
    """A PyTorchJob: pod sets `master` and `worker`."""

    kind = "PyTorchJob"
    api_versions = BUILT_IN["PyTorchJob"]
    replica_specs = "pytorchReplicaSpecs"


class TFJob(KubeflowJob):
    """A TFJob: pod sets `chief`, `master`, `ps`, `worker` and `evaluator`."""

    kind = "TFJob"
    api_versions = BUILT_IN["TFJob"]
    replica_specs = "tfReplicaSpecs"
    replica_types = ("Chief", "Master", "PS", "Worker", "Evaluator")


class XGBoostJob(KubeflowJob):
    """An XGBoostJob: pod sets `master` and `worker`."""

    kind = "XGBoostJob"
    api_versions = BUILT_IN["XGBoostJob"]
    replica_specs = "xgbReplicaSpecs"


class PaddleJob(KubeflowJob):
    """A PaddleJob: pod sets `master` and `worker`."""

    kind = "PaddleJob"
    api_versions = BUILT_IN["PaddleJob"]
    replica_specs = "paddleReplicaSpecs"


class JAXJob(KubeflowJob):
    """A JAXJob: pod set `worker`."""

    kind = "JAXJob"
    api_versions = BUILT_IN["JAXJob"]
    replica_specs = "jaxReplicaSpecs"
    replica_types = ("Worker",)
    takes_prebuilt = False


class MPIJob(KubeflowJob):
    """An MPIJob: pod sets `launcher` and `worker`."""

    kind = "MPIJob"
    api_versions = BUILT_IN["MPIJob"]
    replica_specs = "mpiReplicaSpecs"
    replica_types = ("Launcher", "Worker")
    checks_groups = True

    def on_suspended(self, root: Section) -> None:
        """Numbers the workers from 1 if the launcher works too and the two are no group.

        Source: `pkg/controller/jobs/mpijob/mpijob_webhook.go:Default`.
        """
        replicas = self.replicas(root)
        works = root.section("spec").flag("runLauncherAsWorker") and len(replicas) == len(self.replica_types)
        if not (works and self.gate("TopologyAwareScheduling")):
            return
        launcher, worker = (replica.section("template") for replica in replicas.values())
        metadata = launcher.find("metadata")
        if metadata is None or keys.POD_SET_GROUP_NAME not in metadata.texts("annotations"):
            worker.ensure("metadata").ensure("annotations").data[keys.POD_INDEX_OFFSET] = "1"
