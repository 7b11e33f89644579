"""A reinforcement learning environment in which agents edit quotas and Kueue's rules make the decisions.

The import of this package registers the environment with Gymnasium as `kueuepy/Quota-v0`. `gymnasium.make` imports it
if the name of the package stands before that name: `gymnasium.make("kueuepy.lab.rl:kueuepy/Quota-v0")`. The extra `rl`
installs Gymnasium.
"""

from gymnasium.envs import registration

from kueuepy.lab.rl.baselines import Baseline, DoNothing, HillClimber, Proportional, play
from kueuepy.lab.rl.quota import QuotaEnv, QuotaVectorEnv

vector = QuotaVectorEnv
"""The short name of `QuotaVectorEnv`, such as `rl.vector(16, cluster, jobs)`."""

_ID = "kueuepy/Quota-v0"
if _ID not in registration.registry:
    registration.register(
        _ID, "kueuepy.lab.rl.quota:QuotaEnv", vector_entry_point="kueuepy.lab.rl.quota:QuotaVectorEnv"
    )

__all__ = ["Baseline", "DoNothing", "HillClimber", "Proportional", "QuotaEnv", "QuotaVectorEnv", "play", "vector"]
