"""The page of a cluster in Chromium: what it shows, the keyboard, hostile names, narrow screens, and its size."""

import html
import runpy
import warnings
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.cli.describe import start
from kueuepy.look import numbers
from kueuepy.look.serving import Server
from kueuepy.pages import Page
from kueuepy.pages.document import script_of_page
from kueuepy.platform.site import PageSite, SchedulerFeed

SHAPES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "shapes.py"))
EXAMPLES = Path(__file__).parents[2] / "examples"
WEEK = EXAMPLES / "week"
HOSTILE = "</script><img src=x onerror=alert(1)><b onclick=alert(2)>\u202e{name}__proto__"


def teams(quota=8, jobs=6):
    quotas = {"h100": {"nvidia.com/gpu": quota, "cpu": 80}}
    cluster = kq.Cluster(
        kq.ResourceFlavor("h100"),
        kq.ClusterQueue.of("vision", quotas, cohort_name="all"),
        kq.ClusterQueue.of("speech", quotas, cohort_name="all"),
        kq.ClusterQueue.of("alone", quotas),
    )
    scheduler = kq.Scheduler(cluster)
    scheduler.submit(*({"name": f"job-{n}", "queue": "vision", "gpu": 4, "cpu": 1} for n in range(jobs)))
    scheduler.settle()
    return scheduler


@pytest.fixture(scope="module")
def week():
    return kq.simulate(kq.load(WEEK / "teams.yaml"), kq.Jobs.read(WEEK / "jobs.csv"))


@pytest.fixture
def show(opened, tmp_path):
    """Save a page and open it from its file."""

    def shown(page, anchor="", **options):
        page.save(tmp_path / "page.html")
        return opened((tmp_path / "page.html").as_uri() + anchor, **options)

    return shown


def row(page, name):
    return page.get_by_role("treegrid").get_by_role("row").filter(has_text=name)


def cells(page, name):
    return [text.strip() for text in row(page, name).get_by_role("gridcell").all_inner_texts()]


def test_a_result_names_its_policy_its_largest_problem_and_the_next_step(week, show):
    week.policy = "reclaiming"
    try:
        page = show(week.page(), f"#t={161 * 3600}")
    finally:
        week.policy = ""
    assert page.get_by_text("Policy: reclaiming (kueuepy compare shows whether another policy is better)").is_visible()
    text = page.locator("p.problem").inner_text()
    assert text.startswith(
        "Largest problem: robots has 4 pending workloads; default/robots-948 has been pending longest"
    )
    assert "Next step: select it in the list below" in text
    names = [name.split()[0] for name in page.locator(".tree tbody .label bdi").all_inner_texts()]
    assert names == ["all", "speech", "vision", "robots"]  # as in charts and reports
    assert page.locator(".axis span").first.inner_text() == "0 d"


def test_quota_pending_and_running_workloads_are_shown(show):
    page = show(kq.page(teams(), title="Teams"))
    assert page.title() == "Teams"
    assert cells(page, "vision")[2:] == ["16", "8", "8", "—", "2", "4"]
    assert cells(page, "speech")[2:] == ["0", "8", "—", "8", "0", "0"]
    assert cells(page, "all Cohort")[2:] == ["16", "16", "—", "—", "2", "4"]
    bar = row(page, "vision").get_by_role("img")
    assert bar.get_attribute("aria-label") == "uses 16 of 8 GPUs, borrows 8"
    widths = bar.locator("i").evaluate_all("all => all.map(one => [one.className.split(' ')[0], one.style.width])")
    assert widths == [["own", "50%"], ["lent", "0%"], ["free", "0%"], ["mark", ""], ["over", "50%"]]
    table = page.get_by_role("table", name="Pending workloads")
    assert "insufficient unused quota for nvidia.com/gpu" in table.inner_text()
    assert page.get_by_text("Workloads: 2 pending, 4 admitted").is_visible()


def test_the_page_of_a_dump_has_its_time_and_counts_as_other_commands_do(show):
    scheduler, notes = start([str(EXAMPLES / "live" / "dump.yaml")])[:2]
    assert "(1 admitted, 1 pending)" in notes[0]
    page = show(kq.page(scheduler), scheme="dark")
    assert page.locator("header").get_by_text(" UTC").is_visible()
    assert page.locator(".sums").inner_text() == "Workloads: 1 pending, 1 admitted"
    # A workload without a LocalQueue is in no ClusterQueue, and pending as well.
    scheduler.submit({"name": "lost", "queue": "no-such-queue", "cpu": 1})
    assert show(kq.page(scheduler)).locator(".sums").inner_text() == "Workloads: 2 pending, 1 admitted"


