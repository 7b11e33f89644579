"""Records that a Scheduler's methods return, such as the details of a decision, tables and rack maps.

The records that programs use most often, such as `Admitted` and `Explanation`, are in `kueuepy` itself.
"""

from kueuepy import _home

__getattr__, __dir__, __all__ = _home.facade(__name__)
