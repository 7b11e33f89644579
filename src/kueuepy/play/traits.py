"""A playground in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from kueuepy.errors.arguments import checked_methods
from kueuepy.play.view import part_of_view

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kueuepy.cluster import Cluster
    from kueuepy.play.answers import Playground, Value
    from kueuepy.simulation.result import Result


@checked_methods
class PlaygroundWidget(anywidget.AnyWidget):
    """The sliders and pictures of a `Playground`; `kueuepy.play.widget` makes it.

    Its answers come from the kernel of the notebook. Each part of a question is an answer of its own.
    """

    _esm = part_of_view("view.js") + part_of_view("widget.js")
    _css = part_of_view("view.css")
    knobs: Any = traitlets.List().tag(sync=True)
    question = traitlets.Dict().tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)
    given = traitlets.Dict().tag(sync=True)

    def __init__(self, playground: Playground) -> None:
        """Takes the playground."""
        self._playground = playground
        self._values: dict[str, Any] = {}
        super().__init__(knobs=[knob._asdict() for knob in playground.knobs])

    @traitlets.observe("question")
    def _ask(self, change: Any) -> None:
        question = change["new"]
        found = self._playground.reply(question)
        if "error" not in found:
            self._values = dict(question.get("values", {}))
        self.answer = {**found, "id": question.get("id")}

    @property
    def values(self) -> dict[str, Value]:
        """What the sliders have been moved to, by path; `None` where a limit was taken away. Setting it moves them.

        Raises:
            InvalidSpecError: A path is that of no slider, or a value is none for its field.
        """
        return {path: value for path, value in self._values.items() if self._differs(path, value)}

    @values.setter
    def values(self, values: Mapping[str, Value]) -> None:
        self._playground.cluster(values)
        self._values = dict(values)
        self.given = {"values": self._values, "count": self.given.get("count", 0) + 1}

    def _differs(self, path: str, value: Value) -> bool:
        return any(knob.path == path and knob.value != value for knob in self._playground.knobs)

    @property
    def cluster(self) -> Cluster:
        """The cluster with the values of the sliders, to be written with `kueuepy.dump`."""
        return self._playground.cluster(self._values)

    def result(self) -> Result:
        """What `simulate` gives with the values of the sliders."""
        return self._playground.result(self._values)
