"""Commands of the README and the docs are those that exist, with their options; lines of the map run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from papers.__main__ import parser as papers_options
from tools.site_pages import every_command

import sottovoce as sv
from sottovoce.reporters.contract import Reporter
from tests.docs.shell import mentions, typed_lines

ROOT = Path(__file__).parents[2]
SITE = [page for page in sorted(ROOT.glob("docs/**/*.md")) if page.parent.name != "decisions"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *SITE]
START = re.compile(
    r"(?:^|[|;&(]\s*|\s/\S*bin/|[A-Z_]+=\S+ )(sottovoce|make|tools/\w+|python -m [\w.]+)\b(.*)"
)
COMMANDS = dict(every_command())
USAGE: Any = typer.BadParameter.__base__
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def typed(page: Path) -> Iterator[tuple[str, str]]:
    """(program, the words after it) of every command of ours on a page, and in its sentences."""
    text = page.read_text()
    for line in (*typed_lines(text), *mentions(text)):
        for program, rest in START.findall(line):
            if program == "sottovoce" and not rest.startswith((" ", "\n")):
                continue
            yield program, re.split(r"\s{2,}", rest)[0].strip()  # a column of explanations may follow


def named_command(words: list[str]) -> str | None:
    """The command that words begin with, as it is listed."""
    longest = (" ".join(["sottovoce", *words[:count]]) for count in (2, 1))
    return next((name for name in longest if name in COMMANDS), None)


def fault(program: str, rest: str) -> str | None:
    """Why a command would not start."""
    if program == "make":
        words = [word for word in shlex.split(rest) if "=" not in word and not word.startswith("-")]
        unknown = [word for word in words[:1] if re.fullmatch(r"[a-z]+", word) and word not in TARGETS]
        return f"there is no target {unknown[0]}" if unknown else None
    if program.startswith("tools/"):
        return None if (ROOT / program).exists() else f"there is no {program}"
    if program == "python -m papers":
        try:
            papers_options().parse_args(shlex.split(rest))
        except SystemExit:
            return f"it does not take {rest}"
    if program.startswith("python -m "):
        module = ROOT / program.removeprefix("python -m ").replace(".", "/")
        known = module.is_dir() or module.with_suffix(".py").exists() or module.name in ("venv", "build")
        return None if known else f"there is no module {module.name}"
    words = shlex.split(rest.partition(" > ")[0])
    if not words or words[0].startswith("-"):
        return None
    name = named_command(words)
    if name is None:
        groups = {command.split()[1] for command in COMMANDS}
        return None if len(words) == 1 and words[0] in groups else f"there is no command {rest}"
    return parsed(COMMANDS[name], words[len(name.split()) - 1 :])


def parsed(command: Any, words: list[str]) -> str | None:
    """What the command itself says of its words; whether files exist is not asked."""
    options = {name: param for param in command.params for name in (*param.opts, *param.secondary_opts)}
    for word in words:
        flag = word.partition("=")[0]
        if flag.startswith("--") and flag not in (*options, "--help"):
            return f"there is no option {flag}"
    if "--help" in words:
        return None
    said = refusal(command, words)
    # A sentence need not name every argument, and files are not here.
    return None if said and re.search("does not exist|^Missing|requires an argument", said) else said


def refusal(command: Any, words: list[str]) -> str | None:
    """What the command says of words that it does not take."""
    try:
        command.parse_args(typer.Context(command), list(words))
    except USAGE as error:
        return str(error.format_message())
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page(page: Path) -> None:
    faults = [f"{program} {rest}: {why}" for program, rest in typed(page) if (why := fault(program, rest))]
    assert not faults, "\n".join(faults)


def test_commands_are_found() -> None:
    everything = [one for page in PAGES for one in typed(page)]
    assert ("make", "demo") in everything
    assert sum(program == "sottovoce" for program, _ in everything) > 60
    assert len({rest.split()[0] for program, rest in everything if program == "sottovoce" and rest}) >= 10


@pytest.mark.parametrize(
    ("program", "rest"),
    [
        ("sottovoce", "perturbe x.csv"),
        ("sottovoce", "campaign list --stroe x.db"),
        ("sottovoce", "serve --port many"),
        ("make", "dmeo"),
        ("tools/instal", "here"),
        ("python -m tools.figure", ""),
        ("python -m papers", "--quik"),
    ],
)
def test_a_wrong_command_is_noticed(program: str, rest: str) -> None:
    assert fault(program, rest)


# -- the map ------------------------------------------------------------------------------------------------

HOURS = np.random.default_rng(1).uniform(0, 24, 3000)
WAYS = np.where(HOURS < 9, "car", "bike")
VALUES: dict[str, Any] = {
    "design": HOURS,
    "Interval": HOURS + 200,
    "choice": WAYS,
    "any_of": {"news": (HOURS < 9).astype(int), "games": (HOURS > 6).astype(int)},
    "place": np.column_stack((HOURS - 12, 12 - HOURS)) / 4,
    "survey": {"age": HOURS, "way": WAYS},
    "pair": {"age": HOURS, "sleep": 3 + HOURS / 3},
    "within": {"group": WAYS, "number": HOURS},
}
ROWS = [
    [re.findall(r"`([^`]+)`", cell) for cell in line.split(" | ")[1:3]]
    for line in (ROOT / "docs/choose.md").read_text().splitlines()
    if line.startswith("| ") and "`" in line
]


@pytest.mark.parametrize(("mechanism", "answers"), ROWS, ids=lambda cell: " ".join(cell))
def test_a_line_of_the_map_answers(mechanism: list[str], answers: list[str]) -> None:
    reporter: Reporter = sv.design("mean", 1.0, (0, 24))
    kind = "design"
    if mechanism:
        kind = re.match(r"sv\.(\w+)", mechanism[0])[1]  # type: ignore[index]
        made = eval(mechanism[0], {"sv": sv})
        reporter = sv.design("quantile", 1.0, made, p=0.5) if kind == "Interval" else made
    t = sv.Tally(reporter, reporter.report(VALUES[kind], clip=True, rng=2))
    names = {"sv": sv, "t": t, "a": t, "b": sv.Tally(reporter, reporter.report(VALUES[kind], rng=3))}
    names["groups"] = {"a": names["a"], "b": names["b"]}
    names["days"] = {"2026-03-01": names["a"], "2026-03-02": names["b"]}
    for answer in answers:
        slow = answer.startswith(("sv.heatmap", "sv.distribution"))  # their own pages run these
        assert eval(answer.partition("(")[0] if slow else answer, names) is not None
