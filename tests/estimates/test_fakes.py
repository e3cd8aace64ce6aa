"""What fakes can do to an estimate: a bound where there is one, else the worst that is found."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv


def test_a_bound_for_the_mean_and_a_search_that_says_so() -> None:
    m = sv.pm(1.0, (0, 24))
    honest = m.report(np.full(1000, 8.0), rng=6)
    bound = sv.fakes(sv.Tally(m, honest), 10)
    with_fakes = honest.copy()
    with_fakes[np.argsort(honest)[:10]] = m.cells - 1
    before, after = (sv.mean(sv.Tally(m, cells)).value for cells in (honest, with_fakes))
    assert bound.kind == "bound"
    assert bound.low <= after <= bound.high
    widest = 10 / 1000 * (m.decode(m.cells - 1) - m.decode(0))
    assert bound.high - bound.value == pytest.approx(widest)
    assert abs(after - before) > 0.9 * widest
    everything = sv.fakes(sv.Tally(m, honest), 1000)
    assert (everything.low, everything.high) == (0.0, 24.0)  # no further than the domain
    t = sv.Tally(sv.sw(1.0), sv.sw(1.0).report(np.full(1000, 0.3), rng=7))
    searched = sv.fakes(t, 100, places=5)
    assert searched.kind == "search"
    assert searched.low < sv.mean(t).value < searched.high
    assert "not a bound" in str(searched)


def test_bad_input() -> None:
    t = sv.Tally(sv.sw(1.0), [1, 2, 3])
    with pytest.raises(ValueError, match="k must be between 0 and 3"):
        sv.fakes(t, 4)
