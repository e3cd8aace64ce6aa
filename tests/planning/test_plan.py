"""The planner: exact errors of means, simulated errors of shapes, inverse questions, bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks._tables import table_in
from benchmarks.planner import Case, measured

import sottovoce as sv
from benchmarks import planner
from sottovoce.core.errors import DataError, NoDataError
from sottovoce.planning import expected
from sottovoce.planning.inverse import meeting


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


# -- means ------------------------------------------------------------------------------------------------


def test_the_mean_is_planned_from_exact_variances() -> None:
    p = sv.plan("mean", epsilon=1.0, people=10_000, domain=(0, 24))
    errors = {o.name: o.error for o in p.options}
    assert errors["pm"] == pytest.approx(24 * math.sqrt(sv.pm(1.0, (0, 1)).worst_variance() / 10_000))
    assert errors["duchi"] == pytest.approx(24 * math.sqrt(1.1707 / 10_000), rel=1e-4)  # FACTS, section 4
    assert [o.error for o in p.options] == sorted(errors.values())
    assert p.best.half_width == pytest.approx(1.959964 * p.best.error)
    assert p.options[-1].name == "ogpm_unbiased"
    assert "× the error" in p.options[-1].reason


def test_a_sample_replaces_the_worst_truth() -> None:
    sample = np.full(100, 12.0)  # in the middle, where Duchi is at its worst and PM at its best
    worst = {o.name: o.error for o in sv.plan("mean", 1.0, 10_000, (0, 24)).options}
    here = {o.name: o.error for o in sv.plan("mean", 1.0, 10_000, (0, 24), sample=sample).options}
    assert here["duchi"] == pytest.approx(worst["duchi"], rel=1e-4)
    assert here["pm"] < 0.9 * worst["pm"]
    expected_error = math.sqrt(sv.pm(1.0, (0, 24)).variance(12.0) / 10_000)
    assert here["pm"] == pytest.approx(expected_error, rel=1e-3)


def test_the_planned_error_of_a_mean_is_the_simulated_one() -> None:
    """Standard deviation over 400 repetitions: its relative standard error is 3.5 %; 5 of them are 18 %."""
    rng = np.random.default_rng(5)
    sample = rng.beta(5, 2, 2000) * 24
    for option in sv.plan("mean", 1.0, 2000, (0, 24), sample=sample).options:
        m = option.mechanism
        errors = [m.perturb(sample, rng=rng).mean() - sample.mean() for _ in range(400)]
        assert np.std(errors) == pytest.approx(option.error, rel=0.18)


def test_the_direction_on_a_circle() -> None:
    rng = np.random.default_rng(6)
    sample = np.mod(rng.normal(23, 3, 4000), 24)
    p = sv.plan("mean", 2.0, 4000, sv.Circle(24), sample=sample)
    assert p.options[0].name.startswith("ogpm")
    m = p.best.mechanism
    true = np.angle(np.exp(2j * np.pi * sample / 24).mean())
    errors = []
    for _ in range(300):
        got = np.exp(2j * np.pi * m.perturb(sample, rng=rng) / 24).mean()
        errors.append(np.angle(got * np.exp(-1j * true)) * 24 / (2 * np.pi))
    assert np.std(errors) == pytest.approx(p.best.error, rel=0.21)  # five standard errors of 300


def test_an_interval_is_never_wider_than_the_domain_and_the_table_never_runs_together() -> None:
    hopeless = sv.plan("mean", 0.01, 1, (0, 24))
    assert {o.half_width for o in hopeless.options} == {12.0}
    assert [o.error for o in hopeless.options] == sorted(o.error for o in hopeless.options)
    nowhere = sv.plan("mean", 1.0, 1000, sv.Circle(24), sample=np.linspace(0, 24, 1025)[:-1])
    for o in nowhere.options:
        assert o.error == pytest.approx(24 / math.sqrt(12))
        assert o.half_width == 12.0
    assert "  1,000,000,000,000  " in str(sv.plan("mean", 16.0, 10**12))


# -- inverse questions ------------------------------------------------------------------------------------


def test_people_for_a_target() -> None:
    p = sv.plan("mean", epsilon=1.0, people=None, domain=(0, 24), target=0.1)
    assert p.wanted == "people"
    for o in p.options:
        assert o.error <= 0.1
        one_less = sv.plan("mean", 1.0, o.people - 1, (0, 24)).options
        assert next(x.error for x in one_less if x.name == o.name) > 0.1
    assert [o.people for o in p.options] == sorted(o.people for o in p.options)


def test_epsilon_for_a_target_and_who_cannot_reach_it() -> None:
    p = sv.plan("mean", epsilon=None, people=10_000, domain=(0, 24), target=0.1)
    for o in p.options:
        assert 0.099 < o.error <= 0.1
    assert "duchi" in p.left_out  # its variance does not fall below that of two reports
    assert [o.epsilon for o in p.options] == sorted(o.epsilon for o in p.options)
    with pytest.raises(ValueError, match="no mechanism meets target"):
        sv.plan("mean", epsilon=None, people=2, domain=(0, 24), target=1e-9)


def test_the_search_needs_few_evaluations() -> None:
    calls = []

    def error(x: float) -> float:
        calls.append(x)
        return 5 / x**0.37

    found = meeting(error, 0.01, 100, 1e12, 0.01)
    true = (5 / 0.01) ** (1 / 0.37)
    assert found is not None
    assert true <= found <= 1.011 * true
    assert len(calls) < 15
    assert meeting(lambda x: 1.0, 0.5, 1, 100, 0.01) is None
    assert meeting(lambda x: 0.1, 0.5, 1, 100, 0.01) == 1


# -- shapes -----------------------------------------------------------------------------------------------


def test_shapes_are_simulated_and_remembered(own_cache: Path) -> None:
    seen: list[tuple[str, float]] = []
    first = sv.plan(
        "distribution", 1.0, 20_000, (0, 24), repetitions=2, progress=lambda *told: seen.append(told)
    )
    assert list(dict(seen)) == ["two_scale", "sw", "pm", "ogpm, loss='l1'"]
    # Of four mechanisms and two repetitions each: none done, half of the first, all of the first, …
    assert [share for _, share in seen[:4]] == pytest.approx([0, 1 / 8, 1 / 4, 1 / 4])
    assert seen[-1] == ("ogpm, loss='l1'", 1.0)
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    files = list((own_cache / "plans").iterdir())
    assert len(files) == 4
    again = sv.plan("distribution", 1.0, 20_000, (0, 24), repetitions=2)  # from the files
    assert again.rows() == first.rows()
    assert again.title == first.title
    assert "simulated, ±" in first.title
    other_units = sv.plan("distribution", 1.0, 20_000, (0, 1), repetitions=2)
    assert other_units.best.error * 24 == pytest.approx(first.best.error)
    assert other_units.best.half_width == pytest.approx(first.best.half_width)  # a probability
    files[0].write_text("not json")
    assert sv.plan("distribution", 1.0, 20_000, (0, 24), repetitions=2).rows() == first.rows()


def test_without_a_number_a_simulation_lasts_until_the_error_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To 3 % by default; here to 20 %, on an easy question, with a bar that never goes back."""
    monkeypatch.setattr(expected, "_SURE", 0.2)
    monkeypatch.setattr(expected, "_LEAST", 4)
    seen: list[float] = []
    option = sv.plan("distribution", 1.0, 1000, sv.Circle(24), repetitions=1).best
    shapes = expected.reference_shapes(True)
    m = option.candidate.on_unit(1.0, True)
    found = expected.simulated("distribution", m, 1000, shapes, 0.95, None, 0.5, seen.append)
    assert 0 < found.doubt <= 0.2 * found.error
    assert seen[-1] == 1.0
    assert all(0 < share <= 1 for share in seen)


