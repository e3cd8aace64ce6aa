"""What a plan is about and what it answers: scenarios, options, plans."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.planning.candidates import KINDS, POINTS, UNITS, Candidate, Kind
from sottovoce.planning.prediction import Expected, Setting, reference_shapes
from sottovoce.planning.simulation import simulated
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.plots.error_plot import draw_errors
from sottovoce.reporters.number import Number
from sottovoce.reporters.question import Question
from sottovoce.values.domain import Domain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Progress = Callable[[str, float], None]

_COUNTED = {2: "two", 3: "three"}
_FACTORS = 100  # between the ends of a domain: then a log scale is worth a word


@dataclass(frozen=True)
class Option:
    """One mechanism in a plan.

    Attributes:
        name: What it is called: "design" is what `sottovoce.design` gives.
        epsilon: The privacy parameter.
        people: How many people report.
        error: The error to expect, in the units of the domain (of a probability: as it is).
        half_width: Half the width of the interval in the same units; of a distribution that of its
            cumulative distribution, a probability. NaN where a single value is asked for.
        reason: What it is good for, and how it compares to the best.
        mechanism: The mechanism, ready to report; of a class of your own what its spec says.
        doubt: The standard error of a simulated `error`, 0 for a predicted one.
    """

    name: str
    epsilon: float
    people: int
    error: float
    half_width: float
    reason: str
    mechanism: Number = field(repr=False)
    doubt: float = 0.0


@dataclass(frozen=True, eq=False)
class Scenario:
    """What is to be known about whom.

    Attributes:
        question: What is to be known.
        domain: Where values lie.
        confidence: That of the intervals.
        sample: What people are like, probabilities of equal bins; None for reference shapes.
        simulate: True if answers are simulated instead of predicted.
        repetitions: How many tallies to simulate; None for as many as it takes.
        loss: What a single value minimises.
    """

    question: Question
    domain: Domain
    confidence: float
    sample: FloatArray | None = None
    simulate: bool = False
    repetitions: int | None = None
    loss: str | float = "l2"

    @property
    def kind(self) -> Kind:
        """What is known about such questions."""
        return KINDS[self.question.name]

    @property
    def shapes(self) -> FloatArray:
        """What people may be like, a row each; for a quantile humps that lean to either side."""
        if self.sample is not None:
            return self.sample
        shapes = reference_shapes(self.domain.is_circle)
        if self.question.name == "value":  # its worst case is everybody's
            return shapes[:1]
        return np.vstack((shapes, shapes[0, ::-1])) if self.question.name == "quantile" else shapes

    def expected(self, m: Number, people: int) -> Expected:
        """What to expect of one mechanism, in the units of the domain."""
        about = (self.confidence, self.loss)
        settings = [Setting(self.question, m, people, density, *about) for density in self.shapes]
        look = (lambda s: simulated(s, self.repetitions)) if self.simulate else self.kind.predict
        each = [look(setting) for setting in settings]
        error, half, doubt = np.mean(np.array(each) * [1, 1, 0], axis=0).tolist()
        doubt = math.hypot(*(expected.doubt for expected in each)) / len(each)
        unit = float(self.domain.stretched(1.0))
        scale = 1.0 if self.kind.error_in == POINTS else unit
        return Expected(scale * error, (1.0 if self.kind.half_in == POINTS else unit) * half, scale * doubt)

    def option(self, candidate: Candidate, epsilon: float, people: int) -> Option | None:
        """What to expect of a candidate; None if it has no mechanism for this ε."""
        m = candidate.build(epsilon) if epsilon <= candidate.most else None
        if m is None:
            return None
        error, half, doubt = self.expected(m, people)
        return Option(candidate.name, epsilon, people, error, half, candidate.reason, m, doubt)


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Tabular):
    """Mechanisms for a question, the best first.

    Attributes:
        scenario: What is to be known about whom.
        options: The mechanisms, in order.
        target: The error that was asked for, or None.
        wanted: "people" or "epsilon" when that was asked for.
        left_out: Mechanisms that cannot meet the target, and why.
        central: The (ε, δ) that the counts keep, if that was asked for.
        candidates: What makes the mechanisms.
    """

    scenario: Scenario
    options: tuple[Option, ...]
    target: float | None
    wanted: str | None
    left_out: dict[str, str]
    central: tuple[float, float] | None = None
    candidates: tuple[Candidate, ...] = field(repr=False, default=())

    @property
    def best(self) -> Option:
        """The first option: `best.mechanism` is ready to report."""
        return self.options[0]

    @property
    def rows(self) -> list[Row]:
        """The table, as JSON and data frames take it, the best first; a half-width that is none is None."""
        names = ("name", "epsilon", "people", "error", "half_width", "reason")
        rows = [{name: getattr(option, name) for name in names} for option in self.options]
        return [{k: None if v != v else v for k, v in row.items()} for row in rows]

    def __repr__(self) -> str:
        return f"<Plan {self.title}: {', '.join(option.name for option in self.options)}>"

    def _table(self) -> list[tuple[str, ...]]:
        """What is printed: the heads with units, and a row for each option."""
        kind, half_in = self.scenario.kind, self.scenario.kind.half_in
        length = "of the logarithm" if self.scenario.domain.is_log else "units of the domain"
        units = {UNITS: length, POINTS: "percentage points"}
        level = f"{100 * self.scenario.confidence:g} % interval"
        half = () if half_in is None else (f"{level} (± {units[half_in]})",)
        rows = [("mechanism", "ε", "people", f"{kind.error} ({units[kind.error_in]})", *half, "why")]
        for o in self.options:
            half = () if half_in is None else (f"± {_number(o.half_width, half_in)}",)
            error = _number(o.error, kind.error_in)
            rows.append((o.name, f"{o.epsilon:.4g}", f"{o.people:,}", error, *half, o.reason))
        return rows

    def _remarks(self) -> tuple[str, ...]:
        notes = (*(f"{name}: {why}" for name, why in self.left_out.items()), self.log_hint)
        return tuple(filter(None, notes))

    def __str__(self) -> str:
        rows = self._table()
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [self.title, ""]
        for name, *numbers, why in rows:
            columns = (f"{text:>{width}}" for text, width in zip(numbers, wide[1:-1], strict=True))
            lines.append("  ".join((f"{name:<{wide[0]}}", *columns, why)))
        return "\n".join([*lines, *self._remarks()])

    @property
    def log_hint(self) -> str:
        """Where a log scale would narrow the interval of a quantile; empty if nowhere or if it is one.

        The interval is as wide a part of the domain on either scale: a length on one, a factor on the other.
        """
        domain, half = self.scenario.domain, self.best.half_width
        if self.scenario.question.name != "quantile" or domain.is_log or domain.is_circle or domain.low <= 0:
            return ""
        factor = math.exp(half / domain.width * math.log(domain.high / domain.low))
        below = half / (factor - 1)
        if domain.high / domain.low < _FACTORS or not domain.low < below:
            return ""
        return (
            f"with scale='log' the interval is a factor of {factor:.3g} instead of ± {half:.3g}: "
            f"narrower if the quantile is below {below:.3g}"
        )

    @property
    def title(self) -> str:
        """What the numbers are about, in one line."""
        question, domain = self.scenario.question, self.scenario.domain
        what = f"{question.p:g}-quantile" if question.name == "quantile" else question.name
        if question.between is not None:
            what += f" of {question.between[0]:g} to {question.between[1]:g}"
        people = f"{_COUNTED.get(len(self.scenario.shapes))} reference shapes"
        if question.name == "value" or self.scenario.sample is not None:
            people = "everybody" if question.name == "value" else "the given sample"
        doubt = max(option.doubt / option.error for option in self.options)
        how = f"simulated, ± {100 * doubt:.0f} % of each error" if self.scenario.simulate else "predicted"
        where = f"{'the circle ' if domain.is_circle else ''}{domain}"
        kept = "" if self.central is None else "; counts that keep ({:g}, {:g})".format(*self.central)
        return f"{what} on {where}, for {people} ({how}){kept}"

    def plot(
        self, axes: tuple[Axes, Axes] | None = None, *, progress: Progress | None = None
    ) -> tuple[Axes, Axes]:
        """Draw the error against ε and against the number of people, a line per mechanism.

        Args:
            axes: Two axes of matplotlib; by default new ones.
            progress: Is called with the name of a mechanism and the share of the work that is done.

        Returns:
            The two axes.
        """
        build = {candidate.name: candidate for candidate in self.candidates}
        spots, looks = 9 if self.scenario.question.name == "mean" else 4, itertools.count(1)

        def error(k: int, epsilon: float, people: int) -> float:
            option = self.options[k]
            if (epsilon, people) != (option.epsilon, option.people):
                other = self.scenario.option(build[option.name], epsilon, people)
                value = math.nan if other is None else other.error
            else:
                value = option.error
            if progress is not None:  # spots and the planned point on two lines
                progress(option.name, min(next(looks) / (len(self.options) * 2 * (spots + 1)), 1.0))
            return value

        label = self._table()[0][3]
        points = [(option.name, option.epsilon, option.people, option.error) for option in self.options]
        return draw_errors(points, error, spots=spots, label=label, target=self.target, axes=axes)


def _number(value: float, unit: str) -> str:
    return f"{100 * value:.3g}" if unit == POINTS else f"{value:.4g}"
