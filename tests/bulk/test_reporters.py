"""Whatever reports goes through files: numbers of every kind, surveys of several cells, positions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.bulk.randomiser import Randomiser
from sottovoce.errors import ArgumentError, DataError
from sottovoce.reporters.composites.survey import Survey
from tests.reporters.test_contract import Foreign

N = 4000
AGE, HOURS, START = sv.pm(1.0, (0, 120)), sv.sw(1.0, (0, 24), cells=512), sv.ogpm(1.0, sv.Circle(24))
TWO_OF_THREE = Survey(2.0, {"age": AGE, "hours": HOURS, "start": START}, 2)
ONE_OF_TWO = Survey(1.0, {"age": AGE, "hours": HOURS}, 1)
POLAR, PLACE = sv.polar(2.0, radius=10.0), sv.place(2.0, radius=10.0, points=24)


@pytest.fixture(scope="module")
def people() -> Any:
    rng = np.random.default_rng(4)
    places = rng.uniform(-7, 7, (N, 2))
    return pa.table(
        {
            "age": rng.uniform(0, 120, N),
            "hours": rng.uniform(0, 24, N),
            "start": rng.uniform(0, 24, N),
            "home": pa.FixedSizeListArray.from_arrays(pa.array(places.reshape(-1)), 2),
            "town": rng.choice(["a", "b"], N),
        }
    )


@pytest.mark.parametrize("kind", ["two_scale", "rows"])
def test_every_kind_of_number(people: Any, tmp_path: Path, kind: str) -> None:
    m = sv.two_scale(1.0, (0, 120)) if kind == "two_scale" else sv.laws.laplace(1.0, (0, 120)).tabulate()
    bulk.report(people, {"age": m}, tmp_path / "r.parquet", keep="town")
    t = bulk.tally(tmp_path / "r.parquet")
    assert (t.n, t.digest) == (N, m.digest)
    assert bulk.tally(tmp_path / "r.parquet", "age", by="town").total() == t


def test_draws_by_row_of_somebodys_class_are_those_of_its_spec(people: Any) -> None:
    table = people.append_column("id", pa.array(range(N)))
    reports = []
    for m in (HOURS, Foreign(HOURS)):
        randomiser = Randomiser({"hours": m}, row_id="id", secret=b"k" * 32)  # type: ignore[dict-item]
        source = randomiser.open(table.select(["hours", "id"]))
        reports += [randomiser.reports(table.to_batches()[0], randomiser.schema(source))]
    assert reports[0] == reports[1]
    with pytest.raises(ArgumentError, match="row_id= draws reports of one number, choice or place"):
        Randomiser({"home": Foreign(POLAR)}, row_id="id", secret=b"k" * 32)  # type: ignore[dict-item]


WAY = sv.choice(3.0, ["car", "bike", "train"])


@pytest.mark.parametrize("kind", ["text", "dictionary", "csv"])
def test_choices_are_columns_of_texts(tmp_path: Path, kind: str) -> None:
    column = pa.array(["car"] * 2000 + ["Bike"] * 1000 + ["boat"] * 500 + [None] * 500)
    table = pa.table({"way": column.dictionary_encode() if kind == "dictionary" else column})
    data: Any = table
    if kind == "csv":
        data = tmp_path / "people.csv"
        data.write_text("id,way\n" + "".join(f"7,{way or ''}\n" for way in column.to_pylist()))
    with pytest.raises(DataError, match=r"500 of 4000 are .*, the first in (row|line) 3"):
        bulk.report(data, {"way": WAY}, tmp_path / "r.parquet")
    with pytest.raises(DataError, match=r"outside the 3 options.*outside='missing' takes them") as refusal:
        bulk.report(data, {"way": WAY}, tmp_path / "r.parquet", missing="uniform")
    assert "boat" not in str(refusal.value)
    bulk.report(data, {"way": WAY}, tmp_path / "r.parquet", missing="drop", outside="missing")
    answer = sv.shares(bulk.tally(tmp_path / "r.parquet"), confidence=1 - 1e-6)  # drawn without a seed
    assert answer.n == 3000
    assert answer["car"].low < 2 / 3 < answer["car"].high
    written = bulk.report(data, {"way": WAY}, tmp_path / "all.parquet", missing="uniform", clip=True)
    assert written.rows == 4000
    with pytest.raises(TypeError, match="must be texts or whole numbers, got double"):
        bulk.report(pa.table({"way": [0.5]}), {"way": WAY}, tmp_path / "wrong.parquet")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("survey", [TWO_OF_THREE, ONE_OF_TWO])
def test_surveys_have_a_column_per_question_and_one_of_reports(
    people: Any, tmp_path: Path, suffix: str, survey: Survey
) -> None:
    target = tmp_path / f"r{suffix}"
    written = bulk.report(people, {"answers": survey}, target, keep=["town"])
    assert written.rows == N
    t = bulk.tally(target)
    assert (t.n, t.digest, int(t.counts.sum())) == (N, survey.digest, N * survey.width)
    assert sum(t[name].n for name in survey.items) == N * survey.width
    by_town = bulk.tally(target, "answers", by="town")
    assert by_town.n == N
    assert by_town.total() == t
    assert {key: part.n for key, part in by_town.items()} == {
        (town,): people.column("town").to_pylist().count(town) for town in "ab"
    }
    # the noise is that of the question: five standard errors of those who answered it
    age = sv.mean(t["age"])
    truth = np.mean(people.column("age").to_numpy())
    assert abs(age.value - truth) < 5 * np.sqrt((AGE.worst_variance() + 1200) / t["age"].n)
    rows = bulk.estimates(by_town, "answers", "town", mean_age).to_pylist()
    assert [row["n"] for row in rows] == [part["age"].n for part in by_town.values()]


def mean_age(tally: sv.Tally) -> sv.Estimate:
    return sv.mean(tally["age"])


def test_reports_of_several_cells_are_lists(people: Any, tmp_path: Path) -> None:
    table = bulk.report(people, {"answers": TWO_OF_THREE})
    assert table.schema.field("answers").type == pa.list_(pa.uint32(), 2)
    assert sv.Tally(TWO_OF_THREE, np.stack(table.column("answers").to_pylist())) == bulk.tally(table)
    with pytest.raises(ValueError, match=r"\.parquet or \.arrow: reports of 'answers' are lists"):
        bulk.report(people, {"answers": TWO_OF_THREE}, tmp_path / "r.csv")
    assert list(tmp_path.iterdir()) == []
    assert bulk.report(people, {"answers": ONE_OF_TWO}, tmp_path / "r.csv").rows == N
    assert bulk.tally(tmp_path / "r.csv", "answers").n == N


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (pa.array([[1, 66_000], [1]]), "must hold lists of 2: 1 of 2 have another length"),
        (pa.array([[1, 2]]), "a report must answer 2 different items in order"),
        (pa.array([[1, 10**6]]), "holds 1 cells outside"),
        (pa.array([1, 2]), "must hold lists of 2 cells, got int64"),
    ],
)
def test_lists_that_are_no_reports_are_refused(lists: Any, message: str) -> None:
    with pytest.raises((DataError, TypeError), match=message):
        bulk.tally(pa.table({"answers": lists}), mechanism=TWO_OF_THREE, column="answers")


def test_the_policy_is_that_of_every_question(people: Any) -> None:
    gaps = people.slice(0, 3).set_column(1, "hours", pa.array([None, 5.0, 30.0]))
    with pytest.raises(DataError, match=r"column 'hours' in the data: 1 of 3 are missing .* row 1, 1 of 3"):
        bulk.report(gaps, {"answers": TWO_OF_THREE})
    with pytest.raises(DataError, match=r"column 'hours' in the data: 1 of 3 are outside \[0.0, 24.0\]"):
        bulk.report(gaps, {"answers": TWO_OF_THREE}, missing="uniform")
    assert bulk.report(gaps, {"answers": TWO_OF_THREE}, missing="uniform", clip=True).num_rows == 3
    assert bulk.report(gaps, {"answers": TWO_OF_THREE}, missing="drop", outside="missing").num_rows == 1
    kept = bulk.report(gaps, {"answers": TWO_OF_THREE}, missing="keep", clip=True)
    assert kept.column("answers").is_null().to_pylist() == [True, False, False]
    assert bulk.tally(kept).n == 2


def test_a_column_is_asked_for_once_and_never_kept(people: Any) -> None:
    with pytest.raises(ValueError, match="must ask for a column once, got 'age' twice"):
        bulk.report(people, {"answers": TWO_OF_THREE, "age": AGE})
    with pytest.raises(ValueError, match="column 'age' is randomised, so it cannot be kept"):
        bulk.report(people, {"answers": TWO_OF_THREE}, keep="age")
    with pytest.raises(DataError, match="has no column 'start'"):
        bulk.report(people.drop_columns("start"), {"answers": TWO_OF_THREE})


@pytest.mark.parametrize("home", [POLAR, PLACE], ids=["polar", "place"])
def test_positions(people: Any, home: Any) -> None:
    reports = bulk.report(people, {"home": home}, keep="town")
    t = bulk.tally(reports)
    assert (t.n, t.digest) == (N, home.digest)
    places = pa.array([[1.0, 2.0], None, [30.0, 0.0]])
    gaps = pa.table({"home": places})
    with pytest.raises(DataError, match="1 of 3 are missing"):
        bulk.report(gaps, {"home": home}, clip=True)
    assert bulk.report(gaps, {"home": home}, missing="uniform", clip=True).num_rows == 3
    assert bulk.report(gaps, {"home": home}, missing="drop", outside="missing").num_rows == 1
    with pytest.raises(DataError, match="must hold lists of 2: 1 of 1"):
        bulk.report(pa.table({"home": [[1.0, 2.0, 3.0]]}), {"home": home})
    with pytest.raises(TypeError, match="column 'home' must be lists of 2 numbers, got double"):
        bulk.report(pa.table({"home": [1.0]}), {"home": home})


@pytest.mark.parametrize("sign", [1, -1])
def test_an_unknown_range_is_found_in_bulk(tmp_path: Path, sign: int) -> None:
    """Three files of other people each: specs that the counts of the one before have chosen."""
    plan = sv.rounds("range", 4.0, largest=1e9, signed=sign < 0)
    pay = sign * 1000 * np.random.default_rng(3).gamma(9, 0.9, 12_000)
    m, tallies = plan.first, []
    for part in np.split(pay, 3):
        m = plan.next(tallies[-1]) if tallies else m
        file = tmp_path / f"{len(tallies)}.parquet"
        bulk.report(pa.table({"pay": part}), {"pay": m}, file, clip=True)
        tallies.append(bulk.tally(file))
        assert tallies[-1].digest == m.digest
    assert max(map(abs, m.domain.ends)) < 100_000
    e = plan.quantile(sv.quantile(tallies[-1], 0.5, confidence=1 - 1e-6), m.domain)  # draws have no seed here
    assert m.domain.low < e.low < np.median(pay) < e.high < m.domain.high
