"""A reinforcement learning environment in which agents edit quotas and Kueue's rules make the decisions.

Importing the package registers `kueuepy/Quota-v0` with Gymnasium. The extra `rl` installs Gymnasium.
"""

import gymnasium

from kueuepy.lab.rl.baselines import Baseline, DoNothing, HillClimber, Proportional, play
from kueuepy.lab.rl.quota import QuotaEnv, QuotaVectorEnv

ID = "kueuepy/Quota-v0"
vector = QuotaVectorEnv
"""The short name of `QuotaVectorEnv`, such as `rl.vector(16, cluster, jobs)`."""

if ID not in gymnasium.registry:
    gymnasium.register(
        ID, entry_point="kueuepy.lab.rl.quota:QuotaEnv", vector_entry_point="kueuepy.lab.rl.quota:QuotaVectorEnv"
    )

__all__ = ["Baseline", "DoNothing", "HillClimber", "Proportional", "QuotaEnv", "QuotaVectorEnv", "play", "vector"]
