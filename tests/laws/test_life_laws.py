"""Properties of workload states: exactly one state at a time, and a named event that ends it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from laws.lives import MOST_CYCLES, QUEUES, Lives
from saved import from_bytes, to_bytes

pytestmark = pytest.mark.sanitizer
SEEDS = st.integers(0, 2**32)
STEPS = 60
HOLDING = ("Reserved", "Admitted", "Stopping")
# Six workloads each; a history takes milliseconds.
many = settings(max_examples=5 * settings().max_examples, phases=[Phase.generate])
few = settings(phases=[Phase.generate])


def states(lives: Lives) -> dict[str, list[str]]:
    """Return all states of each workload, each determined by a separate predicate."""
    queues = lives.scheduler._engine.queues().values()
    heap = {key for waiting, inadmissible in queues for key in set(waiting) - set(inadmissible)}
    inadmissible = {key for _, inadmissible in queues for key in inadmissible}
    known = lives.keys()
    return {key: _states(lives, key, is_queued=key in heap, is_inadmissible=key in inadmissible) for key in known}


def _states(lives: Lives, key: str, *, is_queued: bool, is_inadmissible: bool) -> list[str]:
    workload, engine = lives.scheduler.workload(key), lives.scheduler._engine
    finished, holds, evicted, admitted = (
        lives.says(key, name) for name in ("Finished", "QuotaReserved", "Evicted", "Admitted")
    )
    gated, is_active = bool(workload.annotations), workload.active
    nowhere = is_active and not (finished or holds or gated or is_queued or is_inadmissible)
    backs_off = (engine.status_details(engine.find(key)).requeue_at or 0) > engine.now
    suspended = lives.locals[workload.queue_name].stop_policy != "None"
    found = {
        "Finished": finished,
        "Stopping": holds and evicted and not finished,
        "Admitted": holds and admitted and not evicted and not finished,
        "Reserved": holds and not admitted and not evicted and not finished,
        "Deactivated": not is_active and not holds and not finished,
        "Gated": gated and is_active and not holds and not finished,
        "Queued": is_queued,
        "Inadmissible": is_inadmissible,
        "Backoff": nowhere and backs_off,
        "Suspended": nowhere and not backs_off and suspended,
    }
    return [name for name, is_it in found.items() if is_it]


def sole_states(lives: Lives) -> dict[str, str]:
    """Return the state of each workload, which must be unique."""
    found = states(lives)
    assert {key: names for key, names in found.items() if len(names) != 1} == {}
    return {key: name for key, (name,) in found.items()}


def reason(lives: Lives, key: str, condition: str = "QuotaReserved") -> str:
    """Return the reason of a condition; an empty text if it is absent."""
    found = lives.scheduler._engine.condition(lives.scheduler._state.id_of(key), condition)
    return "" if found is None else found[1]


def check_conditions(lives: Lives, now: dict[str, str]) -> None:
    """The conditions of each workload are those of its state."""
    for key, state in now.items():
        holds = state in HOLDING
        assert (lives.scheduler.workload(key).status.admission is not None) == (holds or state == "Finished")
        assert holds or state == "Finished" or not (lives.says(key, "Admitted") or lives.says(key, "PodsReady"))


def check_usage(lives: Lives, now: dict[str, str]) -> None:
    """Usage is the sum over the workloads with quota."""
    held = Counter(dict.fromkeys(lives.scheduler._engine.usage(), 0))
    for key, state in now.items():
        workload = lives.scheduler.workload(key)
        # A deactivated workload releases its quota immediately.
        if state in HOLDING and workload.active:
            done = sum(pods.count for pods in workload.status.reclaimable_pods)
            held[workload.queue_name] += 1000 * (sum(p.count for p in workload.pod_sets) - done)
    used = {queue: cells.get("default/cpu", 0) for queue, cells in lives.scheduler._engine.usage().items()}
    assert {queue: held[queue] for queue in used} == used


ALLOWED = {
    "Created": "",
    "QuotaReserved": "waiting",
    "Admitted": "reserved evicted",
    "PodsReady": "admitted evicted",
    "Evicted": "waiting reserved admitted",
    "QuotaReleased": "reserved admitted evicted",
    "Pending": "waiting reserved admitted evicted",
    "Finished": "waiting reserved admitted evicted",
    "Deleted": "waiting reserved admitted evicted finished",
}
AFTER = {
    "Created": "waiting",
    "QuotaReserved": "reserved",
    "Admitted": "admitted",
    "QuotaReleased": "waiting",
    "Finished": "finished",
    "Deleted": "gone",
}


def check_events(lives: Lives, now: dict[str, str], at: dict[str, str]) -> None:
    """Events describe consecutive states; `at` has the last state of each workload, and is updated."""
    for _, _, kind, key, *_ in lives.scheduler._engine.drain_events():
        if kind in ALLOWED:
            assert at.get(key, "") in ALLOWED[kind].split(" "), (kind, at)
            holds = at.get(key) in ("reserved", "admitted")
            stays = at.get(key) == "evicted" and kind == "Admitted"  # its checks report it while its job stops
            after = at[key] if stays else AFTER.get(kind)
            at[key] = after or ("evicted" if kind == "Evicted" and holds else at[key])
    names = {"Admitted": "admitted", "Reserved": "reserved", "Stopping": "evicted", "Finished": "finished"}
    told = {key: names.get(state, "waiting") for key, state in now.items()}
    assert {key: state for key, state in at.items() if state != "gone"} == told


@few
@given(SEEDS)
def test_a_run_continues_after_a_restart_and_forks_do_not_affect_it(seed):
    lives, restarted, forked = Lives(seed), Lives(seed), Lives(seed)
    for number in range(STEPS):
        for one in (lives, restarted, forked):
            one.step()
        if number % 3 == 0:
            restarted.scheduler = from_bytes(to_bytes(restarted.scheduler))
        if number % 3 == 1:
            other, forked.scheduler = forked.scheduler, forked.scheduler.fork()
            other.advance(100)
            other.settle(max_cycles=MOST_CYCLES)
        saved = lives.scheduler._engine.save()
        assert saved == restarted.scheduler._engine.save() == forked.scheduler._engine.save()
    assert lives.log == restarted.log == forked.log


# --- every path ends or waits for an event that has a name.

ENDS, FOR_GOOD, NAMELESS = "ends", "nothing: Kueue lets it not come back", "no event has a name for"
PASSIVE = {"quota", "its turn", "the pods of others are ready"}


def awaited(lives: Lives) -> dict[str, str]:
    """Return the event that each workload waits for in a settled state."""
    now = sole_states(lives)
    queues = lives.scheduler._engine.queues().values()
    heads = {next((key for key in waiting if key not in inadmissible), None) for waiting, inadmissible in queues}
    waits = lives.scheduler.configuration.wait_for_pods_ready
    # A cycle may block at a workload that is not ready yet; its heads stay queued.
    blocks = waits is not None and waits.block_admission
    blocks = blocks and any(state in HOLDING and not lives.says(key, "PodsReady") for key, state in now.items())
    assert blocks or not lives.scheduler._engine.is_blocked, "a cycle waits for nobody"
    return {
        key: "the pods of others are ready"
        if state == "Queued" and blocks
        else "its turn"
        if state == "Queued" and key not in heads
        else _awaited(lives, key, state)
        for key, state in now.items()
    }


def _awaited(lives: Lives, key: str, state: str) -> str:
    engine, why = lives.scheduler._engine, reason(lives, key)
    backs_off = (engine.status_details(engine.find(key)).requeue_at or 0) > engine.now
    checks = {check.state for check in lives.scheduler.workload(key).status.admission_checks}
    queue = lives.queues[lives.scheduler.workload(key).queue_name]
    requeued = engine.condition(engine.find(key), "Requeued")
    match state:
        case "Finished":
            return ENDS
        case "Stopping":
            return "its pods are gone"
        case "Admitted":
            return "its job is done"
        case "Reserved":
            return "time" if backs_off else "its checks say more"
        case "Deactivated":
            # Who runs out of time while its job stops is told to be deactivated for ever, and so it is, each time anew
            # (`pkg/controller/core/workload_controller.go:Reconcile,reconcileMaxExecutionTime`).
            return FOR_GOOD if lives.says(key, "DeactivationTarget") else "its user activates it"
        case "Gated":
            return "its user takes the gate away"
        case "Backoff":
            return "time"
        case "Suspended":
            return "the LocalQueue goes on"
    if queue.stop_policy != "None":
        return "the ClusterQueue goes on"
    if state == "Inadmissible" and backs_off:
        return "time"
    if requeued is not None and not requeued[0]:
        if requeued[1].startswith("DeactivatedDueTo"):
            return FOR_GOOD
    elif checks & {"Retry", "Rejected"}:
        return "its checks say more"
    elif why in ("WaitingForQuota", "WaitingForPreemptedWorkloads", ""):
        return "quota"
    elif state == "Inadmissible" and why == "PendingEvaluation":
        # A check said Retry when its turn came; that it says more does not bring it back into the queue by itself
        # (`pkg/cache/queue/cluster_queue.go:PushOrUpdate`).
        return "its ClusterQueue changes"
    return f"{NAMELESS} {state}, {why}, {requeued}"


def let_it_happen(lives: Lives, key: str, event: str) -> None:
    """Execute the event that a workload waits for."""
    scheduler, workload = lives.scheduler, lives.scheduler.workload(key)
    match event:
        case "its job is done":
            scheduler.pods_ready(key)
            scheduler.finish(key)
        case "its checks say more":
            for check in workload.status.admission_checks:
                scheduler.set_check(key, check.name, "Ready")
        case "its user activates it":
            lives.change(key, active=True)
        case "its user takes the gate away":
            lives.change(key, annotations={})
        case "the LocalQueue goes on":
            lives.stop(lives.locals, workload.queue_name, "None")
        case "the ClusterQueue goes on":
            lives.stop(lives.queues, workload.queue_name, "None")
        case "its ClusterQueue changes":
            lives.grow(workload.queue_name)
        case "time" | "its pods are gone":
            scheduler.advance(30)


def check_end(lives: Lives) -> None:
    """Every workload waits for a named event, and finishes when it occurs."""
    for _ in range(60):
        lives.scheduler.settle(max_cycles=MOST_CYCLES)
        events = awaited(lives)
        assert {key: event for key, event in events.items() if event.startswith(NAMELESS)} == {}
        if set(events.values()) <= {ENDS, FOR_GOOD}:
            break
        assert set(events.values()) - {ENDS, FOR_GOOD, *PASSIVE}, f"they wait for nobody: {events}"
        for key, event in events.items():
            let_it_happen(lives, key, event)
    else:
        pytest.fail(f"these lives do not end: {events}")
    for name in QUEUES:
        lives.stop(lives.queues, name, "None")
    assert lives.scheduler._engine.usage() == {name: {} for name in QUEUES}
    lives.scheduler.delete(*lives.keys())
    assert (lives.scheduler.keys(), lives.scheduler._engine.queues()) == ((), {})


@many
@given(SEEDS)
def test_a_life_has_one_state_at_a_time_its_usage_and_events_and_an_end(seed):
    """All laws are checked on the same life, because a life takes longer than its checks."""
    lives, at = Lives(seed), {}
    lives.scheduler._engine.record_events(on=True)
    for _ in range(STEPS):
        lives.step()
        lives.scheduler._engine.settle()
        assert lives.scheduler._engine.check() == []
        now = sole_states(lives)
        check_conditions(lives, now)
        check_usage(lives, now)
        check_events(lives, now, at)
    check_end(lives)


def test_the_stories_cover_every_state_and_every_event():
    seen, named = set(), set()
    for seed in range(60):
        lives = Lives(seed)
        for _ in range(STEPS):
            lives.step()
            lives.scheduler.settle(max_cycles=MOST_CYCLES)
            seen |= set(sole_states(lives).values())
            named |= set(awaited(lives).values())
    assert seen == {
        *("Finished", "Stopping", "Admitted", "Reserved", "Deactivated", "Gated"),
        *("Queued", "Inadmissible", "Backoff", "Suspended"),
    }
    assert named - {"its ClusterQueue changes"} == {
        *(ENDS, FOR_GOOD, *PASSIVE, "time", "its pods are gone", "its job is done", "its checks say more"),
        *("its user activates it", "its user takes the gate away", "the LocalQueue goes on"),
        "the ClusterQueue goes on",
    }
