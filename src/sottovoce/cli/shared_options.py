"""Options that several commands share, written once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import typer

import sottovoce as sv
from sottovoce.errors import UsageError, one_of
from sottovoce.values.circle import Circle
from sottovoce.values.domain import Domain
from sottovoce.values.interval import Interval, as_domain
from sottovoce.values.missing_and_outside import Missing

Epsilon = Annotated[float, typer.Option("--epsilon", help="Privacy parameter ε: smaller is more private.")]
DomainPair = Annotated[
    tuple[float, float] | None,
    typer.Option("--domain", metavar="LOW HIGH", help="The interval that values lie in.", show_default=False),
]
CircleOption = Annotated[
    float | None,
    typer.Option("--circle", metavar="CIRCUMFERENCE", help="Values lie on a circle, e.g. 24 for hours."),
]
Choices = Annotated[
    str | None,
    typer.Option("--options", metavar="A,B,…", help="Values are one of these options; numbers are ratings."),
]
PairOf = Annotated[
    list[str] | None,
    typer.Option("--pair", metavar="NAME=LOW:HIGH", help="One of two numbers of a person (twice)."),
]
LogScale = Annotated[
    bool, typer.Option("--log", help="With --domain: values differ by factors, as incomes do.")
]
QuestionOption = Annotated[
    str | None,
    typer.Option(
        "--question",
        metavar="QUESTION",
        help="What is to be known: mean, median, quantile (with --p), distribution, direction (of a circle), "
        "probability (with --range) or value. If not said: distribution, which answers the others too.",
    ),
]
Level = Annotated[float | None, typer.Option("--p", help="Which quantile, between 0 and 1.")]
Between = Annotated[
    tuple[float, float] | None,
    typer.Option("--range", metavar="LOW HIGH", help="The range of a probability."),
]
Place = Annotated[
    tuple[float, float, float, float] | None,
    typer.Option("--place", metavar="X0 X1 Y0 Y1", help="Values are positions [x, y] in this box."),
]
Degrees = Annotated[bool, typer.Option("--degrees", help="With --place: longitudes and latitudes.")]
DESIGNS = ("duchi", "ogpm", "ogpm_unbiased", "optimal", "pm", "ptt", "sw", "two_scale")
Design = Annotated[
    str | None,
    typer.Option("--mechanism", help=f"Instead of --question, by name: {', '.join(DESIGNS)}."),
]
Column = Annotated[str | None, typer.Option("--column", metavar="NAME", help="The column to read.")]
Output = Annotated[Path | None, typer.Option("--output", metavar="PATH", help="Where to write.")]
Quick = Annotated[bool, typer.Option("--quick", help="A smaller, faster run.")]
WordsOption = Annotated[
    str, typer.Option("--words", help="Words in a column of numbers (CSV): refuse, or missing.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter", metavar="MARK", help="What separates columns (CSV): , ; tab … If not said: seen."
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", metavar="MARK", help="The decimal mark (CSV): . or , If not said: seen."),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", metavar="NAME", help="Of a text file (CSV), such as cp1252. If not said: seen."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

SpecOption = Annotated[
    Path | None,
    typer.Option("--spec", metavar="PATH", help="A mechanism's JSON spec.", exists=True, dir_okay=False),
]


#: Arguments of the library whose options have other names.
_OPTIONS = {
    "box": ("place",),
    "circumference": ("circle",),
    "column": ("columns",),
    "domains": ("pair",),
    "groups": ("group",),
    "high": ("domain", "between"),
    "low": ("domain", "between"),
    "names": ("options",),
    "p": ("quantiles",),
    "secret": ("secret_file",),
}


def in_options(error: Exception, command: Any, words: Sequence[str]) -> str:
    """Say what went wrong, and which option it is about.

    Args:
        error: What the library or the system raised.
        command: The click command that ran.
        words: What the user typed after the program's name.

    Returns:
        The error's own sentence, after the option that its argument or its code names, if there is one
        that the sentence does not name itself.
    """
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"  # without Python's "[Errno 13]"
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    options = {param.name: param.opts[0] for param in command.params if param.param_type_name == "option"}
    names = (getattr(error, "argument", None), getattr(error, "code", None))
    alike = (name for named in names for name in (named, *_OPTIONS.get(named or "", ())))
    option = next((options[name] for name in alike if name in options), None)
    return str(error) if option is None or option in str(error) else f"{option}: {error}"


def read_spec(path: Path) -> Any:
    """The mechanism of a spec file."""
    from sottovoce.reporters.formats import from_json

    return from_json(path.read_bytes())


def missing_from(text: str) -> Missing:
    """What --missing names: a number that stands in, or a word, which the library judges."""
    try:
        return float(text)
    except ValueError:
        return cast(Missing, text)


def domain_from(
    domain: tuple[float, float] | None, circle: float | None, *, log: bool = False, default: Any = None
) -> Domain:
    """The domain that --domain, --log or --circle names."""
    if domain is not None and circle is not None:
        raise UsageError("give either --domain LOW HIGH or --circle CIRCUMFERENCE, not both")
    if circle is not None:
        if log:
            raise UsageError("--log goes with --domain LOW HIGH: a circle has no factors")
        return Circle(circle)
    if domain is None and default is None:
        raise UsageError("say where values lie: --domain LOW HIGH or --circle CIRCUMFERENCE")
    ends = as_domain(domain if domain is not None else default)
    return Interval(ends.low, ends.high, "log") if log else ends


@dataclass(frozen=True)
class Request:
    """What --question, --mechanism, --spec and their companions say together: which reporter is meant."""

    question: str | None
    epsilon: float | None
    domain: tuple[float, float] | None
    circle: float | None
    log: bool
    p: float | None
    between: tuple[float, float] | None
    mechanism: str | None
    spec: Path | None
    place: tuple[float, float, float, float] | None = None
    degrees: bool = False
    options: str | None = None
    pair: list[str] | None = None

    def reporter(self) -> Any:
        """The mechanism, made or read.

        Raises:
            ValueError: If the options contradict each other or one is lacking.
        """
        if self.spec is not None:
            others = [value for name, value in vars(self).items() if name not in ("spec", "log", "degrees")]
            if self.log or self.degrees or any(value is not None for value in others):
                raise UsageError("--spec says everything: leave out what else describes a mechanism")
            return read_spec(self.spec)
        if self.mechanism is not None:
            one_of(self.mechanism, "mechanism", DESIGNS)
        if self.epsilon is None:
            raise UsageError("say how private: --epsilon E, or --spec PATH")
        numbers = (self.question, self.domain, self.circle, self.p, self.between, self.mechanism)
        kind = _of_kind(self.epsilon, self.options, self.pair)
        if self.place is not None:
            left, right, low, high = self.place
            kind = sv.place(self.epsilon, box=((left, right), (low, high)), degrees=self.degrees)
        if kind is not None:
            if self.log or any(value is not None for value in numbers):
                what = (
                    "--place says where people are"
                    if self.place
                    else "--options and --pair say what is asked"
                )
                raise UsageError(f"{what}: leave out what describes a number")
            return kind
        where = domain_from(self.domain, self.circle, log=self.log)
        if self.mechanism is None:
            question, p = question_of(self.question or "distribution", self.p)
            return sv.design(question, self.epsilon, where, p=p, between=self.between)
        if self.question is not None:
            raise UsageError("give either --question QUESTION or --mechanism NAME, not both")
        return getattr(sv, self.mechanism)(self.epsilon, where)


def question_of(name: str, p: float | None) -> tuple[str, float | None]:
    """The question and the level that a name says: a median is the quantile of one half."""
    return ("quantile", 0.5) if name == "median" and p is None else (name, p)


def _of_kind(epsilon: float, options: str | None, pair: list[str] | None) -> Any:
    """The choice or the pair that --options or --pair names, or None."""
    if options is not None and pair:
        raise UsageError("give either --options or --pair, not both")
    if options is not None:
        return sv.choice(epsilon, options_in(options))
    return sv.pair(epsilon, domains_in(pair)) if pair else None


def options_in(text: str) -> list[str] | list[int]:
    """Options between commas; whole numbers are ratings."""
    names = [name.strip() for name in text.split(",")]
    whole = all(name.removeprefix("-").isdigit() for name in names)
    return [int(name) for name in names] if whole else names


def domains_in(pair: list[str]) -> dict[str, tuple[float, float]]:
    """The intervals of numbers, written NAME=LOW:HIGH each.

    Raises:
        ValueError: If they are not written so.
    """
    domains = {}
    for text in pair:
        name, equals, ends = text.rpartition("=")
        low, colon, high = ends.partition(":")
        try:
            domains[name] = (float(low), float(high))
        except ValueError:
            equals = ""
        if not (name and equals and colon):
            raise UsageError(f"--pair must be NAME=LOW:HIGH, got {text}")
    return domains
