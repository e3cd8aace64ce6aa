"""sottovoce campaign create survey.toml, edit and invite: a survey in words, from file to invitation."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tests.cli.conftest import Run

import sottovoce as sv
from sottovoce.collector import open_store
from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.campaigns.tokens import listed

SURVEY = """
name = "town"
title = "Our town"
operator = "Town hall"
epsilon = 3.0
collection = "enrolment"

[questions.age]
text = "How old are you?"
unit = "years"
range = [0, 120]

[questions.pay]
range = [1, 100000]
log = true

[questions.start]
text = "When do you start work?"
clock = true

[questions.transport]
options = ["car", "bike", "train"]
weight = 2

[questions.home]
radius = 10
unit = "km"
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Run) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("survey.toml").write_text(SURVEY)
    return typed


def town() -> Campaign:
    return Campaign.of(open_store("collector.db").campaign("town"))


def test_a_survey_from_a_file(run: Run) -> None:
    code, said, _ = run("campaign create survey.toml --store collector.db")
    assert code == 0
    assert "created   town   link /survey/town" in said
    assert "exact ε   " in said
    campaign = town()
    assert sv.audit(campaign.reporter).epsilon <= 3.0
    assert list(campaign.reporter.items) == ["age", "pay", "start", "transport", "home"]
    assert campaign.wording("age").unit == "years"
    assert campaign.wording("transport").text == ""
    code, _, error = run("campaign create survey.toml --store collector.db")
    assert (code, "already a campaign of that name" in error) == (2, True)


def test_words_change_and_the_mechanism_does_not(run: Run) -> None:
    run("campaign create survey.toml --store collector.db")
    before = town()
    Path("survey.toml").write_text(SURVEY.replace("How old are you?", "Your age?").replace("Our town", "Us"))
    assert run("campaign edit town survey.toml --store collector.db")[0] == 0
    after = town()
    assert (after.rules.title, after.wording("age").text) == ("Us", "Your age?")
    assert after.stored.spec == before.stored.spec
    Path("survey.toml").write_text(SURVEY.replace("[0, 120]", "[0, 130]"))
    code, _, error = run("campaign edit town survey.toml --store collector.db")
    assert (code, "asks other things" in error) == (2, True)
    code, _, error = run("campaign edit town --store collector.db")
    assert (code, "say what to change" in error) == (2, True)
    assert town().wording("age").text == "Your age?"


def test_invitations(run: Run) -> None:
    run("campaign create survey.toml --store collector.db")
    line = "campaign invite town --count 3 --url https://survey.example --store collector.db --output"
    assert run(f"{line} links.csv")[0] == 0
    with open("links.csv", newline="") as file:
        links = [row["link"] for row in csv.DictReader(file)]
    assert len({*links}) == 3
    assert all(link.startswith("https://survey.example/survey/town#enrl_") for link in links)
    assert run(f"{line} sheet.html")[0] == 0
    sheet = Path("sheet.html").read_text()
    assert (sheet.count("<svg"), sheet.count("Our town</strong>")) == (3, 3)
    assert len(listed(open_store("collector.db"), town().id, "")) == 6
    code, _, error = run(f"{line.replace('https://', '')} more.csv")
    assert (code, "url must begin with https://" in error) == (2, True)
    assert len(listed(open_store("collector.db"), town().id, "")) == 6


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("epsilon = 3.0", "", "epsilon must be a real number"),
        ("range = [0, 120]", "range = [0]", "questions.age.range must be [low, high]"),
        ("clock = true", "", "needs one of range, clock, circle, options, radius, got 0"),
        ("clock = true", "clock = true\ncircle = 3", "got 2"),
        ("radius = 10", "radius = 0", "radius"),
        ('"bike"', '"car "', "options must differ"),
        ("weight = 2", "wieght = 2", "unknown key 'wieght'"),
        ("How old are you?", "How old\u202eare you?", "control characters"),
        ('name = "town"', "name = 'town", "survey.toml"),
        ("collection", "kollection", "kollection"),
        ("epsilon = 3.0", 'epsilon = 3.0\nrelations = [["age"]]', "lists of two names"),
        ("epsilon = 3.0", 'epsilon = 3.0\nrelations = [["age", "pay"]]', "a place cannot be asked for"),
    ],
)
def test_mistakes_in_a_file(run: Run, before: str, after: str, words: str) -> None:
    assert before in SURVEY
    Path("survey.toml").write_text(SURVEY.replace(before, after))
    code, _, error = run("campaign create survey.toml --store collector.db")
    assert (code, words in " ".join(error.split())) == (2, True), error


def test_two_hundred_questions_are_a_survey_and_three_hundred_are_not(run: Run) -> None:
    head = 'name = "long"\nepsilon = 1.0\n'
    many = [f"[questions.q{i}]\noptions = ['a', 'b']\n" for i in range(300)]
    Path("survey.toml").write_text(head + "".join(many[:200]))
    assert run("campaign create survey.toml --store collector.db")[0] == 0
    Path("survey.toml").write_text(head.replace("long", "longer") + "".join(many))
    code, _, error = run("campaign create survey.toml --store collector.db")
    assert (code, "at most 256 items" in error) == (2, True)
