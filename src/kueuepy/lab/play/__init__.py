"""A playground: sliders for quotas, limits and weights that simulate the same jobs, as a web page or a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.errors import imported, spelled_out
from kueuepy.lab.play.answers import Knob, Playground
from kueuepy.lab.play.server import Server
from kueuepy.simulation.model import RunSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.lab.play.traits import PlaygroundWidget


@spelled_out(RunSettings)
def widget(cluster: Cluster, jobs: Any, **settings: Unpack[RunSettings]) -> PlaygroundWidget:
    """Create a Jupyter widget with the sliders of `kueuepy serve --jobs`.

    The attribute `values` of the widget holds the changed values, and `cluster` the changed cluster. The method
    `result()` simulates the jobs on the changed cluster. The widget needs the extra `widget`.

    Args:
        cluster: The cluster configuration.
        jobs: The jobs, in any form that `simulate` accepts.
        settings: Further arguments of `simulate`, such as `model` and `clock`.

    Returns:
        The widget, which a notebook displays inline.

    Raises:
        InvalidSpecError: The jobs or a setting are not valid.
        UnsupportedError: anywidget is not installed.
    """
    imported("anywidget", "play.widget")
    from kueuepy.lab.play.traits import PlaygroundWidget  # noqa: PLC0415 - an extra

    return PlaygroundWidget(Playground(cluster, jobs, **settings))


__all__ = ["Knob", "Playground", "Server", "widget"]
