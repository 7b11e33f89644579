"""Detection of damage in a journal's `-wal` file that SQLite itself does not report.

After a crash, SQLite reads the `-wal` file up to the first invalid frame and discards the rest. Discarding the frames
after the first invalid frame is correct if the last write was cut off. However, if a bit in an earlier frame was
changed, SQLite discards acknowledged calls. A cut-off write and a changed bit can be distinguished because each frame
contains the salts of its log: valid frames after the first invalid frame show that more was written. The layout is
described at https://www.sqlite.org/fileformat2.html#walformat.
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
"""Positions of 32-bit words in a frame header: database size after a commit (0 if none), salts, checksums."""
_NEAR = 4
"""Maximum number of bits in which the salts of damaged frames of one log differ.

The salts of different logs differ in about 32 of 64 bits.
"""


def fault_of(log: Path) -> str:
    """Return a description of the damage in a WAL; an empty string if there is no damage.

    A WAL that ends with an incomplete write is not damaged.
    """
    try:
        data = log.read_bytes()
    except OSError:  # missing or unreadable: SQLite reports it
        return ""
    if not any(data[_HEAD:]):
        return ""
    head = np.frombuffer(data, ">u4", 8).astype(np.uint32)
    order = ">u4" if head[0] & 1 else "<u4"
    if (_sums(np.frombuffer(data, order, 6)[None].astype(np.uint32), np.zeros((1, 2), np.uint32))[0] != head[6:]).any():
        return "the header of its log is damaged"
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
        return f"frame {bad + 1} of its log is damaged, and later ones are intact"
    return ""


def _went_on(commits: NDArray[np.bool_], ours: NDArray[np.bool_]) -> bool:
    """Return whether later frames are valid; if so, the damage is more than an incomplete last write.

    Args:
        commits: For each frame, starting with the first damaged one, whether it is the last frame of its transaction.
        ours: For each frame, starting with the first damaged one, whether it belongs to this log rather than to an
            earlier log in the same file.
    """
    later = np.flatnonzero(commits & ours)
    later = later[later > 0]
    if later.size == 0:
        return False
    # A power failure can leave a later frame on disk without an earlier one, but only within one transaction.
    return bool(ours[: later[-1]].all() or ours[later[0] + 1 :].any())


def _sums(words: NDArray[np.uint32], before: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return SQLite's checksums of rows of words, each computed from the checksum of the previous row.

    SQLite updates two sums for each pair of words x, y: a += x + b, b += y + a. In the final sums, the weight of each
    word is the Fibonacci number of its position, counted from the end.
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
    counts: NDArray[np.int64] = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1).sum(axis=1)
    return counts
