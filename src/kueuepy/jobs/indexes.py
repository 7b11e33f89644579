"""Completion indexes of an Indexed Job, in the notation of its status: `0-2,5`.

Source: `pkg/controller/jobs/job/job_controller.go:terminalIndexesCount,parseIndexRange`.
"""

from collections.abc import Iterator

from kueuepy.jobs.numbers import signed


def terminal_indexes(completed: str, failed: str, completions: int) -> int:
    """Return the number of indexes below `completions` that have completed or failed and will not run again.

    Each index is counted once. Like Kueue, the function ignores intervals that cannot be parsed.

    >>> terminal_indexes("0-4,6", "5", 8)
    7
    """
    count, last_counted = 0, -1
    for first, last in sorted((*_intervals(completed, completions), *_intervals(failed, completions))):
        count += max(0, last - max(first, last_counted + 1) + 1)
        last_counted = max(last_counted, last)
    return count


def _intervals(text: str, completions: int) -> Iterator[tuple[int, int]]:
    for interval in filter(None, text.split(",")):
        start, dash, end = interval.partition("-")
        first, last = signed(start), signed(end if dash else start)
        if first is not None and last is not None and first <= min(last, completions - 1):
            yield first, min(last, completions - 1)
