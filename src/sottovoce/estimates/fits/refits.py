"""How a fitted log density moves with the counts: fitted again to others, and to first order.

A bootstrap fits many of them, near each other: all climb at once, a column each.
"""

from __future__ import annotations

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.estimates.fits.log_density import MOST_STEP, DensityFit, LogDensity, inverted

_STEPS = 60
_LITTLE = 1e-5  # in penalised log likelihood: a step that gains less ends a climb


def refits(model: LogDensity, fit: DensityFit, counts: FloatArray) -> FloatArray:
    """Densities for other counts of as many reports each, with the smoothing and atoms of a fit.

    Args:
        model: The law, and how densities are smoothed.
        fit: Where to start.
        counts: A column for each density.

    Returns:
        A column for each.
    """
    design, s, columns = fit.state.design, model.smoothing(fit), counts.shape[1]
    # So near, the information of the fit will do: a step costs a tenth, and there are a few more.
    inverse = inverted(fit.state.information * (float(counts.sum()) / columns / fit.state.model.n) + s)[0]
    theta, offset = np.repeat(fit.state.theta[:, None], columns, axis=1), np.reshape(model.offset, (-1, 1))

    def at(theta: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Densities, probabilities of reports, and penalised likelihoods."""
        eta = offset + design @ theta
        f = np.exp(eta - eta.max(axis=0))
        f /= f.sum(axis=0)
        q = model.law.mix(f)
        return f, q, (counts * np.log(q)).sum(axis=0) - (theta * (s @ theta)).sum(axis=0) / 2

    f, q, value = at(theta, counts)
    going = np.arange(columns)
    for _ in range(_STEPS):
        expected, here = model.law.expect(counts[:, going] / q[:, going]), f[:, going]
        expected = expected - (here * expected).sum(axis=0)
        step = inverse @ (design.T @ (here * expected) - s @ theta[:, going])
        step *= np.minimum(1.0, 2 * MOST_STEP / np.maximum(np.ptp(design @ step, axis=0), 1e-300))
        gain, short = np.zeros(len(going)), np.arange(len(going))
        for _ in range(12):  # halved until the likelihood does not fall
            some = going[short]
            trial = theta[:, some] + step[:, short]
            trials = at(trial, counts[:, some])
            rise = trials[2] - value[some]
            good = rise >= -1e-9
            gain[short[good]], theta[:, some[good]] = rise[good], trial[:, good]
            f[:, some[good]], q[:, some[good]], value[some[good]] = (one[..., good] for one in trials)
            short, step = short[~good], step / 2
            if not len(short):
                break
        going = going[gain >= _LITTLE]
        if not len(going):
            break
    return f


def response(model: LogDensity, fit: DensityFit, noise: FloatArray) -> FloatArray:
    """How a fit's density would move with a model's counts, to first order: a column for each of noise."""
    state = fit.state
    information = state.information * (model.n / state.model.n)
    theta = np.linalg.solve(information + model.smoothing(fit), state.moved.T @ (noise / state.q[:, None]))
    return np.asarray(state.f[:, None] * ((state.design - state.f @ state.design) @ theta))
