"""Links of built pages and of the repository's own Markdown: where they lead, and whether that exists."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser fetches by itself when it shows a page, and the attribute that says from where.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
MARKDOWN_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@dataclass
class Page(HTMLParser):
    """The anchors, links and fetched files of one HTML page."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        # A canonical or alternate address is only named, not fetched.
        if tag in FETCHED and FETCHED[tag] in given and given.get("rel") not in ("canonical", "alternate"):
            self.fetched.append(given[FETCHED[tag]])


def external(link: str) -> bool:
    """Whether it leaves the site."""
    parts = urlsplit(link)
    return bool(parts.scheme or parts.netloc) and parts.scheme != "data"


def broken(site: Path) -> list[str]:
    """Everything wrong with the links of a built site."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        where = path.relative_to(site)
        wrong += [f"{where} fetches {link} from elsewhere" for link in page.fetched if external(link)]
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or where.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                wrong.append(f"{where} links to {link}: there is no such file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{where} links to {link}: there is no such heading")
    for path in sorted(site.rglob("*.css")):
        wrong += [
            f"{path.relative_to(site)} fetches {link} from elsewhere"
            for link in re.findall(r"url\([\"']?([^)\"']+)", path.read_text("utf-8"))
            if external(link)
        ]
    return wrong


def headings(text: str) -> set[str]:
    """The anchors that a forge gives to the headings of a Markdown file."""
    titles = re.findall(r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_in(markdown: Path) -> list[str]:
    """Relative links of one Markdown file that lead nowhere."""
    text, wrong = markdown.read_text("utf-8"), []
    for link in MARKDOWN_LINK.findall(text):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (markdown.parent / unquote(parts.path)) if parts.path else markdown
        if not target.exists():
            wrong.append(f"{markdown.name} links to {link}: there is no such file")
        elif parts.fragment and target.suffix == ".md" and parts.fragment not in headings(target.read_text()):
            wrong.append(f"{markdown.name} links to {link}: there is no such heading")
    return wrong
