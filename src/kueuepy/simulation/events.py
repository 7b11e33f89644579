"""What changes during a run, read from a file."""

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
    """The events of a YAML or JSON file: a list, or a document for each.

    | key | holds |
    | --- | --- |
    | `when` | how long after the first submission, as `2d` |
    | `every`, `at`, `times` | or again and again, as `1d` at `22:00` |
    | `edit` | paths, as `Cluster.edit` takes them, and their values |
    | `apply` | an object, as in a manifest |
    | `delete` | `Kind/name` |
    | `finish`, `evict` | the name of a job |
    | `priority` | names of jobs, and the priority of each |

    Raises:
        InvalidSpecError: The file cannot be read, or an entry is none; the message names file and line.
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
    """Those of a document."""
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
