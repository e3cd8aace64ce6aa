"""A small shell for the commands of pages: `sottovoce` runs in this process, other programs in the folder.

It knows what pages use: settings before a command, `export`, comments, continued lines and `$(…)`. A server
answers on a port that is free, is asked for its health, and stops.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from sottovoce.cli import main
from sottovoce.collector import logs
from sottovoce.collector import process as serving
from tests.collector.service import until

SETTING = re.compile(r"[A-Z_]+=")
CRON = re.compile(r"^(?:[\d*]+ ){5} *")


@dataclass
class Shell:
    """Runs lines in a folder, with its own environment.

    Attributes:
        folder: Where commands run.
        patch: For the environment and for serving.
        words: What stands for the placeholders of a page.
        printed: What the commands wrote.
        healthy: How many servers answered.
    """

    folder: Path
    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]
    words: dict[str, str] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)
    healthy: int = 0

    def __post_init__(self) -> None:
        self.patch.chdir(self.folder)
        self.patch.setenv("SOTTOVOCE_DATA", str(self.folder / "data"))
        self.patch.setenv("MPLBACKEND", "Agg")
        make = serving.server

        def on_a_free_port(store: str, host: str, port: int, *rest: Any, **options: Any) -> Any:
            return make(store, "127.0.0.1", 0, *rest, **options)

        self.patch.setattr(serving, "server", on_a_free_port)
        self.patch.setattr(serving, "run", self._serve)
        self.patch.setattr(logs, "configure", lambda level: None)  # this process logs for other tests too

    def run(self, line: str) -> None:
        """Run one command; it has to succeed."""
        line = CRON.sub("", line).replace("\\%", "%")
        if self.words:
            placeholders = "|".join(map(re.escape, self.words))
            line = re.sub(rf"(?<!\w)(?:{placeholders})(?!\w)", lambda found: self.words[found[0]], line)
        if "$(" in line:
            line = subprocess.check_output(["bash", "-c", f"printf '%q ' {line}"], text=True)
        words = shlex.split(line)
        with self.patch.context() as patch:
            while words and (words[0] == "export" or SETTING.match(words[0])):
                lasting = self.patch if words[0] == "export" else patch
                name, _, value = words.pop(1 if words[0] == "export" else 0).partition("=")
                lasting.setenv(name, value)
                if words and words[0] == "export":
                    return
            if words[0].rpartition("/")[2] == "sottovoce":
                self._sottovoce(words[1:], line)
            else:
                subprocess.run(["bash", "-c", line], check=True, cwd=self.folder)

    def _sottovoce(self, words: list[str], line: str) -> None:
        self.patch.setattr(sys, "argv", ["sottovoce", *words])
        self.patch.setattr(sys, "stdin", StringIO("y\n"))  # to what asks whether it is meant
        with pytest.raises(SystemExit) as end:
            main()
        said = self.capture.readouterr()
        assert not end.value.code, f"{line}\n{said.out}{said.err}"
        self.printed.append(said.out)

    def _serve(self, server: Any, connections: int) -> None:
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            until(lambda: server.started or not thread.is_alive())
            port = server.servers[0].sockets[0].getsockname()[1]
            with urlopen(f"http://127.0.0.1:{port}/v1/health") as answer:
                self.healthy += answer.status == 200
        finally:
            server.should_exit = True
            thread.join()


FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MENTION = re.compile(r"`((?:sottovoce|make|tools/\w+) [^`…]*)`")


def typed_lines(text: str) -> Iterator[str]:
    """Lines of a page that a reader would type, fenced or indented, in their order; no comments."""
    shown = FENCE.sub(lambda fence: _indented(fence[2]) if fence[1] in ("", "sh", "text") else "", text)
    for line in re.findall(r"^ {4,}(\S.*)$", shown.replace("\\\n", " "), re.MULTILINE):
        yield re.sub(r"\s+#.*$", "", line)


def _indented(block: str) -> str:
    return re.sub("^", "    ", block, flags=re.MULTILINE)


def mentions(text: str) -> Iterator[str]:
    """Commands within sentences."""
    yield from MENTION.findall(FENCE.sub("", text).replace("\\\n", " "))
