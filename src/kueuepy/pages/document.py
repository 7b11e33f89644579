"""The page of a cluster as one HTML file."""

import html
import os
from importlib.resources import files

from kueuepy.engine.cached import cached_property
from kueuepy.errors import checked_methods, counted
from kueuepy.files import write_file
from kueuepy.look.page import data_element, document, policy_of
from kueuepy.pages.data import PageData

# In the order in which they use each other.
_SCRIPTS = ("numbers.js", "moments.js", "draw.js", "page.js")


@checked_methods
class Page:
    """A page that shows a cluster at one time, or over a period with a time slider.

    The page is one HTML file, which works without a server and loads no other files. Notebooks can also display the
    page.

    Attributes:
        data: The content.
    """

    def __init__(self, data: PageData) -> None:
        """Create a page from its data."""
        self.data = data

    @classmethod
    def written(cls, data: PageData, path: str | os.PathLike[str] | None) -> "Page":
        """Create a page, and write it to a file if a path is given.

        Raises:
            StateError: The file cannot be written.
        """
        page = cls(data)
        if path is not None:
            page.save(path)
        return page

    @property
    def _parts(self) -> dict[str, str]:
        connect = "'self'" if self.data.asks else "'none'"
        return {"extra_style": _part("cluster.css"), "script": script_of_page(), "connect": connect}

    @cached_property
    def html(self) -> str:
        """The HTML file as a string."""
        body = f'<div id="page"></div>\n{data_element("data", self.data)}'
        return document(self.data.title, body, **self._parts)

    @property
    def policy(self) -> str:
        """The content security policy of the file."""
        return policy_of(**self._parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML file.

        Raises:
            StateError: The file cannot be written.
        """
        write_file(path, self.html)

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks."""
        return (
            f'<iframe title="{html.escape(self.data.title)}" sandbox="allow-scripts" width="100%" height="720" '
            f'style="border:0" srcdoc="{html.escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        """Return the title and the number of workloads."""
        return f"<Page {self.data.title!r}: {counted(len(self.data.workloads.name), 'workload')}>"


def script_of_page() -> str:
    """Return the script."""
    return "\n".join(map(_part, _SCRIPTS))


def _part(name: str) -> str:
    where = files("kueuepy.look") if name == "numbers.js" else files("kueuepy.pages")
    return where.joinpath(name).read_text(encoding="utf-8")
