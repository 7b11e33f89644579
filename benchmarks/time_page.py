"""Size of pages and reports, and the time in which Chromium draws a moment of a page.

    python benchmarks/time_page.py [--moments N]

The page shows a simulation of 10,000 jobs in 100 ClusterQueues. The script moves its time slider to N moments, 100 by
default, and waits each time until Chromium has drawn a frame. It goes through all moments five times and takes the
shortest time of each, because other processes may use the machine. Targets: 5 MB and 100 ms. The reports, of one policy
and of two, show 100,000 jobs in 5,000 ClusterQueues; the target is 3 MB. The script needs Playwright and Chromium.
"""

import argparse
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from shapes import large_page, large_report
from timing import say_load

import kueuepy as kq

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "gallery"))
import make

ROUNDS = 5
MEASURE = """async t => {
  const frame = () => new Promise(done => requestAnimationFrame(done));
  await frame();
  const begin = performance.now();
  cluster.seek(t);
  document.body.getBoundingClientRect();
  const drawn = performance.now() - begin;
  await frame(); await frame();
  return drawn;
}"""
"""Time of the scripts, style and layout of one moment; a frame before and after keeps moments apart."""


def page(path, moments):
    """Write the page, and print its size and the times of the moments."""
    cluster, jobs = large_page()
    kq.simulate(cluster, jobs).page(path)
    with make.browser() as chrome:
        tab = chrome.new_page(viewport={"width": 1400, "height": 900})
        session = tab.context.new_cdp_session(tab)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

        def spent():
            metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
            return 1000 * metrics["TaskDuration"]

        tab.goto(path.as_uri())
        end = tab.evaluate("+document.querySelector('input[type=range]').max")
        tab.evaluate(MEASURE, end / 2)  # compiles the script
        wall, cpu = np.empty((ROUNDS, moments)), np.empty((ROUNDS, moments))
        for number in range(ROUNDS):
            for moment in range(moments):
                before = spent()
                wall[number, moment] = tab.evaluate(MEASURE, end * moment / max(1, moments - 1))
                cpu[number, moment] = spent() - before
    print(f"page of 10,000 workloads: {path.stat().st_size / 1e6:.2f} MB")
    for name, times in (("time", wall.min(axis=0)), ("CPU time of the page's thread, with drawing", cpu.min(axis=0))):
        print(f"  {name}: median {np.median(times):.1f} ms, maximum {times.max():.1f} ms a moment")


def reports(folder):
    """Write the reports, and print their sizes."""
    clusters, jobs = large_report()
    found = kq.compare(clusters, jobs, until="7d")
    for name, results in (("one policy", found["any"]), ("two policies", found)):
        path = folder / f"{name}.html"
        kq.report(results, path)
        print(f"report of 100,000 jobs in 5,000 ClusterQueues, {name}: {path.stat().st_size / 1e6:.2f} MB")


def main():
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=100)
    options = parser.parse_args()
    say_load("page")
    warnings.simplefilter("ignore", UserWarning)
    with tempfile.TemporaryDirectory() as folder:
        page(Path(folder) / "page.html", options.moments)
        reports(Path(folder))


if __name__ == "__main__":
    main()
