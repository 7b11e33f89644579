"""ResourceFlavor: a set of nodes, identified by their labels and taints."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from msgspec import field

from kueuepy.errors import InvalidSpecError, checked_methods
from kueuepy.objects.base import Int64, Object, Value

TaintEffect: TypeAlias = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
TAINT_EFFECTS: tuple[TaintEffect, ...] = get_args(TaintEffect)
_ALLOWED = ", ".join(TAINT_EFFECTS)
TolerationOperator: TypeAlias = Literal["", "Equal", "Exists"]


@checked_methods
class Taint(Value, frozen=True):
    """A taint of a node (`spec.taints[]`): pods without a matching toleration are kept off the node.

    >>> Taint("spot", value="true", effect="NoSchedule").key
    'spot'

    Attributes:
        key: Key of the taint.
        value: Value of the taint. Default: empty.
        effect: Effect of the taint; required. `NoSchedule` and `NoExecute` exclude workloads without a matching
            toleration from the flavor. `PreferNoSchedule` does not exclude any workload.
        time_added: Time at which the taint was added, as written (`timeAdded`). If `time_added` changes on a node,
            Kueue retries pending workloads, as after any change to the node.
    """

    key: str
    value: str = ""
    effect: TaintEffect | Literal[""] = ""
    time_added: str | None = None

    @classmethod
    def of(cls, text: str) -> "Taint":
        """Parse a taint in the notation of `kubectl taint`.

        >>> Taint.of("spot=true:NoSchedule")
        Taint(key='spot', value='true', effect='NoSchedule')

        Args:
            text: The taint, as `key=value:effect`, or as `key:effect` for an empty value.

        Returns:
            The taint.

        Raises:
            InvalidSpecError: The effect is missing or unknown.
        """
        key, value, effect = _split(text)
        if not effect:
            raise InvalidSpecError(
                f'Taint "{text}": no effect is given; write key=value:effect, with one of {_ALLOWED}'
            )
        return cls(key, value, effect)


@checked_methods
class Toleration(Value, frozen=True):
    """A toleration of a pod for matching taints (`spec.tolerations[]` of a pod).

    >>> Toleration("spot", operator="Exists").effect
    ''

    Attributes:
        key: Key of the taint; an empty key with the operator `Exists` matches every key. Default: empty.
        operator: `Equal` or `Exists`; empty, the default, means `Equal`.
        value: Value of the taint, for `Equal`. Default: empty.
        effect: Effect of the taint; an empty effect, the default, matches every effect.
        toleration_seconds: Time in seconds for which a `NoExecute` taint is tolerated (`tolerationSeconds`); `None`,
            the default, for no time limit.
    """

    key: str = ""
    operator: TolerationOperator = ""
    value: str = ""
    effect: TaintEffect | Literal[""] = ""
    toleration_seconds: Int64 | None = None

    @classmethod
    def of(cls, text: str) -> "Toleration":
        """Create a toleration for a taint in the notation of `kubectl taint`.

        >>> Toleration.of("spot").operator
        'Exists'

        Args:
            text: `key=value:effect`. Without `=value`, the toleration matches every value. Without `:effect`, the
                toleration matches every effect.

        Returns:
            The toleration.

        Raises:
            InvalidSpecError: The effect is unknown.
        """
        key, value, effect = _split(text)
        return cls(key, "Equal" if "=" in text else "Exists", value, effect)


def _split(text: str) -> tuple[str, str, TaintEffect | Literal[""]]:
    pair, _, written = text.partition(":")
    key, _, value = pair.partition("=")
    if not written:
        return key, value, ""
    for effect in TAINT_EFFECTS:
        if effect == written:
            return key, value, effect
    raise InvalidSpecError(f'"{text}": "{written}" is not an effect; it must be one of {_ALLOWED}')


class ResourceFlavor(Object, frozen=True, kw_only=True):
    """A set of nodes for which quotas are defined. A flavor without labels and taints matches all nodes.

    Source: `apis/kueue/v1beta2/resourceflavor_types.go`, `pkg/webhooks/resourceflavor_webhook.go`.

    >>> ResourceFlavor("spot", node_labels={"type": "spot"}, node_taints=[Taint.of("spot=true:NoSchedule")]).key
    'spot'

    Attributes:
        node_labels: Labels of the flavor's nodes, at most 8 (`spec.nodeLabels`). A pod set can use the flavor only if
            its node selector and required node affinity match the labels of the flavor. Keys that are not labels
            of the flavor are ignored. (Older releases of Kueue ignore only keys that are not labels of any flavor of
            the resource group.) Default: none.
        node_taints: Taints of the flavor's nodes, at most 8 (`spec.nodeTaints`). A pod set can use the flavor only if
            it tolerates the taints. Default: none.
        tolerations: Tolerations that Kueue adds to pods to which it assigns the flavor, at most 8 (`spec.tolerations`).
            The template of the pod set does not need to contain these tolerations. Default: none.
        topology_name: Name of the Topology of the flavor's nodes (`spec.topologyName`); `None`, the default, for no
            topology. A flavor with a topology requires at least one node label. The Topology of a flavor cannot be
            changed once it is set.
    """

    node_labels: dict[str, str] = field(default_factory=dict)
    node_taints: Sequence[Taint] = ()
    tolerations: Sequence[Toleration] = ()
    topology_name: str | None = None
