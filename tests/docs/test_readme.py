"""The table of the README is what the mechanisms and their certificates say, to its last digit."""

from __future__ import annotations

from pathlib import Path

import pytest

import sottovoce as sv

README = (Path(__file__).parents[2] / "README.md").read_text()
EPSILONS = (1.0, 4.0)
MEASURES = ("absolute", "squared", "variance")


def table() -> dict[str, list[list[str]]]:
    """Of each measure what was published, ours and the limit, for one ε after the other."""
    rows = [line.strip("| ").split(" | ") for line in README.splitlines() if line.startswith("|")]
    assert rows[0] == [f"{word}, ε = {e:g}" if word == "published" else word
                       for e in EPSILONS for word in ("published", "ours", "limit")]  # fmt: skip
    content = {}
    for measure, (name, *cells) in zip(MEASURES, rows[2:], strict=True):
        assert name.startswith(measure)
        figures = [cell.strip("*") for cell in cells]
        content[measure] = [figures[:3], figures[3:]]
    return content


def agrees(value: float, printed: str) -> bool:
    """A printed number is the value rounded to the digits it shows, give or take one in the last."""
    digits = len(printed.partition(".")[2])
    return abs(value - float(printed.replace(",", ""))) <= 1.5 * 10.0**-digits


def published(measure: str, epsilon: float) -> float:
    """OGPM as printed: Theorem 3.7's window for both losses; for unbiased reports PM."""
    if measure == "variance":
        return sv.pm(epsilon, (0, 1)).worst_variance()
    return sv.ogpm(epsilon, loss="l1").worst_error("l1" if measure == "absolute" else "l2")


@pytest.mark.parametrize("measure", MEASURES)
def test_table(measure: str) -> None:
    for epsilon, (theirs, ours, limit) in zip(EPSILONS, table()[measure], strict=True):
        assert agrees(published(measure, epsilon), theirs), (measure, epsilon)
        if measure == "variance":
            m = sv.optimal(epsilon)
            worst = m.worst_variance()
        else:
            m = sv.optimal(epsilon, question="value", loss="l1" if measure == "absolute" else "l2")
            worst = m.worst_error("l1" if measure == "absolute" else "l2")
        assert agrees(worst, ours), (measure, epsilon, worst)
        assert agrees(m.certificate.limit, limit), (measure, epsilon, m.certificate.limit)
        assert float(limit) <= float(ours) < float(theirs)


def test_the_central_epsilon() -> None:
    result = sv.shuffled(sv.design("mean", epsilon=1.0, domain=(0, 24)), people=10_000, delta=1e-6)
    assert "keep a central ε of 0.04 at δ = 10^−6" in README
    assert round(result.epsilon, 2) == 0.04


def test_another_last_digit_is_noticed() -> None:
    assert agrees(0.39527, "0.39527")
    assert not agrees(0.39527, "0.39529")
