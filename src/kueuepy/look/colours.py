"""Colours of groups, such as queues, on light and dark backgrounds."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

LIGHT = ("#2142b0", "#e6631b", "#50a389", "#c06af7", "#985561", "#0c73aa", "#555306", "#890c6f")
"""Colours of the first eight groups on a light background."""
DARK = ("#bdb8fb", "#ee9712", "#15d7a0", "#7555e4", "#ea585b", "#2b9be3", "#fecc19", "#aa5697")
"""Colours of the first eight groups on a dark background: the hues of `LIGHT`, in the same order."""
MOST_NAMES = len(LIGHT)
"""Maximum number of groups with their own name and colour; the remaining groups are combined as `others`."""
OTHERS, ALL = -1, -2
"""Special colour numbers: one for the sum of the remaining groups, and one for the total of all groups."""


class Theme(NamedTuple):
    """The colours of a page or a chart, apart from the colours of groups.

    Attributes:
        paper: The background.
        ink: Colour of text and axes, and of the lines that show the total and the nominal quota.
        quiet: Captions and less important labels. The contrast between `quiet` and `paper` is at least 4.5.
        line: Borders and grid lines, which carry no meaning of their own.
        soft: The background of cards and of every other row.
        accent: Links, buttons and the focus ring.
        good: An improvement.
        bad: A deterioration, or an error.
        warn: The border of a warning.
        others: The remaining groups.
        borrowed: Borrowed quota where the queue is not coloured.
        heat: The darkest tile of a matrix.
    """

    paper: str
    ink: str
    quiet: str
    line: str
    soft: str
    accent: str
    good: str
    bad: str
    warn: str
    others: str
    borrowed: str
    heat: str


LIGHT_THEME = Theme(
    paper="#ffffff", ink="#1a1d21", quiet="#5a626c", line="#d5d9de", soft="#f5f6f8", accent="#005a94", good="#00694b",
    bad="#a8380a", warn="#b35900", others="#838993", borrowed="#e6631b", heat="#005a94",
)  # fmt: skip
DARK_THEME = Theme(
    paper="#14161a", ink="#e4e6ea", quiet="#a3aab4", line="#3a3f47", soft="#1e2127", accent="#7cb7ff", good="#4dc6a4",
    bad="#ff9a76", warn="#f0a23c", others="#8a8f98", borrowed="#ee9712", heat="#7cb7ff",
)  # fmt: skip


def colour_of(colour: int | str, *, dark: bool = False) -> str:
    """Return the colour with the given index or name, as `#rrggbb`; grey for `OTHERS` and for unknown indices.

    >>> colour_of(0), colour_of(0, dark=True), colour_of(OTHERS), colour_of("ink"), colour_of("#123456")
    ('#2142b0', '#bdb8fb', '#838993', '#1a1d21', '#123456')

    Args:
        colour: The colour index, as in the result of `places`; the name of a field of `Theme`; or a fixed colour, which
            is the same on light and on dark backgrounds.
        dark: Whether the background is dark.
    """
    theme = DARK_THEME if dark else LIGHT_THEME
    if isinstance(colour, str):
        return colour if colour.startswith("#") else str(getattr(theme, colour))
    if 0 <= colour < MOST_NAMES:
        return (DARK if dark else LIGHT)[colour]
    return theme.others


def places(weights: Mapping[str, float]) -> dict[str, int]:
    """Return the colour indices of the groups with the largest weights, in order of weight; ties are broken by name.

    All charts, tables and pages of a result use the same weights: the requested work of each queue, which does not
    depend on the policy. A page without jobs uses the nominal quotas as weights.

    >>> places({"b": 2.0, "a": 2.0, "c": 9.0})
    {'c': 0, 'a': 1, 'b': 2}

    Args:
        weights: The weight of each group.
    """
    order = sorted(weights, key=lambda name: (-weights[name], name))
    return {name: position for position, name in enumerate(order[:MOST_NAMES])}


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour `#rrggbb`, from 0 for black to 1 for white (WCAG 2.2)."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    # The inverse of the transfer function of sRGB.
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)  # noqa: PLR2004 - of sRGB
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def tokens() -> str:
    """Return CSS that defines all colours as variables, light and dark.

    The variables are `--kq-paper` and the other names of `Theme`, `--kq-1` to `--kq-8` for groups, and
    `--kq-others`. The classes `kq-1` to `kq-8` and `kq-others` set `--kq-group` and the fill of a shape; `kq-line`
    together with one of these classes draws a line instead. Pages follow the setting of the browser; an attribute
    `data-theme` with `light` or `dark` on the root element overrides it.
    """
    light, dark = _variables(LIGHT_THEME, LIGHT), _variables(DARK_THEME, DARK)
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=light]{{color-scheme:light}}:root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
        f"@media print{{:root:root{{color-scheme:light;{light}}}}}\n{_classes()}\n"
    )


@cache
def picture_style() -> str:
    """Return the CSS inside an SVG picture, which has its own background and is therefore readable on any page.

    A picture follows the theme of a Jupyter notebook, and otherwise the setting of the browser.
    """
    light, dark = _variables(LIGHT_THEME, LIGHT), _variables(DARK_THEME, DARK)
    picture = ".kq-picture"
    return (
        f"{picture}{{color:var(--kq-ink);background:var(--kq-paper);{light}}}"
        f"@media (prefers-color-scheme:dark){{{picture}{{{dark}}}}}"
        f"[data-jp-theme-light=true] {picture}{{{light}}}[data-jp-theme-light=false] {picture}{{{dark}}}{_classes()}"
    )


def _classes() -> str:
    groups = [*(str(position + 1) for position in range(MOST_NAMES)), "others"]
    named = [*groups, "paper", "ink", "quiet", "soft", "good", "bad", "heat"]
    shapes = "".join(f".kq-{name}{{--kq-group:var(--kq-{name});fill:var(--kq-{name})}}" for name in groups)
    shapes += "".join(f"svg .kq-{name}{{fill:var(--kq-{name})}}" for name in named[len(groups) :])
    return shapes + "".join(f"svg .kq-{name}.kq-line{{stroke:var(--kq-{name});fill:none}}" for name in named)


def class_of(colour: int | str) -> str:
    """Return the CSS class of a group from its colour index, or of a colour of `Theme` from its name.

    >>> class_of(0), class_of(OTHERS), class_of("ink")
    ('kq-1', 'kq-others', 'kq-ink')
    """
    if isinstance(colour, str):
        return f"kq-{colour}"
    return f"kq-{colour + 1}" if 0 <= colour < MOST_NAMES else "kq-others"


def _variables(theme: Theme, groups: tuple[str, ...]) -> str:
    named = {**theme._asdict(), **{str(position): colour for position, colour in enumerate(groups, 1)}}
    return "".join(f"--kq-{name}:{colour};" for name, colour in named.items())
