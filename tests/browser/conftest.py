"""Chromium, in which the tests of this folder open pages; without Chromium and Playwright they are deselected.

`nox -s browser` runs them. Install Chromium with `apt-get install chromium`, or name it in the variable `CHROMIUM`.
"""

import importlib.util
from pathlib import Path

import pytest

from gallery import make


def pytest_collection_modifyitems(config, items):
    """Deselect the tests of this folder on a machine without a browser."""
    if make.chromium() and importlib.util.find_spec("playwright"):
        return
    mine = [item for item in items if Path(__file__).parent in item.path.parents]
    if mine:
        config.hook.pytest_deselected(items=mine)
        items[:] = [item for item in items if item not in mine]


@pytest.fixture(scope="module")
def browser():
    """A running Chromium.

    It lives for one module: as long as Playwright runs, its event loop counts as the running loop of this thread, and
    other tests of the same process could not start a loop of their own.
    """
    with make.browser() as found:
        yield found


@pytest.fixture
def opened(browser):
    """Open an address, fail on any error of the page, and close it at the end."""
    contexts, failures = [], []

    def open_page(url, *, width=1400, height=900, scheme="light", may_fail=False):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        found = context.new_page()
        errors = [] if may_fail else failures
        found.on("pageerror", lambda error: errors.append(str(error)))
        found.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        found.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))
        found.goto(url)
        return found

    yield open_page
    for context in contexts:
        context.close()
    assert failures == []
