"""Paths for edits to a fleet: fields of objects in its clusters, and settings of the fleet."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from kueuepy.cluster import Cluster
from kueuepy.cluster.edit import edited
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.problems import suggestion

MANAGER = "manager"
_FLEET = "fleet"
_SETTINGS = ("dispatcher", "step", "round", "sync", "gated")


def sorted_edits(values: Mapping[str, Any], workers: Iterable[str]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the values for each cluster, keyed by path in the cluster, and the values for the fleet's settings.

    Args:
        values: The values by path; see `Fleet.edit_all`.
        workers: The names of the workers.

    Raises:
        NotFoundError: A path does not match any cluster or setting.
        InvalidSpecError: A path is malformed.
    """
    of_clusters: dict[str, dict[str, Any]] = {}
    settings: dict[str, Any] = {}
    for path, value in values.items():
        names, rest = _target(path, tuple(workers))
        if not names:
            settings[rest] = value
        for name in names:
            of_clusters.setdefault(name, {})[rest] = value
    return of_clusters, settings


def check_path(path: str, clusters: Mapping[str, Cluster]) -> None:
    """Check that a path exists in the manager and the workers of a fleet, without validating values.

    Raises:
        NotFoundError: The path does not match anything.
        InvalidSpecError: The path is malformed.
    """
    names, rest = _target(path, tuple(name for name in clusters if name != MANAGER))
    for name in names:
        _check(name, clusters[name], rest)


def _check(name: str, cluster: Cluster, path: str) -> None:
    try:
        edited(cluster.objects(), cluster.configuration, path, None)
    except NotFoundError as error:
        raise NotFoundError(f"{name}: {error.args[0]}") from None
    except InvalidSpecError:
        if ":" not in path:
            raise


def _target(path: str, workers: tuple[str, ...]) -> tuple[list[str], str]:
    """Return the clusters that a path selects, and the remaining path; the list is empty for a setting of the fleet."""
    target, colon, rest = path.partition(":")
    known = (MANAGER, *workers)
    if target == _FLEET and _FLEET not in known:
        if rest not in _SETTINGS:
            raise NotFoundError(f'edit: "{path}": "{rest}" is not a setting of a fleet; {suggestion(rest, _SETTINGS)}')
        return [], rest
    if not colon or "/" in target or (target == "Configuration" and target not in known):
        raise InvalidSpecError(
            f'edit: "{path}"; a path of a fleet must begin with a cluster, such as "{known[-1]}:{path}"; the clusters '
            f'are {", ".join(known)}, and "*" selects all workers'
        )
    names = [target] if target in known else [name for name in workers if fnmatchcase(name, target)]
    if not names:
        raise NotFoundError(f'edit: "{path}": "{target}" is not a cluster; {suggestion(target, known)}')
    return names, rest
