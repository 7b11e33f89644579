"""The Jupyter widget of a playground."""

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from kueuepy.cluster import Cluster
from kueuepy.errors.arguments import checked_methods
from kueuepy.lab.play.answers import Playground, Value
from kueuepy.lab.play.server import part_of_view
from kueuepy.look.colours import tokens
from kueuepy.simulation.result import Result


@checked_methods
class PlaygroundWidget(anywidget.AnyWidget):
    """The sliders and charts of a `Playground`; `kueuepy.lab.play.widget` creates it.

    The kernel of the notebook runs the simulations. The kernel returns each part of a long simulation in a separate
    message.
    """

    _esm = part_of_view("view.js") + part_of_view("widget.js")
    _css = tokens() + part_of_view("view.css")
    knobs: Any = traitlets.List().tag(sync=True)
    question = traitlets.Dict().tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)
    given = traitlets.Dict().tag(sync=True)

    def __init__(self, playground: Playground) -> None:
        """Create the widget of a playground."""
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
        """The changed values by path; `None` means no limit. Setting `values` moves the sliders.

        Raises:
            InvalidSpecError: A path has no slider, or a value is not valid for its field.
        """
        original = {knob.path: knob.value for knob in self._playground.knobs}
        return {path: value for path, value in self._values.items() if value != original.get(path, value)}

    @values.setter
    def values(self, values: Mapping[str, Value]) -> None:
        self._playground.cluster(values)
        self._values = dict(values)
        self.given = {"values": self._values, "count": self.given.get("count", 0) + 1}

    @property
    def cluster(self) -> Cluster:
        """The cluster with the values of the sliders; `kueuepy.dump` writes it as YAML."""
        return self._playground.cluster(self._values)

    def result(self) -> Result:
        """Simulate the jobs with the values of the sliders and return the result."""
        return self._playground.result(self._values)
