"""Kubernetes label selectors."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import field

from kueuepy.errors import checked_methods
from kueuepy.objects.base import Collection

SelectorOperator: TypeAlias = Literal["In", "NotIn", "Exists", "DoesNotExist"]


class LabelSelectorRequirement(Collection, frozen=True):
    """A requirement on one label (`matchExpressions[]`).

    >>> LabelSelectorRequirement("tier", "NotIn", ["1"]).matches({})
    True

    Attributes:
        key: Key of the label.
        operator: `In`, `NotIn` (which also matches if the label is absent), `Exists` or `DoesNotExist`.
        values: Values for `In` and `NotIn`; empty for the other operators.
    """

    key: str
    operator: SelectorOperator
    values: Sequence[str] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels satisfy the requirement.

        Args:
            labels: Labels by key.
        """
        is_any = self.operator in ("Exists", "DoesNotExist")
        found = self.key in labels and (is_any or labels[self.key] in self.values)
        return found == (self.operator in ("Exists", "In"))


@checked_methods
class LabelSelector(Collection, frozen=True):
    """A label selector, which matches if all its labels and requirements match. An empty selector matches everything.

    >>> LabelSelector().matches({"team": "vision"})
    True

    Attributes:
        match_labels: Labels that must be present with these values (`matchLabels`).
        match_expressions: Requirements that must be satisfied (`matchExpressions`).
    """

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: Sequence[LabelSelectorRequirement] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the selector matches labels.

        >>> LabelSelector(match_labels={"team": "vision"}).matches({"team": "vision", "tier": "1"})
        True

        Args:
            labels: Labels by key.
        """
        return all(labels.get(key) == value for key, value in self.match_labels.items()) and all(
            requirement.matches(labels) for requirement in self.match_expressions
        )
