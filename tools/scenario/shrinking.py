"""Shrinking of a scenario on which the replay differs from the recorded results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.errors import KueueError
from scenario.difference import differences, fleet_differences
from scenario.fleet import FleetReplay
from scenario.runner import Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Scenario = dict[str, Any]


def first_difference(scenario: Scenario) -> tuple[int, dict[str, Any]] | None:
    """Return the number of the first step with another result than the recorded one, and its fields that disagree.

    Raises:
        ScenarioError: The scenario is not valid.
    """
    is_fleet = "clusters" in scenario
    run, compared = (FleetReplay(scenario), fleet_differences) if is_fleet else (Replay(scenario), differences)
    for number, (step, recorded) in enumerate(zip(scenario["steps"], scenario["results"], strict=True)):
        if found := compared(recorded, run.step(step)):
            return number, found
    return None


def shrunk(scenario: Scenario, record: Callable[[list[Scenario]], list[Scenario]]) -> Scenario:
    """Leave out steps and objects of a scenario as long as its replay differs from what the recorder answers.

    Args:
        scenario: A recorded scenario that differs.
        record: A function that records scenarios. It may leave out scenarios that it cannot record.
    """
    best = _up_to_difference(scenario)
    assert best is not None
    size = max(map(len, _lists(best)))
    while size:
        tried = [{**one, "name": f"{scenario['name']}-{i}"} for i, one in enumerate(_without(best, size))]
        smaller = next(filter(None, map(_up_to_difference, record(tried))), None)
        if smaller is None:
            size //= 2
        else:
            best = smaller
    return {**best, "name": scenario["name"]}


def _up_to_difference(scenario: Scenario) -> Scenario | None:
    """Return the scenario without the steps after the first difference; None if there is no difference."""
    try:
        found = first_difference(scenario)
    except KueueError:  # a step needs an object that was left out
        return None
    return found and {**scenario, **{name: scenario[name][: found[0] + 1] for name in ("steps", "results")}}


def _lists(scenario: Scenario) -> list[list[Any]]:
    owners = scenario.get("clusters") or [scenario]
    return [scenario["steps"], *(owner["objects"] for owner in owners)]


def _without(scenario: Scenario, size: int) -> Iterator[Scenario]:
    """Yield the scenario without each run of `size` steps or objects."""
    bare = {name: value for name, value in scenario.items() if name != "results"}
    for place, items in enumerate(_lists(scenario)):
        for start in range(0, len(items) - size + 1, size):
            kept = items[:start] + items[start + size :]
            if place == 0:
                yield {**bare, "steps": kept}
            elif "clusters" not in scenario:
                yield {**bare, "objects": kept}
            else:
                clusters = list(scenario["clusters"])
                clusters[place - 1] = {**clusters[place - 1], "objects": kept}
                yield {**bare, "clusters": clusters}
