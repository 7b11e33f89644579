"""Random jobs, options and changes for simulations: most are ordinary, some are hostile."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np

import kueuepy as kq
from fuzz.clusters import NAMES, queue
from kueuepy.simulation.model import Delete, Edit, Priority

if TYPE_CHECKING:
    from random import Random

HOSTILE_TIMES: tuple[Any, ...] = (
    -1, -(2**63), 2**63, 2**63 - 1, 2**62, 9.2e9, 9.3e9, 1e300, float("inf"), float("nan"), None, "", "x",
    "1d", "2h30m", "9999999999h", "1e308d", "2017-10-09 07:01:55", "2600-01-01", "2262-04-11T23:47:16Z", True, 0.5,
    np.int64(-(2**63)), np.uint64(2**64 - 1), np.float32(3), np.timedelta64(2**62, "s"), np.datetime64("2600"),
    np.datetime64("NaT", "s"), np.timedelta64(5, "m"), dt.timedelta(days=999999999), dt.date(9999, 1, 1),
    dt.datetime(9999, 1, 1, tzinfo=dt.timezone.utc), dt.date(1, 1, 1), 1e-9, [1], {"a": 1}, b"5", 10**400,
)  # fmt: skip
HOSTILE_AMOUNTS: tuple[Any, ...] = (
    -1, 0, 2**31, 2**61, 2**62, 2**63 - 1, 2**63, 2**64, 1e300, float("nan"), float("inf"), None, "500m", "4Gi", "1e30",
    "x", np.uint64(2**63), np.int64(2**62), np.float64(0.5), True, [1], "9223372036854775807", 10**400,
)  # fmt: skip
HOSTILE_NAMES: tuple[Any, ...] = ("", "x" * 300, "Ä", "a/b", None, 5, np.str_("n1"), "\0", "same", "j0000001")
_ORDINARY = ("queue", "submit", "runtime", "cpu")


def _row(random: Random, start: float) -> dict[str, Any]:
    row: dict[str, Any] = {
        "queue": random.choice(NAMES),
        "submit": start + random.choice((0, 0, 1, 60, 1000)) * random.random(),
        "runtime": random.choice((0, 1, 60, 3600, -1)),
        "cpu": random.choice((1, 1, 2, 3, 0.5)),
    }
    if random.random() < 0.5:
        row["priority"] = random.choice((-1, 0, 5))
    if random.random() < 0.3:
        row |= {"pods": random.choice((1, 2, 7)), "min_pods": 1}
    if random.random() < 0.1:
        row["elastic"] = 1
    if random.random() < 0.1:
        row |= {random.choice(("every", "cost", "restore", "grace", "limit")): random.choice((0, 1, 600))}
    if random.random() < 0.1:
        row["uid"] = f"u{random.randrange(10**6)}"
    return row


def jobs(random: Random, start: float = 0.0, most: int = 6) -> Any:
    """Rows or columns of jobs."""
    rows = [_row(random, start) for _ in range(random.randint(0 if most > 2 else 1, most))]
    for row in rows:
        if random.random() < 0.08:
            name = random.choice((*_ORDINARY, "memory", "pods", "limit", "every", "cost", "grace", "restore"))
            row[name] = random.choice(HOSTILE_TIMES + HOSTILE_AMOUNTS)
        if random.random() < 0.06:
            row["memory"] = random.choice(HOSTILE_AMOUNTS)
        if random.random() < 0.04:
            row["pods"] = random.choice((2**31 - 1, 2**31, 2**20))
            row["min_pods"] = 1
        if random.random() < 0.03:
            row["name"] = random.choice(HOSTILE_NAMES)
    if random.random() < 0.1:
        return _columns(random, rows)
    return rows


def _columns(random: Random, rows: list[dict[str, Any]]) -> Any:
    """Return the columns as arrays of a possibly unsuitable type."""
    columns: dict[str, Any] = {name: [row.get(name) for row in rows] for name in _ORDINARY}
    name, kind = (
        random.choice(_ORDINARY[1:]),
        random.choice(("i8", "u8", "f4", "M8[s]", "M8[D]", "m8[ns]", "m8[Y]", "S3", "O")),
    )
    numbers = [random.choice((0, 1, 60, 2**31, -1, 2**62)) for _ in rows]
    try:
        columns[name] = np.array(numbers, "i8").astype(kind)
    except (ValueError, OverflowError):
        columns[name] = numbers
    return kq.Jobs(columns)


def _time(random: Random) -> Any:
    return random.choice(HOSTILE_TIMES) if random.random() < 0.04 else random.choice((0, 1, 30, 600, "1h", 1e5))


def options(random: Random) -> dict[str, Any]:
    """Return random options of a simulation."""
    found: dict[str, Any] = {"seed": random.randrange(100)}
    if random.random() < 0.3:
        model = random.choice(("restart", "checkpoint", "resume"))
        names = ("every", "cost", "restore", "grace")
        found["model"] = kq.sim.RunModel(model, **{name: _time(random) for name in names if random.random() < 0.7})
    if random.random() < 0.15:
        found["clock"] = kq.sim.Clock(_time(random), _time(random))
    if random.random() < 0.3:
        found["events"] = [kq.sim.Event(_time(random), thing(random)) for _ in range(random.randint(1, 3))]
    if random.random() < 0.05:
        found["events"] = [
            kq.sim.Event(
                every=random.choice(("1us", 1, 60, 1e30)), times=random.choice((None, 3, 10**12)), what=thing(random)
            )
        ]
    if random.random() < 0.2:
        found["delays"] = [_delay(random) for _ in range(random.randint(1, 2))]
    if random.random() < 0.5 or "delays" in found:
        found["until"] = _time(random)
    if random.random() < 0.1:
        found["warmup"] = _time(random)
    if random.random() < 0.1:
        found["record"] = kq.sim.Recording(
            decisions=False, runs=random.random() < 0.5, usage=_time(random), cycles=True
        )
    found["on_loop"] = random.choice(("hold", "hold", "stop", "raise"))
    found["missing"] = random.choice(("error", "skip", "wait"))
    return found


def _delay(random: Random) -> Any:
    kind = random.randrange(3)
    if kind == 0:
        capacity = queue(random, "a", None, []) if random.random() < 0.2 else None
        delay, fails = random.choice((0, 30, 600, 9.2e9, 9.3e9, -1)), random.choice((0, 0.5, 1.0))
        revoked = random.choice((None, None, 0, 60, kq.sim.Exponential(60)))
        expires = random.choice((None, None, 0, 60))
        return kq.sim.CheckDelay("c", delay, fails=fails, capacity=capacity, revoked=revoked, expires=expires)
    if kind == 1:
        return kq.sim.Startup(random.choice("fgx"), random.choice((_time(random), kq.sim.Exponential(60))))
    # A unit or a mean time that is very small is valid, and takes as many failures as it says.
    unit = random.choice(({"cpu": 1}, {"cpu": 2}, {"cpu": 0}, {"cpu": 1.5}, {"memory": 2**60}, {"memory": 2**70}))
    mtbf = random.choice((60, 600, "1h", 0, -1, 9.2e9, 9.3e9, float("nan")))
    return kq.sim.Failures("f", mtbf, _time(random), unit, lowers_quota=random.random() < 0.6)


def thing(random: Random) -> Any:
    """Return a random change of a simulation."""
    name = random.choice(NAMES)
    return random.choice(
        (
            lambda: kq.sim.Finish(random.choice((0, 1, 99, -1, "j0000001", np.int64(1)))),
            lambda: kq.sim.Evict(random.choice((0, 1, 2, "old1"))),
            lambda: Priority(random.choice((0, 1)), random.choice((5, -5, 2**31, 2**70))),
            lambda: queue(random, name, random.choice((None, "team")), []),
            lambda: Delete(random.choice((f"ClusterQueue/{name}", "ClusterQueue/none", f"LocalQueue/default/{name}"))),
            lambda: Edit(f"ClusterQueue/{name}:quota[f/cpu].nominalQuota", random.choice((0, 1, 4, 2**62, "x"))),
            lambda: kq.ResourceFlavor("g", node_labels={"x": "y"}),
        )
    )()
