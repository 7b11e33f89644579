"""The structure of pages and pictures in Chromium: roles, labels, texts, contrast and width, light and dark.

The tests use the pages of `docs/gallery/make.py` and compare no pixels.
"""

import warnings

import pytest

import kueuepy as kq
from gallery import make

OTHERS = ("pictures", "plots", "racks", "displays", "terminal", "page", "playground")
PAGES = ("report", "comparison", "policies")
CHECKS = """
async () => {
  const parts = (text) => {
    const [r, g, b, a] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a ?? 1];
  };
  const over = (front, back) => [0, 1, 2].map((i) => front[3] * front[i] + (1 - front[3]) * back[i]).concat(1);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const isFaint = (ink, paper) => {
    const [low, high] = [luminance(over(ink, paper)), luminance(paper)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05) < 4.5;
  };
  const paper = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parts(getComputedStyle(one).backgroundColor);
      if (colour[3] && !getComputedStyle(one).backgroundColor.includes("transparent")) return colour;
    }
    return [255, 255, 255, 1];
  };
  const opacity = (element) => element ? +getComputedStyle(element).opacity * opacity(element.parentElement) : 1;
  const pixel = async (image, at) => {  // of a picture in a chart, such as a heat map of matplotlib
    const bitmap = new Image();
    bitmap.src = image.href.baseVal;
    await bitmap.decode();
    const canvas = document.createElement("canvas"), size = (name) => image[name].baseVal.value;
    [canvas.width, canvas.height] = [bitmap.naturalWidth, bitmap.naturalHeight];
    const drawn = canvas.getContext("2d");
    drawn.drawImage(bitmap, 0, 0);
    const [x, y] = [(at.x - size("x")) / size("width"), (at.y - size("y")) / size("height")];
    const [r, g, b, a] = drawn.getImageData(Math.floor(x * canvas.width), Math.floor(y * canvas.height), 1, 1).data;
    return [r, g, b, a / 255];
  };
  const below = async (text) => {  // the colour of the shapes below a text of a chart
    const box = text.getBoundingClientRect(), chart = text.ownerSVGElement;
    let colour = paper(chart);
    for (const shape of chart.querySelectorAll("rect, path, polygon, circle, image")) {
      if (shape.closest("defs, pattern, clipPath") || shape.compareDocumentPosition(text) & 2) continue;
      const at = new DOMPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2)
        .matrixTransform(shape.getScreenCTM().inverse());
      const frame = shape.getBBox(), style = getComputedStyle(shape);
      if (at.x < frame.x || at.x > frame.x + frame.width || at.y < frame.y || at.y > frame.y + frame.height) continue;
      if (shape.tagName === "image") colour = over(await pixel(shape, at), colour);
      else if (style.fill !== "none" && shape.isPointInFill(at)) {
        const fill = style.fill.startsWith("url") ? [128, 128, 128, 1] : parts(style.fill);
        colour = over([...fill.slice(0, 3), fill[3] * style.fillOpacity * opacity(shape)], colour);
      }
    }
    return colour;
  };
  const texts = [...document.querySelectorAll("body *")].filter((one) =>
    one.checkVisibility() && !one.matches(":disabled")
    && [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
    && !["SCRIPT", "STYLE", "TITLE", "title", "style"].includes(one.tagName));
  const faint = [], cut = [], small = [];
  for (const one of texts) {
    const isDrawn = one instanceof SVGElement;
    const style = getComputedStyle(one), name = one.textContent.trim().slice(0, 40);
    if (!isDrawn) {
      const ink = parts(style.color);
      if (isFaint([...ink.slice(0, 3), ink[3] * opacity(one)], paper(one))) faint.push(name);
      const box = one.getBoundingClientRect(), scrolls = one.closest(".kq-scroll, pre, [style*='overflow-x']");
      const isOut = box.right > innerWidth + 1 || box.left < -1;
      if (!scrolls && box.width && isOut) cut.push(name);
    } else if (one.tagName === "text") {
      const box = one.getBoundingClientRect(), frame = one.ownerSVGElement.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1) cut.push(name);
      if (isFaint(parts(style.fill), await below(one))) faint.push(name);
      const scale = one.getScreenCTM(), size = parseFloat(style.fontSize) * Math.hypot(scale.a, scale.b);
      if (size < 10.8) small.push(`${name} ${size.toFixed(1)}`);
    }
  }
  const broken = [];  // single words in several lines
  for (const head of document.querySelectorAll("th[scope=row], td")) {
    const inner = head.querySelector(":scope > span:not(.kq-key)") ?? head;
    const node = [...inner.childNodes].find((one) => one.nodeType === 3 && one.textContent.trim());
    if (!node || !head.checkVisibility() || /[\\s/-]/.test(node.textContent) || node.textContent.length > 30) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(node.textContent);
  }
  const colours = {};
  for (const key of document.querySelectorAll(".kq-key")) {
    const name = key.parentElement.textContent.trim().split("-")[0];
    (colours[name] ??= new Set()).add(getComputedStyle(key).backgroundColor);
  }
  for (const label of document.querySelectorAll("svg text")) {
    const box = label.previousElementSibling;
    if (box?.tagName === "rect" && label.textContent in colours) {
      colours[label.textContent].add(getComputedStyle(box).fill);
    }
  }
  return {
    faint, cut, broken, small,
    colours: Object.fromEntries(Object.entries(colours).map(([name, found]) => [name, [...found]])),
    wide: document.documentElement.scrollWidth - innerWidth,
    headings: [...document.querySelectorAll("h1, h2, h3")].map((one) => +one.tagName[1]),
    unlabelled: [...document.querySelectorAll("svg:not([aria-hidden=true])")].filter((one) =>
      one.getAttribute("role") !== "img" || !one.getAttribute("aria-label") || !one.querySelector("title")).length,
    headless: [...document.querySelectorAll("table")].filter((one) => !one.querySelector("th[scope=col]")).length,
    visible: [...document.querySelectorAll("svg")].filter((one) => one.checkVisibility()).length,
    cards: [...document.querySelectorAll(".kq-card")].map((one) => one.getAttribute("aria-label")),
    lead: document.querySelector(".kq-lead")?.textContent ?? "",
  };
}
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return make.write(make.Examples(), tmp_path_factory.mktemp("gallery"), set(PAGES))


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """The addresses of all other pages, by name and theme."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        examples = make.Examples()
        found = make.write(examples, tmp_path_factory.mktemp("others"), set(OTHERS))
        with make.playground(examples) as address:
            yield {**found, "playground": dict.fromkeys(make.THEMES, address)}


