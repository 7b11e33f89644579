"""Quantity functions for the creation of pod sets."""

from collections.abc import Mapping

from kueuepy._core import Quantity
from kueuepy.objects import QuantityText, ResourceList


def keep_max(first: ResourceList, second: Mapping[str, QuantityText]) -> ResourceList:
    """Return the resources of both lists, each with the larger of its two quantities.

    If two quantities are equal, the quantity in `first` is kept.

    Source: `pkg/util/resource/resource.go:MergeResourceListKeepMax`.

    Raises:
        InvalidSpecError: A quantity cannot be parsed.
    """
    merged = dict(first)
    for name, quantity in second.items():
        if name not in merged or Quantity(str(merged[name])) < Quantity(str(quantity)):
            merged[name] = quantity
    return merged


def canonical(quantity: QuantityText) -> str:
    """Return a quantity in Kubernetes' canonical form, for example `1` for `1000m`.

    Raises:
        InvalidSpecError: The quantity cannot be parsed.
    """
    return str(Quantity(str(quantity)))
