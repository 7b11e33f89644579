"""Admission checks answered by Python: functions, controllers, and a model of an autoscaler.

For each workload with quota, Kueue asks the controllers of the ClusterQueue's AdmissionChecks for an answer. The
workload is admitted when all checks are `Ready`. Pass a Scheduler one function per controller:

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

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.manifest.convert import decode
from kueuepy.manifest.validation.review import Review
from kueuepy.manifest.validation.workload import review_updates
from kueuepy.objects import (
    SECOND,
    AdmissionCheck,
    AdmissionCheckState,
    CheckState,
    Duration,
    Timestamp,
    Toleration,
    Workload,
    duration_ns,
)


class CheckAnswer(msgspec.Struct, frozen=True):
    """The answer of an admission check's controller about a workload.

    Attributes:
        state: `Ready` lets the workload start, `Retry` evicts and requeues it, `Rejected` evicts and deactivates it,
            and `Pending` leaves it waiting.
        message: The message of the check in the workload's status; `None` keeps the previous message.
        requeue_after: With `Retry`, the delay before the workload is evicted and requeued, as seconds or a string such
            as `"5m"`; `None` for no delay.
        pod_set_updates: Changes to pod sets, written as in a manifest: `{"name": "main", "nodeSelector": {…}}`.

    Example:
        >>> CheckAnswer("Retry", "no capacity", requeue_after="5m").state
        'Retry'
    """

    state: CheckState
    message: str | None = None
    requeue_after: Duration | None = None
    pod_set_updates: tuple[Mapping[str, Any], ...] = ()


class CheckRequest(NamedTuple):
    """A request to answer an admission check.

    Attributes:
        workload: The workload, with its reserved quota in the status.
        check: The AdmissionCheck.
        time: The current virtual time, a `Timestamp`, which is a datetime with nanoseconds.
        parameters: The object that the check's `spec.parameters` refers to; `None` if it was not loaded.

    Example:
        >>> budget = AdmissionCheck("budget", controller_name="example.com/budget")
        >>> CheckRequest(Workload("job"), budget, Timestamp.of(10**9)).now
        1.0
    """

    workload: Workload
    check: AdmissionCheck
    time: Timestamp
    parameters: Mapping[str, Any] | None = None

    @property
    def now(self) -> float:
        """The current virtual time, in seconds since the Unix epoch."""
        return self.time.value / SECOND

    @property
    def state(self) -> AdmissionCheckState:
        """The state of the check in the workload's status."""
        assert self.workload.status is not None
        return next(state for state in self.workload.status.admission_checks if state.name == self.check.name)

    @property
    def since(self) -> float:
        """The time at which the quota was reserved, in seconds since the Unix epoch."""
        return self._since / SECOND

    @property
    def elapsed(self) -> float:
        """The exact time since the quota was reserved, in seconds.

        The difference `now - since` can have a rounding error.
        """
        return (self.time.value - self._since) / SECOND

    @property
    def _since(self) -> int:
        assert self.workload.status is not None
        return next(c.last_transition_time.value for c in self.workload.status.conditions if c.type == "QuotaReserved")


class CheckController(Protocol):
    """A controller of an admission check that receives the complete request, not only the workload."""

    def review(self, request: CheckRequest) -> CheckAnswer | CheckState | None:
        """Return a CheckAnswer or a state such as `Ready`; return `None` to be called again in the next cycle."""


Check: TypeAlias = CheckController | Callable[[Workload], CheckAnswer | CheckState | None]
"""A function of a workload, or a controller, that answers a check; `None` stands for `Pending`."""


def checks_of(checks: Mapping[str, Check]) -> dict[str, Check]:
    """Validate a mapping from controllerNames to functions or controllers, and return it as a dict.

    Raises:
        InvalidSpecError: The argument is not a mapping of strings to functions or controllers.
    """
    if not isinstance(checks, Mapping):
        raise InvalidSpecError(f"checks: is {checks!r:.99}; it must be a mapping of controllerNames to functions")
    for name, check in checks.items():
        if not isinstance(name, str) or not (callable(check) or callable(getattr(check, "review", None))):
            raise InvalidSpecError(
                f"checks: {name!r:.99}: is {check!r:.99}; the name must be a string, and the check a function or a "
                "controller"
            )
    return dict(checks)


