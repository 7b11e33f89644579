"""Explanations of pending workloads at earlier times of a simulation, for its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy.pages.data import PENDING, Causes, EarlierData
from kueuepy.simulation.moments import scheduler_of

if TYPE_CHECKING:
    from kueuepy.objects import Workload
    from kueuepy.pages.data import PageData
    from kueuepy.simulation.prepare import Prepared


def explain_earlier(page: PageData, run: Prepared, most: int) -> None:
    """Add explanations of the longest periods in which a workload was pending, each at the middle of the period.

    To create the explanations, the simulation is repeated once.

    Args:
        page: The data of the page, which the function modifies.
        run: The simulation.
        most: The maximum number of explanations.
    """
    periods = sorted(_periods(page), key=lambda period: period[0] - period[1])[:most]
    chosen = sorted(periods, key=lambda period: period[0] + period[1])
    causes = Causes(page.causes)
    made: dict[int, Workload] = {}
    middles = [(begin + end) / 2 for begin, end, _ in chosen]
    for (begin, end, row), middle, reached in zip(chosen, middles, run.moments(middles), strict=True):
        about = causes.explained(scheduler_of(reached, made).explain(page.workloads.name[row]))
        page.earlier.setdefault(str(row), []).append(EarlierData(begin, end, round(middle, 3), about))
    page.causes = causes.all()


def _periods(page: PageData) -> list[tuple[float, float, int]]:
    """Return the beginning and end of each period in which a workload was pending, and the row of the workload."""
    events = page.events
    found = []
    for row, (first, last) in enumerate(zip(events.first, events.first[1:], strict=False)):
        ends = [*events.t[first + 1 : last], page.end]
        for state, begin, end in zip(events.state[first:last], events.t[first:last], ends, strict=True):
            if state == PENDING and end > begin:
                found.append((begin, end, row))
    return found
