"""One browser for all pages, and a page that must neither complain nor ask for anything but itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    pytest.importorskip("plotly", reason="the page needs the extra kflip[report]")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@contextmanager
def watched(browser: Any, path: Path, ready: str, **options: Any) -> Iterator[Any]:
    """The page when ``ready`` can be selected in it; fails in the end if it complained or asked for more."""
    page = browser.new_page(**options)
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda sent: requests.append(sent.url))
    page.goto(path.as_uri())
    page.wait_for_selector(ready)
    yield page
    page.close()
    assert complaints == []
    assert [address for address in requests if not address.startswith("data:")] == [path.as_uri()]
