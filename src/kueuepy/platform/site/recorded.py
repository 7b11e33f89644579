"""The data of a page about a recording: every recorded state of the workloads, and the quota and usage over time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Quantity, pod_requests
from kueuepy.errors import KueueError
from kueuepy.objects import SECOND
from kueuepy.objects.times import parse_time
from kueuepy.pages.data import (
    ADMITTED,
    EVICTED,
    GONE,
    PENDING,
    RESERVED,
    Events,
    PageData,
    SeriesData,
    Shapes,
    Texts,
    WorkloadsData,
    cells_of,
)
from kueuepy.pages.state import MOST_EXPLAINED, state_data
from kueuepy.platform.history import Conditions, RecordedState
from kueuepy.platform.importer import import_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.platform.history import Recording

_Cells = dict[tuple[str, str], int]


def recorded_data(
    recording: Recording, *, title: str = "", source: str = "", explained: int = MOST_EXPLAINED
) -> PageData:
    """Return the data of a recording from its first to its last record.

    Args:
        recording: The recording.
        title: The title of the page.
        source: The source as the user wrote it.
        explained: The number of explanations of workloads that are pending at the end of the recording.

    Raises:
        InvalidSpecError: The recording is empty.
    """
    state = RecordedState(recording)
    imported = import_cluster(state, progress=lambda *_: None)
    latest = state_data(imported.scheduler, title=title or "Recording of a cluster", source=source, explained=explained)
    found = _Replay(latest).data(recording, state.time)
    found.notes = [*state.notes, *imported.notes[:20], *_gaps(recording, found.zero or 0.0)]
    return found


def _gaps(recording: Recording, zero: float) -> Iterator[str]:
    for gap in recording.gaps():
        since, until = ((gap[name] / SECOND - zero) for name in ("since", "until"))
        yield (
            f"{gap['kind']}: changes between {since:,.0f} s and {until:,.0f} s after the beginning may be missing: "
            f"{gap['reason']}"
        )


class _Life(msgspec.Struct):
    """The recorded state of one Workload."""

    key: str
    queue: str = ""
    local: str = ""
    priority: int = 0
    created: int = 0
    shape: int = 0
    changes: list[tuple[int, int, int]] = []
    held: _Cells = {}
    holder: str = ""


class _Replay:
    """The history of a recording.

    The cohort tree, the limits and the explanations are those at the end of the recording.
    """

    def __init__(self, latest: PageData) -> None:
        self._latest = latest
        self._cells = {(cell.flavor, cell.resource): place for place, cell in enumerate(latest.cells)}
        self._nodes: dict[tuple[str, str], int] = {
            (node.kind, node.name): place for place, node in enumerate(latest.nodes)
        }
        self._leads: dict[str, str] = {}
        self._lives: dict[str, _Life] = {}
        self._steps: dict[tuple[str, int, int], SeriesData] = {}
        self._usage: dict[tuple[int, int], int] = {}
        self._texts, self._shapes = Texts(), Shapes()
        self._requests: dict[bytes, dict[str, int]] = {}
        self._zero = 0

    def data(self, recording: Recording, end: int) -> PageData:
        for event in recording.events():
            time = parse_time(event["received"]) or 0
            self._zero = self._zero or time
            self._take(event, max(time, self._zero))
        return self._filled(max(end, self._zero))

    def _take(self, event: dict[str, Any], time: int) -> None:
        obj, is_gone = event["object"], event["type"] == "DELETED"
        kind, name = event["kind"], obj["metadata"]["name"]
        if kind == "Workload":
            key = f"{obj['metadata'].get('namespace', 'default')}/{name}"
            self._workload(key, None if is_gone else obj, time)
        elif kind == "LocalQueue" and not is_gone:
            lead = str((obj.get("spec") or {}).get("clusterQueue") or "")
            self._leads[f"{obj['metadata'].get('namespace', 'default')}/{name}"] = lead
        elif kind in ("ClusterQueue", "Cohort"):
            self._quota(kind, name, {} if is_gone else obj, time)

    def _quota(self, kind: str, name: str, obj: dict[str, Any], time: int) -> None:
        node = self._nodes.get((kind, name))
        if node is None:  # deleted before the end of the recording
            return
        given = dict.fromkeys((cell for what, at, cell in self._steps if what == "nominal" and at == node), 0)
        for group in (obj.get("spec") or {}).get("resourceGroups") or ():
            for flavor in group.get("flavors") or ():
                for quota in flavor.get("resources") or ():
                    cell = self._cell(str(flavor.get("name")), str(quota.get("name")))
                    given[cell] = Quantity(str(quota.get("nominalQuota") or 0)).quota(str(quota.get("name")))
        for cell, amount in given.items():
            self._step("nominal", node, cell, time, amount)

    def _cell(self, flavor: str, resource: str) -> int:
        return self._cells.setdefault((flavor, resource), len(self._cells))

    def _step(self, what: str, node: int, cell: int, time: int, value: int) -> None:
        series = self._steps.setdefault((what, node, cell), SeriesData(node, cell, [], []))
        at = self._seconds(time)
        if series.t and series.t[-1] == at:
            series.v[-1] = value
        elif value != (series.v[-1] if series.v else 0):
            series.t.append(at)
            series.v.append(value)

    def _seconds(self, time: int) -> float:
        return round((time - self._zero) / SECOND, 3)

    def _workload(self, key: str, obj: dict[str, Any] | None, time: int) -> None:
        life = self._lives.setdefault(key, _Life(key))
        if obj is None:
            self._hold(life, "", {}, time)
            self._change(life, time, GONE, "")
            return
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        admission = status.get("admission") or {}
        life.local = f"{obj['metadata'].get('namespace', 'default')}/{spec.get('queueName') or ''}"
        life.queue = str(admission.get("clusterQueue") or self._leads.get(life.local) or life.queue)
        life.priority = int(spec.get("priority") or 0)
        life.created = parse_time(str(obj["metadata"].get("creationTimestamp"))) or time
        life.shape = self._shape(spec.get("podSets") or ())
        conditions = Conditions(obj)
        state = _state_of(spec, conditions)
        held = _held(admission, status) if state in (RESERVED, ADMITTED, EVICTED) else {}
        self._hold(life, str(admission.get("clusterQueue") or ""), held, time)
        self._change(life, time, state, _note(state, admission, conditions))

    def _change(self, life: _Life, time: int, state: int, note: str) -> None:
        entry = (state, self._texts(note))
        if not life.changes or life.changes[-1][1:] != entry:
            life.changes.append((time, *entry))

    def _hold(self, life: _Life, queue: str, held: _Cells, time: int) -> None:
        """Change the quota that a workload holds."""
        if (queue, held) == (life.holder, life.held):
            return
        for name, sign, amounts in ((life.holder, -1, life.held), (queue, 1, held)):
            node = self._nodes.get(("ClusterQueue", name))
            for (flavor, resource), amount in amounts.items() if node is not None else ():
                cell = self._cell(flavor, resource)
                place = (node or 0, cell)
                self._usage[place] = self._usage.get(place, 0) + sign * amount
                self._step("used", *place, time, self._usage[place])
        life.holder, life.held = queue, held

    def _shape(self, pod_sets: Any) -> int:
        amounts: Counter[str] = Counter()
        pods = 0
        for pod_set in pod_sets:
            count = int(pod_set.get("count") or 1)
            pods += count
            template = pod_set.get("template") or {}
            key = msgspec.json.encode(template)
            if key not in self._requests:
                try:
                    self._requests[key] = pod_requests(template)
                except (KueueError, ValueError):
                    self._requests[key] = {}
            amounts.update({name: value * count for name, value in self._requests[key].items()})
        return self._shapes(pods, amounts)

    def _filled(self, end: int) -> PageData:
        latest = self._latest
        at_end = {latest.workloads.name[int(place)]: about for place, about in latest.explained.items()}
        lives = list(self._lives.values())
        workloads, events = WorkloadsData(), Events()
        explained = {}
        for place, life in enumerate(lives):
            workloads.name.append(life.key)
            workloads.queue.append(self._nodes.get(("ClusterQueue", life.queue), -1))
            workloads.local.append(self._texts(life.local))
            workloads.priority.append(life.priority)
            workloads.created.append(self._seconds(life.created))
            workloads.shape.append(life.shape)
            for time, state, note in life.changes:
                events.add(self._seconds(time), state, note)
            events.end()
            if life.key in at_end:
                explained[str(place)] = at_end[life.key]
        steps = {what: [s for (name, _, _), s in self._steps.items() if name == what] for what in ("nominal", "used")}
        return msgspec.structs.replace(
            latest,
            kind="recording",
            zero=self._zero / SECOND,
            end=self._seconds(end),
            cells=cells_of(self._cells),
            nominal=steps["nominal"],
            used=steps["used"],
            texts=self._texts.all(),
            shapes=self._shapes.all(),
            workloads=workloads,
            events=events,
            explained=explained,
            ordered=False,
        )


def _state_of(spec: dict[str, Any], conditions: Conditions) -> int:
    if conditions.true("Finished"):
        return GONE
    if conditions.true("QuotaReserved"):
        return EVICTED if conditions.true("Evicted") else ADMITTED if conditions.true("Admitted") else RESERVED
    return PENDING if spec.get("active") is not False else GONE


def _held(admission: dict[str, Any], status: dict[str, Any]) -> _Cells:
    """Return the quota of an admission, without the quota of its reclaimable pods."""
    ended = {one.get("name"): int(one.get("count") or 0) for one in status.get("reclaimablePods") or ()}
    held: _Cells = {}
    for pod_set in admission.get("podSetAssignments") or ():
        flavors, amounts = pod_set.get("flavors") or {}, pod_set.get("resourceUsage") or {}
        pods = int(pod_set.get("count") or 1)
        left = max(0, pods - ended.get(pod_set.get("name"), 0))
        for resource, flavor in flavors.items():
            amount = Quantity(str(amounts.get(resource) or 0)).request(resource) // pods * left
            held[flavor, resource] = held.get((flavor, resource), 0) + amount
    return held


def _note(state: int, admission: dict[str, Any], conditions: Conditions) -> str:
    """Return the flavors of a workload with quota, or the reason of a pending workload."""
    if state in (RESERVED, ADMITTED, EVICTED):
        names: dict[str, None] = {}
        for pod_set in admission.get("podSetAssignments") or ():
            names.update(dict.fromkeys(map(str, (pod_set.get("flavors") or {}).values())))
        return ", ".join(names)
    one = conditions.get("QuotaReserved") or {}
    return str(one.get("message") or one.get("reason") or "") if state == PENDING else ""
