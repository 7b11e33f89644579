"""ResourceFlavor: a kind of node, known by its labels and taints."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import field

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked_methods
from kueuepy.objects.base import Int64, Object, Value

TaintEffect: TypeAlias = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
TolerationOperator: TypeAlias = Literal["", "Equal", "Exists"]


@checked_methods
class Taint(Value, frozen=True):
    """A taint of a node: pods stay away unless they tolerate it.

    Attributes:
        key: The taint's key.
        value: The taint's value.
        effect: Required. `NoSchedule` and `NoExecute` keep a workload out of a flavor; `PreferNoSchedule` doesn't.
        time_added: When the taint was added, as written; of a node, a change wakes who waits.
    """

    key: str
    value: str = ""
    effect: TaintEffect | Literal[""] = ""
    time_added: str | None = None

    @classmethod
    def of(cls, text: str) -> "Taint":
        """The taint that `kubectl taint` would write so.

        >>> Taint.of("spot=true:NoSchedule")
        Taint(key='spot', value='true', effect='NoSchedule', time_added=None)
        """
        key, value, effect = _split(text)
        if not effect:
            raise InvalidSpecError(
                f'Taint "{text}": no effect is given; write key=value:effect, with one of {_ALLOWED}'
            )
        return cls(key, value, effect)


@checked_methods
class Toleration(Value, frozen=True):
    """What lets a pod stay on tainted nodes.

    Attributes:
        key: The taint's key; empty, with `Exists`, for every key.
        operator: `Equal`, which an empty text also means, or `Exists`.
        value: The taint's value, for `Equal`.
        effect: The taint's effect; empty for every effect.
        toleration_seconds: For how many seconds a `NoExecute` taint is tolerated.
    """

    key: str = ""
    operator: TolerationOperator = ""
    value: str = ""
    effect: TaintEffect | Literal[""] = ""
    toleration_seconds: Int64 | None = None

    @classmethod
    def of(cls, text: str) -> "Toleration":
        """The toleration of the taint written so; without `=value`, of every value.

        >>> Toleration.of("spot").operator
        'Exists'
        """
        key, value, effect = _split(text)
        return cls(key, "Equal" if "=" in text else "Exists", value, effect)


_EFFECTS: tuple[TaintEffect, ...] = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ALLOWED = ", ".join(_EFFECTS)


def _split(text: str) -> tuple[str, str, TaintEffect | Literal[""]]:
    pair, _, written = text.partition(":")
    key, _, value = pair.partition("=")
    if not written:
        return key, value, ""
    for effect in _EFFECTS:
        if effect == written:
            return key, value, effect
    raise InvalidSpecError(f'"{text}": "{written}" is no effect; it must be one of {_ALLOWED}')


class ResourceFlavor(Object, frozen=True, kw_only=True):
    """A kind of nodes for which quotas are given; without labels and taints, any nodes.

    Source: `apis/kueue/v1beta2/resourceflavor_types.go`, `pkg/webhooks/resourceflavor_webhook.go`.

    Attributes:
        node_labels: Labels of the flavor's nodes, at most 8. A pod set fits if its node selector and required node
            affinity agree with them, of the keys that they name.
        node_taints: Taints of the flavor's nodes, at most 8. A pod set must tolerate them.
        tolerations: Added to the pods that get the flavor, at most 8.
        topology_name: The Topology of the flavor's nodes; it needs at least one node label, and stays once set.
    """

    node_labels: dict[str, str] = field(default_factory=dict)
    node_taints: Sequence[Taint] = ()
    tolerations: Sequence[Toleration] = ()
    topology_name: str | None = None
