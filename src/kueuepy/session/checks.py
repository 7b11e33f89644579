"""Admission checks that Python answers: functions of yours, and a model of an autoscaler.

Kueue asks the controller of each AdmissionCheck about each workload that has quota; the workload is admitted when all
of them say `Ready`. Give a Scheduler a function for each controller:

>>> from kueuepy import AdmissionCheck, AdmissionCheckStrategyRule, Cluster, ClusterQueue, ResourceFlavor, Scheduler
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

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.manifest.validation.review import Review
from kueuepy.manifest.validation.status import review_updates
from kueuepy.objects import SECOND, AdmissionCheck, Workload
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
    """

    workload: Workload
    check: AdmissionCheck
    time: int

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


_STATES = ("Pending", "Ready", "Retry", "Rejected")


def answer(check: Check, request: CheckRequest) -> CheckAnswer | None:
    """What is said of a workload; `None` for nothing new.

    Raises:
        InvalidSpecError: There is no such state.
    """
    review = getattr(check, "review", None)
    told = check(request.workload) if review is None and callable(check) else review(request)  # type: ignore[misc]
    if isinstance(told, str):
        told = CheckAnswer(told)  # type: ignore[arg-type]
    if told is None:
        return None
    if not isinstance(told, CheckAnswer) or told.state not in _STATES:
        raise InvalidSpecError(
            f'AdmissionCheck "{request.check.name}": answers {told!r}; it must be one of {", ".join(_STATES)}, '
            "a CheckAnswer, or None"
        )
    state = request.state
    news = told.state != "Pending" or told.message not in (None, state.message)
    return told if news else None


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
    review_updates(updates, names, (), review)
    if review.problems:
        raise InvalidSpecError(f"{where}{review.problems[0]}")
    before = next((c for c in workload.status.admission_checks if c.name == name), None) if workload.status else None
    if before is not None and before.state == state == "Ready" and before.pod_set_updates != updates:
        raise InvalidSpecError(f"{where}: changes; it must stay as it is while the check is Ready")


class Provisioning:
    """An autoscaler: what has quota gets its nodes after a delay, or fails and is tried again.

    A failure is followed by a retry after 60, 120, 240 s and so on, as for Kueue's ProvisioningRequests; one more than
    the limit rejects the workload.

    Source: `pkg/controller/admissionchecks/provisioning/controller.go:syncCheckStates` and
    `pkg/workload/admissionchecks.go:UpdateAdmissionCheckRequeueState`, without jitter.

    >>> from kueuepy import AdmissionCheck, AdmissionCheckStrategyRule, Cluster, ClusterQueue, ResourceFlavor, Scheduler
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
        backoff_base: Duration = 60,
        backoff_max: Duration = 1800,
        backoff_limit: int = 3,
        pod_set_updates: Callable[[Workload], tuple[Mapping[str, Any], ...]] | None = None,
    ) -> None:
        """Nodes come after `delay`.

        Args:
            delay: From the quota to the nodes, or to the failure.
            fails: Whether an attempt fails, given the workload and the attempt, from 1; none does by default.
            backoff_base: The wait after the first failure; it doubles with each one.
            backoff_max: The longest wait.
            backoff_limit: After how many failures the next one rejects.
            pod_set_updates: What the provisioned nodes ask of the pods.

        Raises:
            InvalidSpecError: A duration is none, or below 0.
        """
        self._delay = duration_ns(delay) / SECOND
        self._fails = fails
        self._base, self._max = duration_ns(backoff_base) // SECOND, duration_ns(backoff_max) // SECOND
        self._limit = backoff_limit
        self._updates = pod_set_updates

    def review(self, request: CheckRequest) -> CheckAnswer | None:
        """`Ready` after the delay, or `Retry` and in the end `Rejected`."""
        if request.elapsed < self._delay:
            return None
        attempt = (request.state.retry_count or 0) + 1
        if self._fails is None or not self._fails(request.workload, attempt):
            updates = () if self._updates is None else self._updates(request.workload)
            return CheckAnswer("Ready", "Provisioned", pod_set_updates=updates)
        if attempt > self._limit:
            return CheckAnswer("Rejected", "Not provisioned")
        wait = self._base * 2 ** (attempt - 1)
        if attempt > 1 and self._max:
            wait = min(wait, self._max)
        return CheckAnswer("Retry", "Retrying after failure: Not provisioned", requeue_after=wait)