def test_an_empty_setting_turns_the_cache_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As for designs: nothing is written, nowhere. The mutant is any other value, which writes."""
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOTTOVOCE_CACHE", "")
    off = sv.plan("distribution", 1.0, 1000, sv.Circle(24), repetitions=1)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path / "on"))
    on = sv.plan("distribution", 1.0, 1000, sv.Circle(24), repetitions=1)
    assert [file for file in tmp_path.rglob("*") if file.is_file()]
    assert on.rows() == off.rows()


def test_a_plan_without_a_place_for_its_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path / "file" / "below"))
    assert sv.plan("distribution", 1.0, 1000, sv.Circle(24), repetitions=1).best.error > 0


SHAPES = [
    Case("distribution", False, 1.0, 2000, names=("two_scale",)),
    Case("quantile", False, 1.0, 2000, 0.5, names=("two_scale",)),
    Case("distribution", True, 1.0, 2000, names=("two_scale",)),
]


def ratio_and_error(case: Case, believed: int) -> tuple[float, float]:
    """Predicted error for so many people over the error seen, and the standard error of that ratio."""
    p = sv.plan(case.task, case.epsilon, believed, case.domain, sample=case.sample, p=case.p, repetitions=24)
    option = next(o for o in p.options if o.name == case.names[0])
    seen, se, _ = measured(case, option.mechanism, sure=0.1, most=48)
    ratio = option.error / seen
    return ratio, ratio * math.hypot(option.doubt / option.error, se)


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_the_planned_error_of_a_shape_is_the_simulated_one(case: Case) -> None:
    """From people to answer, against the plan, with the error of both simulations (false alarm 1e-6).

    benchmarks/planner.py does the same with enough repetitions for 10 %. The mutant plans for a twentieth of
    the people.
    """
    ratio, se = ratio_and_error(case, case.people)
    assert abs(math.log(ratio)) < 4.9 * se / ratio
    ratio, se = ratio_and_error(case, case.people // 20)
    assert math.log(ratio) > 4.9 * se / ratio


def test_the_page_shows_what_was_measured() -> None:
    """The page's table is that of the results file, and every prediction there is within 10 %."""
    lines = planner.read()
    assert table_in(planner.PAGE, "planner") == planner.table(lines)
    assert all(abs(float(x["predicted"]) / float(x["seen"]) - 1) < 0.1 for x in lines)
    measured_ones = {(str(x["task"]), bool(x["circle"]), str(x["mechanism"])) for x in lines}
    for task in ("distribution", "0.9-quantile"):
        assert {(task, False, "two_scale"), (task, False, "sw")} <= measured_ones
    assert ("distribution", True, "two_scale") in measured_ones
    assert {"mean", "direction"} <= {task for task, *_ in measured_ones}


