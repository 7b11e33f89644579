"""The visual language: colours that all readers can tell apart, and numbers as text."""

import base64
import hashlib
import itertools
import math
import re

import numpy as np
import pytest

from kueuepy.look.chart import depth_of
from kueuepy.look.colours import (
    DARK,
    DARK_THEME,
    LIGHT,
    LIGHT_THEME,
    MOST_NAMES,
    OTHERS,
    class_of,
    colour_of,
    luminance,
    places,
    tokens,
)
from kueuepy.look.notebook import Named, Sheet, repr_text
from kueuepy.look.numbers import amount, duration, durations, hours, number, round_duration, share
from kueuepy.look.page import document

# Machado, Oliveira and Fernandes (2009), severity 1.0, for linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def oklab(colour, vision):
    """A colour in Oklab, in which equal distances look about equally different."""
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return LAB @ np.cbrt(LMS @ np.clip(VISION[vision] @ linear, 0, 1))


def contrast(first, second):
    """The contrast ratio of two colours, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT_THEME, DARK_THEME], ids=["light", "dark"])
def test_text_on_a_tile_of_any_shade_has_a_contrast_of_4_5(theme):
    for part in np.linspace(0, 1, 41):
        depth = depth_of(part)
        mixed = [
            round(depth * int(theme.heat[at : at + 2], 16) + (1 - depth) * int(theme.paper[at : at + 2], 16))
            for at in (1, 3, 5)
        ]
        tile = "#" + "".join(f"{level:02x}" for level in mixed)
        assert contrast(theme.paper if part > 0.5 else theme.ink, tile) >= 4.5


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_any_two_colours_of_groups_differ_for_every_kind_of_colour_vision(palette, vision):
    ink = (LIGHT_THEME if palette is LIGHT else DARK_THEME).ink  # the line of the total and of the nominal quota
    found = [oklab(colour, vision) for colour in (*palette, ink)]
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(found, 2)) > 0.1


@pytest.mark.parametrize(("palette", "theme"), [(LIGHT, LIGHT_THEME), (DARK, DARK_THEME)], ids=["light", "dark"])
def test_shapes_have_a_contrast_of_3_and_text_of_4_5(palette, theme):
    assert min(contrast(colour, theme.paper) for colour in (*palette, theme.others, theme.warn)) >= 3
    for text in (theme.ink, theme.quiet, theme.accent, theme.good, theme.bad):
        for paper in (theme.paper, theme.soft):
            assert contrast(text, paper) >= 4.5


def test_on_a_dark_ground_every_colour_of_a_queue_stands_out():
    """The first three colours, which most charts use alone, have the contrast of text."""
    for paper in (DARK_THEME.paper, DARK_THEME.soft):
        assert min(contrast(colour, paper) for colour in DARK) >= 3
        assert min(contrast(colour, paper) for colour in DARK[:3]) >= 4.5


@pytest.mark.parametrize(("name", "theme", "palette"), [("light", LIGHT_THEME, LIGHT), ("dark", DARK_THEME, DARK)])
def test_the_styles_of_matplotlib_have_the_colours_of_pages(name, theme, palette):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("matplotlib.style")
    with matplotlib.style.context(f"kueuepy.look.{name}"):
        found = dict(matplotlib.rcParams)
    assert found["axes.prop_cycle"].by_key()["color"] == list(palette)
    papers = ("figure.facecolor", "savefig.facecolor", "axes.facecolor", "legend.facecolor")
    inks = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "lines.color")
    assert {found[key] for key in papers} == {theme.paper}
    assert {found[key] for key in inks} == {theme.ink}


@pytest.mark.parametrize("place", range(MOST_NAMES))
def test_a_group_has_the_same_hue_on_light_and_dark(place):
    hues = [math.atan2(*oklab(palette[place], "normal")[:0:-1]) for palette in (LIGHT, DARK)]
    assert abs((hues[0] - hues[1] + math.pi) % (2 * math.pi) - math.pi) < math.radians(40)


def test_colours_go_to_the_groups_with_the_largest_weight():
    weights = {f"q{n}": float(n) for n in range(20)}
    found = places(weights)
    assert list(found) == [f"q{n}" for n in range(19, 11, -1)]
    assert places(dict(reversed(weights.items()))) == found
    assert {colour_of(place) for place in found.values()} == set(LIGHT)
    assert colour_of(OTHERS) == colour_of(99) == LIGHT_THEME.others
    assert class_of(0) == "kq-1"
    assert class_of(99) == "kq-others"


def test_the_style_sheet_defines_every_variable_that_it_uses():
    text = document("t", "<p>x</p>")
    used = set(re.findall(r"var\((--kq-\w+)", text)) - {"--kq-group"}
    assert used
    assert used <= set(re.findall(r"(--kq-\w+):", tokens()))


def test_a_page_allows_its_own_style_and_script_only():
    text = document("<b>", "<p>x</p>", extra_style="p { margin: 0 }", script="let a = 1 < 2;")
    assert "<title>&lt;b&gt;</title>" in text
    assert "unsafe" not in text
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} &#x27;sha256-{digest}&#x27;" in text
    assert "script-src &#x27;none&#x27;" in document("t", "")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (7, "7"), (0.5, "0.500"), (1.4, "1.40"), (0.0712345, "0.0712"), (9.996, "10.0"), (999.6, "1,000"),
     (1234567.0, "1,230,000"), (-12.345, "-12.3"), (1e-7, "1e-07"), (3.2e12, "3.2e+12"), (math.inf, "∞"), (None, "—")],
)  # fmt: skip
def test_numbers_have_three_significant_digits(value, text):
    assert number(value) == text


def test_shares_and_durations_read_as_people_say_them():
    assert [share(x) for x in (0.0, 0.123456, 0.9994, 0.9996, 1.5, math.nan)] == [
        "0.0%", "12.3%", "99.9%", "100%", "150%", "—",
    ]  # fmt: skip
    assert duration(59.96) == "60 s"
    assert [round_duration(x) for x in (599, 601, 36000 - 1, 36001, 10 * 86400, math.inf)] == [
        "9 min 59 s", "10 min", "10 h", "10 h", "10 d", "∞",
    ]  # fmt: skip
    assert durations(0, 0.5) == "0 to 0.5 s"
    assert amount("memory", 0.0) == "0 B"
    assert hours("memory", None) == "— GiB h"


def test_the_caption_of_a_printed_table_has_lines_of_80_characters():
    lines = repr_text([Sheet(("a",), [("b",)], "word " * 40)]).splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(lines[:3]).split() == ["word"] * 40


def test_a_printed_table_has_names_beside_titles_and_below_the_titles_of_columns():
    rows = [(Named("Mean wait", "wait_mean"), "7 min"), (Named("Evictions", "evictions"), "72")]
    assert repr_text([Sheet(("Metric", "Value"), rows)]).splitlines() == [
        "Metric     Name       Value",
        "Mean wait  wait_mean  7 min",
        "Evictions  evictions  72",
    ]
    header = ("Policy", Named("95th percentile of the wait", "wait_p95"))
    assert repr_text([Sheet(header, [(0, "7 min")])]).splitlines() == [
        "Policy  95th",
        "        percentile of",
        "        the wait",
        "        wait_p95",
        "     0  7 min",
    ]
