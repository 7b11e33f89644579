"""Kubeflow's training jobs and MPIJob, with one pod set per replica type.

Source: `pkg/controller/jobs/kubeflow/kubeflowjob/kubeflowjob_controller.go`, the kinds in
`pkg/controller/jobs/kubeflow/jobs`, and `pkg/controller/jobs/mpijob/mpijob_controller.go`.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.template import Section
from kueuepy.jobs.topology import PodIndex


class KubeflowJob(BaseJob):
    """A training job, with one pod set per replica type, in the order that the kind defines.

    Attributes:
        replica_specs: Field with the replica specs by type.
        replica_types: Replica types in the order of the pod sets.
    """

    suspend_path = "spec.runPolicy"
    checks_groups = False
    ends: ClassVar[Mapping[str, bool]] = {"Succeeded": True, "Failed": False}
    ready = "Running"
    replica_specs: ClassVar[str]
    replica_types: ClassVar[tuple[str, ...]] = ("Master", "Worker")

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set sources of the replica types that the job has."""
        return [
            PodSetSource(name, one.count("replicas", 1), one.section("template"), index=PodIndex(keys.REPLICA_INDEX))
            for name, one in self.replicas(root).items()
        ]

    def replicas(self, root: Section) -> dict[str, Section]:
        """Return the replica specs of the job by type."""
        specs = root.section("spec").section(self.replica_specs)
        found = {name: specs.find(name) for name in self.replica_types}
        return {name: section for name, section in found.items() if section is not None}

    def priority_class(self) -> str:
        """Return the priority class of the scheduling policy, or of the first replica type that names one."""
        scheduling = self.root.section("spec").find_at("runPolicy.schedulingPolicy")
        named = scheduling.text("priorityClass") if scheduling else ""
        specs = (replica.section("template").find("spec") for replica in self.replicas(self.root).values())
        return named or next((name for spec in specs if spec and (name := spec.text("priorityClassName"))), "")


class PyTorchJob(KubeflowJob):
    """A PyTorchJob, with pod sets `master` and `worker`."""

    kind = "PyTorchJob"
    replica_specs = "pytorchReplicaSpecs"


class TFJob(KubeflowJob):
    """A TFJob, with pod sets `chief`, `master`, `ps`, `worker` and `evaluator`."""

    kind = "TFJob"
    replica_specs = "tfReplicaSpecs"
    replica_types = ("Chief", "Master", "PS", "Worker", "Evaluator")


class XGBoostJob(KubeflowJob):
    """An XGBoostJob, with pod sets `master` and `worker`."""

    kind = "XGBoostJob"
    replica_specs = "xgbReplicaSpecs"


class PaddleJob(KubeflowJob):
    """A PaddleJob, with pod sets `master` and `worker`."""

    kind = "PaddleJob"
    replica_specs = "paddleReplicaSpecs"


class JAXJob(KubeflowJob):
    """A JAXJob, with pod set `worker`."""

    kind = "JAXJob"
    replica_specs = "jaxReplicaSpecs"
    replica_types = ("Worker",)
    takes_prebuilt = False


class MPIJob(KubeflowJob):
    """An MPIJob, with pod sets `launcher` and `worker`."""

    kind = "MPIJob"
    replica_specs = "mpiReplicaSpecs"
    replica_types = ("Launcher", "Worker")
    checks_groups = True

    def on_suspended(self, root: Section) -> None:
        """Number the workers from 1 if the launcher also runs as a worker and the two pod sets are not in a group.

        Source: `pkg/controller/jobs/mpijob/mpijob_webhook.go:Default`.
        """
        replicas = self.replicas(root)
        works = root.section("spec").flag("runLauncherAsWorker") and len(replicas) == len(self.replica_types)
        if not (works and self.gate("TopologyAwareScheduling")):
            return
        # The launcher is pod 0, and the workers are numbered from 0 by themselves.
        launcher, worker = (replica.section("template") for replica in replicas.values())
        metadata = launcher.find("metadata")
        if metadata is None or keys.POD_SET_GROUP_NAME not in metadata.texts("annotations"):
            worker.ensure("metadata").ensure("annotations").data[keys.POD_INDEX_OFFSET] = "1"
