"""The contract of reporters as tests that ship: run them against any reporter, also one of your own.

    sottovoce.check_reporter(mine)          # silent, or a ContractError that names the rule

Every rule is decided by comparison with the plainest computation there is: ratios by counting in integers,
expectations by sums over cells, draws by χ² with a stated rate of false alarms. Of somebody's own class the
documented members are used and nothing else: what it reports and decodes is held against the law of its spec.
In a format of its own, only what needs no law is checked.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.exact_law import check_law
from sottovoce.auditing.require import require
from sottovoce.auditing.sampler_checks import check_lot, check_sampler
from sottovoce.errors import ContractError
from sottovoce.exact.rational_bounds import exp_lower
from sottovoce.randomness.word_source import Seeded, seeded_generator
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.composites.item_rules import product_of_largest
from sottovoce.reporters.contract import Reporter, line_of, space_of, spaces
from sottovoce.reporters.formats import from_json, law_of
from sottovoce.reporters.question import Question
from sottovoce.wire.canonical import digest as spec_digest


def check_reporter(
    reporter: Reporter,
    *,
    read: Callable[[str], Reporter] = from_json,
    rng: Seeded = None,
    draws: int = 1 << 16,
    false_alarm: float = 1e-6,
) -> None:
    """Run every test of the contract against a reporter.

    Args:
        reporter: Anything that reports: of this library, read from a spec, or of a class of your own.
        read: What reads its spec again; of a format of your own, your reader.
        rng: A seed, to repeat a check. By default draws come from the secure stream, as people's reports do.
        draws: How many reports the statistical rules look at, for each input.
        false_alarm: How often a reporter that keeps the contract may fail by chance.

    Raises:
        ContractError: If a rule is broken. Its `code` names the rule.

    Example:
        >>> from sottovoce import ogpm
        >>> check_reporter(ogpm(epsilon=1.0, cells=256))
    """
    names = sorted(name for name in dir(Reporter) if not name.startswith("_"))
    missing = [name for name in names if not hasattr(reporter, name)]
    require(not missing, "members", f"a Reporter needs {', '.join(missing)}")
    source, fresh = None if rng is None else seeded_generator(rng), read(reporter.to_json())
    sizes = [len(_pickled(one)) for one in (reporter, fresh)]
    _identity(reporter, fresh)
    law = _law(reporter)
    if not isinstance(reporter.domain, Mapping):
        _device(reporter, law)
        if law is not None and line_of(law):
            check_law(law.as_number())
        if law is not None:
            check_sampler(reporter, law, source, draws, false_alarm)
    else:
        _composition(reporter, law)
        check_lot(reporter, law, source, draws, false_alarm)
        for name, item in reporter.items.items():
            try:
                check_reporter(item, read=read, rng=source, draws=draws, false_alarm=false_alarm)
            except ContractError as broken:
                raise ContractError(f"item {name!r}: {broken}", code=broken.code, argument=name) from None
    _use(fresh)
    for one, size in zip((reporter, fresh), sizes, strict=True):
        after = len(_pickled(one))
        require(after <= size, "pickle", f"a pickle must not grow with use, from {size} to {after} bytes")


# -- identity ---------------------------------------------------------------------------------------------


def _pickled(reporter: Reporter) -> bytes:
    try:
        return pickle.dumps(reporter)
    except Exception as error:
        raise ContractError(f"pickle: it must pickle: {error}", code="pickle") from error


def _identity(reporter: Reporter, fresh: Reporter) -> None:
    text, digest = reporter.to_json(), reporter.digest
    require(digest == spec_digest(text), "digest", "it is the SHA-256 of the spec without its task")
    for what, again in (("the spec", fresh), ("a pickle", pickle.loads(_pickled(reporter)))):
        same = (again.digest, again.to_json(), again.cells, again.epsilon, again.width) == (
            digest, text, reporter.cells, reporter.epsilon, reporter.width,
        )  # fmt: skip
        require(same, "spec", f"{what} must give the same reporter back")
    name = reporter.name
    require(name and name in repr(reporter), "name", "repr must say which mechanism it is")
    require(reporter.cells >= 1 and reporter.width >= 1, "cells", "a report is at least one of one cell")
    narrowest = np.min_scalar_type(reporter.cells - 1)
    require(reporter.dtype == narrowest, "dtype", f"the narrowest is {narrowest}, got {reporter.dtype}")
    limit = exp_lower(reporter.epsilon)
    require(reporter.largest_ratio <= limit, "ratio", f"largest_ratio exceeds e^{reporter.epsilon!r}")
    names = ("", *reporter.items)
    said = all(isinstance(one, Question) and one.item in names for one in reporter.questions)
    require(said, "questions", "each must be a Question, and of an item that there is")


def _law(reporter: Reporter) -> ReporterBase | None:
    """What its spec says, after comparing what it says itself; None of a format of its own."""
    try:
        law = law_of(reporter)
    except ContractError as error:
        if error.code != "format":
            raise
        return None
    own, spec = ((one.cells, one.epsilon, one.width, dict(spaces(one))) for one in (reporter, law))
    require(own == spec, "spec", "cells, epsilon, width and domain must be those of the spec")
    right = reporter.largest_ratio == law.largest_ratio
    require(right, "ratio", f"largest_ratio must be that of the spec, {law.largest_ratio}")
    return law


def _use(reporter: Reporter) -> None:
    """Use a reporter that was just read, so that it computes whatever it keeps."""
    values: Any = {name: space.examples(2)[:4] for name, space in spaces(reporter).items()}
    values = values if isinstance(reporter.domain, Mapping) else values["value"]
    reporter.decode(reporter.report(values))
    law = _law(reporter)
    if law is not None and line_of(law):
        m = law.as_number()
        m.variance(values), m.density(values[0], values), m.operator(values)


# -- the device -------------------------------------------------------------------------------------------


def _device(reporter: Reporter, law: ReporterBase | None) -> None:
    """What `report`, `decode` and `checked` do with values, cells and what is neither."""
    alone = list(reporter.items) == ["value"] and reporter.items["value"] is reporter
    require(alone, "items", "where one thing is asked, that is the reporter itself, under the name value")
    space = space_of(reporter)
    x = space.examples(60)
    cells = reporter.report(x, rng=7)
    require(cells.shape == (len(x),), "report", f"one cell per value, got shape {cells.shape}")
    require(cells.dtype == reporter.dtype, "dtype", f"cells must be {reporter.dtype}, got {cells.dtype}")
    require(np.array_equal(cells, reporter.report(x, rng=7)), "report", "a seed must give the same again")
    require(np.ndim(reporter.report(x[0], rng=7)) == 0, "report", "of one value it is one cell")
    require(reporter.report(x[:0]).shape == (0,), "report", "of no values it is no cells")
    pairs = x.reshape(-1, 2, *space.shape)
    require(reporter.report(pairs, rng=7).shape == pairs.shape[:2], "report", "the shape must be kept")
    require(np.array_equal(reporter.checked(cells), cells), "checked", "its own reports are reports")
    for wrong in ([-1], [reporter.cells], [0.5]):
        _refuses(reporter.checked, wrong, "checked")
        _refuses(reporter.decode, wrong, "decode")
    some = np.linspace(0, reporter.cells - 1, min(reporter.cells, 1 << 12)).astype(np.int64)
    decoded = np.asarray(reporter.decode(some))
    whole = (*some.shape, *space.decoded)
    require(decoded.shape == whole, "decode", f"one value per cell, got {decoded.shape}")
    require(np.isfinite(decoded).all(), "decode", "what a cell stands for must be finite")
    if law is not None:
        close = np.allclose(decoded, law.decode(some), rtol=0, atol=1e-9 * np.abs(decoded).max())
        require(close, "decode", "a cell must stand for what its spec says")
    noisy = reporter.perturb(x, rng=7)
    require(np.array_equal(noisy, reporter.decode(cells)), "perturb", "it must be decode(report(x))")
    _policy(reporter, x)


def _policy(reporter: Reporter, x: NDArray[Any]) -> None:
    """Nothing is repaired silently, and a refusal names no value."""
    gaps = x.copy()
    gaps[1] = np.nan
    _refuses(reporter.report, gaps, "missing", secret=x)
    require(reporter.report(gaps, missing="uniform").shape == (len(x),), "missing", "a stand-in is for all")
    space = space_of(reporter)
    outside = space.outside()
    if len(outside):
        _refuses(reporter.report, outside, "outside", secret=outside)
        if not space.clips:
            _refuses(lambda values: reporter.report(values, clip=True), outside, "outside", secret=outside)
            return
        clipped = reporter.report(outside, clip=True)
        require(clipped.shape == (len(outside),), "outside", "clip=True must bring values inside")


def _refuses(method: Callable[[Any], Any], wrong: Any, rule: str, secret: NDArray[Any] | None = None) -> None:
    try:
        method(wrong)
    except (ValueError, TypeError) as refusal:
        words = [] if secret is None else [repr(value) for value in secret.reshape(-1).tolist()]
        quoted = any(word in str(refusal) for word in words if len(word) > 6)  # not a bound such as 24.0
        require(not quoted, rule, "a refusal must not quote a value")
    else:
        raise ContractError(f"{rule}: what is wrong must be refused", code=rule)


# -- several items ------------------------------------------------------------------------------------


def _composition(survey: Reporter, law: ReporterBase | None) -> None:
    """Cells of items side by side, a row of increasing cells per person, a counted joint ratio."""
    questions = survey.items
    own, spec = ([(name, item.digest) for name, item in one.items.items()] for one in (survey, law or survey))
    require(own == spec, "items", "they must be those of the spec, in its order")
    sizes = [question.cells for question in questions.values()]
    require(sum(sizes) == survey.cells, "cells", "the cells of all items lie one after the other")
    require(all(one.width == 1 for one in questions.values()), "items", "each must be one thing")
    require(survey.width <= len(questions), "width", "nobody answers more than there are items")
    joint = product_of_largest((one.largest_ratio for one in questions.values()), survey.width)
    require(survey.largest_ratio >= joint, "ratio", "answers are independent: their ratios multiply")
    values = {name: space.examples(60)[:8] for name, space in spaces(survey).items()}
    reports = survey.report(values, rng=7)
    require(reports.shape == (8, survey.width), "report", f"a row per person, got shape {reports.shape}")
    require(reports.dtype == survey.dtype, "dtype", f"cells must be {survey.dtype}, got {reports.dtype}")
    require(
        np.array_equal(reports, survey.report(values, rng=7)), "report", "a seed must give the same again"
    )
    require(np.array_equal(survey.checked(reports), reports), "checked", "its own reports are reports")
    _refuses(survey.checked, np.full((1, survey.width), survey.cells), "checked")
    if survey.width > 1:
        _refuses(survey.checked, reports[:, ::-1], "checked")
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    asked = np.searchsorted(offsets, reports, side="right") - 1
    decoded = survey.decode(reports)
    require(list(decoded) == list(questions), "decode", "values must come by item")
    for i, (name, question) in enumerate(questions.items()):
        column, own = np.full(decoded[name].shape, np.nan), asked == i
        column[own.any(axis=1)] = question.decode(reports[own].astype(np.int64) - offsets[i])
        same = np.array_equal(decoded[name], column, equal_nan=True)
        require(same, "decode", f"of {name!r} it must be what the item decodes, NaN elsewhere")
    gaps = {name: np.full_like(column, np.nan) for name, column in values.items()}
    _refuses(survey.report, gaps, "missing")
    stand_ins = survey.report(gaps, missing="uniform")
    require(stand_ins.shape == reports.shape, "missing", "a stand-in is for all")
