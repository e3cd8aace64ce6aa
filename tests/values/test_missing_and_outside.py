"""One policy for values missing or outside the domain."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError, Coded, DataError
from sottovoce.values.missing_and_outside import Policy

DOMAIN = sv.Interval(0.0, 10.0)
VALUES = np.array([1.0, np.nan, 12.0, -3.0, np.inf])


def test_the_default_refuses_and_never_quotes_a_value() -> None:
    with pytest.raises(DataError, match=r"2 of 5 values are missing .*index 1; missing=.uniform") as refusal:
        Policy().prepare(VALUES, DOMAIN)
    assert (refusal.value.code, refusal.value.argument) == ("missing", "values")
    with pytest.raises(
        DataError, match=r"2 of 5 values are outside \[0.0, 10.0\], the first at index 2"
    ) as refusal:
        Policy(missing=5).prepare(VALUES, DOMAIN)
    assert refusal.value.code == "outside"
    assert "12" not in str(refusal.value)


def test_clip_and_stand_ins() -> None:
    assert Policy(5, "clip").prepare(VALUES, DOMAIN).tolist() == [1, 5, 10, 0, 5]
    assert Policy(5, "missing").prepare(VALUES, DOMAIN).tolist() == [1, 5, 5, 5, 5]
    clock = sv.Circle(24)
    assert Policy(5, "clip").prepare(np.array([25.0, -1.0]), clock).tolist() == [1, 23]


def test_uniform_stand_ins_cover_the_domain_evenly() -> None:
    drawn = Policy("uniform", "clip").prepare(np.full(100_000, np.nan), DOMAIN, rng=3)
    assert DOMAIN.contains(drawn).all()
    counts = np.bincount((drawn / 2).astype(int), minlength=5)
    assert np.abs(counts - 20_000).max() < 5.3 * np.sqrt(20_000 * 0.8)  # 1e-6 over five bins


def test_words_that_are_not_for_here_are_refused() -> None:
    with pytest.raises(ArgumentError, match="missing must be one of 'refuse', 'uniform', got missing='drop'"):
        Policy("drop").checked(DOMAIN)
    with pytest.raises(ArgumentError, match=r"missing must lie in the domain, got missing=11\.0"):
        Policy(11).checked(DOMAIN)
    nonsense: Any = "ignore"
    with pytest.raises(ArgumentError, match="outside must be one of"):
        Policy(outside=nonsense)
    with pytest.raises(ArgumentError, match="clip=True means outside='clip'"):
        Policy.of(outside="missing", clip=True)
    assert Policy.of(clip=True) == Policy(outside="clip")


@pytest.mark.parametrize(
    ("policy", "silent"),
    [
        (Policy(), True),
        (Policy(5), True),
        (Policy("drop", "clip"), True),
        (Policy(5, "clip"), False),
        (Policy("uniform", "missing"), False),
    ],
)
def test_what_a_client_may_run(policy: Policy, silent: bool) -> None:
    assert policy.silent is silent


def test_errors_keep_code_and_argument_through_pickle() -> None:
    error = pickle.loads(pickle.dumps(DataError("no", code="outside", argument="x")))
    assert isinstance(error, Coded)
    assert (str(error), error.code, error.argument) == ("no", "outside", "x")


def test_clip_is_true_or_false() -> None:
    for refused in (lambda: Policy.of(clip="yes"), lambda: sv.ogpm(1.0).report(5, clip="no")):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="clip must be True or False, got clip="):
            refused()


def test_a_table_that_means_another_epsilon_is_refused() -> None:
    """Rounding is repaired; ε = 2.2 is not made ε = 1 behind anybody's back."""
    with pytest.raises(ArgumentError, match=r"keep epsilon=1\.0: .* factor of 9, epsilon=2\.19722"):
        sv.Rows.of(1.0, [[0.9, 0.1], [0.1, 0.9]])
    with pytest.raises(ArgumentError, match="factor of inf"):
        sv.Rows.of(1.0, [[1.0, 0.0], [0.0, 1.0]])
    assert sv.audit(sv.Rows.of(1.0, [[0.7311, 0.2689], [0.2689, 0.7311]])).holds