@pytest.mark.parametrize("theme", make.THEMES)
@pytest.mark.parametrize("width", make.WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_report_is_readable_at_any_width_and_theme(browser, pages, name, width, theme):
    page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=theme)
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: request.url.startswith("file:") or problems.append(request.url))
    page.goto(pages[name][theme])
    found = page.evaluate(CHECKS)
    page.close()
    assert problems == []  # no violation of the content security policy, no error, no network
    assert found["faint"] == []
    assert found["cut"] == []
    assert found["small"] == []
    assert found["broken"] == []
    assert found["wide"] <= 0
    assert found["unlabelled"] == 0
    assert found["headless"] == 0
    assert found["visible"] > 0
    assert len(found["cards"]) == 5
    assert found["headings"][0] == 1
    assert all(after - before <= 1 for before, after in zip(found["headings"], found["headings"][1:], strict=False))
    assert found["colours"].keys() >= {"robots", "speech", "vision"}
    shown = [found["colours"][queue] for queue in ("robots", "speech", "vision")]
    assert all(len(colours) == 1 for colours in shown)  # the same colour in every chart and table
    assert len({colours[0] for colours in shown}) == 3
    assert "95%" in found["lead"]


@pytest.mark.parametrize("theme", make.THEMES)
@pytest.mark.parametrize("width", make.WIDTHS)
@pytest.mark.parametrize("name", OTHERS)
def test_every_other_page_of_the_gallery_is_readable(browser, others, name, width, theme):
    """Pictures, plots, racks, displays, the terminal, the page of a cluster and the playground."""
    page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=theme)
    page.goto(others[name][theme])
    page.wait_for_function("document.querySelector('svg, table, pre') !== null")
    if name == "playground":
        page.wait_for_selector("tbody td")
        page.wait_for_selector("table.figures:not(.going) tbody td")  # metrics of an earlier answer are pale
    found = page.evaluate(CHECKS)
    page.close()
    assert found["faint"] == []
    assert found["cut"] == []
    assert found["small"] == []
    assert found["wide"] <= 0
    assert found["headings"][0] == 1
    assert found["unlabelled"] == 0
    assert found["visible"] > 0 or name in ("terminal", "page")


