"""A reinforcement learning environment in which agents edit quotas and Kueue's rules make the decisions.

Gymnasium knows the environment as `kueuepy/Quota-v0`, also before this package is imported if kueuepy is installed. In
a source tree, import `kueuepy.lab.rl` first. The extra `rl` installs Gymnasium.
"""

from kueuepy.gymnasium_plugin import ID as ID
from kueuepy.gymnasium_plugin import register
from kueuepy.lab.rl.baselines import Baseline, DoNothing, HillClimber, Proportional, play
from kueuepy.lab.rl.quota import QuotaEnv, QuotaVectorEnv

vector = QuotaVectorEnv
"""The short name of `QuotaVectorEnv`, such as `rl.vector(16, cluster, jobs)`."""

register()

__all__ = ["Baseline", "DoNothing", "HillClimber", "Proportional", "QuotaEnv", "QuotaVectorEnv", "play", "vector"]
