"""The registration of the environment with Gymnasium, which calls it by itself when it is imported."""

ID = "kueuepy/Quota-v0"


def register() -> None:
    """Register the environment, unless it is registered already."""
    # Gymnasium calls this function while it is being imported, so only this module of it can be used.
    from gymnasium.envs import registration  # noqa: PLC0415 - the package has Gymnasium only with an extra

    if ID not in registration.registry:
        single, vector = (f"kueuepy.lab.rl.quota:{name}" for name in ("QuotaEnv", "QuotaVectorEnv"))
        registration.register(ID, single, vector_entry_point=vector)
