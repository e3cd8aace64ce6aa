"""The table of the README is what the mechanisms and their certificates say, to its last digit."""

from __future__ import annotations

from pathlib import Path

import pytest

import sottovoce as sv

README = (Path(__file__).parents[2] / "README.md").read_text()
EPSILONS = (0.5, 1.0, 2.0, 4.0)
MEASURES = ("absolute", "squared", "variance")


def table() -> dict[str, list[list[str]]]:
    """The rows published, ours and limit of each measure, in the order of the columns."""
    rows = [line.strip("| ").split(" | ") for line in README.splitlines() if line.startswith("|")]
    assert rows[0] == ["ε = 0.5", "1", "2", "4"]
    content = rows[2:]
    found = {}
    for i, measure in enumerate(MEASURES):
        published, ours, limit = content[3 * i : 3 * i + 3]
        assert published[0].startswith(measure)
        assert (ours[0], limit[0]) == ("**ours**", "limit")
        found[measure] = [published[1:], ours[1:], limit[1:]]
    assert len(content) == 3 * len(MEASURES)
    return found


def agrees(value: float, printed: str) -> bool:
    """A printed number is the value rounded to the digits it shows, give or take one in the last."""
    digits = len(printed.partition(".")[2])
    return abs(value - float(printed)) <= 1.5 * 10.0**-digits


def published(measure: str, epsilon: float) -> list[float]:
    """OGPM as printed: Theorem 3.7's window for both losses; OGPM-U, and PM beside it."""
    if measure == "variance":
        return [sv.ogpm_unbiased(epsilon).worst_variance(), sv.pm(epsilon, (0, 1)).worst_variance()]
    return [sv.ogpm(epsilon, loss="l1").worst_error("l1" if measure == "absolute" else "l2")]


@pytest.mark.parametrize("measure", MEASURES)
def test_table(measure: str) -> None:
    for column, epsilon in enumerate(EPSILONS):
        theirs, ours, limit = (row[column] for row in table()[measure])
        for value, printed in zip(published(measure, epsilon), theirs.strip(")").split(" ("), strict=True):
            assert agrees(value, printed), (measure, epsilon, value)
        if measure == "variance":
            m = sv.optimal(epsilon)
            worst = m.worst_variance()
        else:
            m = sv.optimal(epsilon, goal="value", loss="l1" if measure == "absolute" else "l2")
            worst = m.worst_error("l1" if measure == "absolute" else "l2")
        assert agrees(worst, ours), (measure, epsilon, worst)
        assert agrees(m.certificate.limit, limit), (measure, epsilon, m.certificate.limit)
        assert float(limit) <= float(ours) < float(theirs.split(" (")[-1].strip(")"))


def test_another_last_digit_is_noticed() -> None:
    assert agrees(0.39527, "0.39527")
    assert not agrees(0.39527, "0.39529")
