"""Label selectors, with Kubernetes' meaning."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import field

from kueuepy.errors.arguments import checked_methods
from kueuepy.objects.base import Collection

SelectorOperator: TypeAlias = Literal["In", "NotIn", "Exists", "DoesNotExist"]


class LabelSelectorRequirement(Collection, frozen=True):
    """One condition on one label.

    Attributes:
        key: The label's key.
        operator: `In`, `NotIn` (also true if the label is absent), `Exists` or `DoesNotExist`.
        values: The values of `In` and `NotIn`; empty for the other two.
    """

    key: str
    operator: SelectorOperator
    values: Sequence[str] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the condition holds on these labels."""
        present = self.key in labels
        match self.operator:
            case "Exists":
                return present
            case "DoesNotExist":
                return not present
            case "In":
                return present and labels[self.key] in self.values
            case "NotIn":
                return not present or labels[self.key] not in self.values


@checked_methods
class LabelSelector(Collection, frozen=True):
    """All of these pairs and conditions together; the empty selector matches everything.

    Attributes:
        match_labels: Pairs that must be present.
        match_expressions: Conditions that must hold.
    """

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: Sequence[LabelSelectorRequirement] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the selector matches these labels.

        >>> LabelSelector(match_labels={"team": "vision"}).matches({"team": "vision", "tier": "1"})
        True
        """
        return all(labels.get(key) == value for key, value in self.match_labels.items()) and all(
            requirement.matches(labels) for requirement in self.match_expressions
        )
