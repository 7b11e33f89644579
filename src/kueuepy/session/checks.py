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

from collections.abc import Callable, Mapping
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
)
from kueuepy.session import provisioning


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

    @property
    def provisioning_request(self) -> dict[str, Any] | None:
        """The manifest of the workload's ProvisioningRequest; `None` if Kueue creates none."""
        if not provisioning.is_active(self.check, self.parameters):
            return None
        return provisioning.request_of(self.workload, self.state, provisioning.spec_of(self.parameters))

    def answer_for(self, status: Mapping[str, Any]) -> CheckAnswer | None:
        """Return the answer of Kueue's ProvisioningRequest controller; `None` if the check stays as it is.

        Args:
            status: The status of the workload's ProvisioningRequest, as in a manifest: its `conditions` and
                `provisioningClassDetails`.

        Raises:
            InvalidSpecError: The check has another controller, or the status is malformed.
        """
        if self.check.controller_name != provisioning.CONTROLLER:
            raise InvalidSpecError(
                f'AdmissionCheck "{self.check.name}": has the controller "{self.check.controller_name}"; only a check '
                f"of {provisioning.CONTROLLER} has the status of a ProvisioningRequest"
            )
        new = provisioning.reconciled(self.workload, self.state, self.check, self.parameters, status)
        if new == self.state:
            return None
        return CheckAnswer(new.state, new.message, new.requeue_after_seconds, new.pod_set_updates)


class CheckController(Protocol):
    """A controller of an admission check that receives the complete request, not only the workload.

    A controller with a method `is_active` of a check and its parameters also sets whether its checks are active.
    """

    def review(self, request: CheckRequest) -> "Said":
        """Return a CheckAnswer, a state such as `Ready`, or the status of the workload's ProvisioningRequest.

        Return `None` to be called again in the next cycle.
        """


Said: TypeAlias = CheckAnswer | CheckState | Mapping[str, Any] | None
"""An answer to a check: a CheckAnswer, a state, or the status of a ProvisioningRequest."""

Check: TypeAlias = CheckController | Callable[[Workload], Said]
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
    if isinstance(answered, Mapping):
        return request.answer_for(answered)
    if answered is None:
        return None
    if not isinstance(answered, CheckAnswer) or answered.state not in _STATES:
        raise InvalidSpecError(
            f'AdmissionCheck "{request.check.name}": answers {answered!r:.99}; it must be one of {", ".join(_STATES)}, '
            "a CheckAnswer, the status of a ProvisioningRequest, or None"
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