def test_quantiles_and_people_for_a_distribution() -> None:
    sample = np.random.default_rng(8).beta(5, 2, 1000) * 24
    p = sv.plan("quantile", 2.0, 50_000, (0, 24), sample=sample, p=0.9, repetitions=1)
    assert "0.9-quantile" in p.title
    assert p.best.error < 1.0
    assert p.best.error < p.best.half_width < 12  # the interval holds for every truth
    target = sv.plan("distribution", 2.0, None, sv.Circle(24), target=0.6, repetitions=1)
    assert target.best.error <= 0.6
    assert target.best.people < 100_000


# -- forms ------------------------------------------------------------------------------------------------


def test_text_rows_and_picture() -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    p = sv.plan("mean", epsilon=1.0, people=10_000, domain=(0, 24), target=0.3)
    text = str(p)
    assert all(o.name in text for o in p.options)
    assert "95 %" in text
    assert list(p.rows()[0]) == ["name", "epsilon", "people", "error", "half_width", "reason"]
    axes = p.plot()
    assert [len(ax.get_lines()) for ax in axes] == [2 * len(p.options) + 1] * 2  # a line, a mark, the target
    x, y = axes[1].get_lines()[0].get_data()
    assert np.diff(np.log(y)) / np.diff(np.log(x)) == pytest.approx(-0.5, rel=1e-3)
    plt.close("all")


def test_the_command(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from sottovoce.cli import build_app

    run = CliRunner().invoke
    app = build_app()
    result = run(app, ["plan", "mean", "--epsilon", "1", "--people", "10000", "--domain", "0", "24"])
    assert result.exit_code == 0
    assert "pm" in result.stdout
    asked = ["plan", "mean", "--epsilon", "1", "--target", "0.1", "--domain", "0", "24", "--json"]
    content = json.loads(run(app, asked).stdout)
    assert content["options"][0]["people"] > 1000
    picture = tmp_path / "plan.png"
    circle = ["plan", "mean", "--circle", "24", "--epsilon", "1", "--people", "10000"]
    made = run(app, [*circle, "--output", str(picture)])
    assert made.exit_code == 0
    assert picture.stat().st_size > 10_000
    spec = tmp_path / "spec.json"
    assert f"wrote {spec}" in run(app, [*asked[:-1], "--output", str(spec)]).stdout.replace("\n", "")
    assert sv.from_json(spec.read_text()).domain == sv.Interval(0, 24)
    assert "give --epsilon and --people" in str(run(app, [*circle[:-2]]).exception)
    assert "say where values lie" in str(run(app, ["plan", "mean"]).exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "median"}, "task must be one of"),
        ({"epsilon": -1.0}, "epsilon must be positive"),
        ({"people": 0}, "people must be between"),
        ({"people": None}, "target must be given"),
        ({"epsilon": None, "people": None, "target": 1.0}, "only one of them"),
        ({"target": 0.0}, "target must be positive"),
        ({"confidence": 95}, "confidence"),
        ({"task": "quantile", "p": 1.0}, "p must lie strictly between"),
        ({"task": "quantile", "domain": sv.Circle(24)}, "no quantiles"),
        ({"repetitions": 0}, "repetitions must be at least 1"),
    ],
)
def test_bad_questions(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sv.plan(**arguments)  # type: ignore[arg-type]


def test_bad_samples() -> None:
    with pytest.raises(NoDataError):
        sv.plan(sample=[])
    with pytest.raises(DataError, match="1 of 2 do not, the first at index 1"):
        sv.plan(sample=[0.5, 3.0])
    with pytest.raises(DataError):
        sv.plan(sample=[np.nan])
