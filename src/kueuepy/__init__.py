"""Kueue's exact admission decisions, without a cluster.

By convention, import the package as `kq`. The names that most programs need are in `kueuepy` itself. Import less common
names from the modules of the package, which the table lists. Each name is loaded when it is first used.

| module | contents |
| --- | --- |
| `kueuepy` | clusters, objects, `Scheduler`, decisions, `Jobs`, `simulate`, `compare`, `sweep`, `plan`, fleets |
| `kueuepy.objects` | every object of Kueue's API, and helpers such as `nodes` and `required` |
| `kueuepy.errors` | `KueueError` and its subclasses |
| `kueuepy.sim` | descriptions of a simulation: eviction costs, delays, failures, events, distributions |
| `kueuepy.lab` | questions that need many simulations: `search`, `eta`, `risk`, `guarantee`, `rl`, `play`, … |
| `kueuepy.platform` | `Journal`, metrics, statuses, and the import of live clusters |
| `kueuepy.platform.live` | live clusters, recordings of clusters, and comparison of cluster decisions with kueuepy's |
| `kueuepy.jobs`, `kueuepy.manifest` | manifests of jobs and of Kueue's objects |
"""

import datetime as dt  # noqa: F401 - before msgspec, which crashes later if an interrupt ends its own import of it

from kueuepy import _home, _stubs

_home.check_interpreter()
_home.register()
_load, __dir__, __all__ = _stubs.facade(__name__)


def __getattr__(name: str) -> object:
    """Return the version, or import a public name and cache it."""
    if name == "__version__":
        from kueuepy.profiles.version import installed  # noqa: PLC0415 - reads the metadata of the package

        return installed()
    return _load(name)
