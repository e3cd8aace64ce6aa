"""What a plan was asked and what it answers: questions, options, plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sottovoce.core.domains import Domain
from sottovoce.planning.candidates import Candidate
from sottovoce.planning.expected import (
    Expected,
    Shapes,
    Tick,
    direction_error,
    mean_error,
    reference_shapes,
    simulated,
)

Progress = Callable[[str, float], None]
ROUGH = 8  # tallies of a shape that are enough for a picture or a step of a search
ERROR_NAMES = {
    "mean": "standard error",
    "distribution": "Wasserstein error",
    "quantile": "mean absolute error",
}


@dataclass(frozen=True)
class Option:
    """One mechanism in a plan. `error` is in the units of the domain; `half_width` of the interval too.

    `name` is that of the design, for so many `people`; `reason` says in words what it is good for.
    `candidate` knows how to make it. For a distribution the half-width is that of its cumulative
    distribution, a probability. `doubt` is the standard error of a simulated `error`, 0 for an exact one.
    """

    name: str
    epsilon: float
    people: int
    error: float
    half_width: float
    reason: str
    candidate: Candidate
    domain: Domain
    doubt: float = 0.0

    def mechanism(self) -> Any:
        """The mechanism itself, ready to report."""
        return self.candidate.build(self.epsilon, self.domain)


@dataclass(frozen=True, eq=False)
class Question:
    """What a plan was asked, and how it finds the error of one mechanism."""

    task: str
    domain: Domain
    confidence: float
    shapes: Shapes | None
    repetitions: int | None
    q: float

    def expected(
        self, candidate: Candidate, epsilon: float, people: int, tick: Tick | None = None
    ) -> Expected:
        """Error and half-width on the unit domain."""
        m = candidate.on_unit(epsilon, self.domain.is_circle)
        if self.task == "mean" and not self.domain.is_circle:
            return mean_error(m, people, self.shapes, self.confidence)
        shapes = self.shapes or reference_shapes(self.domain.is_circle)
        if self.task == "mean":
            return direction_error(m, people, shapes, self.confidence)
        return simulated(self.task, m, people, shapes, self.confidence, self.repetitions, self.q, tick)

    def option(self, candidate: Candidate, epsilon: float, people: int, tick: Tick | None = None) -> Option:
        found = self.expected(candidate, epsilon, people, tick)
        scale = self.domain.width
        half = found.half_width * (1.0 if self.task == "distribution" else scale)
        return Option(
            candidate.name,
            epsilon,
            people,
            scale * found.error,
            half,
            candidate.reason,
            candidate,
            self.domain,
            scale * found.doubt,
        )


@dataclass(frozen=True, eq=False)
class Plan:
    """Options, the best first. `left_out` says which could not meet the target.

    `question` is what was asked, `options` are the mechanisms in order; `wanted` is "people" or "epsilon"
    when that was asked for.
    """

    question: Question
    options: tuple[Option, ...]
    target: float | None
    wanted: str | None
    left_out: dict[str, str]

    @property
    def best(self) -> Option:
        """The first option."""
        return self.options[0]

    def rows(self) -> list[dict[str, Any]]:
        """The table as dictionaries, the best first."""
        names = ("name", "epsilon", "people", "error", "half_width", "reason")
        return [{name: getattr(option, name) for name in names} for option in self.options]

    def __str__(self) -> str:
        lines, wide = [self.title, ""], max(14, *(len(f"{o.people:,}") + 2 for o in self.options))
        lines.append(f"{'mechanism':<16}{'ε':>8}{'people':>{wide}}{'error':>12}{'± ' + self.level:>12}  why")
        for o in self.options:
            numbers = f"{o.epsilon:>8.3g}{o.people:>{wide},}{o.error:>12.4g}{o.half_width:>12.4g}"
            lines.append(f"{o.name:<16}{numbers}  {o.reason}")
        lines += [f"{name}: {why}" for name, why in self.left_out.items()]
        return "\n".join(lines)

    @property
    def level(self) -> str:
        """The confidence, as it is printed."""
        return f"{100 * self.question.confidence:g} %"

    @property
    def title(self) -> str:
        """What the numbers are, in one line."""
        task, shapes = self.question.task, self.question.shapes
        of = f"{self.question.q:g}-quantile" if task == "quantile" else task
        truth = "the given sample" if shapes is not None else "two reference shapes"
        if task == "mean" and shapes is None and not self.question.domain.is_circle:
            truth = "the worst truth"
        doubt = max(option.doubt / option.error for option in self.options)
        sure = f" (simulated, ± {doubt:.0%})" if doubt else ""
        return f"{of} on {self.question.domain}: {ERROR_NAMES[task]} for {truth}{sure}"

    def plot(self, axes: Any = None, *, progress: Progress | None = None) -> Any:
        """Error against ε and against the number of people, a line per mechanism; returns the two axes."""
        from sottovoce.planning.pictures import draw_plan

        return draw_plan(self, axes, progress)
