"""Admission checks that Python answers: functions of yours, and a model of an autoscaler.

Kueue asks the controller of each AdmissionCheck about each workload that has quota; the workload is admitted when all
of them say `Ready`. Give a Scheduler a function for each controller:

>>> from kueuepy import AdmissionCheck, Cluster, ClusterQueue, ResourceFlavor, Scheduler
>>> from kueuepy.objects import AdmissionCheckStrategyRule
>>> cluster = Cluster(
...     ResourceFlavor("default"),
...     AdmissionCheck("budget", controller_name="example.com/budget"),
...     ClusterQueue.of(
...         "team", {"default": {"cpu": 9}}, admission_checks_strategy=[AdmissionCheckStrategyRule("budget")]
...     ),
... )
>>> scheduler = Scheduler(
...     cluster, checks={"example.com/budget": lambda workload: "Ready" if workload.name == "paid" else "Rejected"}
... )
>>> keys = scheduler.submit({"name": "paid", "queue": "team", "cpu": 1}, {"name": "free", "queue": "team", "cpu": 1})
>>> settled = scheduler.settle()
>>> scheduler.workload("paid").status.is_true("Admitted"), scheduler.workload("free").active
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.manifest.decoding import decode
from kueuepy.manifest.validation.review import Review
from kueuepy.manifest.validation.status import review_updates
from kueuepy.objects import SECOND, AdmissionCheck, Toleration, Workload
from kueuepy.objects.status import CheckState
from kueuepy.session.time import Duration, duration_ns

if TYPE_CHECKING:
    from kueuepy.objects import AdmissionCheckState


class CheckAnswer(msgspec.Struct, frozen=True):
    """What a controller says of a workload.

    Attributes:
        state: `Ready` lets it start, `Retry` evicts it, `Rejected` deactivates it; `Pending` says nothing yet.
        message: What the status says beside it; unchanged if `None`.
        requeue_after: With `Retry`, how long until it is evicted and queues again; at once if `None`.
        pod_set_updates: What it adds to pod sets, as in the manifest: `{"name": "main", "nodeSelector": {…}}`.
    """

    state: CheckState
    message: str | None = None
    requeue_after: Duration | None = None
    pod_set_updates: tuple[Mapping[str, Any], ...] = ()


class CheckRequest(NamedTuple):
    """A check that waits for an answer.

    Attributes:
        workload: The workload, with the quota that it holds in its status.
        check: The AdmissionCheck.
        time: The time, in nanoseconds since the Unix epoch.
        parameters: The object that the check's `spec.parameters` names, as it was loaded; `None` if it was not.
    """

    workload: Workload
    check: AdmissionCheck
    time: int
    parameters: Mapping[str, Any] | None = None

    @property
    def now(self) -> float:
        """The time, in seconds since the Unix epoch."""
        return self.time / SECOND

    @property
    def state(self) -> AdmissionCheckState:
        """What the workload's status says of the check."""
        assert self.workload.status is not None
        return next(state for state in self.workload.status.admission_checks if state.name == self.check.name)

    @property
    def since(self) -> float:
        """When the workload got its quota, in seconds since the Unix epoch."""
        return self._since / SECOND

    @property
    def elapsed(self) -> float:
        """For how long the workload has had its quota, in seconds, and exactly: the difference of two times is not."""
        return (self.time - self._since) / SECOND

    @property
    def _since(self) -> int:
        assert self.workload.status is not None
        return next(c.last_transition_time for c in self.workload.status.conditions if c.type == "QuotaReserved")


class CheckController(Protocol):
    """A controller that looks at more than the workload."""

    def review(self, request: CheckRequest) -> CheckAnswer | CheckState | None:
        """What it says; `None` to be asked again at the next cycle."""


Check: TypeAlias = CheckController | Callable[[Workload], CheckAnswer | CheckState | None]
"""Who answers a check: a function of the workload, or a controller. `None` is `Pending`: it is asked again."""


def checks_of(checks: Mapping[str, Check]) -> dict[str, Check]:
    """Those who answer admission checks, by controllerName.

    Raises:
        InvalidSpecError: They are no mapping of texts to functions or controllers.
    """
    if not isinstance(checks, Mapping):
        raise InvalidSpecError(f"checks: is {checks!r}; it must be a mapping of controllerNames to functions")
    for name, check in checks.items():
        if not isinstance(name, str) or not (callable(check) or callable(getattr(check, "review", None))):
            raise InvalidSpecError(f"checks: {name!r}: is {check!r}; it must be a text, and a function or a controller")
    return dict(checks)


