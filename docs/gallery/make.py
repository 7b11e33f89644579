"""Take screenshots of every page, picture and table in Chromium: light and dark, 400 and 1,400 pixels wide.

Run `python docs/gallery/make.py` after a change of what users see, and look at the images in `docs/gallery`. The script
needs Playwright and Chromium (`apt-get install chromium`). `tests/browser/test_structure.py` checks the same
pages without images.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import kueuepy as kq
from kueuepy.look.notebook import figure_html

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
WEEK = ROOT / "examples" / "week"
GPU = "nvidia.com/gpu"
RECLAIM = "ClusterQueue/{}:preemption.reclaimWithinCohort"
WIDTHS = {400: 900, 1400: 1000}
"""Width and height of the window, in pixels."""
LONGEST = 2600
"""Maximum height of an image, in pixels, with a few exceptions."""
WHOLE = {"pictures": 5000, "plots": 6400, "displays": 16000, "terminal": 7600}
"""Maximum height of the images of pages that consist of several pictures or displays."""
BUSY = 161.0
"""A time at which many jobs wait, in hours after the first submission."""
THEMES = ("light", "dark")
NARROW = (3.8, 4.2)
"""The size of a figure of matplotlib for a narrow screen, in inches."""
PICTURES = ("usage", "queue", "shares", "waits", "gantt", "preemptions", "slowdown_by_size")


def chromium() -> str:
    """Return the path of Chromium, or an empty text if it is not installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), "")


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Start Chromium, and stop it at the end."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not needed to write the pages

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            yield found
        finally:
            found.close()


class Examples:
    """The simulations behind the pages."""

    def __init__(self) -> None:
        """Run them."""
        cluster, jobs = kq.load(WEEK / "teams.yaml"), kq.Jobs.read(WEEK / "jobs.csv")
        self.cluster, self.jobs = cluster, jobs
        never = cluster
        for team in ("vision", "speech", "robots"):
            never = never.edit(RECLAIM.format(team), "Never")
        alone = kq.load(WEEK / "alone.yaml")
        self.compared = kq.compare({"no reclaiming": never, "reclaiming": cluster, "no sharing": alone}, jobs)
        self.pair = self.compared.between("no reclaiming", "reclaiming")
        self.result = self.compared["reclaiming"]

    def sweep(self) -> Any:
        """Return a sweep of two fields."""
        quota = f"ClusterQueue/vision:quota[h100/{GPU}].nominalQuota"
        return kq.sweep(self.cluster, self.jobs, {quota: [4, 6, 8, 10], RECLAIM.format("vision"): ["Never", "Any"]})

    def plan(self) -> Any:
        """Return a plan of one field."""
        quota = f"ClusterQueue/vision:quota[h100/{GPU}].nominalQuota"
        return kq.plan(self.cluster, self.jobs, "wait_p95(vision) <= 30m", vary=quota, low=2, high=12)