@pytest.mark.parametrize("name", PAGES)
def test_values_of_a_report_need_no_sideways_scrolling(browser, pages, name):
    page = browser.new_page(viewport={"width": 400, "height": 1000})
    page.goto(pages[name]["light"])
    found = page.evaluate(
        """() => [...document.querySelectorAll("table[data-sortable] td")].map((cell) => {
          const value = cell.querySelector("span").getBoundingClientRect();
          return [cell.dataset.label, getComputedStyle(cell, "::before").content, value.left, value.right];
        })"""
    )
    page.close()
    assert found
    assert all(shown == f'"{label}"' for label, shown, _, _ in found)
    assert max(right for _, _, _, right in found) <= 400
    assert min(left for _, _, left, _ in found) > 150  # beside the title of the column, not over it


def test_faint_and_small_texts_of_charts_are_found(browser):
    """The checks of this file can fail: text on a shape, over half of a shape, on a picture, and too small."""
    page = browser.new_page()
    page.set_content(
        '<svg viewBox="0 0 200 100" width="100" height="50" font-size="24" role="img" style="background: #fff">'
        '<rect width="100" height="50" fill="#777"/>'
        '<rect y="50" width="200" height="50" fill="#000" fill-opacity=".4"/>'
        '<text x="5" y="30">a</text><text x="120" y="30">b</text><text x="5" y="80">c</text>'
        '<text x="50" y="80" fill="#777">d</text><text x="150" y="30" font-size="20" fill="#ddd">e</text></svg>'
        '<p style="opacity: .3">f</p>'
    )
    found = page.evaluate(CHECKS)
    assert found["faint"] == ["d", "e", "f"]
    assert found["small"] == ["e 10.0"]
    page.close()


def test_columns_are_sorted_with_the_keyboard(browser, pages):
    page = browser.new_page()
    page.goto(pages["report"]["light"])
    button = page.locator("table[data-sortable] th button").nth(1)
    button.focus()
    page.keyboard.press("Enter")
    head = page.locator("table[data-sortable] th").nth(1)
    assert head.get_attribute("aria-sort") == "ascending"
    cells = page.locator("table[data-sortable]").first.locator("tbody tr td:nth-child(2)").all()
    numbers = [float(cell.get_attribute("data-v")) for cell in cells]
    assert numbers == sorted(numbers)
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_report_prints_on_a4(browser, pages, name):
    page = browser.new_page(color_scheme="dark", viewport={"width": 680, "height": 960})  # A4 without its margins
    page.goto(pages[name]["light"])
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"  # ink is for the text
    pdf = page.pdf(prefer_css_page_size=True)
    page.close()
    assert pdf.startswith(b"%PDF")
    assert b"/MediaBox [0 0 594" in pdf or b"/MediaBox [0 0 595" in pdf  # points of A4


def test_hostile_names_stay_text(browser, tmp_path):
    evil = "<img src=x onerror=alert(1)>"
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("team", {"f": {"nvidia.com/gpu": 1}}))
    rows = [{"name": f"j{n}", "queue": "team", "submit": n, "runtime": 60, "gpu": 1} for n in range(9)]
    result = kq.simulate(cluster, rows)
    kq.report({evil: result, "</script><b>": result}, tmp_path / "evil.html", title=evil, command=evil)
    page = browser.new_page()
    problems = []
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.on("console", lambda message: problems.append(message.text))
    page.goto((tmp_path / "evil.html").as_uri())
    assert page.locator("h1").inner_text() == evil
    assert page.locator("img, b:not(.kq-card b)").count() == 0
    assert problems == []
    # Inline styles and handlers that a page might contain are refused.
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p id=p style=\"color: red\" onclick=\"x\">p</p>')")
    assert page.locator("#p").evaluate("one => getComputedStyle(one).color") != "rgb(255, 0, 0)"
    page.close()


def test_a_picture_is_readable_on_its_own(browser, tmp_path):
    """A saved SVG file has a background of its own, light or dark as the browser prefers."""
    cluster, jobs = kq.load(make.WEEK / "teams.yaml"), kq.Jobs.read(make.WEEK / "jobs.csv")
    path = tmp_path / "usage.svg"
    kq.simulate(cluster, jobs).picture("usage").save(path)
    for theme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 22, 26)")):
        page = browser.new_page(color_scheme=theme)
        page.goto(path.as_uri())
        root = page.locator("svg").first
        assert root.evaluate("one => getComputedStyle(one).backgroundColor") == paper
        assert root.get_attribute("role") == "img"
        page.close()
