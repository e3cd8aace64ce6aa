"""The site builds without the network, holds every page, and no link of it leads nowhere."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import expect
from tools.site_pages import described_settings, every_command, options_of

from tests.collector.pages.conftest import chromium
from tests.docs.links import broken, broken_in
from tests.docs.sections import members
from tests.docs.surface import everything, source

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

#: What `git clone` shows first; their links are checked as files of the repository.
AT_THE_ROOT = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "clients/js/README.md"]

#: Any attempt to reach another machine ends the build.
OFFLINE = """
import gc, socket, sys
gc.disable()
def refuse(*args, **more):
    raise OSError("the build of the site reached for the network")
socket.socket.connect = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli()
"""


@pytest.fixture(scope="module")
def site() -> Path:
    """Built where `make docs` builds it."""
    target = ROOT / "site"
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, "build", "--strict", "--quiet"],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def pages_of(nav: Any) -> list[str]:
    """The pages that a nav names, in order."""
    if isinstance(nav, str):
        return [nav]
    return [page for part in (nav.values() if isinstance(nav, dict) else nav) for page in pages_of(part)]


def test_every_page_is_in_the_nav_once() -> None:
    named = pages_of(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    written = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    missing = sorted(written - set(named))
    assert not missing, "add to `nav` in mkdocs.yml, where a reader would look for it: " + ", ".join(missing)
    assert not set(named) - written, f"in the nav, but not written: {sorted(set(named) - written)}"
    assert len(named) == len(set(named))


def test_every_page_begins_with_its_title() -> None:
    for page in DOCS.rglob("*.md"):
        first = page.read_text().splitlines()[0]
        assert first.startswith("# "), (
            f"{page.relative_to(ROOT)} must begin with a heading, as its title in the nav"
        )


def test_decisions_have_numbers_of_their_own() -> None:
    numbers = [path.name[:3] for path in (DOCS / "decisions").glob("*.md")]
    twice = sorted({number for number in numbers if numbers.count(number) > 1})
    assert not twice, f"two decisions share the number {', '.join(twice)}: rename the later one"
    for path in (DOCS / "decisions").glob("*.md"):
        assert re.match(rf"# {path.name[:3]} \S", path.read_text()), (
            f"{path.name}: the title begins with its number"
        )


def test_links_of_the_site(site: Path) -> None:
    wrong = broken(site)
    assert not wrong, "\n".join(wrong)


def test_everything_public_is_in_the_reference(site: Path) -> None:
    head, _, packed = (site / "objects.inv").read_bytes().partition(b"zlib.\n")
    assert head.startswith(b"# Sphinx inventory")
    written = {line.split(" ", 1)[0] for line in zlib.decompress(packed).decode().splitlines()}
    wanted = {path: source(path) for path in everything()}
    missing = set(wanted) - written
    assert not missing, f"put `::: {min(missing)}` on a page of docs/reference"
    parts = {
        f"{path}.{name}" for path, thing in wanted.items() if thing.is_class for name, _ in members(thing)
    }
    assert not sorted(parts - written)


def words(page: str) -> str:
    """What a reader sees of some HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_every_option_and_setting_is_in_the_reference(site: Path) -> None:
    commands, settings = ((site / "reference" / f"{name}.html").read_text() for name in ("cli", "settings"))
    for name, command in every_command():
        section = words(re.search(rf">{name}<(.*?)(<h2|</article)", commands, re.DOTALL)[1])  # type: ignore[index]
        for param in options_of(command):
            shown = (param.param_type_name == "argument" and param.metavar) or param.opts[0]
            assert shown.upper() in section.upper(), f"{name} {param.opts[0]}"
            said = param.help.partition("`")[0]
            assert said.strip() in section, f"{name} {param.opts[0]}"
    for name, _, text in described_settings():
        assert f"<code>{name}</code>" in settings
        assert " ".join(text.split()) in words(settings)


def test_pages_that_the_program_names_exist() -> None:
    texts = (path.read_text() for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".js", ".html"))
    named = {page for text in texts for page in re.findall(r"docs/[\w/-]+\.md", text)}
    assert named
    assert not [page for page in named if not (ROOT / page).exists()]


@pytest.mark.parametrize("name", AT_THE_ROOT)
def test_links_of_the_repository(name: str) -> None:
    assert not broken_in(ROOT / name)


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<h1 id="here">')
    (tmp_path / "style.css").write_text(
        "@import url(https://fonts.example/a.css); b {background: url(data:a)}"
    )
    (tmp_path / "page.html").write_text(
        '<a href="other.html#here"><a href="https://e.org"><a href="other.html#away"><a href="gone.html">'
        '<script src="https://cdn.example/a.js"></script><img src="gone.png"><a href="#top">'
    )
    assert broken(tmp_path) == [
        "page.html fetches https://cdn.example/a.js from elsewhere",
        "page.html links to other.html#away: there is no such heading",
        "page.html links to gone.html: there is no such file",
        "page.html links to #top: there is no such heading",
        "page.html links to gone.png: there is no such file",
        "style.css fetches https://fonts.example/a.css from elsewhere",
    ]
    text = tmp_path / "text.md"
    text.write_text(
        "# A title, here\n[a](#a-title-here) [b](#b) [c](other.html) [d](gone.md) [e](https://e.org)"
    )
    assert [wrong.split(":")[0] for wrong in broken_in(text)] == [
        "text.md links to #b",
        "text.md links to gone.md",
    ]


def test_the_search_works_in_pages_opened_from_a_folder(site: Path) -> None:
    asked: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "howto/plan.html").as_uri())
        box = page.get_by_role("textbox", name="Search")
        box.click()
        box.press_sequentially("hourglass")
        expect(page.locator(".md-search-result__item").first).to_contain_text("ourglass")
    assert all(url.startswith("file:") for url in asked)
