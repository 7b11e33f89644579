"""A rack map as boxes and labels: blocks contain racks, and racks contain hosts as bars."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import msgspec

from kueuepy._core import Quantity
from kueuepy.errors import counted
from kueuepy.look.chart import Axis, Box, Chart, Label
from kueuepy.look.colours import MOST_NAMES, OTHERS
from kueuepy.look.numbers import amount

Amounts = dict[str, int]
"""Integer amounts by resource in base units, millicores for cpu."""


class Use(msgspec.Struct, frozen=True):
    """The usage of a domain by one workload.

    Attributes:
        workload: Key of the workload, `namespace/name`.
        pods: Number of the workload's pods in the domain.
        amounts: Usage of the workload's pods in the domain by resource, in base units, with cpu in millicores.
    """

    workload: str
    pods: int
    amounts: Amounts


class Rack(msgspec.Struct, frozen=True):
    """A domain of a topology, such as a block, a rack or a host.

    Amounts are integers by resource in base units, with cpu in millicores.

    Attributes:
        level: Node label of the domain's level.
        values: Label values of all levels down to the domain's level.
        nodes: Number of domains of the lowest level in this domain, usually hosts.
        capacity: Allocatable capacity of the nodes in the domain.
        outside: Usage by pods that Kueue does not manage.
        used: Usage by workloads.
        free: Remaining capacity; negative if workloads and other pods together exceed the capacity.
        uses: The workloads in the domain, sorted by number of pods, largest first.
    """

    level: str
    values: tuple[str, ...]
    nodes: int
    capacity: Amounts
    outside: Amounts
    used: Amounts
    free: Amounts
    uses: tuple[Use, ...]

    @property
    def name(self) -> str:
        """The label values joined by slashes."""
        return "/".join(self.values)


_FREE, _OUTSIDE, _OTHER, _NONE = "free", "pods outside Kueue", "other workloads", "no such resource"
_LOOKS: dict[int | str, dict[str, Any]] = {
    _FREE: {"colour": "soft", "edge": "solid"},
    _OUTSIDE: {"colour": OTHERS, "hatched": True},
    _OTHER: {"colour": OTHERS},
    _NONE: {"colour": "paper", "edge": "dashed"},
}
MOST_BARS = 1000
"""Maximum number of bars; if there are more hosts, the bars are the domains of a higher level."""
MOST_NAMED = 7
"""Number of workloads with their own colour; the largest workloads get these colours."""
MOST_REMARKS = 8
WIDE, NARROW = 1040, 356
"""Width of a map in pixels, from which racks continue in the next line: for wide and for narrow screens."""
# The first colour of a workload: a workload does not look like one of the three largest queues.
_FIRST_COLOUR = 3
# Width of a character, in pixels.
_DIGIT = 6.2
_COLUMN = 16  # bars in one column of a rack
# Wider gaps between larger domains show which hosts belong together.
_GAP, _RACK_GAP, _BLOCK_GAP = 2, 24, 40
_HEAD, _FOOT, _LINE = 16, 16, 18
_LEAST = 420  # width of the legend
_FEW = 48  # maximum number of bars with labels


def draw(racks: Sequence[Rack], resource: str, *, title: str, remarks: Sequence[str] = (), most: int = WIDE) -> Chart:
    """Draw the map of one resource.

    Args:
        racks: The domains, parents before children.
        resource: The resource.
        title: Title of the map.
        remarks: Lines of text to show below the map.
        most: The width in pixels from which racks continue in the next line.
    """
    return _Pen(racks, resource, remarks, most).drawing(title)


class _Pen:
    def __init__(self, racks: Sequence[Rack], resource: str, remarks: Sequence[str], most: int) -> None:
        self._resource, self._most = resource, most
        self._per = 1000 if resource == "cpu" else 1
        self._remarks = remarks
        counts = Counter(len(rack.values) for rack in racks)
        # The lowest level whose bars fit into the picture.
        depths = [depth for depth in sorted(counts) if counts[depth] <= MOST_BARS]
        self._depth = depths[-1] if depths else 1
        bars = [rack for rack in racks if len(rack.values) == self._depth]
        self._domains = sorted(bars, key=lambda rack: tuple(map(_natural, rack.values)))
        # There is space for the name of each host in a small topology only.
        self._labelled = len(bars) <= _FEW
        self._width, self._height = (90, 18) if self._labelled else (34, 11)
        self._column = _FEW if self._labelled and most < WIDE else _COLUMN
        longest = max((len(rack.values[-1]) for rack in bars), default=0)
        self._left = min(120, 6.4 * longest + 4) if self._labelled else 0.0
        total = Counter[str]()
        for rack in (rack for rack in racks if len(rack.values) == 1):
            total.update({use.workload: use.amounts.get(resource, 0) for use in rack.uses})
        self._named = [name for name, size in total.most_common(MOST_NAMED) if size]
        self._others = sum(1 for size in total.values() if size) > len(self._named)
        self._bars: list[Box] = []
        self._labels: list[Label] = []
        self._kinds: set[int | str] = set()

    def drawing(self, title: str) -> Chart:
        x, y, below = 0.0, 0.0, 0.0
        right = 0.0
        # `groupby` needs the order by label values, which `_domains` has.
        for block, bars in groupby(self._domains, key=lambda rack: rack.values[:-2]):
            found = [(rack, list(inside)) for rack, inside in groupby(bars, key=lambda one: one.values[:-1])]
            width, height = self._size(found)
            if x and x + width > self._most:
                x, y = 0.0, below + _BLOCK_GAP
            self._block("/".join(block), found, x, y)
            right, below = max(right, x + width), max(below, y + height)
            x += width + _BLOCK_GAP
        right = max(right, min(_LEAST, self._most))
        below = self._legend(below + _BLOCK_GAP, right)
        across, down = Axis("", (0.0, right)), Axis("", (below, 0.0))
        return Chart(title, across, down, (*self._bars, *self._labels), is_drawing=True)

    def _rack_width(self, bars: int) -> float:
        columns = -(-bars // self._column)
        return columns * (self._left + self._width + _GAP) - _GAP

    def _lines(self, racks: list[tuple[tuple[str, ...], list[Rack]]]) -> list[list[tuple[tuple[str, ...], list[Rack]]]]:
        lines: list[list[tuple[tuple[str, ...], list[Rack]]]] = [[]]
        width = 0.0
        for rack in racks:
            more = self._rack_width(len(rack[1])) + _RACK_GAP
            if lines[-1] and width + more > self._most + _RACK_GAP:
                lines.append([])
                width = 0.0
            lines[-1].append(rack)
            width += more
        return lines

    def _line_height(self, line: list[tuple[tuple[str, ...], list[Rack]]]) -> float:
        tallest = max(min(len(bars), self._column) for _, bars in line)
        return _HEAD + tallest * (self._height + _GAP) + _FOOT

    def _size(self, racks: list[tuple[tuple[str, ...], list[Rack]]]) -> tuple[float, float]:
        lines = self._lines(racks)
        widths = [sum(self._rack_width(len(bars)) + _RACK_GAP for _, bars in line) - _RACK_GAP for line in lines]
        return max(widths), _HEAD + sum(map(self._line_height, lines))

    def _block(self, name: str, racks: list[tuple[tuple[str, ...], list[Rack]]], left: float, top: float) -> None:
        self._labels.append(Label(left, top + 11, name, 12, bold=True))
        y = top + _HEAD
        for line in self._lines(racks):
            x = left
            for values, bars in line:
                self._rack(values, bars, x, y)
                x += self._rack_width(len(bars)) + _RACK_GAP
            y += self._line_height(line)

    def _rack(self, values: tuple[str, ...], bars: list[Rack], x: float, y: float) -> None:
        width = self._rack_width(len(bars))
        middle = x + (self._left + width) / 2
        self._labels.append(Label(middle, y + 11, _short(values[-1] if values else "", width), anchor="middle"))
        for position, bar in enumerate(bars):
            column, row = divmod(position, self._column)
            across = x + column * (self._left + self._width + _GAP)
            self._bar(bar, across, y + _HEAD + row * (self._height + _GAP))
        free = sum(bar.free.get(self._resource, 0) for bar in bars)
        foot = y + _HEAD + min(len(bars), self._column) * (self._height + _GAP) + 11
        text = Quantity.format(self._resource, free)
        whole = amount(self._resource, sum(bar.capacity.get(self._resource, 0) for bar in bars) / self._per)
        self._labels.append(Label(middle, foot, f"{text} of {whole} free" if self._labelled else text, anchor="middle"))

    def _bar(self, rack: Rack, x: float, y: float) -> None:
        whole = rack.capacity.get(self._resource, 0)
        lines, done = [self._title(rack, whole)], 0.0
        parts = []
        for kind, size, text in self._parts(rack) if whole > 0 else ():
            lines.append(text)
            width = min(self._width * size / whole, self._width - done)
            if width > 0:
                parts.append(_box(x + self._left + done, y, width, self._height, kind))
                done += width
        self._kinds |= {_FREE if whole else _NONE, *(kind for kind, *_ in self._parts(rack))}
        frame = (x + self._left, y, self._width, self._height, _FREE if whole else _NONE)
        title = "\n".join(lines) if self._most >= WIDE else ""  # a phone has no pointer for tooltips
        self._bars.append(_box(*frame, title=title, parts=tuple(parts)))
        if self._labelled:
            self._labels.append(Label(x, y + self._height / 2 + 4, _short(rack.values[-1], self._left)))

    def _parts(self, rack: Rack) -> Iterable[tuple[int | str, int, str]]:
        """Yield the parts of a bar in the order of the legend: kind, amount and description."""
        amounts = {use.workload: (use.amounts.get(self._resource, 0), use.pods) for use in rack.uses}
        for index, name in enumerate(self._named):
            size, pods = amounts.pop(name, (0, 0))
            if size:
                yield _colour(index), size, f"{name}: {counted(pods, 'pod')}, {Quantity.format(self._resource, size)}"
        other = sum(size for size, _ in amounts.values())
        if other:
            yield _OTHER, other, ", ".join(amounts)
        if rack.outside.get(self._resource, 0) > 0:
            yield _OUTSIDE, rack.outside[self._resource], _OUTSIDE

    def _title(self, rack: Rack, whole: int) -> str:
        if not whole:
            return f"{rack.name}: {_NONE}"
        free, of = (Quantity.format(self._resource, n) for n in (rack.free[self._resource], whole))
        return f"{rack.name}: {free} of {of} {self._resource} free"

    def _free(self) -> str:
        """Return the text of the legend for free capacity: what a bar is, and its capacity if all are equal."""
        if not self._domains:
            return "no nodes"
        level, wholes = self._domains[0].level, {bar.capacity.get(self._resource, 0) for bar in self._domains}
        what = "host" if level == "kubernetes.io/hostname" else level
        size = f" with {amount(self._resource, wholes.pop() / self._per)}" if len(wholes) == 1 else ""
        return f"free; a bar is one {what}{size}"

    def _legend(self, top: float, width: float) -> float:
        entries: list[tuple[int | str, str]] = [(_colour(position), name) for position, name in enumerate(self._named)]
        entries += [(_OTHER, _OTHER)] if self._others else []
        entries += [(_OUTSIDE, _OUTSIDE)] if _OUTSIDE in self._kinds else []
        entries += [(_FREE, self._free())]
        entries += [(_NONE, _NONE)] if _NONE in self._kinds else []
        x, y = 0.0, top
        for kind, name in entries:
            text = _short(name, self._most - 28)
            wide = 28 + _DIGIT * len(text)
            if x and x + wide > width:
                x, y = 0.0, y + _LINE
            self._bars.append(_box(x, y, 14, 10, kind))
            self._labels.append(Label(x + 20, y + 9, text))
            x += wide
        y += _LINE
        texts = [] if self._labelled else [f"The number below a rack is its free {self._resource}."]
        for remark in self._remarks[:MOST_REMARKS]:
            texts += textwrap.wrap(remark, int(self._most / _DIGIT))
        if self._remarks[MOST_REMARKS:]:
            texts.append(f"and {len(self._remarks) - MOST_REMARKS} more")
        for text in texts:
            self._labels.append(Label(0, y + 9, text))
            y += _LINE
        return y


def _box(x: float, y: float, width: float, height: float, kind: int | str, **more: Any) -> Box:
    """Return a box of a workload with this colour index, or of one of the other kinds."""
    look = _LOOKS[kind] if isinstance(kind, str) else {"colour": kind}
    return Box(x, y, width, height, **look, **more)


def _colour(position: int) -> int:
    return (position + _FIRST_COLOUR) % MOST_NAMES


def _short(text: str, width: float) -> str:
    """Shorten a string at its start, because names usually differ at their ends."""
    most = max(2, int(width / _DIGIT))
    return text if len(text) <= most else f"…{text[1 - most :]}"


def _natural(text: str) -> tuple[tuple[str, int], ...]:
    """Return a sort key for natural order: b2 before b10."""
    return tuple((word, int(number or -1)) for word, number in re.findall(r"(\D*)(\d*)", text))