def test_node_cards_include_other_pods_and_flag_a_node_above_its_capacity(show):
    scheduler = kq.Scheduler(kq.load(EXAMPLES / "topology"))
    scheduler.settle()
    scheduler.apply(kq.objects.Pod.of("agent", "host-1", requests={"nvidia.com/gpu": 2}))
    page = show(kq.page(scheduler), width=400)
    cards = [text.split(": ", 1) for text in page.locator(".hosts summary").all_inner_texts()]
    assert dict(cards) == {
        "host-1": "6 of 4 GPUs used (4 by workloads, 2 by other pods), 2 above the capacity",
        "host-2": "4 of 4 GPUs used",
    }
    widths = page.locator(".hosts .bar").first.locator("i").evaluate_all("all => all.map(one => one.style.width)")
    assert widths == ["66.6667%", "33.3333%", "0%"]


def test_the_whole_explanation_opens_with_the_keyboard_and_closes_with_escape(show):
    scheduler = teams()
    page = show(kq.page(scheduler))
    page.get_by_role("button", name="default/job-4").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    found = scheduler.explain("job-4")
    assert dialog.get_by_role("heading", name=found.headline).is_visible()
    for cause in found.causes:
        assert dialog.get_by_text(cause.text).first.is_visible()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert page.evaluate("document.activeElement.textContent") == "default/job-4"


def test_the_tree_works_with_the_keyboard(show):
    page = show(kq.page(teams()))
    row(page, "all Cohort").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.querySelector('bdi').textContent") == "speech"
    page.keyboard.press("Enter")
    assert page.get_by_role("heading", name="0 pending workloads in ClusterQueue speech").is_visible()
    assert row(page, "speech").get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowLeft")  # to the parent
    page.keyboard.press("ArrowLeft")  # fold it
    assert row(page, "all Cohort").get_attribute("aria-expanded") == "false"
    assert row(page, "speech").count() == 0
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.querySelector('bdi').textContent") == "alone"


def test_workloads_are_found_by_name_queue_and_reason(show):
    page = show(kq.page(teams()))
    search = page.get_by_role("searchbox", name="Find workloads")
    search.fill("job-5")
    assert page.get_by_role("heading", name="1 pending workload that match “job-5”").is_visible()
    search.fill("insufficient")
    assert page.get_by_role("table", name="Pending workloads").get_by_role("row").count() == 3
    page.get_by_role("button", name="Show all workloads").click()
    assert page.get_by_role("heading", name="2 pending workloads", exact=True).is_visible()


@pytest.mark.parametrize("hours", [9.5, 55.25, 101])
def test_a_moment_of_a_simulation_equals_its_scheduler(week, show, hours):
    page = show(week.page(), f"#t={hours * 3600}")
    scheduler = week.at(f"{hours}h")
    status = list(scheduler.workloads["status"])
    wanted = [sum(one in kinds for one in status) for kinds in (("Pending",), ("QuotaReserved", "Admitted", "Evicted"))]
    assert cells(page, "all Cohort")[-2:] == [str(number) for number in wanted]
    used = scheduler.usage.amounts()["vision"].get("h100/nvidia.com/gpu", 0)
    assert cells(page, "vision")[2] == str(used)
    assert (
        page.get_by_role("slider", name="Time").get_attribute("aria-valuetext").endswith("after the first submission")
    )


def test_the_chart_of_pending_workloads_shows_the_largest_number(week, show):
    page = show(week.page(title="Week"))
    label = page.locator(".strip svg").nth(1).get_attribute("aria-label")
    assert label == f"Pending workloads; largest value {week.kpis.waiting_max}"


def test_the_time_slider_steps_and_plays(week, show):
    page = show(week.page(), "#t=0")
    slider, output = page.get_by_role("slider", name="Time"), page.locator("output")
    assert output.inner_text() == "0 s after the first submission"
    page.get_by_role("button", name="Next change").click()
    assert (
        output.inner_text()
        == f"{numbers.duration(min(t for t in week.page().data.events.t if t > 0))} after the first submission"
    )
    page.get_by_role("button", name="Previous change").click()
    assert output.inner_text() == "0 s after the first submission"
    slider.focus()
    page.keyboard.press("End")
    assert page.get_by_role("heading", name="0 pending workloads").is_visible()
    page.get_by_role("combobox", name="Play the whole period in").select_option("20 s")
    page.get_by_role("button", name="Play").click()
    while float(page.locator("input[type=range]").input_value()) <= 3600:
        page.wait_for_timeout(20)
    page.get_by_role("button", name="Pause").click()
    before = output.inner_text()
    page.wait_for_timeout(100)
    assert output.inner_text() == before


def test_the_address_keeps_the_view(week, show):
    page = show(week.page(), "#t=200000&node=ClusterQueue%2Frobots")
    assert page.get_by_role("heading", name="pending workloads in ClusterQueue robots").is_visible()
    page.wait_for_url("**t=200000**")


