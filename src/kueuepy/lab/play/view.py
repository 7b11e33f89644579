"""Access to the HTML, CSS and JavaScript files of the page and the widget."""

from importlib.resources import files


def part_of_view(name: str) -> str:
    """Return the contents of a file of the page or the widget."""
    return files("kueuepy.lab.play").joinpath(name).read_text(encoding="utf-8")
