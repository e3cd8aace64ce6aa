"""What a plan is about and what it answers: scenarios, options, plans."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sottovoce.core.domains import Domain
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.mixture import Mixture
from sottovoce.planning.candidates import Candidate
from sottovoce.planning.error_plot import draw_errors
from sottovoce.planning.expected import (
    Expected,
    Shapes,
    Tick,
    direction_error,
    mean_error,
    reference_shapes,
    simulated,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Progress = Callable[[str, float], None]
ROUGH = 8  # tallies of a shape that are enough for a picture or a step of a search
ERROR_NAMES = {
    "mean": "standard error",
    "distribution": "Wasserstein error",
    "quantile": "mean absolute error",
}


@dataclass(frozen=True)
class Option:
    """One mechanism in a plan.

    Attributes:
        name: That of the design.
        epsilon: The privacy parameter.
        people: How many people report.
        error: The error to expect, in the units of the domain.
        half_width: Half the width of the interval in the same units; for a distribution that of its
            cumulative distribution, a probability.
        reason: What the design is good for, and how it compares to the best.
        candidate: Knows how to make it.
        domain: Where values lie.
        doubt: The standard error of a simulated `error`, 0 for an exact one.
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

    @cached_property
    def mechanism(self) -> Mechanism | Mixture:
        """The mechanism itself, ready to report."""
        return self.candidate.build(self.epsilon, self.domain)


@dataclass(frozen=True, eq=False)
class Scenario:
    """What is to be estimated about whom.

    Attributes:
        task: "mean", "distribution" or "quantile".
        domain: Where values lie.
        confidence: That of the intervals.
        shapes: What the truth may look like; None for the worst truth or the reference shapes.
        repetitions: How many tallies to simulate; None for as many as it takes.
        p: Which quantile.
    """

    task: str
    domain: Domain
    confidence: float
    shapes: Shapes | None
    repetitions: int | None
    p: float

    def expected(
        self, candidate: Candidate, epsilon: float, people: int, tick: Tick | None = None
    ) -> Expected:
        """The error of one mechanism on the unit domain; `tick` hears the share of the work that is done."""
        m = candidate.on_unit(epsilon, self.domain.is_circle)
        if self.task == "mean" and not self.domain.is_circle:
            return mean_error(m, people, self.shapes, self.confidence)
        shapes = self.shapes or reference_shapes(self.domain.is_circle)
        if self.task == "mean":
            return direction_error(m, people, shapes, self.confidence)
        return simulated(self.task, m, people, shapes, self.confidence, self.repetitions, self.p, tick)

    def option(self, candidate: Candidate, epsilon: float, people: int, tick: Tick | None = None) -> Option:
        """The same in the units of the domain, as an option of a plan."""
        expected, scale = self.expected(candidate, epsilon, people, tick), self.domain.width
        return Option(
            candidate.name,
            epsilon,
            people,
            scale * expected.error,
            expected.half_width * (1.0 if self.task == "distribution" else scale),
            candidate.reason,
            candidate,
            self.domain,
            scale * expected.doubt,
        )


@dataclass(frozen=True, eq=False)
class Plan:
    """Mechanisms for a task, the best first.

    Attributes:
        scenario: What is to be estimated about whom.
        options: The mechanisms, in order.
        target: The error that was asked for, or None.
        wanted: "people" or "epsilon" when that was asked for.
        left_out: Mechanisms that cannot meet the target, and why.
        central: The (ε, δ) that the counts keep, if that was asked for.
    """

    scenario: Scenario
    options: tuple[Option, ...]
    target: float | None
    wanted: str | None
    left_out: dict[str, str]
    central: tuple[float, float] | None = None

    @property
    def best(self) -> Option:
        """The first option."""
        return self.options[0]

    def rows(self) -> list[dict[str, str | float | int]]:
        """The table, as JSON takes it.

        Returns:
            A dictionary per option, the best first.
        """
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
        return f"{100 * self.scenario.confidence:g} %"

    @property
    def title(self) -> str:
        """What the numbers are, in one line."""
        task, shapes = self.scenario.task, self.scenario.shapes
        quantity = f"{self.scenario.p:g}-quantile" if task == "quantile" else task
        truth = "the given sample" if shapes is not None else "two reference shapes"
        if task == "mean" and shapes is None and not self.scenario.domain.is_circle:
            truth = "the worst truth"
        doubt = max(option.doubt / option.error for option in self.options)
        sure = f" (simulated, ± {doubt:.0%})" if doubt else ""
        kept = "" if self.central is None else "; counts that keep ({:g}, {:g})".format(*self.central)
        return f"{quantity} on {self.scenario.domain}: {ERROR_NAMES[task]} for {truth}{sure}{kept}"

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
        task, scale = self.scenario.task, self.scenario.domain.width
        # Lines are simulated roughly, the planned points as well as they were planned.
        rough = replace(self.scenario, repetitions=self.scenario.repetitions or ROUGH)
        spots, looks = 9 if task == "mean" else 4, itertools.count(1)

        def error(k: int, epsilon: float, people: int) -> float:
            option = self.options[k]
            if (epsilon, people) == (option.epsilon, option.people):
                value = option.error
            else:
                value = scale * rough.expected(option.candidate, epsilon, people).error
            if progress is not None:  # spots and the planned point on two lines
                progress(option.name, min(next(looks) / (len(self.options) * 2 * (spots + 1)), 1.0))
            return value

        label = f"{ERROR_NAMES[task]}, in units of the domain"
        points = [(option.name, option.epsilon, option.people, option.error) for option in self.options]
        return draw_errors(points, error, spots=spots, label=label, target=self.target, axes=axes)