@pytest.mark.parametrize("field", ["name", "queue", "text", "title", "note", "cause", "rack"])
def test_hostile_texts_stay_text(show, field):
    made = kq.page(teams())
    data = made.data
    if field == "name":
        data.workloads.name = [HOSTILE] * len(data.workloads.name)
    elif field == "queue":
        data.nodes[1].name = HOSTILE
        data.nodes[1].note = HOSTILE
    elif field == "text":
        data.texts = [HOSTILE] * len(data.texts)
    elif field == "title":
        data.title = data.source = data.made = HOSTILE
    elif field == "note":
        data.notes = [HOSTILE]
    elif field == "cause":
        data.causes = [(HOSTILE, below) for _, below in data.causes]
    else:
        data.cells[0].flavor = data.cells[0].unit = HOSTILE
    page = show(Page(data))
    page.locator("button.open").first.click()
    assert page.locator("img, b").count() == 0
    assert HOSTILE in html.unescape(page.content())


def test_the_policy_blocks_scripts_and_images_that_are_not_of_the_page(show):
    page = show(kq.page(teams()), may_fail=True)
    blocked = page.evaluate(
        """() => new Promise(done => {
            document.addEventListener("securitypolicyviolation", event => done(event.violatedDirective));
            const made = document.createElement("div");
            made.innerHTML = "<img src='https://example.com/x.png'>";
            document.body.append(made);
        })"""
    )
    assert blocked == "img-src"
    page.evaluate(
        """() => {
            const made = document.createElement("script");
            made.textContent = "window.ran = 1";
            document.body.append(made);
        }"""
    )
    assert page.evaluate("window.ran") is None


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_their_screen_have_labels_and_enough_contrast(week, show, width, scheme):
    for made in (week.page(), kq.page(teams())):
        page = show(made, "#t=330000", width=width, scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("button, input, select, [role=img], table, section")]
                .filter(one => one.checkVisibility())
                .filter(one => !(one.getAttribute("aria-label") || one.textContent.trim() || one.closest("label")))
                .map(one => one.outerHTML)"""
        )
        assert nameless == []
        assert page.evaluate(CONTRAST) == []


CONTRAST = """() => {
    const parts = text => text.match(/[\\d.]+/g).map(Number);
    const bright = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = one => {
        for (let at = one; at; at = at.parentElement) {
            const colour = parts(getComputedStyle(at).backgroundColor);
            if (colour.length < 4 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    return [...document.querySelectorAll("body *")]
        .filter(one => one.checkVisibility() && [...one.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
        .filter(one => !["SCRIPT", "STYLE", "OPTION"].includes(one.tagName) && !one.closest("svg"))
        .map(one => {
            const [low, high] = [bright(parts(getComputedStyle(one).color)), bright(behind(one))].sort((a, b) => a - b);
            return [(high + 0.05) / (low + 0.05), one.textContent.slice(0, 40)];
        })
        .filter(([ratio]) => ratio < 4.5);
}"""


def test_the_script_writes_numbers_as_python_does(opened):
    values = [0, 1, 2.5, 12.345, 123.4, 999, 1234, 123456, 0.5, 0.0123, -3, 60, 61, 3600, 5400, 90061, 1e6, 45.6]
    page = opened("about:blank")
    page.evaluate(script_of_page().partition("\n})();")[0] + "\n})(); window.kqNumbers = kqNumbers;")
    found = page.evaluate("all => all.map(one => [kqNumbers.number(one), kqNumbers.duration(one)])", values)
    assert found == [[numbers.exact(one), numbers.duration(one)] for one in values]


def test_a_served_page_follows_its_source_and_explains_every_workload(opened):
    state = {"jobs": 6, "stamp": 0}
    feed = SchedulerFeed(lambda: (teams(jobs=state["jobs"]), ()), lambda: state["stamp"])
    with Server(PageSite(feed, every=0.2)) as server:
        page = opened(server.url)
        row(page, "vision").click()
        assert page.get_by_role("heading", name="2 pending workloads in ClusterQueue vision").is_visible()
        state.update(jobs=9, stamp=1)
        page.get_by_role("heading", name="5 pending workloads in ClusterQueue vision").wait_for()
        assert row(page, "vision").get_attribute("aria-selected") == "true"
        page.get_by_role("button", name="default/job-0").click()  # running: only the server explains it
        page.get_by_role("dialog").get_by_role("heading", name=teams().explain("job-0").headline).wait_for()


@pytest.fixture(scope="module")
def large():
    """A simulation of 10,000 jobs in 100 queues, with long waits."""
    cluster, jobs = SHAPES["large_page"]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the queues are overloaded on purpose
        return kq.simulate(cluster, jobs)


@pytest.mark.long
def test_a_page_of_ten_thousand_jobs_is_small_and_draws_few_elements(large, show):
    """The number of elements bounds the time of a moment, which `benchmarks/time_page.py` measures."""
    made = large.page()
    assert len(made.html.encode()) < 5_000_000
    page = show(made)
    numbers, waiting = [], []
    for share in (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1):
        page.evaluate("t => { cluster.seek(t); document.body.getBoundingClientRect(); }", made.data.end * share)
        numbers.append(page.locator("*").count())
        waiting.append(int(page.locator(".sums").inner_text().split()[1].replace(",", "")))
    assert max(waiting) > 5000
    assert max(numbers) < 5000
