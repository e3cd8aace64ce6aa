"""The command line: argument parsing and printing only, one module or package per command.

`COMMANDS` lists them; only the module of the one that was asked for is loaded, and `--version` and `--help`
load none. What several commands print and write is here, the options that they share are in `shared_options`.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from numbers import Number as AnyNumber
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from sottovoce._version import __version__
from sottovoce.errors import FileError, MissingExtra, MissingFile, UsageError, require_extra

if TYPE_CHECKING:
    import typer

ABOUT = "Statistics about people. Every answer stays deniable."

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # a spreadsheet computes what begins so, says OWASP
#: Each command with the first line of its help: the function of the same name in the module of that name, or,
#: where that has commands of its own, what its `register(app)` adds.
COMMANDS = {
    "audit": "Count the exact ε of a mechanism from its JSON spec.",
    "campaign": "Create and manage the campaigns of a collector's store.",
    "central": "Release the mean, sum or count of a column with differential privacy.",
    "demo": "Run a whole campaign on this machine, told in plain words.",
    "device": "Look at your own ledger of spent ε.",
    "estimate": "Print the numbers behind files of reports, each with its interval and its method.",
    "optimal": "Design the best mechanism there is for a question, and certify how close it comes.",
    "perturb": "Randomise columns of a file: one integer report per row.",
    "plan": "Rank mechanisms by the error to expect, or find ε or people for a target.",
    "serve": "Run the collector until it is told to stop (SIGTERM or Ctrl-C finishes what is under way).",
    "summary": "Say in plain sentences what files of reports tell.",
    "vectors": "Check a client in any language against the shared vectors.",
}
PICTURES = (".png", ".svg", ".pdf")
#: The extra that a command cannot begin without, beside that of the command line.
NEEDS = {"campaign": "server", "central": "files", "demo": "server", "perturb": "files", "serve": "server"}


def build_app(*names: str) -> typer.Typer:
    """Make the application.

    Args:
        names: The commands to load; all of them if none is named.

    Returns:
        A Typer application whose commands are those.
    """
    import typer

    app = typer.Typer(
        name="sottovoce",
        help=ABOUT,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # loading rich takes a third of the time that help has
    )
    app.callback()(lambda: None)  # a group, also of one command
    for name in names or COMMANDS:
        module = importlib.import_module(f"{__name__}.{name}")
        if hasattr(module, "register"):
            module.register(app)
        else:
            app.command(name)(getattr(module, name))
    return app


def main() -> None:
    """Run the command line; a mistake of the user's is one sentence and exit code 2, not a traceback."""
    words = sys.argv[1:] or ["--help"]
    if words[0] == "--version":
        print(f"sottovoce {__version__}")
    elif words[0] == "--help":
        print(_usage())
    elif words[0] not in COMMANDS:
        _refuse(f"there is no command {words[0]!r}: sottovoce --help lists them")
    else:
        atexit.register(gc.freeze)  # looking through all that was loaded once more takes a tenth of a second
        _run(words)


def _run(words: list[str]) -> None:
    # The matrices of estimates are small: threads of linear algebra cost more than they give, and take the
    # cores that a collector stores reports with. It has to be said before numpy is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        require_extra("analysis", f"sottovoce {words[0]}", "rich", "typer")
    except MissingExtra as missing:
        if words[0] == "audit":
            _run_bare(words[1:])
        _refuse(str(missing))
    from typer.main import get_command

    from sottovoce.cli.shared_options import in_options

    command = get_command(build_app(words[0]))
    warnings.showwarning = lambda message, *_, **__: _say(str(message))
    try:
        if words[0] in NEEDS and "--help" not in words:
            require_extra(NEEDS[words[0]], f"sottovoce {words[0]}")
        command(words, prog_name="sottovoce")
    except (ValueError, TypeError, OSError, ImportError) as error:
        _refuse(in_options(error, command, words))


def _run_bare(words: list[str]) -> NoReturn:
    from sottovoce.cli.bare_audit import audit

    try:
        raise SystemExit(audit(words))
    except (ValueError, TypeError, OSError) as error:
        _refuse(str(error))


def _refuse(sentence: str) -> NoReturn:
    _say(sentence)
    raise SystemExit(2)


def _say(sentence: str) -> None:
    """Print a sentence to the error stream, after the program's name."""
    line = f"sottovoce: {sentence}"
    if sys.stderr.isatty():  # in a log it stays one line
        line = wrapped(line, shutil.get_terminal_size().columns)
    print(line, file=sys.stderr)


