"""The visual language of charts, pages and tables: colours, numbers, units and the frame of HTML pages.

`docs/look.md` describes the rules and their reasons.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` takes longer than the rest of `import kueuepy`, which imports this module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

html_renderers: list[Callable[[Any], str]] = []
"""The function that renders objects as HTML. The package stores a function of `kueuepy.pages.html` here."""
