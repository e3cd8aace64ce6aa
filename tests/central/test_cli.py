"""sottovoce central, as typed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from sottovoce.cli import build_app
from sottovoce.errors import DataError

RUN = CliRunner()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"wait": rng.uniform(0, 60, 2000), "ward": rng.integers(1, 4, 2000)})
    frame["team"] = np.where(frame.ward == 1, "north", "south")
    frame.to_parquet(tmp_path / "data.parquet")
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_feather(tmp_path / "data.feather")
    frame.loc[5, "wait"] = np.nan
    frame.to_csv(tmp_path / "holes.csv", index=False)
    return tmp_path


def run(*words: object) -> str:
    result = RUN.invoke(build_app(), ["central", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("name", ["data.parquet", "data.csv", "data.feather"])
def test_the_issue_of_the_command(folder: Path, name: str) -> None:
    out = run("--column", "wait", "--domain", 0, 60, "--epsilon", 16, folder / name)
    assert out.startswith("mean: 29.93")
    assert "95 % interval 29." in out
    assert "(hourglass, epsilon 16, n=200" in out or "(hourglass, epsilon 16, n=199" in out


def test_a_folder_is_read_file_by_file(folder: Path) -> None:
    frame = pd.read_parquet(folder / "data.parquet")
    (folder / "parts").mkdir()
    for i in range(3):
        frame[i::3].to_parquet(folder / "parts" / f"{i}.parquet")
    out = run("--column", "wait", "--domain", 0, 60, "--epsilon", 16, folder / "parts", "--grid", 1000)
    assert out.startswith("mean: 29.9")


def test_a_wrong_value_is_found_in_its_own_file(folder: Path) -> None:
    (folder / "lines").mkdir()
    (folder / "lines" / "a.csv").write_text("wait\n1\n2\n\n3\n")
    (folder / "lines" / "b.csv").write_text('wait,note\n4,"two\nlines"\n99,\n5,\n')
    words = ["central", "--column", "wait", "--domain", "0", "60", "--epsilon", "1", str(folder / "lines")]
    with pytest.raises(DataError, match=r"1 of 6 values .* index 4 is line 4 of b\.csv"):
        RUN.invoke(build_app(), words, catch_exceptions=False)


def test_words_count_as_missing_if_told_so(folder: Path) -> None:
    (folder / "words.csv").write_text("wait\n10\nforty\n" + "20\n" * 100)
    words = ["--column", "wait", "--domain", 0, 60, "--epsilon", 16, folder / "words.csv"]
    with pytest.raises(DataError, match=r"1 of 102 values are not, the first in line 3; words='missing'"):
        run(*words)
    assert run(*words, "--words", "missing", "--missing", "drop").startswith("mean: ")
    with pytest.raises(ValueError, match="words must be one of"):
        run(*words, "--words", "drop")


def test_groups_and_outputs(folder: Path) -> None:
    common = ["--column", "wait", "--domain", 0, 60, "--epsilon", 16, folder / "data.parquet"]
    out = run(*common, "--by", "ward", "--group", 1, "--group", 9, "--output", folder / "out.csv")
    assert [line.split("\t")[0] for line in out.splitlines()] == ["1", "9"]
    assert pd.read_csv(folder / "out.csv").group.tolist() == [1, 9]
    (folder / "keys.txt").write_text("north\nwest\n")
    run(*common, "--by", "team", "--groups-from", folder / "keys.txt", "--output", folder / "out.json")
    assert [row["group"] for row in json.loads((folder / "out.json").read_text())] == ["north", "west"]
    run(*common, "--output", folder / "one.json")
    assert json.loads((folder / "one.json").read_text())["what"] == "mean"


def test_json_and_csv_of_one_release(folder: Path) -> None:
    common = ["--column", "wait", "--domain", 0, 60, "--epsilon", 16, folder / "data.parquet"]
    assert json.loads(run(*common, "--json"))["confidence"] == 0.95
    groups = json.loads(run(*common, "--json", "--by", "ward", "--group", 2, "--confidence", 0.999))
    assert [(row["group"], row["confidence"]) for row in groups] == [(2, 0.999)]
    assert "99.9 % interval" in run(*common, "--confidence", 0.999, "--output", folder / "one.csv")
    assert pd.read_csv(folder / "one.csv").method.tolist() == ["hourglass"]


def test_keys_of_a_csv_are_text_and_its_numbers_numbers(folder: Path) -> None:
    rows = "".join(f"{i % 60},{'07' if i % 2 else '7'}\n" for i in range(300_000))
    (folder / "late.csv").write_text("wait,house\n" + rows + "7.25,Baker Street\n")
    (folder / "keys.txt").write_text("\ufeff07\n\n9\n", encoding="utf-8")
    words = ["--column", "wait", "--domain", 0, 60, "--epsilon", 16, "--by", "house"]
    out = run(*words, "--groups-from", folder / "keys.txt", "--json", folder / "late.csv")
    assert [(row["group"], round(row["count"])) for row in json.loads(out)] == [("07", 150_000), ("9", 0)]


@pytest.mark.parametrize(
    ("output", "message"),
    [("out.parquet", "--output must end in one of .json, .csv"), ("no/out.json", "there is no folder")],
)
def test_an_output_that_cannot_be_written_costs_nothing(folder: Path, output: str, message: str) -> None:
    spent = folder / "spent.db"
    words = ["--column", "wait", "--domain", 0, 60, "--epsilon", 1, "--budget", 1, "--budget-file", spent]
    with pytest.raises((ValueError, OSError), match=message):
        run(*words, folder / "data.csv", "--output", folder / output)
    assert not spent.exists()


def test_sum_count_and_choices(folder: Path) -> None:
    assert run("--question", "count", "--epsilon", 16, folder / "data.csv").startswith("count: ")
    words = ["--column", "wait", "--epsilon", 16, folder / "holes.csv"]
    assert run("--question", "sum", "--domain", 0, 60, "--missing", "drop", *words).startswith("sum: ")
    assert run("--domain", 0, 30, "--outside", "missing", "--missing", 15, *words).startswith("mean: ")
    assert run("--domain", 0, 30, "--clip", "--missing", 15, *words).startswith("mean: ")
    assert "(swap, " in run("--mechanism", "swap", "--domain", 0, 60, "--missing", 30, *words)


def test_a_budget_file_stops_the_second_release(folder: Path) -> None:
    words = ["--question", "count", "--epsilon", 1, "--budget", 1.5, "--budget-file", folder / "spent.db"]
    run(*words, folder / "data.csv")
    with pytest.raises(ValueError, match=r"needs epsilon=1, but 0\.5 is left"):
        run(*words, folder / "data.csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--column", "wait", "--domain", 0, 60, "holes.csv"],
            "values are missing .* index 5 is line 7 of holes.csv",
        ),
        (["--column", "wait", "--domain", 0, 30, "data.csv"], "values are outside"),
        (
            ["--column", "wait", "--domain", 0, 30, "--by", "ward", "--group", 1, "data.parquet"],
            "index 0 is row 1 of",
        ),
        (["--column", "weight", "--domain", 0, 30, "data.csv"], "no column 'weight'"),
        (["--column", "wait", "--domain", 0, 60, "nothing.csv"], "there is no file"),
        (["--column", "wait", "--domain", 0, 60, "keys.txt"], "must end in one of"),
        (["--domain", 0, 60, "data.csv"], "needs --column"),
        (["--column", "wait", "data.csv"], "and --domain"),
        (["--column", "wait", "--domain", 0, 60, "--budget", 1, "data.csv"], "go together"),
        (["--column", "wait", "--domain", 0, 60, "--by", "ward", "data.csv"], "go together"),
        (
            ["--column", "wait", "--domain", 0, 60, "--by", "ward", "--group", "x", "data.parquet"],
            "are int64",
        ),
        (["--column", "wait", "--domain", 0, 60, "--by", "w", "--group", "x", "data.csv"], "no column 'w'"),
        (["--column", "team", "--domain", 0, 60, "data.csv"], "must be numeric: 2000 of 2000 values are not"),
    ],
)
def test_mistakes_are_one_sentence(folder: Path, words: list[object], message: str) -> None:
    (folder / "keys.txt").write_text("a")
    words = [folder / word if str(word).endswith((".csv", ".txt", ".parquet")) else word for word in words]
    with pytest.raises((ValueError, TypeError, OSError), match=message):
        RUN.invoke(build_app(), ["central", "--epsilon", "1", *map(str, words)], catch_exceptions=False)
