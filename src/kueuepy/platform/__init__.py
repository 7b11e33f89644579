"""Components for programs that embed a Scheduler: a journal, metrics, object statuses, imports of live clusters."""

from kueuepy import _stubs

__getattr__, __dir__, __all__ = _stubs.facade(__name__)
