"""The little of quantities that making pod sets needs."""

from collections.abc import Mapping

from kueuepy._core import Quantity
from kueuepy.objects import QuantityText, ResourceList


def keep_max(first: ResourceList, second: Mapping[str, QuantityText]) -> ResourceList:
    """The larger quantity of each resource; of equal ones, that of the first list.

    Source: `pkg/util/resource/resource.go:MergeResourceListKeepMax`.

    Raises:
        InvalidSpecError: A quantity cannot be read.
    """
    merged = dict(first)
    for name, quantity in second.items():
        if name not in merged or Quantity(str(merged[name])) < Quantity(str(quantity)):
            merged[name] = quantity
    return merged


def canonical(quantity: QuantityText) -> str:
    """The text in which Kubernetes writes a quantity: 1000m as 1.

    Raises:
        InvalidSpecError: It cannot be read.
    """
    return str(Quantity(str(quantity)))
