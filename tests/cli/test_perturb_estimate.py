"""sottovoce perturb, summary and estimate: files in, answers out, mistakes in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Run

import sottovoce as sv
from sottovoce.estimates.summary import QUANTILES
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.contract import described

HOURS = np.random.default_rng(1).beta(2, 5, 3000) * 24


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Run) -> Run:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i},{x}\n" for i, x in enumerate(HOURS.tolist()))
    Path("people.csv").write_text("id,hours\n" + rows)
    Path("absent.csv").write_text("id,hours\n" + "".join(f"{i},\n" for i in range(5)))
    towns = "".join(
        f"{x},{'rome' if i % 3 else 'oslo'},{30 + i % 40}\n" for i, x in enumerate(HOURS.tolist())
    )
    Path("towns.csv").write_text("hours,town,age\n" + towns)
    Path("text.csv").write_text("id,hours\n1,2\n2,seventy-seven\n3,about 77\n")
    Path("ragged.csv").write_text("id,hours\n1,2\n2,3,77\n")
    Path("nan.csv").write_text("id,hours\n1,nan\n2,nan\n")
    Path("empty.csv").write_text("")
    Path("header.csv").write_text("id,hours\n")

    return typed


PERTURB = "perturb people.csv --column hours --epsilon 2 --domain 0 24 --output"


def test_a_column_goes_round(run) -> None:  # type: ignore[no-untyped-def]
    code, said, _ = run(f"{PERTURB} reports.parquet")
    assert code == 0
    assert "3000 reports" in said
    code, said, _ = run(
        "estimate reports.parquet --column hours --json --range 6 12 --quantile 0.5 --output d.png"
    )
    assert code == 0
    content = json.loads(said)
    assert content["n"] == 3000
    by = {answer["label"]: answer for answer in content["answers"]}
    rest = ["Distribution", "Mean", "Standard deviation", "Do the reports look honest?"]
    assert list(by) == ["Median", "Between 6 and 12", *rest]
    assert not by["Do the reports look honest?"]["data"]["alarm"]
    [mean] = by["Mean"]["numbers"]
    assert abs(mean["value"] - HOURS.mean()) < 3 * (mean["high"] - mean["low"])  # it draws without a seed
    assert mean["low"] < mean["value"] < mean["high"]
    assert Path("d.png").read_bytes()[:4] == b"\x89PNG"


def test_every_answer_is_about_those_who_were_asked_for(run) -> None:  # type: ignore[no-untyped-def]
    m = sv.sw(4.0, (0, 24))
    Path("t.json").write_text(sv.Tally(m, m.report(HOURS, rng=1)).to_json())
    line = "estimate t.json --json --quantile 0.5 --range 6 12 --estimand"
    widths = {}
    for who in ("population", "respondents"):
        answers = json.loads(run(f"{line} {who}")[1])["answers"]
        numbers = {answer["question"]: answer["numbers"] for answer in answers}
        names = ("mean", "standard_deviation", "probability", "quantile")
        widths[who] = np.array([numbers[name][0]["high"] - numbers[name][0]["low"] for name in names])
    assert (widths["respondents"] <= 1.02 * widths["population"]).all()  # a quantile's ends are searched for
    assert (widths["respondents"] < widths["population"])[:3].all()


def test_nothing_to_randomise_leaves_the_spec_that_was_there(run) -> None:  # type: ignore[no-untyped-def]
    line = "perturb header.csv --column hours --output r.csv"
    assert run(f"{line} --epsilon 1 --domain 0 24")[0] == 2
    assert not Path("r.spec.json").exists()
    Path("r.spec.json").write_text(sv.pm(1.0, (0, 24)).to_json())
    assert run(f"{line} --spec r.spec.json")[0] == 2
    assert Path("r.spec.json").exists()
    assert not Path("r.csv").exists()


def test_csv_carries_its_spec_beside_it(run) -> None:  # type: ignore[no-untyped-def]
    assert run(f"{PERTURB} reports.csv --mechanism pm")[0] == 0
    assert sv.from_json(Path("reports.spec.json").read_text()) == sv.pm(2.0, (0, 24))
    code, said, _ = run("estimate reports.csv --column hours --quick --interval finite")
    assert code == 0
    assert "mean:" in said
    assert "look honest" in said


def test_sequential_intervals_of_the_mean_and_a_range(run) -> None:  # type: ignore[no-untyped-def]
    run(f"{PERTURB} r.parquet")
    code, said, _ = run("estimate r.parquet --column hours --quick --sequential --range 6 12")
    assert code == 0
    assert sum("at every look" in line for line in said.splitlines()) == 2
    assert "(sequential: holds however often somebody looks)" in said


def test_a_tally_and_a_circle(run) -> None:  # type: ignore[no-untyped-def]
    m = sv.ogpm(2.0, sv.Circle(24))
    Path("t.json").write_text(sv.Tally(m, m.report(HOURS, rng=1)).to_json())
    code, said, _ = run("estimate t.json")
    assert code == 0
    assert "circular mean:" in said
    assert "concentration:" in said
    assert "--sequential: sequential is taken by none" in run("estimate t.json --sequential")[2]


def test_a_range_is_one_of_the_domain(run) -> None:  # type: ignore[no-untyped-def]
    run(f"{PERTURB} r.parquet")
    for line in ("--range 12 6", "--range 6 30"):
        code, _, said = run(f"estimate r.parquet --quick {line}")
        assert code == 2
        assert "--range must be LOW HIGH within the range of a number, LOW at most HIGH: these" in said


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("perturb absent.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet", "hours"),
        ("perturb empty.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet", "empty.csv"),
        ("perturb header.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet", "no rows"),
        (
            "perturb text.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet",
            "2 of 3 values are not, the first in line 3",
        ),
        (
            "perturb ragged.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet",
            "line 3 has 3 fields, the first line has 2",
        ),
        (
            "perturb nan.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet",
            "--missing: values of column 'hours' in nan.csv",
        ),
        (
            "perturb people.csv --column hours --epsilon -1 --domain 0 24 --output x.parquet",
            "--epsilon: epsilon must be positive",
        ),
        (
            "perturb people.csv --column hours --epsilon 1 --domain 0 24 --missing 25 --output x.parquet",
            "missing must lie in the domain",
        ),
        (
            "perturb people.csv --column hours --epsilon 1 --domain 0 24 --output x.txt",
            "output must end in .parquet, .arrow or .csv",
        ),
        (
            "perturb people.csv --column hours --column hours --epsilon 1 --domain 0 24 --output x.parquet",
            "got hours twice",
        ),
        ("perturb people.csv --column hours=none.json --output x.parquet", "no file none.json"),
        ("perturb none.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet", "no file"),
        ("perturb people.csv --column age --epsilon 1 --domain 0 24 --output x.parquet", "no column 'age'"),
        (
            "perturb people.csv --column hours --epsilon 1 --domain 0 9 --output x.parquet",
            "--outside: values",
        ),
        ("perturb people.csv --column hours --domain 0 24 --output x.parquet", "--epsilon"),
        (f"{PERTURB} x.parquet --mechanism best", "mechanism must be one of"),
        (f"{PERTURB} x.parquet --missing none", "--missing: missing must be one of"),
        ("estimate people.csv --column hours", "does not say which mechanism"),
        ("estimate people.csv --column hours", "mechanism="),
        ("estimate people.csv", "--column"),
        ("estimate people.csv --column hours --output x.txt", "--output must end in one of .png"),
        (
            "estimate people.csv --column hours --confidence 95",
            "--confidence: confidence must lie strictly between",
        ),
        ("estimate people.csv --column hours --quantile 1.5", "--quantile must lie between 0 and 1, got 1.5"),
        ("estimate people.csv --column hours --interval x", "interval must be one of"),
        ("estimate people.csv --column hours --output absent/x.png", "no folder absent"),
        (
            "estimate people.csv --column hours --interval finite --sequential",
            "--sequential is an interval of its own",
        ),
        ("plan middle --domain 0 1 --epsilon 1 --people 9", "question must be one of"),
        ("plan mean --domain 0 1 --target 0.1", "give epsilon or people"),
        ("plan mean --output x.txt", "--output must end in one of .png"),
        ("estimate none.json --by town", "no groups left"),
        ("estimate none.json", "no file"),
        ("estimate empty.csv --column hours", "empty.csv"),
    ],
)
def test_mistakes_are_one_sentence(run, line: str, says: str) -> None:  # type: ignore[no-untyped-def]
    code, said, error = run(line)
    assert code == 2
    assert not said
    assert says in error
    assert "Traceback" not in error
    assert "77" not in error  # a value of somebody's
    assert not Path("x.parquet").exists()


def test_several_columns_each_with_a_mechanism(run) -> None:  # type: ignore[no-untyped-def]
    Path("age.json").write_text(sv.pm(1.0, (0, 120)).to_json())
    line = "perturb towns.csv --column hours --column age=age.json --keep town --epsilon 2 --domain 0 24"
    for output in ("r.parquet", "r.arrow", "r.csv"):
        code, said, _ = run(f"{line} --output {output}")
        assert code == 0
        assert "together 3 for each person" in said
        for column, epsilon in (("hours", 2), ("age", 1)):
            code, said, _ = run(f"estimate {output} --column {column} --quick --json")
            assert code == 0
            assert json.loads(said)["epsilon"] == epsilon
    code, _, error = run("estimate r.parquet")
    assert code == 2
    assert "--column: column must name one of r.parquet, several hold reports: hours, age" in error


def test_a_survey_is_asked_question_by_question(run) -> None:  # type: ignore[no-untyped-def]
    questions = {"hours": sv.sw(1.0, (0, 24)), "age": sv.duchi(1.0, (0, 120))}
    Path("survey.json").write_text(Survey(1.0, questions, 1).to_json())
    line = "perturb towns.csv --column answers=survey.json --keep town --output r.parquet"
    assert run(line)[0] == 0
    code, said, _ = run("estimate r.parquet --item age --quick --json")
    assert code == 0
    assert json.loads(said)["digest"] == questions["age"].digest
    code, said, _ = run("estimate r.parquet --item age --by town --quick --json")
    assert code == 0
    rows = json.loads(said)["groups"]
    assert [(row["town"], row["item"], row["question"]) for row in rows] == [
        ("oslo", "age", "mean"),
        ("rome", "age", "mean"),
    ]
    code, _, error = run("estimate r.parquet --item weight")
    assert (code, "--item: item must be one of 'hours', 'age'" in error) == (2, True)
    code, said, _ = run("summary r.parquet --quick --item hours --item age")
    assert said == run("summary r.parquet --quick")[1]
    head, *lines = said.splitlines()
    n = [sv.bulk.tally("r.parquet")[name].n for name in questions]
    assert head.startswith("3,000 people, ε = 1, a survey of 2 items, digest ")
    assert lines[0] == f"hours: {n[0]:,} people, {described(questions['hours'])}"
    assert f"age: {n[1]:,} people, {described(questions['age'])}" in lines
    assert sum(n) == 3000
    assert run("summary r.parquet --output all.html")[0] == 0
    assert [name in Path("all.html").read_text() for name in ("<h2>hours</h2>", "<h2>age</h2>")] == [True] * 2
    assert run("summary r.parquet --output hours.png")[0] == 0


def test_the_only_column_of_reports_needs_no_name(run) -> None:  # type: ignore[no-untyped-def]
    assert run(f"{PERTURB} r.parquet")[0] == 0
    code, said, _ = run("estimate r.parquet --quick --output answers.json")
    assert code == 0
    assert "3,000 people" in said
    assert json.loads(Path("answers.json").read_text())["n"] == 3000


def test_many_files_are_resumed(run) -> None:  # type: ignore[no-untyped-def]
    Path("more.csv").write_text(Path("people.csv").read_text())
    line = "perturb people.csv more.csv --column hours --epsilon 2 --domain 0 24 --output"
    assert run(f"{line} out")[0] == 0
    before = Path("out/people.parquet").read_bytes()
    Path("out/more.parquet").unlink()
    code, said, _ = run(f"{line} out")
    assert code == 0
    assert "6000 reports" in said
    assert "1 of 2 files finished by an earlier run and left alone" in said
    assert Path("out/people.parquet").read_bytes() == before
    code, said, _ = run("estimate out --column hours --quick")
    assert "6,000 people" in said
    code, _, error = run("perturb people.csv more.csv --column hours --epsilon 1 --domain 0 24 --output out")
    assert code == 2
    assert "move it away first" in error


def test_estimates_by_group(run) -> None:  # type: ignore[no-untyped-def]
    line = "perturb towns.csv --column hours --keep town --epsilon 4 --domain 0 24 --output r.parquet"
    assert run(f"{line} --mechanism pm")[0] == 0
    code, said, _ = run("estimate r.parquet --by town --json --confidence 0.999999 --output g.csv")  # no seed
    assert code == 0
    rows = json.loads(said)["groups"]
    quantiles = ["quantile"] * len(QUANTILES)
    assert [row["question"] for row in rows] == 2 * ["mean", *quantiles, "standard_deviation"]
    groups = {row["town"]: row for row in rows if row["question"] == "mean"}
    assert {name: row["n"] for name, row in groups.items()} == {"oslo": 1000, "rome": 2000}
    for name, kept in (("oslo", HOURS[::3]), ("rome", np.delete(HOURS, np.s_[::3]))):
        assert groups[name]["low"] < kept.mean() < groups[name]["high"]
    assert (
        Path("g.csv").read_text().splitlines()[0] == '"town","question","label","of","n","value","low","high"'
    )
    code, said, _ = run("summary r.parquet --by town --quick --range 0 12 --output g.png")
    assert code == 0
    assert "oslo\tprobability\tBetween 0 and 12\tBetween 0 and 12\t1000" in said
    assert Path("g.png").read_bytes()[:4] == b"\x89PNG"
    code, _, error = run("estimate r.parquet --by village")
    assert code == 2
    assert "no column 'village'" in error


def test_progress_shows_rows_a_second(run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("FORCE_COLOR", "1")
    code, _, error = run(f"{PERTURB} r.parquet")
    assert code == 0
    assert "rows randomised" in error
    code, _, error = run("estimate r.parquet --quick")
    assert "3,000 rows counted" in error
    assert "rows/s" in error


def test_nothing_but_absent_reports(run) -> None:  # type: ignore[no-untyped-def]
    assert (
        run("perturb nan.csv --column hours --epsilon 1 --domain 0 24 --missing keep --output r.parquet")[0]
        == 0
    )
    code, _, error = run("estimate r.parquet")
    assert code == 2
    assert "no reports" in error


def test_choices_and_pairs(run) -> None:  # type: ignore[no-untyped-def]
    code, said, _ = run("perturb towns.csv --column town --options rome,oslo --epsilon 3 --output t.parquet")
    assert (code, "3000 reports" in said) == (0, True)
    code, said, _ = run("estimate t.parquet --json --confidence 0.999999")  # no seed: once in a million
    shares, honest = json.loads(said)["answers"]
    assert honest["question"] == "honesty"
    rome, oslo = shares["numbers"]
    assert (rome["of"], oslo["of"]) == ("rome", "oslo")
    assert rome["low"] < 2 / 3 < rome["high"]
    assert oslo["low"] < 1 / 3 < oslo["high"]
    pair = "--pair hours=0:24 --pair age=0:100"
    code, said, _ = run(f"perturb towns.csv --column both {pair} --epsilon 4 --output p.parquet")
    assert (code, "3000 reports" in said) == (0, True)
    code, said, _ = run("estimate p.parquet --quick --output p.json")
    assert (code, "correlation of 'hours' and 'age'" in said) == (0, True)
    answers = json.loads(Path("p.json").read_text())["answers"]
    assert {answer["item"] for answer in answers} == {"hours", "age", ""}
    assert sum(answer["about"] == ["hours", "age"] for answer in answers) == 3
    for wrong, words in (
        ("--options rome --epsilon 1", "options must be 2 to 1000"),
        ("--options rome,Rome --epsilon 1", "differs only by case"),
        ("--options rome,oslo --epsilon 1 --domain 0 1", "leave out what describes a number"),
        ("--pair hours --epsilon 1", "--pair must be NAME=LOW:HIGH"),
        ("--pair hours=0:24 --epsilon 1", "must be 2 to 16"),
    ):
        code, _, complaint = run(f"perturb towns.csv --column town {wrong} --output w.parquet")
        assert code != 0
        assert words in " ".join(complaint.split())
