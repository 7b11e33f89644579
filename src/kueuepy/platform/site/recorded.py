"""The data of a page about a recording: every recorded state of the workloads, and the quota and usage over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from kueuepy._core import Quantity
from kueuepy.objects import SECOND
from kueuepy.objects.times import parse_time
from kueuepy.pages.data import ADMITTED, EVICTED, GONE, PENDING, RESERVED, PageBuilder
from kueuepy.pages.state import MOST_EXPLAINED, state_data
from kueuepy.platform.history import Conditions, RecordedState
from kueuepy.platform.importer import import_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.pages.data import PageData
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
    imported = import_cluster(state)
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

    queue: str = ""
    local: str = ""
    priority: int = 0
    created: int = 0
    shape: int = 0
    changes: list[tuple[float, int, int]] = []
    held: _Cells = {}
    holder: str = ""


class _Replay:
    """The history of a recording.

    The cohort tree, the limits and the explanations are those at the end of the recording.
    """

    def __init__(self, latest: PageData) -> None:
        self._made = PageBuilder(latest)
        self._leads: dict[str, str] = {}
        self._lives: dict[str, _Life] = {}
        self._usage: dict[tuple[int, int], int] = {}
        self._zero = 0

    def data(self, recording: Recording, end: int) -> PageData:
        for event in recording.events():
            time = parse_time(event["received"]) or 0
            self._zero = self._zero or time
            self._take(event, max(time, self._zero))
        for key, life in self._lives.items():
            self._made.workload(
                key, self._made.queue(life.queue), life.local, priority=life.priority,
                created=self._seconds(life.created), shape=life.shape, changes=life.changes,
            )  # fmt: skip
        page = self._made.page
        page.kind, page.zero, page.end = "recording", self._zero / SECOND, self._seconds(max(end, self._zero))
        page.ordered = False
        return self._made.finish()

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
        node = self._made.nodes.get((kind, name))
        if node is None:  # deleted before the end of the recording
            return
        given = dict.fromkeys((series.c for series in self._made.page.nominal if series.n == node), 0)
        for group in (obj.get("spec") or {}).get("resourceGroups") or ():
            for flavor in group.get("flavors") or ():
                for quota in flavor.get("resources") or ():
                    pair = self._made.pair(str(flavor.get("name")), str(quota.get("name")))
                    given[pair] = Quantity(str(quota.get("nominalQuota") or 0)).quota(str(quota.get("name")))
        for pair, amount in given.items():
            self._step("nominal", node, pair, time, amount)

    def _step(self, what: Literal["used", "nominal"], node: int, pair: int, time: int, value: int) -> None:
        series = self._made.series(what, node, pair)
        at = self._seconds(time)
        if series.t and series.t[-1] == at:
            series.v[-1] = value
        elif value != (series.v[-1] if series.v else 0):
            series.t.append(at)
            series.v.append(value)

    def _seconds(self, time: int) -> float:
        return round((time - self._zero) / SECOND, 3)

    def _workload(self, key: str, obj: dict[str, Any] | None, time: int) -> None:
        life = self._lives.setdefault(key, _Life())
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
        life.shape = self._made.shape(
            (int(pod_set.get("count") or 1), pod_set.get("template") or {}) for pod_set in spec.get("podSets") or ()
        )
        conditions = Conditions(obj)
        state = _state_of(spec, conditions)
        held = _held(admission, status) if state in (RESERVED, ADMITTED, EVICTED) else {}
        self._hold(life, str(admission.get("clusterQueue") or ""), held, time)
        self._change(life, time, state, _note(state, admission, conditions))

    def _change(self, life: _Life, time: int, state: int, note: str) -> None:
        entry = (state, self._made.texts(note))
        if not life.changes or life.changes[-1][1:] != entry:
            life.changes.append((self._seconds(time), *entry))

    def _hold(self, life: _Life, queue: str, held: _Cells, time: int) -> None:
        """Change the quota that a workload holds."""
        if (queue, held) == (life.holder, life.held):
            return
        for name, sign, amounts in ((life.holder, -1, life.held), (queue, 1, held)):
            node = self._made.queue(name)
            for (flavor, resource), amount in amounts.items() if node >= 0 else ():
                series_key = (node, self._made.pair(flavor, resource))
                self._usage[series_key] = self._usage.get(series_key, 0) + sign * amount
                self._step("used", *series_key, time, self._usage[series_key])
        life.holder, life.held = queue, held


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
