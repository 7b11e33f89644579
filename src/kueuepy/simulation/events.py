"""Readers of events for a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.manifest.convert import from_dict
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.reading import read
from kueuepy.simulation.model import Delete, Edit, Event, Evict, Finish, Priority

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from kueuepy.manifest.text.reading import Item

_WHEN = ("when", "every", "at", "times")
_WHAT = ("edit", "apply", "delete", "finish", "evict", "priority")


def read_events(path: str | os.PathLike[str]) -> tuple[Event, ...]:
    """Read the events of a simulation from a YAML or JSON file.

    The file contains a list of events, or one event per document.

    | key | value |
    | --- | --- |
    | `when` | time after the first submission, such as `2d` |
    | `every`, `at`, `times` | for a repeated event: interval such as `1d`, first time such as `22:00`, count |
    | `edit` | a mapping from paths, as in `Cluster.edit`, to values |
    | `apply` | a Kueue object, as in a manifest |
    | `delete` | `Kind/name` of an object |
    | `finish`, `evict` | the name of a job |
    | `priority` | a mapping from names of jobs to priorities |

    Each event has either `when` or `every`, and exactly one of the keys from `edit` to `priority`.

    Args:
        path: The file.

    Returns:
        The events, for the argument `events` of `simulate`.

    Raises:
        InvalidSpecError: The file cannot be read, or an event is invalid; the message names the file and the line.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror}") from None
    found: list[Event] = []
    for item in read(str(path), data, Limits(), strict=True):
        found += _events(item)
    return tuple(found)


def _events(item: Item) -> Iterator[Event]:
    is_list = isinstance(item.value, list)
    for place, entry in enumerate(item.value if is_list else [item.value]):
        where = item.where((place,) if is_list else ())
        try:
            yield _event(entry)
        except KueueError as error:
            raise InvalidSpecError(f"{where}: {error}") from None


def _event(entry: Any) -> Event:
    if not isinstance(entry, Mapping) or sum(name in entry for name in _WHAT) != 1:
        raise InvalidSpecError(f"an event must be a mapping with one of {', '.join(_WHAT)}")
    unknown = [name for name in entry if name not in (*_WHEN, *_WHAT)]
    if unknown:
        raise InvalidSpecError(f"{unknown[0]}: is unknown; there are {', '.join((*_WHEN, *_WHAT))}")
    event = Event(what=_what(entry), **{name: entry[name] for name in _WHEN if name in entry})
    event.moments("event", 0)
    return event


def _what(entry: Mapping[str, Any]) -> Any:
    if "edit" in entry:
        return tuple(Edit(path, value) for path, value in entry["edit"].items())
    if "apply" in entry:
        return from_dict(entry["apply"])
    if "delete" in entry:
        return Delete(str(entry["delete"]))
    if "priority" in entry:
        return tuple(Priority(str(job), int(priority)) for job, priority in entry["priority"].items())
    return Finish(str(entry["finish"])) if "finish" in entry else Evict(str(entry["evict"]))
