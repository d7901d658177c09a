"""A real Chromium for the tests of the report's page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.documents import page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = "REPOCUE_REQUIRE_BROWSER"

FLAGS = (
    "--no-sandbox",  # a container's root has no other way, and the only page is our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium of this machine; without one the test is skipped, or fails where one is required."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get(REQUIRED):
            pytest.fail(f"{REQUIRED} is set and none of {', '.join(NAMES)} is on PATH")
        pytest.skip(f"no Chromium: none of {', '.join(NAMES)} is on PATH, so the report's page was not opened")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """`address(name)`: where the page of a document lies, as a file URL."""
    folder: Path = tmp_path_factory.mktemp("pages")

    def put(name: str) -> str:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_bytes(page(name))
        return path.as_uri()

    return put
