"""Functions that run many simulations or a search: estimates, guarantees, comparisons of releases.

`rl` contains an environment for reinforcement learning, and `play` an interactive page. `sweep`, `plan` and `compare`
are in `kueuepy` itself.
"""

from kueuepy import _stubs

__getattr__, __dir__, __all__ = _stubs.facade(__name__)
