"""A collector on a port and a Chromium; a page that breaks its content security policy fails its test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.collector.pages.site import Site

_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OpenPage = Callable[..., Page]
expect.set_options(timeout=45_000)  # a busy machine is no failure


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    running = Site(tmp_path_factory.mktemp("site"))
    yield running
    running.stop()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, or what stands in for it elsewhere; without windows it takes less time."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    path = next(found for name in names if (found := shutil.which(name)))
    with sync_playwright() as playwright:
        environment = {**os.environ, "no_proxy": "*"}
        running = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS, env=environment)
        yield running
        running.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium per file: while Playwright runs, no other event loop can run in this thread."""
    with chromium() as running:
        yield running


@pytest.fixture
def open_page(browser: Browser, site: Site) -> Iterator[OpenPage]:
    """Opens pages of the site in fresh profiles, and at the end asserts that they behaved."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def opened(path: str, context: BrowserContext | None = None, **options: Any) -> Page:
        if context is None:
            context = browser.new_context(**options)
            context.set_default_timeout(30_000)
            contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text) if _is_fault(message) else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: _own(request.url, site.url, faults))
        page.goto(site.url + path)
        return page

    yield opened
    cookies = [cookie for context in contexts for cookie in context.cookies()]
    for context in contexts:
        context.close()
    assert not faults
    assert not cookies


def _is_fault(message: Any) -> bool:
    """Errors and warnings of scripts; an HTTP status that a test provokes is no fault of the page."""
    return message.type in ("error", "warning") and "Failed to load resource" not in message.text


def _own(url: str, site: str, faults: list[str]) -> None:
    if not url.startswith((site, "blob:", "data:")):
        faults.append(f"asked for {url}")