def _page(title: str, body: str) -> str:
    """Return a page around HTML that is otherwise part of a notebook."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width"><style>:root { color-scheme: light dark } '
        "body { font: 14px/1.5 system-ui, sans-serif; margin: 1rem } pre { overflow-x: auto; "
        "font-size: min(13px, calc((100vw - 2rem) / 80 / .62)) } "
        "figure { margin: 0 0 1.5rem } svg, img { max-width: 100%; height: auto } "
        "p { max-width: 46rem; overflow-wrap: anywhere } "
        "table { border-collapse: collapse; margin-bottom: 1rem } td, th { padding: .2rem .6rem }"
        "@media (prefers-color-scheme: dark) { body { background: #14161a; color: #e4e6ea } }"
        f"</style></head><body><h1>{escape(title)}</h1>\n{body}</body></html>"
    )


def pictures(examples: Examples) -> str:
    """Return a page with all SVG pictures."""
    shown = [examples.result.picture(name)._repr_html_() for name in PICTURES]
    both = examples.pair.picture("usage")._repr_html_()
    return _page("Pictures", f"{_in_words(examples)}{''.join(shown)}{both}")


def _in_words(examples: Examples) -> str:
    """Return the result of the comparison of two policies in sentences, as above the metrics of a notebook."""
    return "".join(f"<p>{escape(text)}</p>" for (text,) in examples.pair.sheets()[0].rows)


def plots(examples: Examples, theme: str) -> str:
    """Return a page with all matplotlib charts in one theme."""
    import matplotlib as mpl  # noqa: PLC0415 - only on use

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of the backend

    sweep, plan = examples.sweep(), examples.plan()
    quota, reclaim = (name for name in sweep.policies[0])
    found = []
    draw = [getattr(examples.result.plot, name) for name in PICTURES]
    draw += [
        partial(sweep.plot.pareto, "wait_p95", "evictions", colour=quota),
        partial(sweep.plot.curve, quota, "wait_p95"),
        partial(sweep.plot.heat, quota, reclaim, "wait_p95"),
        partial(sweep.plot.parallel, "wait_p95", "evictions"),
        plan.plot,
    ]
    settings = {"svg.fonttype": "none"}  # text stays text, which the tests of structure read
    with mpl.style.context(f"kueuepy.look.{theme}"), mpl.rc_context(settings):
        for one in draw:
            _, narrow = plt.subplots(figsize=NARROW, layout="constrained")
            found.append(figure_html(_svg_of(one(), "wide"), _svg_of(one(ax=narrow), "narrow")))
            plt.close("all")
    return _page("Plots with matplotlib", f"{_in_words(examples)}{''.join(found)}")


def _svg_of(ax: Any, salt: str) -> str:
    """Return the figure of Axes as an SVG element with a label, and with identifiers that are unique on a page."""
    import matplotlib as mpl  # noqa: PLC0415 - only on use

    stream = io.StringIO()
    label = escape((ax.get_title(loc="left") or f"{ax.get_ylabel()} by {ax.get_xlabel()}").replace("\n", " "))
    with mpl.rc_context({"svg.hashsalt": f"{salt} {label}"}):
        ax.figure.savefig(stream, format="svg")
    text = stream.getvalue()
    image = text[text.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return image.replace(">", f"><title>{label}</title>", 1)


def displayed(examples: Examples) -> dict[str, Any]:
    """Return a value of each type that notebooks and terminals display."""
    busiest = examples.result.usage["seconds"][examples.result.usage["waiting"].argmax()]
    scheduler = examples.result.at(float(busiest) + 1)  # when most jobs wait
    waits = next(found for found in map(scheduler.explain, scheduler.keys()) if "pending" in found.headline)
    return {
        "Jobs": examples.jobs,
        "Result": examples.result,
        "Comparison": examples.pair,
        "Sweep": examples.sweep(),
        "Plan": examples.plan(),
        "Delays": kq.lab.guarantee("delays", examples.cluster, jobs=examples.jobs),
        "Scheduler": scheduler,
        "Explanation": waits,
    }


def displays(examples: Examples) -> str:
    """Return a page with the notebook display of each value."""
    shown = displayed(examples).items()
    return _page("Displays in a notebook", "".join(f"<h2>{name}</h2>{value._repr_html_()}" for name, value in shown))


def terminal(examples: Examples) -> str:
    """Return a page with the output of `print` and of commands in a terminal of 80 columns."""
    found = [(f"print({name.lower()})", str(value)) for name, value in displayed(examples).items()]
    week = ["examples/week/teams.yaml", "--jobs", "examples/week/jobs.csv"]
    commands = (["simulate", *week], ["compare", "examples/week/alone.yaml", *week])
    found += [(f"$ kueuepy {' '.join(command)}", _in_terminal(command)) for command in commands]
    return _page("Terminal", "".join(f"<h2>{escape(head)}</h2><pre>{escape(text)}</pre>" for head, text in found))


def _in_terminal(command: list[str]) -> str:
    """Return what a command prints to a terminal of 80 columns, without colours."""
    import pty  # noqa: PLC0415 - only on Unix

    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "xterm"}
    run = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "kueuepy", *command], cwd=ROOT, stdout=slave, stderr=subprocess.DEVNULL, env=environment
    )
    os.close(slave)
    parts = []
    with contextlib.suppress(OSError):
        while part := os.read(master, 65536):
            parts.append(part)
    run.wait()
    os.close(master)
    return re.sub(r"\x1b\[[0-9;]*m", "", b"".join(parts).decode().replace("\r\n", "\n"))  # without bold letters


def racks() -> str:
    """Return a page with the map of racks as SVG."""
    levels = ["block", "rack", "kubernetes.io/hostname"]
    topology = kq.Topology("racks", levels=levels)
    flavor = kq.ResourceFlavor("h100", node_labels={"gpu": "h100"}, topology_name="racks")
    hosts = kq.objects.nodes(topology, (2, 2, 3), labels={"gpu": "h100"}, capacity={GPU: 4})
    queue = kq.ClusterQueue.of("team", {"h100": {GPU: 48}})
    scheduler = kq.Scheduler(kq.Cluster(topology, flavor, queue, hosts))
    scheduler.submit({"name": f"job-{n}", "queue": "team", "pods": n, "gpu": 2} for n in range(1, 7))
    scheduler.settle()
    return _page("Map of racks", scheduler.topology("racks")._repr_html_())


def write(examples: Examples, folder: Path, names: set[str]) -> dict[str, dict[str, str]]:
    """Write the pages to a folder, and return the address of each page by name and theme."""
    found: dict[str, dict[str, str]] = {}

    def add(name: str, theme: str, text: str) -> None:
        path = folder / f"{name}-{theme}.html"
        path.write_text(text, encoding="utf-8")
        found.setdefault(name, {})[theme] = path.as_uri()

    for name, results in (("report", examples.result), ("comparison", examples.pair), ("policies", examples.compared)):
        if not names or name in names:
            path = folder / f"{name}.html"
            kq.report(results, path)
            found[name] = dict.fromkeys(THEMES, path.as_uri())
    for name, made in (
        ("pictures", pictures),
        ("displays", displays),
        ("terminal", terminal),
        ("racks", lambda _: racks()),
    ):
        if not names or name in names:
            text = made(examples)
            for theme in THEMES:
                add(name, theme, text)
    if not names or "page" in names:
        path = folder / "page.html"
        examples.result.page(path, title="Week of three teams")
        found["page"] = dict.fromkeys(THEMES, f"{path.as_uri()}#t={int(BUSY * 3600)}")
    if not names or "plots" in names:
        for theme in THEMES:
            add("plots", theme, plots(examples, theme))
    return found


def shoot(pages: dict[str, dict[str, str]], folder: Path) -> None:
    """Write a WebP image of each page, theme and width to a folder."""
    from PIL import Image  # noqa: PLC0415 - only for the images

    with browser() as chrome:
        for name, themes in pages.items():
            for theme, address in themes.items():
                for width, height in WIDTHS.items():
                    scale = 2 if name == "terminal" and width == min(WIDTHS) else 1  # 80 columns stay readable
                    size = {"width": width, "height": height}
                    page = chrome.new_page(viewport=size, color_scheme=theme, device_scale_factor=scale)
                    page.goto(address)
                    page.wait_for_timeout(1500 if address.startswith("http") else 100)
                    image = Image.open(io.BytesIO(page.screenshot(full_page=True)))
                    image = image.convert("RGB").crop(
                        (0, 0, image.width, min(image.height, scale * WHOLE.get(name, LONGEST)))
                    )
                    image.save(folder / f"{name}-{theme}-{width}.webp", quality=60, method=6)
                    page.close()


@contextlib.contextmanager
def playground(examples: Examples) -> Iterator[str]:
    """Serve the playground, and yield its address."""
    from kueuepy.lab.play import Playground, Server  # noqa: PLC0415 - only on use

    server = Server(Playground(examples.cluster, examples.jobs, "reclaiming"), 0)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server.url
    finally:
        server.close()


def main() -> None:
    """Write all images, or those of the named pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="Folder of the images.")
    parser.add_argument("names", nargs="*", help="Pages; all by default.")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", UserWarning)
    examples, names = Examples(), set(options.names)
    with tempfile.TemporaryDirectory() as folder:
        shoot(write(examples, Path(folder), names), options.out)
    if not names or "playground" in names:
        with playground(examples) as address:
            changed = urlencode({f"ClusterQueue/robots:quota[h100/{GPU}].nominalQuota": 6})
            shoot({"playground": dict.fromkeys(THEMES, f"{address}#{changed}")}, options.out)


if __name__ == "__main__":
    main()