def parameters_of(check: AdmissionCheck, related: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the object that a check's `spec.parameters` refers to; `None` if it is not among `related`."""
    named = check.parameters or {}
    of_kind = (doc for doc in related if doc.get("kind") == named.get("kind"))
    return next((doc for doc in of_kind if (doc.get("metadata") or {}).get("name") == named.get("name")), None)


_STATES = ("Pending", "Ready", "Retry", "Rejected")


def answer(check: Check, request: CheckRequest) -> CheckAnswer | None:
    """Return the answer to a check; `None` if the answer does not change the check's state or message.

    Raises:
        InvalidSpecError: The answer is not a state, a CheckAnswer or None, or the function exceeds the recursion limit.
    """
    try:
        answered = _answered(check, request)
    # A check that asks the Scheduler it was called by starts a cycle, and so itself, again.
    except RecursionError as error:
        raise InvalidSpecError(
            f'AdmissionCheck "{request.check.name}": its function exceeds the recursion limit of Python; it must not '
            "call itself without end, or the method of the Scheduler that called it"
        ) from error
    if answered is None:
        return None
    if not isinstance(answered, CheckAnswer) or answered.state not in _STATES:
        raise InvalidSpecError(
            f'AdmissionCheck "{request.check.name}": answers {answered!r:.99}; it must be one of {", ".join(_STATES)}, '
            "a CheckAnswer, or None"
        )
    state = request.state
    # Most functions answer Pending at each call; only a new message is worth a change of the status.
    news = answered.state != "Pending" or answered.message not in (None, state.message)
    return answered if news else None


def _answered(check: Check, request: CheckRequest) -> Any:
    """Return the raw answer; a state given as a string becomes a CheckAnswer."""
    review = getattr(check, "review", None)
    said = check(request.workload) if review is None and callable(check) else review(request)  # type: ignore[misc]
    return CheckAnswer(said) if isinstance(said, str) else said  # type: ignore[arg-type]


def check_updates(workload: Workload, name: str, state: CheckState, updates: tuple[Mapping[str, Any], ...]) -> None:
    """Validate the pod set updates of a check as Kueue's webhook does.

    Source: `pkg/webhooks/workload_webhook.go:validatePodSetUpdates,validateImmutablePodSetUpdates`.

    Raises:
        InvalidSpecError: A pod set does not exist, an update is not valid, or the updates of a check that is already
            `Ready` would change.
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


# The defaults of a ProvisioningRequestConfig in the CRD.
_DEFAULT_RETRIES = {"backoffBaseSeconds": 60, "backoffMaxSeconds": 1800, "backoffLimitCount": 3}


class Provisioning:
    """A model of a cluster autoscaler: provides nodes after a delay, or fails and retries.

    Failures are retried after 60 s, 120 s, 240 s and so on, as with Kueue's ProvisioningRequests. When the number of
    failures exceeds the limit, the workload is rejected.

    Two fields of the check's ProvisioningRequestConfig are used: `managedResources` determines which workloads need
    nodes, and `retryStrategy` determines how failures are retried. `podSetMergePolicy` is ignored, because it only
    affects the format of the request. `podSetUpdates` is replaced by the argument `pod_set_updates`.

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
        """Create the model.

        Args:
            delay: The time from the quota reservation until the nodes are ready or the attempt fails, as seconds or a
                string such as `"5m"`.
            fails: A function of the workload and the attempt (from 1) that returns whether the attempt fails. Default:
                no attempt fails.
            backoff_base: The delay after the first failure, which doubles with each further failure. Default: the value
                of the ProvisioningRequestConfig, or 60 s.
            backoff_max: The maximum delay after a failure. Default: the value of the ProvisioningRequestConfig, or 30
                min.
            backoff_limit: The number of failures that are retried; the next failure rejects the workload. Default: the
                value of the ProvisioningRequestConfig, or 3.
            pod_set_updates: A function of the workload that returns the updates to its pod sets. Default: none.

        Raises:
            InvalidSpecError: A duration is not valid or negative.
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
        """Return the answer to a request.

        The answer is `Ready` immediately if the workload needs no nodes. If the workload needs nodes, the answer is
        `Ready` after the delay, `Retry` after a failure, or `Rejected` after too many failures.
        """
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
        # Kueue limits the doubled delays only: a base above the maximum counts in full.
        if attempt > 1 and longest:
            wait = min(wait, longest)
        return CheckAnswer("Retry", "Retrying after failure: Not provisioned", requeue_after=wait)

    def _retry(self, strategy: Mapping[str, Any]) -> tuple[int, int, int]:
        """Return the base delay and the maximum delay in seconds, and the number of retries."""
        base, longest, limit = (
            next(value for value in (given, strategy.get(name), _DEFAULT_RETRIES[name]) if value is not None)
            for name, given in self._retries.items()
        )
        return base, longest, limit


def _needs_nodes(workload: Workload, managed: Collection[str]) -> bool:
    """Return whether admitted pods use a managed resource; if no resources are named, every resource is managed."""
    admission = workload.status.admission if workload.status else None
    counts = {one.name: one.count for one in admission.pod_set_assignments} if admission else {}
    return any(
        pod_set.count > 0
        # The admission can have fewer pods than the pod set, even none.
        and counts.get(pod_set.name, pod_set.count) != 0
        and (not managed or _uses(pod_set.template.get("spec") or {}, managed))
        for pod_set in workload.pod_sets
    )


def _uses(pod: Mapping[str, Any], resources: Collection[str]) -> bool:
    """Return whether a container has a request or a limit for one of the resources."""
    asked = (
        container.get("resources") or {}
        for part in ("initContainers", "containers")
        for container in pod.get(part) or ()
    )
    return any(name in resources for one in asked for part in ("requests", "limits") for name in one.get(part) or ())
