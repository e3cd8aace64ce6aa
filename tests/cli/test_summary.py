"""sottovoce summary and estimate of every kind of report: one answer as words, numbers, files and pages."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.cli.conftest import Run

import sottovoce as sv
from sottovoce import bulk
from sottovoce.reporters.contract import described

N = 600
RNG = np.random.default_rng(3)
HOURS, WAYS, FLAGS = RNG.uniform(6, 12, N), RNG.choice(["car", "bike"], N), RNG.integers(0, 2, N)
PLACES = RNG.uniform(-2, 2, (N, 2))
KINDS: dict[str, tuple[sv.Reporter, Any]] = {
    "number": (sv.design("mean", 2.0, (0, 24)), HOURS),
    "pay": (sv.design("mean", 2.0, sv.Interval(1, 100, "log")), 1 + HOURS),
    "time": (sv.design("distribution", 2.0, sv.Circle(24)), HOURS),
    "bit": (sv.design("probability", 1.0, (0, 24), between=(6, 12)), HOURS),
    "choice": (sv.choice(2.0, ["car", "bike"]), WAYS),
    "ratings": (sv.choice(2.0, [1, 2, 3]), 1 + FLAGS),
    "several": (sv.any_of(3.0, ["news", "games"]), {"news": FLAGS, "games": 1 - FLAGS}),
    "place": (sv.place(3.0, box=((-4, 4), (-4, 4))), PLACES),
    "polar": (sv.polar(3.0, radius=4.0, design="unbiased"), PLACES),
    "pair": (sv.pair(3.0, {"age": (0, 24), "sleep": (0, 24)}), {"age": HOURS, "sleep": 24 - HOURS}),
    "group": (sv.within(3.0, ["car", "bike"], (0, 24)), {"group": WAYS, "number": HOURS}),
    "survey": (sv.survey(3.0, {"hour": (0, 24), "way": ["car", "bike"]}), {"hour": HOURS, "way": WAYS}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    for name, (m, values) in KINDS.items():
        (folder / f"{name}.json").write_text(sv.Tally(m, m.report(values, rng=1)).to_json())
    return folder


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, typed: Run) -> Run:
    monkeypatch.chdir(folder)
    return typed


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_said_and_written(run: Run, kind: str) -> None:
    tally = sv.Tally.from_json(Path(f"{kind}.json").read_text())
    s = sv.summary(tally)
    code, said, error = run(f"summary {kind}.json --output page.html")
    assert (code, error) == (0, "")
    head, *lines = said.splitlines()
    assert head.startswith(f"{N} people, ε = {s.epsilon:g}, {described(tally.law)}, digest ")
    assert sorted(map(str, s)) == sorted(line.strip() for line in lines if line.strip() in map(str, s))
    page = Path("page.html").read_text()
    assert page.count("<dt>") == len(s)
    assert page.count("<tr><td>") == sum(len(answer.numbers) for answer in s)
    assert page.count("<svg") == len(s.drawn)
    assert f"guesses right with the report in at most {lines[-2].split('at most ')[1].split()[0]} of" in page
    assert f"What {N} people reported about {kind}" in page

    code, said, _ = run(f"estimate {kind}.json --json --output rows.csv")
    assert json.loads(said) == {**json.loads(json.dumps(s.to_dict())), "treated": ""}
    with open("rows.csv", newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)] == [row["label"] for row in s.rows]
    code, said, _ = run(f"estimate {kind}.json --output picture.png")
    assert Path("picture.png").read_bytes()[:4] == b"\x89PNG"
    assert all(str(number).splitlines()[0] in said for answer in s for number in answer.numbers.values())


def test_a_survey_is_shown_item_by_item(run: Run) -> None:
    survey = sv.Tally.from_json(Path("survey.json").read_text())
    lines = run("summary survey.json --quick")[1].splitlines()
    for name in ("hour", "way"):
        assert f"{name}: {survey[name].n} people, {described(survey[name].law)}" in lines
    page = "page.html"
    assert run(f"summary survey.json --output {page}")[0] == 0
    text = Path(page).read_text()
    assert 0 < text.index("<h2>hour</h2>") < text.index("<h2>way</h2>") < text.index("<h2>What an interval")
    content = json.loads(run("summary survey.json --item way --json")[1])
    assert (content["n"], content["digest"]) == (survey["way"].n, survey["way"].digest)


def test_fakes_are_an_alarm_on_the_page(run: Run) -> None:
    m = KINDS["number"][0]
    Path("fakes.json").write_text(sv.Tally(m, np.full(2000, 7)).to_json())
    assert run("summary fakes.json --output fakes.html")[0] == 0
    page = Path("fakes.html").read_text()
    assert '<div class="alarm"><dt>Do the reports look honest?</dt><dd>At least ' in page


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "choice.json --quantile 0.5",
            "not around a circle: these reports are about a choice of 2",
        ),
        ("choice.json --range 0 1", "LOW at most HIGH: these reports are about a choice of 2"),
        ("choice.json --interval finite", "--interval: interval is taken by none of these answers"),
        ("place.json --estimand respondents", "--estimand: estimand is taken by none"),
        ("pair.json --item age --item weight", "--item: item must be one of 'age', 'sleep'"),
        ("group.json --sequential", "--sequential: sequential is taken by none"),
        ("time.json --quantile 0.5", "--quantile needs numbers on a line, not around a circle: these"),
        ("time.json --interval bootstrap", "--interval: interval is taken by none"),
        ("number.json --option car", "--option goes with --compare"),
        ("number.json --output map.geojson", "holds one map of a box, and here are 0"),
        ("number.json --estimand all", "--estimand: estimand must be one of"),
    ],
)
def test_what_no_answer_takes_is_refused(run: Run, line: str, says: str) -> None:
    code, said, error = run(f"summary {line}")
    assert (code, said) == (2, "")
    assert says in error


def test_a_range_is_asked_of_the_numbers_that_it_lies_in(run: Run) -> None:
    answers = json.loads(run("summary survey.json --range 6 12 --quick --json")[1])["answers"]
    assert (answers[0]["item"], answers[0]["label"]) == ("hour", "Between 6 and 12")
    assert sum(one["question"] == "probability" for one in answers) == 1
    answers = json.loads(run("summary bit.json --range 6 12 --json")[1])["answers"]
    assert [one["question"] for one in answers] == ["probability", "honesty"]
    assert run("summary time.json --range 22 6 --quick")[0] == 0  # over midnight


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "bit"])
def test_groups_of_every_kind(run: Run, kind: str) -> None:
    m, values = KINDS[kind]
    town, cells = np.resize(["oslo", "rome"], N), m.report(values, rng=2)
    column = pa.array(cells.tolist() if m.width > 1 else cells.reshape(-1))
    parquet.write_table(pa.table({"town": town, "cell": column}), "groups.parquet")
    Path("spec.json").write_text(m.to_json())
    line = "estimate groups.parquet --column cell --spec spec.json --by town"
    code, said, _ = run(f"{line} --json --output rows.parquet")
    assert code == 0
    rows = json.loads(said)["groups"]
    oslo = sv.summary(bulk.tally("groups.parquet", "cell", by="town", mechanism=m)["oslo"])
    numbers = [number for answer in oslo for number in answer.numbers.values()]
    assert [row["value"] for row in rows if row["town"] == "oslo"] == [number.value for number in numbers]
    assert parquet.read_table("rows.parquet").to_pylist() == rows
    compared, said, error = run(f"{line} --compare --json")
    common = {"several": "shares", "choice": "shares", "place": "", "polar": "", "group": ""}.get(kind)
    if common is None:
        assert {row["n"] for row in json.loads(said)["groups"]} <= {row["n"] for row in rows}
    else:
        assert (compared, "have no one number to compare groups by" in error) == (2, True)
        assert ("--option NAME" in error) == bool(common)


def test_groups_are_compared_by_the_share_of_an_option(run: Run) -> None:
    m = KINDS["choice"][0]
    table = pa.table({"town": np.resize(["oslo", "rome"], N), "cell": m.report(WAYS, rng=2)})
    parquet.write_table(table, "ways.parquet")
    Path("spec.json").write_text(m.to_json())
    line = "estimate ways.parquet --column cell --spec spec.json --by town --compare --json"
    groups = bulk.tally("ways.parquet", "cell", by="town", mechanism=m)
    content = json.loads(run(f"{line} --option car")[1])
    assert content["groups"] == sv.compare(groups, "share", option="car").rows
    assert "option must be one of 'car', 'bike'" in run(f"{line} --option bus")[2]
