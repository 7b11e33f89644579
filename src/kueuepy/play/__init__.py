"""A playground: sliders for quotas, limits and weights, and what becomes of the same jobs; a page, or a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.errors import UnsupportedError
from kueuepy.errors.settings import spelled_out
from kueuepy.play.answers import Knob, Playground
from kueuepy.play.server import Server
from kueuepy.simulation.model import RunSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.play.traits import PlaygroundWidget


@spelled_out(RunSettings)
def widget(cluster: Cluster, jobs: Any, **settings: Unpack[RunSettings]) -> PlaygroundWidget:
    """The sliders in a notebook: what `kueuepy play` shows, as a widget of Jupyter.

    Its `values` are what the sliders were moved to, its `cluster` is the one with them, and `result()` what comes of
    the jobs there. It needs the extra `widget`.

    Args:
        cluster: The configuration.
        jobs: As `simulate` takes them.
        settings: What `simulate` takes beside, as `model` and `clock`.

    Raises:
        InvalidSpecError: Something is not valid.
        UnsupportedError: anywidget is not installed.
    """
    try:
        from kueuepy.play.traits import PlaygroundWidget  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UnsupportedError(
            'play.widget: anywidget is not installed; install it with: pip install "kueuepy[widget]"'
        ) from error
    return PlaygroundWidget(Playground(cluster, jobs, **settings))


__all__ = ["Knob", "Playground", "Server", "widget"]
