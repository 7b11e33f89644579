"""The files of which a playground is shown: those of the page, and what it shares with the widget."""

from importlib.resources import files


def part_of_view(name: str) -> str:
    """The text of a file."""
    return files("kueuepy.play").joinpath(name).read_text(encoding="utf-8")
