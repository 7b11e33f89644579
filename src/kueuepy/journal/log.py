"""Damage in SQLite's log beside a journal, which SQLite itself drops in silence.

After a crash SQLite reads the `-wal` up to the first frame that is not what was written, and forgets all behind it.
That is right where the last write was cut off, and loses what was acknowledged where a bit has changed since. The two
can be told apart: each frame carries the salts of its log, so frames behind the bad one show that the writing went on.
The layout is that of https://www.sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_HEAD = 32
_FRAME = 24
_SIZE, _SALTS, _SUMS = 1, slice(2, 4), slice(4, 6)
"""Words of a frame's head: the size of the database after a commit, else 0; the salts; the checksums."""
_NEAR = 4
"""Bits by which the salts of one log may differ: another log's differ by half of 64."""


def fault_of(log: Path) -> str:
    """What is damaged in a log; empty if it is whole, or ends in a write that was cut off."""
    try:
        data = log.read_bytes()
    except OSError:  # none is there, or it cannot be read: SQLite will tell
        return ""
    if not any(data[_HEAD:]):
        return ""
    head = np.frombuffer(data, ">u4", 8).astype(np.uint32)
    order = ">u4" if head[0] & 1 else "<u4"
    if (_sums(np.frombuffer(data, order, 6)[None].astype(np.uint32), np.zeros((1, 2), np.uint32))[0] != head[6:]).any():
        return "the head of its log is not what was written"
    length = _FRAME + int(head[2])
    count = (len(data) - _HEAD) // length
    if count == 0:
        return ""
    frames = np.frombuffer(data, np.uint8, count * length, _HEAD).reshape(count, length)
    heads = np.ascontiguousarray(frames[:, :_FRAME]).view(">u4").astype(np.uint32)
    summed = np.concatenate([frames[:, :8], frames[:, _FRAME:]], axis=1).view(order).astype(np.uint32)
    before = np.concatenate([head[None, 6:], heads[:-1, _SUMS]])
    salts = heads[:, _SALTS] ^ head[4:6]
    good = (salts == 0).all(axis=1) & (_sums(summed, before) == heads[:, _SUMS]).all(axis=1)
    bad = int(good.argmin()) if not good.all() else count
    if _went_on(heads[bad:, _SIZE] != 0, _bits(salts[bad:]) <= _NEAR):
        return f"frame {bad + 1} of its log is not what was written, and later ones are there"
    return ""


def _went_on(commits: NDArray[np.bool_], ours: NDArray[np.bool_]) -> bool:
    """Whether a log was written beyond its first frame here, which is bad, by more than a write that was cut off.

    Args:
        commits: Whether each frame is the last of its transaction.
        ours: Whether each frame is of this log, not what an earlier one has left there.
    """
    later = np.flatnonzero(commits & ours)
    later = later[later > 0]
    if later.size == 0:
        return False
    # Power may fail when a later frame is on the disk and an earlier one is not, but then only in one transaction.
    return bool(ours[: later[-1]].all() or ours[later[0] + 1 :].any())


def _sums(words: NDArray[np.uint32], before: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """SQLite's checksums of rows of words, each after those of the row before it.

    The sums a and b go on, two words at a time, by a += x + b, b += y + a. So each word counts as often as the
    Fibonacci number of its place from the end says.
    """
    fibonacci = [0, 1]
    while len(fibonacci) < words.shape[1] + 2:
        fibonacci.append((fibonacci[-1] + fibonacci[-2]) & 0xFFFFFFFF)
    weights = np.array(fibonacci[::-1], np.uint32)
    first, second = before[:, 1:], words[:, :1] + before[:, :1]
    row = np.concatenate([first, second, words[:, 1:]], axis=1)
    sums: NDArray[np.uint32] = row @ np.stack([weights[1:], weights[:-1]], axis=1)
    return sums


def _bits(words: NDArray[np.uint32]) -> NDArray[np.int64]:
    """How many bits of each row are set."""
    counts: NDArray[np.int64] = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1).sum(axis=1)
    return counts