def wrapped(text: str, columns: int) -> str:
    """Lines of at most so many columns, broken between words; what belongs to a line is indented."""
    fill = textwrap.TextWrapper(columns, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(part for line in text.splitlines() for part in fill.wrap(line))


def _usage() -> str:
    lines = [f"  {name:<11}{about}" for name, about in COMMANDS.items()]
    options = [
        "  --version  Print the version and stop.",
        "  --help     Print this, or the help of a command.",
    ]
    head = ["Usage: sottovoce COMMAND [OPTIONS]", "", ABOUT, "", "Commands:"]
    return "\n".join([*head, *lines, "", "Options:", *options])


# -- what several commands print and write ------------------------------------------------------------------


@contextmanager
def counting(what: str, total: int | None = None, unit: str = "rows") -> Iterator[Callable[[int], None]]:
    """A progress line on the terminal's error stream, with the rate: call it with the number done."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import (
        Task as Job,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Job) -> Text:
            return Text(f"{task.completed / max(task.elapsed or 0.0, 1e-3):,.0f} {unit}/s")

    columns = (
        SpinnerColumn(),
        TextColumn(f"{{task.completed:,.0f}} {unit} {{task.description}}"),
        *((BarColumn(), TimeRemainingColumn()) if total else (TimeElapsedColumn(),)),
        Rate(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        job = bar.add_task(what, total=total)
        yield lambda done: bar.advance(job, done)


def check_target(path: Path | None, endings: tuple[str, ...] = (), option: str = "--output") -> None:
    """Refuse a file that could not be written, before there is something to write."""
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise UsageError(f"{option} must end in one of {', '.join(endings)}, got {path.name}")
    if path.suffix.lower() in PICTURES:
        require_extra("analysis", "a picture", "matplotlib")
    if path.is_dir():
        raise UsageError(f"{option} must be a file, {path} is a folder")
    if not path.parent.is_dir():
        raise MissingFile(f"there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise FileError(f"{option} cannot be written: {path}")


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, also where there was one that others may read."""
    with open(path, "w", encoding="utf-8", newline="", opener=partial(os.open, mode=0o600)) as file:
        path.chmod(0o600)
        file.write(text)


def write_table(path: Path, columns: Mapping[Any, Iterable[object]]) -> None:
    """Write a CSV file for spreadsheets: text is quoted, and none of it is a formula."""
    rows = [columns, *zip(*columns.values(), strict=True)]
    text = "".join(",".join(map(_cell, row)) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8", newline="")


def _write_parquet(path: Path, columns: Mapping[str, list[Any]]) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path)


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    text = str(value)
    if isinstance(value, AnyNumber):
        return text
    text = "'" + text if text.startswith(_FORMULA) else text
    return '"' + text.replace('"', '""') + '"'


def save_picture(path: Path, draw: Callable[[], Any]) -> None:
    """Write the figure of the axes that `draw` draws on."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure = draw().figure
    figure.savefig(path, dpi=150, bbox_inches="tight")
    plt.close(figure)


class Answers(NamedTuple):
    """What a command found out.

    Attributes:
        content: It as JSON takes it.
        rows: It as a table.
        lines: It for people.
        draw: Draws it, and gives the axes.
        writers: What writes a file of another kind, by its ending.
    """

    content: Callable[[], Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]
    lines: Iterable[str]
    draw: Callable[[], Any]
    writers: Mapping[str, Callable[[Path], object]] = {}

    def tell(self, *, as_json: bool, output: Path | None, treated: str = "") -> None:
        """Write what the file's ending asks for, and print the lines or JSON.

        Args:
            as_json: Whether to print JSON.
            output: Where to write, if anywhere.
            treated: What became of missing values and those outside, where that is known.
        """
        import json

        suffix = "" if output is None else output.suffix.lower()
        text = ""
        if as_json or suffix == ".json":
            text = json.dumps({**self.content(), "treated": treated}, allow_nan=False, default=str)
        if output is not None:
            columns = {name: [row[name] for row in self.rows] for name in self.rows[0]}
            writers: dict[str, Callable[[Path], object]] = {
                ".json": lambda path: path.write_text(text),
                ".csv": lambda path: write_table(path, columns),
                ".parquet": lambda path: _write_parquet(path, columns),
                **dict.fromkeys(PICTURES, lambda path: save_picture(path, self.draw)),
                **self.writers,
            }
            writers[suffix](output)
        for line in (text,) if as_json else (*self.lines, treated, f"wrote {output}" if output else ""):
            if line:
                print(line)
