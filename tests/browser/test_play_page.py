"""The playground in Chromium: changes and effects in words, undo, links, patches, the keyboard and narrow screens."""

from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.lab.play import Playground, Server

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
WEEK = Path(__file__).parents[2] / "examples" / "week"
CELL = "h100/nvidia.com/gpu"
NOMINAL = f"vision {CELL} nominal quota"
BORROWING = f"vision {CELL} borrowing limit"


@pytest.fixture(scope="module")
def played():
    return Playground(kq.load(WEEK / "teams.yaml"), kq.Jobs.read(WEEK / "jobs.csv"))


@pytest.fixture(scope="module")
def server(played):
    with Server(played) as serving:
        yield serving


@pytest.fixture
def page(opened, server):
    return opened(server.url)


def changes(page):
    return [text.removesuffix("Take back").strip() for text in page.locator(".changes li").all_inner_texts()]


def test_changes_and_their_effect_are_told_in_words_and_taken_back(page, played):
    page.get_by_role("slider", name=NOMINAL).focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert changes(page) == [f"vision: nominal quota of {CELL} lowered from 8 to 5"]
    first, last = (
        {one["name"]: one["text"] for one in played.answer(values)["figures"]}
        for values in ({}, {f"ClusterQueue/vision:quota[{CELL}].nominalQuota": 5})
    )
    effect = page.get_by_text(f"Mean wait: {first['wait_mean']} → {last['wait_mean']} (worse)")
    effect.wait_for()
    page.keyboard.press("Control+z")
    assert changes(page) == [f"vision: nominal quota of {CELL} lowered from 8 to 6"]
    page.get_by_role("button", name="Take back: vision").click()
    assert changes(page) == []
    page.get_by_role("button", name="Undo").click()
    assert changes(page) == [f"vision: nominal quota of {CELL} lowered from 8 to 6"]
    page.get_by_role("button", name="Reset").click()
    effect.wait_for(state="detached")
    assert page.get_by_text("No value is changed.").is_visible()


def test_the_first_answer_orders_the_sliders_and_keeps_the_focus(opened, server):
    page = opened("about:blank")
    page.route("**/answer", lambda _: None)  # no answer before `unroute`
    page.goto(server.url)
    page.get_by_role("slider", name=NOMINAL).press("ArrowLeft")
    groups = page.locator(".left details > summary")
    assert groups.all_inner_texts()[0] != "speech"
    page.unroute("**/answer")
    page.get_by_text("Mean wait:").wait_for()
    assert groups.all_inner_texts() == ["speech", "vision", "robots"]
    page.keyboard.press("Control+z")
    assert changes(page) == []


def test_a_cluster_without_sliders_is_shown(opened):
    empty = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue("a"))
    with Server(Playground(empty, kq.Jobs({"queue": ["a"], "submit": [0], "runtime": [1]}))) as serving:
        page = opened(serving.url)
        page.locator(".figures tbody tr").first.wait_for()
        assert page.get_by_role("slider").count() == 1  # only the time


def test_a_limit_is_set_and_removed_by_a_box_that_says_what_it_is(page):
    box = page.get_by_role("checkbox", name=f"{BORROWING}: limited")
    slider = page.get_by_role("slider", name=BORROWING)
    assert not box.is_checked()
    assert slider.get_attribute("aria-valuetext") == "no limit"
    box.check()
    assert slider.get_attribute("aria-valuetext") == "40"  # not 0, which would forbid borrowing at once
    assert changes(page) == [f"vision: borrowing limit of {CELL} set to 40; there was no limit"]
    box.uncheck()
    assert changes(page) == []


def test_a_link_compares_with_the_original_values_in_the_order_of_reports(opened, server):
    page = opened(server.url + f"#ClusterQueue%2Frobots%3Aquota%5B{CELL.replace('/', '%2F')}%5D.nominalQuota=6")
    page.get_by_text("Mean wait: 7 min 3 s → 1 min 58 s (better)").wait_for()
    assert page.get_by_text("Largest problem with the current values").is_visible()
    assert page.locator("p.problem").inner_text().startswith("speech has ")
    order = ["speech", "vision", "robots"]
    assert page.locator(".left details > summary").all_inner_texts() == order
    assert [text.strip() for text in page.locator("table.tree tbody tr td:first-child").all_inner_texts()][1:] == order
    assert page.locator(".legend span").all_inner_texts()[:3] == order
    assert page.locator("svg.usage text").all_text_contents().count("0") == 1


def test_a_link_has_the_changed_values_and_ignores_others(opened, server, page):
    page.get_by_role("slider", name=NOMINAL).fill("3")
    page.wait_for_url("**nominalQuota=3**")
    other = opened(page.url)
    assert changes(other) == [f"vision: nominal quota of {CELL} lowered from 8 to 3"]
    bad = f"#ClusterQueue%2Fvision%3Aquota%5B{CELL.replace('/', '%2F')}%5D.nominalQuota=none&x=1&__proto__=3"
    assert changes(opened(server.url + bad)) == []


def test_the_patch_gives_the_changed_cluster(page, played):
    page.get_by_role("slider", name=NOMINAL).fill("3")
    page.get_by_role("checkbox", name=f"{BORROWING}: limited").check()
    page.get_by_role("button", name="Copy as YAML patch").click()
    text = page.get_by_role("textbox", name="Text to copy")
    while not text.input_value():
        page.wait_for_timeout(20)
    path = f"ClusterQueue/vision:quota[{CELL}]"
    values = {f"{path}.nominalQuota": 3, f"{path}.borrowingLimit": 40}
    assert text.input_value() == played.patch(values)


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_screen(opened, server, width, scheme):
    page = opened(server.url, width=width, scheme=scheme)
    page.locator(".figures tbody tr").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for cell in page.locator(".tree th").all():
        assert cell.bounding_box()["height"] < 80  # no heading is broken into single letters


@pytest.mark.parametrize("width", [400, 1400])
def test_the_label_of_the_usage_axis_is_beside_long_ticks(opened, width):
    cluster = kq.Cluster(kq.ResourceFlavor("arm"), kq.ClusterQueue.of("team", {"arm": {"pods": 123_456}}))
    jobs = kq.Jobs({"queue": ["team"], "submit": [0.0], "runtime": [60.0], "pods": [100_000]})
    with Server(Playground(cluster, jobs)) as serving:
        page = opened(serving.url, width=width)
        page.locator(".figures tbody tr").first.wait_for()
        label, *others = (text.bounding_box() for text in page.locator(".usage text").all())
        ticks = page.locator(".usage text[text-anchor=end]").all_text_contents()
        frame = page.locator(".usage").bounding_box()
    assert any(len(text) >= 6 for text in ticks)
    assert frame["x"] <= label["x"]
    assert label["x"] + label["width"] <= min(box["x"] for box in others)
