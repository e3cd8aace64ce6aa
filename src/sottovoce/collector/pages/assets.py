"""The files that pages load, read once: a request names an entry of a table, never a path."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from sottovoce.errors import MissingExtra

STATIC = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class Asset:
    """A file's bytes as they are served."""

    content: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        """An entity tag: a page that has this version need not load it again."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'

    @cached_property
    def compressed(self) -> bytes:
        """The same, packed by gzip."""
        return gzip.compress(self.content, compresslevel=6, mtime=0)


@cache
def assets() -> dict[str, Asset]:
    """Every file under static/ by its name there, and plotly.js."""
    files = {
        name: Asset(path.read_bytes(), _TYPES[path.suffix])
        for name, path in _files(STATIC, "")
        if path.suffix in _TYPES
    }
    return {**files, "plotly.min.js": Asset(_plotly().read_bytes(), _TYPES[".js"])}


def _files(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from _files(path, f"{prefix}{path.name}/")
        else:
            yield prefix + path.name, path


def _plotly() -> Path:
    """plotly.js as the plotly package ships it, without importing the package."""
    package = importlib.util.find_spec("plotly")
    if package is None or package.origin is None:
        raise MissingExtra("the dashboard", "server")
    return Path(package.origin).parent / "package_data" / "plotly.min.js"
