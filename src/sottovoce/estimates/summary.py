"""Everything that a tally can be asked, answered: the one table of questions, and the summary that it makes.

    s = sottovoce.summary(tally)
    print(s)                               # a plain sentence for each answer
    s["mean"].estimate, s.to_frame()
    sottovoce.summary(tally, also=[Question("variance")], quantiles=(0.5, 0.9))

What can be asked of a tally its reporter says (`questions`); how it is answered, called, said and drawn
stands here and nowhere else. A summary is a menu and no gate: every function of the table works by itself
wherever the law allows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast, overload

import numpy as np

from sottovoce.errors import ArgumentError, UnknownKey, check_confidence, one_of
from sottovoce.estimates.answer.better_design import openness
from sottovoce.estimates.answer.most_common_range import outward
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.direction import circular_mean, concentration
from sottovoce.estimates.distribution import Distribution, distribution
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.groups import Groups, groups
from sottovoce.estimates.heatmap import Heatmap, heatmap
from sottovoce.estimates.honesty import Honesty, honesty
from sottovoce.estimates.limits.envelope import IDENTITY, CrossFit, Target
from sottovoce.estimates.mean import mean
from sottovoce.estimates.polar_density import DiscDensity
from sottovoce.estimates.position import mean_position
from sottovoce.estimates.probability import probability
from sottovoce.estimates.quantile import quantile
from sottovoce.estimates.relation import correlation, covariance, slope
from sottovoce.estimates.sentences import Said, of_groups, of_place, of_shares
from sottovoce.estimates.shares import Shares, shares
from sottovoce.estimates.tally import Tally
from sottovoce.estimates.variance import standard_deviation, variance
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.plots.distribution_plot import pyplot
from sottovoce.plots.forest_plot import draw_forest
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.question import Question

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
_ONLY = "value"  # what the one item is called of reporters that ask for one thing
_OPEN = 0.2  # of what is possible: an answer that reports leave open so far is said last and not drawn
_OF_TWO = ("correlation", "slope", "covariance")

Options = dict[str, Any]
Failed = Callable[[Exception], str]


class Entry(NamedTuple):
    """How one question is answered.

    Attributes:
        answer: From a tally and questions of this name, with the confidence and options: an answer for each.
        label: What the answer is called.
        said: Its sentence.
        options: What it takes beside the confidence.
        picture: How it is drawn: "interval", "ribbon", "rose", "bars", "map", "forest" or "none".
        numbers: The estimates in it by what each is of; None where it is one itself, which can be compared.
        target: What has to be known of the people's law, where reports may leave it open.
        data: What a picture of it shows beside its numbers, as JSON takes it.
    """

    answer: Callable[..., Sequence[Any]]
    label: Callable[[Question, ReporterBase], str]
    said: Callable[[Any, Question, ReporterBase, str], str]
    options: frozenset[str] = frozenset()
    picture: str = "interval"
    numbers: Callable[[Any], dict[str, Estimate]] | None = None
    target: Callable[[Question, Any, ReporterBase], Target | None] | None = None
    data: Callable[[Any], dict[str, Any]] | None = None

    @property
    def number(self) -> bool:
        """Whether the answer is one number, which groups can be compared by."""
        return self.numbers is None


def _each(estimate: Callable[..., Any]) -> Callable[..., list[Any]]:
    """Questions that are answered one by one."""

    def answer(tally: Tally, questions: Sequence[Question], **options: Any) -> list[Any]:
        return [estimate(tally, *_about(question), **options) for question in questions]

    return answer


def _about(question: Question) -> tuple[Any, ...]:
    """What the function of a question takes after the tally."""
    return question.between or (question.about if question.name in _OF_TWO else ())


def _quantiles(tally: Tally, questions: Sequence[Question], **options: Any) -> list[Estimate]:
    return quantile(tally, [0.5 if one.p is None else one.p for one in questions], **options)


def _share(tally: Tally, questions: Sequence[Question], **options: Any) -> list[Estimate]:
    every = shares(tally, **options)
    named = tuple(map(str, every))
    return [every.estimates[named.index(one_of(str(one.option), "option", named))] for one in questions]


def _named(text: str) -> Callable[[Question, ReporterBase], str]:
    return lambda question, law: text


def _of_quantile(question: Question, law: ReporterBase) -> str:
    p = 0.5 if question.p is None else question.p
    return "Median" if p == 0.5 else f"{100 * p:.10g} of 100 below"


def _of_range(question: Question, law: ReporterBase) -> str:
    low, high = question.between or (math.nan, math.nan)
    return f"Between {low:.12g} and {high:.12g}"


def _of_two(name: str) -> Callable[[Question, ReporterBase], str]:
    return lambda question, law: f"{name} of {' and '.join(question.about)}"


def _of_mean(question: Question, law: ReporterBase) -> str:
    return "Geometric mean" if law.ratings is None and law.as_number().domain.is_log else "Mean"


def _of_direction(question: Question, law: ReporterBase) -> str:
    return "Mean time" if law.as_number().domain.is_clock else "Mean direction"


def _identity(question: Question, answer: Any, law: ReporterBase) -> Target | None:
    return None if law.ratings is not None or law.as_number().unbiased else IDENTITY


def _up_to(question: Question, answer: Estimate, law: ReporterBase) -> Target:
    return Target.up_to(float(law.as_number().domain.to_unit(answer.value)))


def _none(answer: Any) -> dict[str, Estimate]:
    return {}


def _of_options(answer: Shares) -> dict[str, Estimate]:
    return {str(option): one for option, one in answer.items()}


def _of_groups(answer: Groups) -> dict[str, Estimate]:
    each = answer.items()
    return {f"{name}: {kind}": getattr(one, kind) for name, one in each for kind in ("share", "mean")}


def _of_axes(answer: tuple[Estimate, Estimate]) -> dict[str, Estimate]:
    return dict(zip("xy", answer, strict=True))


def _own_words(answer: Any, question: Question, law: ReporterBase, label: str) -> str:
    return str(answer)


def _map(tally: Tally, *, confidence: float) -> Heatmap | DiscDensity:
    return heatmap(tally)


def _honesty(tally: Tally, *, confidence: float, **options: Any) -> Honesty:
    return honesty(tally, **options)


def _shown_distribution(d: Distribution) -> dict[str, Any]:
    ranges = [outward(d.domain, *ends) for ends in d.most_common or ()]
    sure = None if d.sure is None else (d.sure.share, *outward(d.domain, d.sure.low, d.sure.high))
    ends = {"edges": d.edges.tolist(), "shaped": d.shaped, "most_common": ranges, "sure": sure}
    band = {name: np.asarray(getattr(d, name)).tolist() for name in ("cdf_low", "cdf_high")}
    columns = d.to_dict()
    return {**ends, **band, **{name: columns[name] for name in ("probability", "ribbon_low", "ribbon_high")}}


def _shown_map(answer: Heatmap | DiscDensity) -> dict[str, Any]:
    grid = answer.grid()
    return {**grid, "shares": [[_finite(share) for share in row] for row in grid["shares"].tolist()]}


def _shown_honesty(answer: Honesty) -> dict[str, Any]:
    return {"alarm": answer.alarm, "p_value": answer.p_value, "fakes": answer.fakes}


def _finite(number: float) -> float | None:
    """JSON has no infinity: an open end is null."""
    return number if math.isfinite(number) else None


_WHOSE = frozenset({"estimand"})
_LOOKED_AT = _WHOSE | {"sequential", "fakes"}
_SHAPED = frozenset({"shape", "density", "steepness"})

#: Every question there is.
TABLE: dict[str, Entry] = {
    "mean": Entry(
        _each(mean),
        _of_mean,
        Said("the {label} is {value}", "the {label}"),
        _LOOKED_AT | _SHAPED | {"interval"},
        target=_identity,
    ),
    "quantile": Entry(
        _quantiles,
        _of_quantile,
        Said("{share} are below {value}", "below what value {share} are", "this value"),
        _WHOSE | _SHAPED,
        target=_up_to,
    ),
    "standard_deviation": Entry(
        _each(standard_deviation),
        _named("Standard deviation"),
        Said("values spread by {value} around their mean", "how far values spread", "this spread", "length"),
        _WHOSE,
        "none",
        target=_identity,
    ),
    "variance": Entry(
        _each(variance),
        _named("Variance"),
        Said("the variance is {value}", "the variance", kind="square"),
        _WHOSE,
        "none",
        target=_identity,
    ),
    "probability": Entry(
        _each(probability),
        _of_range,
        Said("{value} are between {low} and {high}", "who is between {low} and {high}", "the share", "share"),
        _LOOKED_AT | _SHAPED,
    ),
    "distribution": Entry(
        _each(distribution),
        _named("Distribution"),
        lambda answer, question, law, label: answer.sentence,
        frozenset({"bins", "band"}),
        "ribbon",
        _none,
        data=_shown_distribution,
    ),
    "direction": Entry(
        _each(circular_mean),
        _of_direction,
        Said("the {label} is {value}", "the {label}"),
        _WHOSE,
    ),
    "concentration": Entry(
        _each(concentration),
        _named("Concentration"),
        Said("the concentration is {value}", "the concentration", kind="ratio"),
        _WHOSE,
        "none",
    ),
    "shares": Entry(_each(shares), _named("Shares"), of_shares, picture="bars", numbers=_of_options),
    "share": Entry(
        _share,
        lambda question, law: f"Share of {question.option!r}",
        Said("{value} say {option}", "the share of {option}", "the share", "share"),
    ),
    "position": Entry(_each(mean_position), _named("Mean place"), of_place, picture="none", numbers=_of_axes),
    "heatmap": Entry(_each(_map), _named("Map"), _own_words, picture="map", numbers=_none, data=_shown_map),
    "correlation": Entry(
        _each(correlation),
        _of_two("Correlation"),
        Said("the correlation of {x} and {y} is {value}", "how {x} and {y} go together", kind="correlation"),
    ),
    "slope": Entry(
        _each(slope),
        _of_two("Slope"),
        Said("with each unit of {x} {y} grows by {value}", "how {y} grows with {x}", "this", "any"),
    ),
    "covariance": Entry(
        _each(covariance),
        _of_two("Covariance"),
        Said("the covariance of {x} and {y} is {value}", "the covariance of {x} and {y}", kind="any"),
        picture="none",
    ),
    "groups": Entry(
        _each(groups),
        lambda question, law: " by ".join(question.about[::-1]),
        of_groups,
        picture="forest",
        numbers=_of_groups,
    ),
    "honesty": Entry(
        _each(_honesty),
        _named("Do the reports look honest?"),
        _own_words,
        frozenset({"false_alarm"}),
        "none",
        _none,
        data=_shown_honesty,
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Tabular):
    """The answer to one question.

    Attributes:
        question: What was asked.
        label: What the answer is called.
        n: How many people answered what it rests on.
        sentence: The answer in plain words.
        picture: How it is drawn: "interval", "ribbon", "rose", "bars", "map", "forest" or "none".
        estimate: The answer itself: an `Estimate`, `Shares`, a `Distribution` …; None if there is none.
        numbers: The estimates in it, by what each is of.
        open: Of what is possible, the part that these reports leave open however many there are.
        problem: Why there is no answer; empty if there is one.
    """

    question: Question
    label: str
    n: int
    sentence: str = ""
    picture: str = "none"
    estimate: Any = field(default=None, repr=False)
    numbers: dict[str, Estimate] = field(default_factory=dict, repr=False)
    open: float = 0.0
    problem: str = ""

    @property
    def rows(self) -> list[Row]:
        """Rows of plain values: those of the answer under the question, the item and the label."""
        head: Row = {"question": self.question.name, "item": self.question.item, "label": self.label}
        if self.numbers:
            return [
                {**head, "of": name, "n": one.n, "value": one.value, "low": one.low, "high": one.high}
                for name, one in self.numbers.items()
            ]
        return [{**head, "of": "", "n": self.n, "value": None, "low": None, "high": None}]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them and pages show them.

        Returns:
            The attributes; `numbers` is a list, `data` what the picture shows beside them.
        """
        numbers = [
            {"of": name, **{end: _finite(getattr(one, end)) for end in ("value", "low", "high")}, "n": one.n}
            for name, one in self.numbers.items()
        ]
        show = TABLE[self.question.name].data
        return {
            "question": self.question.name,
            "item": self.question.item,
            "about": list(self.question.about),
            "p": self.question.p,
            "label": self.label,
            "n": self.n,
            "sentence": self.sentence,
            "picture": self.picture,
            "numbers": numbers,
            "data": None if show is None or self.estimate is None else show(self.estimate),
            "notes": list(self.notes),
            "problem": self.problem,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about the estimates in it, each sentence once."""
        said = (note for one in self.numbers.values() for note in (*one.advice(), *one.notes))
        return tuple(dict.fromkeys(said))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it.

        Args:
            ax: Axes of matplotlib; by default new ones.

        Returns:
            The axes.

        Raises:
            ArgumentError: If it is said and not drawn.
        """
        if self.picture == "none":
            raise ArgumentError(f"{self.label!r} has no picture: {self.said}", argument="ax", code="picture")
        axes: Axes = self.estimate.plot(ax)
        return axes

    @property
    def polar(self) -> bool:
        """Whether it is drawn around a point."""
        return self.picture == "rose" or (self.picture == "map" and self.estimate.round)

    @property
    def said(self) -> str:
        """The sentence, or why there is none."""
        return self.sentence or self.problem

    def __str__(self) -> str:
        return f"{self.label}: {self.said}"


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Tabular, Sequence[Answer]):
    """What a tally answers, in the order in which its reporter says it.

    Attributes:
        n: How many people reported.
        epsilon: What each report cost.
        digest: Which reporter it was.
        confidence: How often each interval holds.
        answers: The answers.
    """

    n: int
    epsilon: float
    digest: str
    confidence: float
    answers: tuple[Answer, ...] = field(repr=False)

    @overload
    def __getitem__(self, which: int | str) -> Answer: ...

    @overload
    def __getitem__(self, which: slice) -> Sequence[Answer]: ...

    def __getitem__(self, which: int | str | slice) -> Answer | Sequence[Answer]:
        """An answer by its place, by the name of its question, or by item and name as in "age mean"."""
        if not isinstance(which, str):
            return self.answers[which]
        for answer in self.answers:
            if which in (
                answer.question.name,
                f"{answer.question.item} {answer.question.name}",
                answer.label,
            ):
                return answer
        names = ", ".join(dict.fromkeys(answer.question.name for answer in self.answers))
        raise UnknownKey(f"there is no answer {which!r}; there are {names}", argument="which")

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def items(self) -> tuple[str, ...]:
        """The items that are answered, and an empty name for what is about all of them."""
        return tuple(dict.fromkeys(answer.question.item for answer in self.answers))

    @property
    def rows(self) -> list[Row]:
        """The rows of all answers."""
        return [row for answer in self.answers for row in answer.rows]

    @property
    def drawn(self) -> list[list[Answer]]:
        """What pictures show: the intervals of one question in one; words say more than a single interval."""
        together: dict[tuple[str, str], list[Answer]] = {}
        for answer in self.answers:
            if answer.picture != "none":
                together.setdefault((answer.question.item, answer.question.name), []).append(answer)
        return [each for each in together.values() if len(each) > 1 or each[0].picture != "interval"]

    def plot(self) -> Axes:
        """Draw the answers that have a picture, one below the other.

        Returns:
            The axes of the first.

        Raises:
            ArgumentError: If no answer has one.
            MissingExtra: If matplotlib is not installed.
        """
        drawn = self.drawn or [[answer] for answer in self.answers if answer.picture != "none"]
        if not drawn:
            raise ArgumentError("none of these answers has a picture", argument="self", code="picture")
        figure = pyplot().figure(figsize=(6.4, 4 * len(drawn)), layout="constrained")
        for place, each in enumerate(drawn, 1):
            kind = "polar" if each[0].polar else None
            axes = draw_together(each, figure.add_subplot(len(drawn), 1, place, projection=kind))
            title = filter(None, (each[0].question.item, axes.get_title()))
            axes.set_title(" · ".join(title), fontsize="medium")
        first: Axes = figure.axes[0]
        return first

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them: what the dashboard gets and the command line prints.

        Returns:
            n, epsilon, digest, confidence and the answers.
        """
        head = {name: getattr(self, name) for name in ("n", "epsilon", "digest", "confidence")}
        return {**head, "answers": [answer.to_dict() for answer in self.answers]}

    def __str__(self) -> str:
        lines = [f"{self.n:,} people, ε = {self.epsilon:g}"]
        for item in self.items:
            lines += [item] if item else []
            mine = (answer for answer in self.answers if answer.question.item == item)
            lines += [f"  {answer}" for answer in mine]
        return "\n".join(lines)


def draw_together(answers: Sequence[Answer], ax: Axes | None = None) -> Axes:
    """One answer, or the intervals of several to one question, one below the other."""
    if len(answers) == 1:
        return answers[0].plot(ax)
    axes = draw_forest([one.label for one in answers], [one.estimate for one in answers], "", ax)
    axes.set_xlabel("value")
    return axes


def summary(
    tally: Tally,
    *,
    questions: Iterable[Question] | None = None,
    items: Iterable[str] | None = None,
    also: Iterable[Question] = (),
    quantiles: Sequence[float] = QUANTILES,
    confidence: float = 0.95,
    failed: Failed | None = None,
    **options: Any,
) -> Summary:
    """Answer everything that a tally can be asked.

    Args:
        tally: Counts of reports.
        questions: What is asked; by default what the reporter says.
        items: Of a survey, which items; by default all of them and what is about several.
        also: Questions that are answered on request only, such as `Question("probability", between=(6, 12))`.
        quantiles: Which quantiles of numbers.
        confidence: How often each interval should hold.
        failed: What to say of an answer that fails for no reason of the reports; by default it raises.
        **options: What some answers take: `estimand`, `interval`, `sequential`, `fakes`, `shape`, `density`,
            `steepness`, `bins`, `band`, `false_alarm`. Each goes to the answers that take it.

    Returns:
        The answers in the order of the reporter's `questions`. What these reports leave open, however many
        there are, comes last, in words alone. One answer that fails leaves the others.

    Raises:
        ArgumentError: If no answer takes an option, or there is no such item or question.
        NoDataError: If there are no reports.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.choice import choice
        >>> m = choice(2.0, ["car", "bike"])
        >>> s = summary(Tally(m, m.report(["car"] * 900 + ["bike"] * 100, rng=1)))
        >>> [answer.label for answer in s], s["shares"].estimate["car"].low > 0.8
        (['Shares', 'Do the reports look honest?'], True)
    """
    check_confidence(confidence)
    law = check_tally(tally).law
    asked = [*(law.questions if questions is None else questions), *also]
    if items is not None:
        wanted = [one_of(name, "items", tuple(law.items)) for name in items]
        asked = [question for question in asked if (question.item or _ONLY) in wanted]
    for question in asked:
        one_of(question.name, "question", tuple(TABLE))
    taken = frozenset().union(*(TABLE[question.name].options for question in asked))
    for name in options:
        if name not in taken:
            raise ArgumentError(f"{name} is taken by none of these answers", argument=name)
    answers = [
        answer
        for several in _together(asked, quantiles)
        for answer in _answers(tally, several, confidence, options, failed)
    ]
    answers.sort(key=lambda answer: answer.open > _OPEN)
    return Summary(tally.n, law.epsilon, tally.digest, confidence, tuple(answers))


def number(tally: Tally, question: Question, *, confidence: float = 0.95, **options: Any) -> Estimate:
    """The answer to a question whose answer is one number: what groups and plans are compared by.

    Args:
        tally: Counts of reports.
        question: What is asked.
        confidence: How often the interval should hold.
        **options: What the question takes.

    Returns:
        The estimate.

    Raises:
        ArgumentError: If the answer is not one number, or does not take an option.
    """
    entry = TABLE[one_of(question.name, "question", tuple(name for name in TABLE if TABLE[name].number))]
    for name in options:
        if name not in entry.options:
            raise ArgumentError(f"{name} does not belong to question={question.name!r}", argument=name)
    estimate: Estimate = entry.answer(
        _of_item(tally, question), [question], confidence=confidence, **options
    )[0]
    return estimate


def _together(questions: Iterable[Question], quantiles: Sequence[float]) -> Iterable[list[Question]]:
    """Questions, and quantiles of one item together: they share a fit."""
    for question in questions:
        if question.name == "quantile" and question.p is None:
            if quantiles:
                yield [question._replace(p=p) for p in quantiles]
        else:
            yield [question]


def _of_item(tally: Tally, question: Question) -> Tally:
    return tally[question.item] if question.item else tally


def _answers(
    tally: Tally, questions: list[Question], confidence: float, options: Options, failed: Failed | None
) -> list[Answer]:
    """Those to questions of one name and item, or why there are none."""
    part, entry = _of_item(tally, questions[0]), TABLE[questions[0].name]
    law, own = part.law, {name: value for name, value in options.items() if name in entry.options}
    empty = [Answer(question, entry.label(question, law), part.n) for question in questions]
    try:
        estimates = entry.answer(part.required(), questions, confidence=confidence, **own)
        return [_filled(*one, entry, part) for one in zip(empty, estimates, strict=True)]
    except ValueError as error:
        return [replace(one, problem=str(error)) for one in empty]
    except Exception as error:
        if failed is None:
            raise
        reason = failed(error)
        return [replace(one, problem=reason) for one in empty]


def _filled(empty: Answer, estimate: Any, entry: Entry, tally: Tally) -> Answer:
    """An answer with its words and its picture."""
    question, law, picture = empty.question, tally.law, entry.picture
    left_open = 0.0
    if entry.target is not None and (target := entry.target(question, estimate, law)) is not None:
        wide = cast(Said, entry.said).part(estimate, law)
        left_open = min(openness(CrossFit(tally, blind=True).binned, target), wide)
    if picture == "ribbon" and law.as_number().domain.is_circle:
        picture = "rose"
    return replace(
        empty,
        estimate=estimate,
        numbers={empty.label: estimate} if entry.numbers is None else entry.numbers(estimate),
        sentence=entry.said(estimate, question, law, empty.label),
        open=left_open,
        picture="none" if left_open > _OPEN else picture,
    )
