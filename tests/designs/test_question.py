"""`design`: the mechanism for a question, and that it says what it was made for."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError, ArgumentTypeError, SpecError
from sottovoce.estimates.answer.better_design import quantile_width
from sottovoce.wire.canonical import digest

HOURS, CLOCK = (0, 24), sv.Circle(24)
QUESTIONS: list[tuple[str, Any, dict[str, Any]]] = [
    ("mean", HOURS, {}),
    ("quantile", HOURS, {"p": 0.9}),
    ("distribution", HOURS, {}),
    ("distribution", CLOCK, {}),
    ("direction", CLOCK, {}),
    ("probability", HOURS, {"between": (6, 9)}),
    ("probability", CLOCK, {"between": (22, 3)}),
    ("value", HOURS, {"loss": "l1"}),
    ("value", CLOCK, {}),
]


@pytest.mark.parametrize(("task", "domain", "more"), QUESTIONS)
def test_a_design_says_what_it_was_made_for(task: str, domain: Any, more: dict[str, Any]) -> None:
    m = sv.design(task, 1.0, domain, **more)
    again = sv.from_json(m.to_json())
    assert m.made_for == task == again.made_for  # type: ignore[attr-defined]
    assert sv.audit(m).epsilon <= 1
    text = json.loads(m.to_json())
    assert text.pop("task") == {"probability": "share"}.get(task, task)  # formats keep their words
    plain = json.dumps(text, sort_keys=True, separators=(",", ":"))
    assert sv.from_json(plain).digest == m.digest == digest(m.to_json()) == digest(plain)


def test_other_questions_than_about_a_number() -> None:
    ways, line = ["car", "bike", "train"], (0, 3)
    assert sv.design("choice", 1.0, ways) == sv.choice(1.0, ways)
    assert sv.design("choice", 1.0, [1, 2, 3, 4, 5]) == sv.choice(1.0, range(1, 6))  # ratings
    assert sv.design("choices", 1.0, ways) == sv.any_of(1.0, ways)
    assert sv.design("place", 1.0, sv.Disc(2)) == sv.place(1.0, 2)
    assert sv.design("place", 1.0, (line, line)) == sv.place(1.0, box=(line, line))
    assert sv.design("pair", 1.0, {"a": line, "b": HOURS}) == sv.pair(1.0, {"a": line, "b": HOURS})
    assert sv.design("group", 1.0, (ways, line)) == sv.within(1.0, ways, line)


def test_a_survey_keeps_the_tasks_of_its_questions_and_its_digest() -> None:
    designed = {
        "age": sv.design("mean", 1.0, (0, 120)),
        "start": sv.design("direction", 1.0, CLOCK),
    }
    plain = {
        name: sv.from_json(m.to_json().replace(f',"task":"{m.made_for}"', "")) for name, m in designed.items()
    }
    survey, bare = sv.Survey(1.0, designed, 1), sv.Survey(1.0, plain, 1)  # type: ignore[arg-type]
    again = sv.from_json(survey.to_json())
    assert [item.made_for for item in again.items.values()] == ["mean", "direction"]  # type: ignore[attr-defined]
    assert survey.digest == bare.digest == again.digest
    assert survey.to_json() != bare.to_json()


@pytest.mark.parametrize("task", ["Mean", "", "a" * 40, 'mean","x":"', 3, None])
def test_a_spec_with_a_wrong_task_is_refused(task: object) -> None:
    content = {**json.loads(sv.duchi(1.0).to_json()), "task": task}
    with pytest.raises(SpecError, match="task"):
        sv.from_json(json.dumps(content))


def test_questions_that_are_none_are_refused_in_words() -> None:
    wrong: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        (("average", 1.0, HOURS), {}, "question"),
        (("mean", 1.0, CLOCK), {}, "question"),
        (("quantile", 1.0, CLOCK), {"p": 0.5}, "question"),
        (("direction", 1.0, HOURS), {}, "question"),
        (("mean", 1.0, HOURS), {"p": 0.5}, "p"),
        (("quantile", 1.0, HOURS), {"p": 1.0}, "p"),
        (("probability", 1.0, HOURS), {}, "between"),
        (("probability", 1.0, HOURS), {"between": (9, 6)}, "between"),
        (("probability", 1.0, HOURS), {"between": (0, 24)}, "between"),
        (("probability", 1.0, HOURS), {"between": 6}, "between"),
        (("mean", 0.0, HOURS), {}, "epsilon"),
        (("place", 1.0, sv.Disc(1)), {"p": 0.5}, "p"),
        (("choice", 1.0, ["a", "b"]), {"loss": "l1"}, "loss"),
        (("group", 1.0, ["a", "b", "c"]), {}, "domain"),
        (("pair", 1.0, [HOURS]), {}, "domains"),
    ]
    for arguments, more, name in wrong:
        with pytest.raises((ArgumentError, ArgumentTypeError)) as error:
            sv.design(*arguments, **more)
        assert error.value.argument == name
        assert name in str(error.value)


def test_the_arc_of_a_direction_points_more_clearly_than_any_other() -> None:
    def clarity(m: Any) -> float:
        z = np.exp(2j * np.pi * m.decode(np.arange(m.cells)) / 24)
        return float((m.probabilities(0.0) @ z).real)

    for epsilon in (0.5, 2.0):
        arc = clarity(sv.design("direction", epsilon, CLOCK))
        others = [clarity(sv.ogpm(epsilon, CLOCK, loss=k)) for k in np.arange(1, 4, 0.25)]
        assert max(others) < arc < 1.001 * max(others)


@pytest.mark.parametrize(
    ("domain", "between"), [(HOURS, (6, 9)), (CLOCK, (22, 3)), ((1e6, 1e6 + 1), (1e6, 1e6 + 0.2))]
)
def test_a_share_is_told_as_well_as_yes_or_no_can(domain: Any, between: tuple[float, float]) -> None:
    m = sv.design("probability", 1.0, domain, between=between)
    low, high = m.domain.low, m.domain.high
    x = np.linspace(low, high, 30_001)[:-1]
    begin, end = between
    share = float(np.mean((x >= begin) & (x <= end) if begin <= end else (x >= begin) | (x <= end)))
    e = sv.probability(sv.Tally(m, m.report(x, rng=7)), begin, end)
    assert e.method == "asked directly"
    assert e.low < share < e.high
    q = math.e / (1 + math.e)
    variance = q * (1 - q) / (2 * q - 1) ** 2 + share * (1 - share)  # randomised response, and the people
    assert e.high - e.low == pytest.approx(2 * 1.96 * math.sqrt(variance / len(x)), rel=0.02)
    elsewhere = sv.probability(sv.Tally(m, m.report(x[:2000], rng=7)), begin, end - 0.1 * (end - begin) % 1)
    assert elsewhere.method != "asked directly"


def test_limits_of_a_share_hold_at_every_n() -> None:
    """Clopper and Pearson by enumeration: of all counts, those that miss have probability at most 5 %."""
    from scipy.stats import binom

    m, n, share = sv.design("probability", 2.0, HOURS, between=(6, 9)), 40, 0.1
    yes, no = (float(m.probabilities(x)[1]) for x in (7, 12))
    chance = binom.pmf(np.arange(n + 1), n, no + (yes - no) * share)
    held = [
        e.low <= share <= e.high
        for e in (sv.probability(sv.Tally.from_counts(m, np.array([n - k, k])), 6, 9) for k in range(n + 1))
    ]
    assert 0.95 <= chance @ np.array(held) < 0.995


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_intervals_of_quantiles_are_narrower_than_with_the_square_wave(epsilon: float) -> None:
    """By how much, the bound says before anybody reports; OGPM's window stops near the ends."""
    m = sv.design("quantile", epsilon, (0, 1), p=0.5)
    x = (np.arange(256) + 0.5) / 256
    skewed = np.exp(-2 * np.log(x / 0.15) ** 2) / x
    ours, wave, stopped = (
        quantile_width(one, 20_000, skewed, 0.2).expected for one in (m, sv.sw(epsilon), sv.ogpm(epsilon))
    )
    assert ours < 0.85 * wave < stopped


def test_three_windows_are_three_and_move_with_the_value() -> None:
    m = sv.design("quantile", 1.0, (0, 1), p=0.5)
    assert isinstance(m, sv.Rows)
    likely = m.rows > m.rows.min() * 1.5
    assert (np.roll(likely[0], 70) == likely[70]).all()
    assert (np.diff(likely.astype(int), axis=1, append=likely[:, :1]) > 0).sum(axis=1).tolist() == [3] * len(
        likely
    )
    assert m.alike(0.501) == pytest.approx((49 / 98, 50 / 98))