def parameters_of(check: AdmissionCheck, related: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The object that a check is configured with, if it is among these."""
    named = check.parameters or {}
    of_kind = (doc for doc in related if doc.get("kind") == named.get("kind"))
    return next((doc for doc in of_kind if (doc.get("metadata") or {}).get("name") == named.get("name")), None)


_STATES = ("Pending", "Ready", "Retry", "Rejected")


def answer(check: Check, request: CheckRequest) -> CheckAnswer | None:
    """What is said of a workload; `None` for nothing new.

    Raises:
        InvalidSpecError: There is no such state.
    """
    answered = _answered(check, request)
    if answered is None:
        return None
    if not isinstance(answered, CheckAnswer) or answered.state not in _STATES:
        raise InvalidSpecError(
            f'AdmissionCheck "{request.check.name}": answers {answered!r}; it must be one of {", ".join(_STATES)}, '
            "a CheckAnswer, or None"
        )
    state = request.state
    news = answered.state != "Pending" or answered.message not in (None, state.message)
    return answered if news else None


def _answered(check: Check, request: CheckRequest) -> Any:
    """What the check says as it is: of a text the CheckAnswer with this state."""
    review = getattr(check, "review", None)
    said = check(request.workload) if review is None and callable(check) else review(request)  # type: ignore[misc]
    return CheckAnswer(said) if isinstance(said, str) else said  # type: ignore[arg-type]


def check_updates(workload: Workload, name: str, state: CheckState, updates: tuple[Mapping[str, Any], ...]) -> None:
    """Holds what a check adds to pod sets to what Kueue's webhook asks.

    Source: `pkg/webhooks/workload_webhook.go:validatePodSetUpdates,validateImmutablePodSetUpdates`.

    Raises:
        InvalidSpecError: A pod set is unknown, an update is not valid, or a check that is Ready changes its updates.
    """
    where = f'Workload "{workload.key}": check "{name}": podSetUpdates'
    names = [pod_set.name for pod_set in workload.pod_sets]
    for update in updates:
        if update.get("name") not in names:
            raise InvalidSpecError(f'{where}: names "{update.get("name")}"; it must be one of {", ".join(names)}')
    review = Review()
    for position, update in enumerate(updates):
        for name_of_map in ("labels", "nodeSelector", "annotations"):
            decode(dict[str, str], update.get(name_of_map) or {}, (position, name_of_map), review)
        decode(tuple[Toleration, ...], update.get("tolerations") or [], (position, "tolerations"), review)
    if not review.problems:
        review_updates(updates, names, (), review)
    if review.problems:
        raise InvalidSpecError(f"{where}{review.problems[0]}")
    before = next((c for c in workload.status.admission_checks if c.name == name), None) if workload.status else None
    if before is not None and before.state == state == "Ready" and before.pod_set_updates != updates:
        raise InvalidSpecError(f"{where}: changes; it must stay as it is while the check is Ready")


_DEFAULT_RETRIES = {"backoffBaseSeconds": 60, "backoffMaxSeconds": 1800, "backoffLimitCount": 3}


class Provisioning:
    """An autoscaler: what has quota gets its nodes after a delay, or fails and is tried again.

    A failure is followed by a retry after 60, 120, 240 s and so on, as for Kueue's ProvisioningRequests; one more than
    the limit rejects the workload. Of the ProvisioningRequestConfig that the check names, `managedResources` say which
    workloads need nodes at all, and `retryStrategy` how failures are retried; `podSetMergePolicy` shapes a request that
    is not made here, and `podSetUpdates` take what `pod_set_updates` answers.

    Source: `pkg/controller/admissionchecks/provisioning/controller.go:syncCheckStates,reqIsNeeded` and
    `pkg/workload/admissionchecks.go:UpdateAdmissionCheckRequeueState`, without jitter.

    >>> from kueuepy import AdmissionCheck, Cluster, ClusterQueue, ResourceFlavor, Scheduler
    >>> from kueuepy.objects import AdmissionCheckStrategyRule
    >>> rule = AdmissionCheckStrategyRule("nodes")
    >>> cluster = Cluster(
    ...     ResourceFlavor("default"),
    ...     AdmissionCheck("nodes", controller_name="kueue.x-k8s.io/provisioning-request"),
    ...     ClusterQueue.of("team", {"default": {"cpu": 9}}, admission_checks_strategy=[rule]),
    ... )
    >>> scheduler = Scheduler(cluster, checks={"kueue.x-k8s.io/provisioning-request": Provisioning("5m")})
    >>> keys = scheduler.submit({"name": "job", "queue": "team", "cpu": 1})
    >>> settled = scheduler.settle()
    >>> scheduler.workload("job").status.is_true("Admitted")
    False
    >>> scheduler.advance("5m")
    >>> settled = scheduler.settle()
    >>> scheduler.workload("job").status.is_true("Admitted")
    True
    """

    def __init__(
        self,
        delay: Duration,
        *,
        fails: Callable[[Workload, int], bool] | None = None,
        backoff_base: Duration | None = None,
        backoff_max: Duration | None = None,
        backoff_limit: int | None = None,
        pod_set_updates: Callable[[Workload], tuple[Mapping[str, Any], ...]] | None = None,
    ) -> None:
        """Nodes come after `delay`.

        Args:
            delay: From the quota to the nodes, or to the failure.
            fails: Whether an attempt fails, given the workload and the attempt, from 1; none does by default.
            backoff_base: The wait after the first failure, which doubles with each one; instead of what the
                ProvisioningRequestConfig says, 60 s by default.
            backoff_max: The longest wait, likewise; 30 min by default.
            backoff_limit: After how many failures the next one rejects, likewise; 3 by default.
            pod_set_updates: What the provisioned nodes ask of the pods.

        Raises:
            InvalidSpecError: A duration is none, or below 0.
        """
        self._delay = duration_ns(delay) / SECOND
        self._fails = fails
        self._retries = {
            "backoffBaseSeconds": None if backoff_base is None else duration_ns(backoff_base) // SECOND,
            "backoffMaxSeconds": None if backoff_max is None else duration_ns(backoff_max) // SECOND,
            "backoffLimitCount": backoff_limit,
        }
        self._updates = pod_set_updates

    def review(self, request: CheckRequest) -> CheckAnswer | None:
        """`Ready` after the delay, or `Retry` and in the end `Rejected`; `Ready` at once if no nodes are needed."""
        spec = (request.parameters or {}).get("spec") or {}
        if not _needs_nodes(request.workload, spec.get("managedResources") or ()):
            return CheckAnswer("Ready", "the provisioning request is not needed")
        if request.elapsed < self._delay:
            return None
        attempt = (request.state.retry_count or 0) + 1
        if self._fails is None or not self._fails(request.workload, attempt):
            updates = () if self._updates is None else self._updates(request.workload)
            return CheckAnswer("Ready", "Provisioned", pod_set_updates=updates)
        base, longest, limit = self._retry(spec.get("retryStrategy") or {})
        if attempt > limit:
            return CheckAnswer("Rejected", "Not provisioned")
        wait = base * 2 ** (attempt - 1)
        if attempt > 1 and longest:
            wait = min(wait, longest)
        return CheckAnswer("Retry", "Retrying after failure: Not provisioned", requeue_after=wait)

    def _retry(self, strategy: Mapping[str, Any]) -> tuple[int, int, int]:
        """How failures are retried: the first wait and the longest one, in seconds, and how often."""
        base, longest, limit = (
            next(value for value in (given, strategy.get(name), _DEFAULT_RETRIES[name]) if value is not None)
            for name, given in self._retries.items()
        )
        return base, longest, limit


def _needs_nodes(workload: Workload, managed: Collection[str]) -> bool:
    """Whether pods that were admitted use a resource that the autoscaler manages; it manages all if none is named."""
    admission = workload.status.admission if workload.status else None
    counts = {one.name: one.count for one in admission.pod_set_assignments} if admission else {}
    return any(
        pod_set.count > 0
        and counts.get(pod_set.name, pod_set.count) != 0
        and (not managed or _uses(pod_set.template.get("spec") or {}, managed))
        for pod_set in workload.pod_sets
    )


def _uses(pod: Mapping[str, Any], resources: Collection[str]) -> bool:
    """Whether a container asks for, or is limited in, one of these."""
    asked = (
        container.get("resources") or {}
        for part in ("initContainers", "containers")
        for container in pod.get(part) or ()
    )
    return any(name in resources for one in asked for part in ("requests", "limits") for name in one.get(part) or ())
