"""Advance the virtual time, run cycles, and answer admission checks between cycles; `Scheduler` documents the calls."""

from kueuepy.engine.cycle import Cycle, Settled
from kueuepy.objects import AdmissionCheck
from kueuepy.objects.times import Duration, Timestamp, later
from kueuepy.session import calls
from kueuepy.session.checks import CheckAnswer, CheckRequest, answer, parameters_of
from kueuepy.session.session import Session
from kueuepy.session.settling import settle as _settle
from kueuepy.session.workloads import set_check


def advance(session: Session, duration: Duration) -> None:
    """Execute `Scheduler.advance`."""
    with session.change():
        session.do(calls.Advance(later(session.state.engine.now, duration)))


def cycle(session: Session) -> Cycle:
    """Execute `Scheduler.cycle`."""
    with session.change(several=bool(session.state.checks)):
        return _cycle(session)


def _cycle(session: Session) -> Cycle:
    _answer_checks(session)
    (done,) = session.do(calls.Cycle())
    return done


def settle(session: Session, max_cycles: int | None) -> Settled:
    """Execute `Scheduler.settle`."""
    with session.change(several=True):
        call = calls.Settle(max_cycles).checked()
        if session.state.checks:  # answers are given between cycles and recorded as calls of their own
            return _settle(session.state.engine, lambda: _cycle(session), call.max_cycles, apart=False, retries=True)
        settled = session.do(call)
        assert isinstance(settled, Settled)
        return settled


def _answer_checks(session: Session) -> None:
    """Run Kueue's controllers and the controllers of admission checks until no check changes."""
    asks = bool(session.state.checks)
    while asks:
        session.do(calls.Controllers())
        answers = _answers(session)
        asks = any(said.state != "Pending" for _, _, said in answers)
        for key, name, said in answers:
            set_check(session, key, name, said)


def _answers(session: Session) -> list[tuple[str, str, CheckAnswer]]:
    """Return the answers that change a check, with the key of the workload and the name of the check."""
    state, answers = session.state, []
    for key, name in [(state.engine.key(id), name) for id, name in state.engine.pending_checks()]:  # noqa: A001
        declared = state.store.objects.get((AdmissionCheck, name))
        if not isinstance(declared, AdmissionCheck) or declared.controller_name not in state.checks:
            continue
        controller = state.checks[declared.controller_name]
        request = CheckRequest(
            state.workload(key), declared, Timestamp.of(state.engine.now), parameters_of(declared, state.related)
        )
        said = session.asking.call(answer, controller, request)
        if said is not None:
            answers.append((key, name, said))
    return answers
