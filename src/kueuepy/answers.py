"""Records that a Scheduler's methods return, such as the details of a decision, tables and rack maps.

The records that programs use most often, such as `Admitted` and `Explanation`, are in `kueuepy` itself.
"""

from kueuepy import _stubs

__getattr__, __dir__, __all__ = _stubs.facade(__name__)
