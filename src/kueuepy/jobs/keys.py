"""Labels, annotations and scheduling gates that are part of Kueue's API.

Sources: `pkg/controller/constants/constants.go`, `pkg/constants/constants.go`, `apis/kueue/v1beta2/constants.go`,
`apis/kueue/v1beta2/topology_types.go`, `pkg/controller/jobs/job/job_controller.go`,
`pkg/controller/jobs/pod/constants/constants.go`.
"""

from typing import Final

from kueuepy.manifest import jobkinds

PREFIX: Final = "kueue.x-k8s.io/"

# Labels and annotations that users set on a job.
QUEUE_NAME: Final = jobkinds.QUEUE_NAME
PRIORITY_CLASS: Final = f"{PREFIX}priority-class"
MAX_EXEC_TIME_SECONDS: Final = f"{PREFIX}max-exec-time-seconds"
PREBUILT_WORKLOAD_NAME: Final = f"{PREFIX}prebuilt-workload-name"
ADMISSION_GATED_BY: Final = f"{PREFIX}admission-gated-by"
ELASTIC_JOB: Final = f"{PREFIX}elastic-job"
JOB_MIN_PARALLELISM: Final = f"{PREFIX}job-min-parallelism"
JOB_COMPLETIONS_EQUAL_PARALLELISM: Final = f"{PREFIX}job-completions-equal-parallelism"
PROVISIONING_REQUEST_PREFIX: Final = "provreq.kueue.x-k8s.io/"

# Annotations that users set on a pod template for topology-aware scheduling.
REQUIRED_TOPOLOGY: Final = f"{PREFIX}podset-required-topology"
PREFERRED_TOPOLOGY: Final = f"{PREFIX}podset-preferred-topology"
UNCONSTRAINED_TOPOLOGY: Final = f"{PREFIX}podset-unconstrained-topology"
SLICE_REQUIRED_TOPOLOGY: Final = f"{PREFIX}podset-slice-required-topology"
SLICE_SIZE: Final = f"{PREFIX}podset-slice-size"
SLICE_CONSTRAINTS: Final = f"{PREFIX}podset-slice-required-topology-constraints"
POD_SET_GROUP_NAME: Final = f"{PREFIX}podset-group-name"
POD_INDEX_OFFSET: Final = f"{PREFIX}pod-index-offset"

# Labels and annotations of pod groups.
POD_GROUP_NAME: Final = f"{PREFIX}pod-group-name"
POD_GROUP_TOTAL_COUNT: Final = f"{PREFIX}pod-group-total-count"
POD_GROUP_FAST_ADMISSION: Final = f"{PREFIX}pod-group-fast-admission"
POD_GROUP_SERVING: Final = f"{PREFIX}pod-group-serving"
POD_GROUP_POD_INDEX: Final = f"{PREFIX}pod-group-pod-index"
POD_GROUP_POD_INDEX_LABEL: Final = f"{PREFIX}pod-group-pod-index-label"
RETRIABLE_IN_GROUP: Final = f"{PREFIX}retriable-in-group"
ROLE_HASH: Final = f"{PREFIX}role-hash"

# Labels and annotations that Kueue sets.
STOPPING: Final = f"{PREFIX}stopping"
MANAGED: Final = f"{PREFIX}managed"
SUSPENDING_PARENT: Final = f"{PREFIX}pod-suspending-parent"
JOB_UID: Final = f"{PREFIX}job-uid"
JOB_OWNER_GVK: Final = f"{PREFIX}job-owner-gvk"
JOB_OWNER_NAME: Final = f"{PREFIX}job-owner-name"
COMPONENT_WORKLOAD_INDEX: Final = f"{PREFIX}component-workload-index"
IS_GROUP_WORKLOAD: Final = f"{PREFIX}is-group-workload"
POD_SET: Final = f"{PREFIX}podset"
WORKLOAD: Final = f"{PREFIX}workload"
SLICE_REPLACEMENT_FOR: Final = f"{PREFIX}workload-slice-replacement-for"
WORKLOAD_SLICE_NAME: Final = f"{PREFIX}workload-slice-name"
LOCAL_QUEUE_NAME: Final = f"{PREFIX}local-queue-name"
CLUSTER_QUEUE_NAME: Final = f"{PREFIX}cluster-queue-name"
RUNTIME_PATCH_MANAGER: Final = f"{PREFIX}manager"
MULTIKUEUE_ORIGIN: Final = f"{PREFIX}multikueue-origin"
MULTIKUEUE_WORKER_POD: Final = f"{PREFIX}multikueue-worker-workload-pod"

# Scheduling gates that Kueue adds to pods.
ADMISSION_GATE: Final = f"{PREFIX}admission"
TOPOLOGY_GATE: Final = f"{PREFIX}topology"
ELASTIC_GATE: Final = ELASTIC_JOB

# Labels of other projects with the index of a pod in its job.
JOB_COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
JOBSET_JOB_INDEX: Final = "jobset.sigs.k8s.io/job-index"
REPLICA_INDEX: Final = "training.kubeflow.org/replica-index"
APPS_POD_INDEX: Final = "apps.kubernetes.io/pod-index"
LWS_WORKER_INDEX: Final = "leaderworkerset.sigs.k8s.io/worker-index"
