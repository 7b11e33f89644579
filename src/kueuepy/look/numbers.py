"""Numbers, time spans, shares and amounts of resources as text, with three significant digits."""

import math
from collections.abc import Mapping

NONE = "—"
"""The text for a missing value."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_SPANS = (("d", _DAY), ("h", _HOUR), ("min", _MINUTE), ("s", 1))
_TENTH = 0.1
# Outside of these bounds, digits would be hard to count.
_SMALL, _LARGE = 1e-3, 1e9
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
# Kubernetes counts these resources in bytes.
_OF_BYTES = ("memory", "ephemeral-storage", "storage")
_BASE = 1024


def number(value: float | None) -> str:
    """Return a measured number with three significant digits; 0 and integers have no fraction.

    >>> number(0.12345), number(12345.6), number(1.4), number(2.0), number(2), number(float("nan"))
    ('0.123', '12,300', '1.40', '2.00', '2', '—')
    """
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value and not _SMALL <= abs(value) < _LARGE:
        return f"{value:.3g}"
    # Rounded first: 9.996 has one more digit before the point than it seems.
    rounded = float(f"{value:.2e}")
    digits = 2 - math.floor(math.log10(abs(rounded))) if rounded and not isinstance(value, int) else 0
    return f"{rounded:,.{max(0, digits)}f}"


def exact(value: float) -> str:
    """Return a given number, such as a quota, with at most three significant digits and no zeros at the end.

    >>> exact(2.5), exact(8.0), exact(0.125)
    ('2.5', '8', '0.125')
    """
    text = number(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(value: int) -> str:
    """Return a count of things as text, with all digits.

    >>> count(12377)
    '12,377'
    """
    return f"{value:,}"


def share(value: float | None) -> str:
    """Return a fraction of 1 as a percentage with three significant digits, and at most one decimal place.

    >>> share(0.6578), share(0.05), share(1.0)
    ('65.8%', '5.0%', '100%')
    """
    if value is None or math.isnan(value):
        return NONE
    return f"{value:.1%}" if abs(value) < 0.9995 else f"{value:,.0%}"  # noqa: PLR2004 - the rest rounds to 100%


def points(value: float) -> str:
    """Return a difference between two fractions of 1 in percentage points, with at most two decimal places.

    >>> points(0.0044), points(-0.1153)
    ('0.44', '-11.5')
    """
    return f"{100 * value:.{1 if abs(value) >= _TENTH else 2}f}"


def duration(seconds: float | None) -> str:
    """Return a time span in its two largest units.

    >>> duration(5400), duration(0.25), duration(200000), duration(-90)
    ('1 h 30 min', '0.25 s', '2 d 7 h', '-1 min 30 s')
    """
    if seconds is None or math.isnan(seconds):
        return NONE
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if not seconds < 2**62:
        return "∞"
    if seconds < _MINUTE:
        return f"{seconds:.3g} s"
    parts = []
    rest = round(seconds)
    for name, size in _SPANS:
        amount, rest = divmod(rest, size)
        if amount:
            parts.append(f"{amount} {name}")
    return " ".join(parts[:2])


def round_duration(seconds: float | None) -> str:
    """Return a time span for a sentence or a card: in one unit if it is 10 units or longer, otherwise in two units.

    >>> round_duration(1414), round_duration(5400), round_duration(49000), round_duration(90)
    ('24 min', '1 h 30 min', '14 h', '1 min 30 s')
    """
    if seconds is None or not math.isfinite(seconds):
        return duration(seconds)
    size = abs(seconds)
    for _, unit in _SPANS:
        if size >= 10 * unit:
            return duration(round(seconds / unit) * unit)
    return duration(seconds)


def durations(low: float, high: float) -> str:
    """Return an interval of time spans; a unit that both ends share is written once.

    >>> durations(1500, 3300), durations(1500, 5400), durations(-60, 120)
    ('25 to 55 min', '25 min to 1 h 30 min', '-1 to 2 min')
    """
    first, last = round_duration(low), round_duration(high)
    own, unit = first.split(" ")[0], first.split(" ")[1:]
    if last.split(" ")[1:] == unit:
        return f"{own} to {last}"
    return f"{first} to {last}"


def time_left(seconds: float, done: int, total: int) -> str:
    """Return an estimate of the time left, if the work goes on as fast as before; empty in the first second.

    >>> time_left(30.0, 250, 1000), time_left(0.5, 1, 1000), time_left(30.0, 0, 1000)
    ('1 min 30 s', '', '')
    """
    return round_duration(seconds * (total - done) / done) if done and seconds >= 1 else ""


def unit_of(resource: str) -> str:
    """Return the word for one unit of a resource, such as `core` for `cpu` and `GPU` for `nvidia.com/gpu`.

    >>> unit_of("cpu"), unit_of("nvidia.com/gpu"), unit_of("memory"), unit_of("example.com/licence")
    ('core', 'GPU', 'GiB', 'licence')
    """
    own = resource.rpartition("/")[2]
    if resource == "cpu":
        return "core"
    if resource in _OF_BYTES:
        return "GiB"
    return own.upper() if own in ("gpu", "tpu", "npu", "hpu") else own


def amount(resource: str, value: float | None) -> str:
    """Return an amount of a resource with its unit.

    >>> amount("cpu", 1.0), amount("cpu", 2.5), amount("nvidia.com/gpu", 8), amount("memory", 3 * 2**30)
    ('1 core', '2.5 cores', '8 GPUs', '3 GiB')

    Args:
        resource: The name of the resource, without the flavor.
        value: The amount: cores, bytes or a number of devices.
    """
    if value is None or not math.isfinite(value):
        return number(value)
    if resource in _OF_BYTES:
        power = min(len(_BYTES) - 1, max(0, math.floor(math.log(abs(value), _BASE)))) if value else 0
        return f"{exact(value / _BASE**power)} {_BYTES[power]}"
    unit = unit_of(resource)
    text = exact(value)
    plural = "s" if text not in ("1", "-1") and unit in ("core", "GPU", "TPU", "NPU", "HPU") else ""
    return f"{text} {unit}{plural}"


def amount_beside(resource: str, value: float, whole: float) -> str:
    """Return an amount for a text that also has another amount; a unit that both share is left out.

    >>> amount_beside("nvidia.com/gpu", 1, 8), amount_beside("memory", 512 * 2**20, 3 * 2**30)
    ('1', '512 MiB')

    Args:
        resource: The name of the resource, without the flavor.
        value: The amount: cores, bytes or a number of devices.
        whole: The other amount, which has its unit in the text.
    """
    text, other = amount(resource, value), amount(resource, whole)
    own, _, unit = text.partition(" ")
    return own if unit.removesuffix("s") == other.partition(" ")[2].removesuffix("s") else text


def hours(resource: str, value: float | None) -> str:
    """Return resource-hours with their unit.

    >>> hours("nvidia.com/gpu", 3214.5), hours("cpu", 0.5), hours("memory", 12.0 * 2**30)
    ('3,210 GPU h', '0.500 core h', '12.0 GiB h')

    Args:
        resource: The name of the resource, without the flavor.
        value: The number of core-hours, byte-hours or device-hours.
    """
    size = 2**30 if resource in _OF_BYTES and value is not None else 1
    return f"{number(None if value is None else value / size)} {unit_of(resource)} h"


def busiest(utilisation: Mapping[str, float]) -> str:
    """Return the flavor and resource that limits the jobs: the one with the highest utilisation; empty without quota.

    Of utilisations that are shown alike, devices come before CPU, and CPU before memory: they are scarcer. Headlines,
    charts, pages, reports, plans and advice use this rule.
    """
    # Only the names of devices have a domain, and thus a second slash.
    return max(
        utilisation, key=lambda pair: (round(utilisation[pair], 3), pair.count("/"), pair.endswith("/cpu")), default=""
    )
