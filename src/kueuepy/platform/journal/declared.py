"""Comparison of the objects in an existing journal with the Cluster that is passed to `Journal.scheduler`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.errors.words import counted
from kueuepy.objects import Workload

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.objects import Object
    from kueuepy.scheduler import Scheduler

OnChange: TypeAlias = Literal["error", "apply", "keep"]
"""How to treat objects that differ: raise an error, apply the objects of the cluster, or keep those of the journal."""
_CHOICES = ("error", "apply", "keep")
_SHOWN = 5


def reconcile(path: object, scheduler: Scheduler, given: Cluster | Scheduler | None, on_change: OnChange) -> None:
    """Compare the objects of a recovered Scheduler with the given objects, and apply or reject the differences.

    Args:
        path: The journal's path, for error messages.
        scheduler: The recovered Scheduler, which is changed if `on_change` is `apply`.
        given: The cluster to compare with; `None` skips the comparison.
        on_change: `error`, `apply` or `keep`.

    Raises:
        StateError: Objects differ and `on_change` is `error`; or the Configurations differ and `on_change` is not
            `keep`.
        InvalidSpecError: `on_change` has an unknown value, or an object cannot be changed to the given object.
    """
    if on_change not in _CHOICES:
        raise InvalidSpecError(f"on_change: is {on_change!r}; it must be one of {', '.join(_CHOICES)}")
    if given is None or on_change == "keep":
        return
    cluster = given if isinstance(given, Cluster) else given.cluster
    if cluster.configuration != scheduler.configuration:
        raise StateError(
            f"{path}: holds another Configuration than the one given, and a journal keeps its own; continue in a new "
            "journal with Journal(other).scheduler(scheduler.with_configuration(configuration)), or here with "
            'on_change="keep"'
        )
    there, wanted = _by_name(scheduler.cluster.objects()), _by_name(cluster.objects())
    changed = [obj for name, obj in wanted.items() if there.get(name) != obj]
    gone = [obj for name, obj in there.items() if name not in wanted]
    if on_change == "error" and (changed or gone):
        raise StateError(
            f'{path}: holds other objects than the cluster given: {_named(changed, gone)}; on_change="apply" makes '
            'them those of the cluster, and on_change="keep" keeps those of the journal'
        )
    if changed:
        scheduler.apply(*changed)
    if gone:
        scheduler.remove(*gone)


def _by_name(objects: Iterable[Object]) -> dict[tuple[str, str], Object]:
    return {(type(obj).__name__, obj.key): obj for obj in objects if not isinstance(obj, Workload)}


def _named(changed: list[Object], gone: list[Object]) -> str:
    texts = [f'{type(obj).__name__} "{obj.key}"' for obj in changed]
    texts += [f'{type(obj).__name__} "{obj.key}", which it does not have' for obj in gone]
    more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {counted(more, 'other')}" if more > 0 else "")
