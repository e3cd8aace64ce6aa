"""Results over HTTP: what is shown, when, to whom, and that it is what the library says."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2 as httpx
import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.collector.answers import answer, as_shown, asked, notes, number, problems
from tests.collector.service import KEY, Running, Server, create, new_key
from tests.collector.test_bad_input import check_refused

import sottovoce as sv
from sottovoce.collector import open_store, pages
from sottovoce.collector.campaigns import tokens
from sottovoce.collector.results import results_cache
from sottovoce.collector.results.results import View, results
from sottovoce.collector.store import Unavailable
from sottovoce.estimates.distribution import default_bins
from sottovoce.estimates.summary import TABLE


@pytest.fixture(scope="module")
def small() -> sv.Mechanism:
    return sv.sw(epsilon=2.0, domain=(0, 24), cells=256)


def filled(running: Running, mechanism: sv.Mechanism, name: str, n: int = 2000) -> np.ndarray:
    running.create(mechanism, name=name)
    values = np.clip(np.random.default_rng(1).normal(9, 2, n), 0, 24)
    cells = mechanism.report(values, rng=2)
    assert running.post(mechanism, cells.tolist(), name=name).status_code == 200
    return cells


def estimates(running: Running, name: str, **query: Any) -> dict[str, Any]:
    """The results of a campaign."""
    content: dict[str, Any] = running.get(f"/campaigns/{name}/estimates", **query).json()
    return content


def test_readers_are_told_what_the_counts_reveal(embedded: Running, small: sv.Mechanism) -> None:
    """For the first two digits of n, which is what the sentence says and what is computed once."""
    filled(embedded, small, "readers", n=2049)
    central = estimates(embedded, "readers")["central"]
    told = sv.shuffled(small, 2000, 1e-8)
    assert central == {"epsilon": told.epsilon, "delta": 1e-8, "people": 2000, "sentence": told.sentence}
    assert "2,000 people answered honestly" in central["sentence"]
    assert told.epsilon >= sv.shuffled(small, 2049, None).epsilon(1e-8)


def test_a_range_of_either_sign_is_shown_on_the_scale_it_was_asked_on() -> None:
    """Between −10^9 and 10^9 almost nothing is between −40,000 and −9,000: on that scale two bins are."""
    first = sv.rounds("range", 4.0, largest=1e9).first
    values = -1000 * np.random.default_rng(1).normal(18, 2, 3000)
    tally = sv.Tally(sv.from_json(first.to_json()), first.report(values, rng=2))
    shown = answer(results(tally, View(quantiles=()), {}, {}), "distribution")["data"]
    edges, shares = np.array(shown["edges"]), np.array(shown["probability"])
    assert (np.diff(edges) > 0).all()
    assert edges[[0, -1]].tolist() == [-1e9, 1e9]
    assert shares[(edges[:-1] >= -40_000) & (edges[1:] <= -9_000)].sum() > 0.9
    truth = (values[:, None] <= edges).mean(axis=0)
    assert (shown["cdf_low"] <= truth).all()
    assert (truth <= shown["cdf_high"]).all()


def test_those_who_are_asked_are_not_told_what_protects_from_readers_only() -> None:
    static = Path(pages.__file__).parent / "static"
    assert "central" in (static / "dashboard.js").read_text()
    assert all("central" not in (static / name).read_text() for name in ("survey.html", "survey.js"))


def test_the_page_shows_the_fields_that_are_there(embedded: Running, small: sv.Mechanism) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/http-api.md").read_text()
    error, campaign, summary, shown = map(json.loads, re.findall(r"^```json\n(.*?)^```", page, re.M | re.S))
    filled(embedded, small, "fields")
    assert embedded.get("/campaigns/none").json().keys() == error.keys()
    assert embedded.get("/campaigns/fields").json().keys() == campaign.keys()
    assert embedded.get("/campaigns/fields/summary").json().keys() == summary.keys()
    there = embedded.get("/campaigns/fields/estimates", quantiles="0.5", bins=8).json()
    assert there.keys() == shown.keys()
    assert all(one.keys() == shown["answers"][0].keys() for one in there["answers"])
    assert number(there, "mean").keys() == number(shown, "mean").keys()
    for question in ("distribution", "honesty"):
        assert answer(there, question)["data"].keys() == answer(shown, question)["data"].keys()


def test_estimates_are_the_librarys(embedded: Running, small: sv.Mechanism) -> None:
    tally = sv.Tally(small, filled(embedded, small, "line"))
    found = estimates(embedded, "line", confidence=0.9, quantiles="0.5,0.9", bins=16)
    assert (found["n"], found["shown"], found["confidence"], found["epsilon"]) == (2000, True, 0.9, 2.0)
    assert problems(found) == {}
    told = ["mean", "quantile", "standard_deviation", "distribution", "honesty"]
    assert sorted(asked(found)) == sorted(told)
    mean, median = sv.mean(tally, confidence=0.9), sv.quantile(tally, 0.5, confidence=0.9)
    assert number(found, "mean") == as_shown(mean, "Mean")
    assert answer(found, "mean")["notes"] == notes(mean)
    assert [one["p"] for one in found["answers"] if one["question"] == "quantile"] == [0.5, 0.9]
    assert number(found, "quantile", p=0.5) == as_shown(median, "Median")
    assert answer(found, "quantile", p=0.5)["notes"] == notes(median)
    drawn, shape = answer(found, "distribution")["data"], sv.distribution(tally, bins=16, confidence=0.9)
    assert drawn["edges"] == shape.edges.tolist()
    assert drawn["probability"] == shape.probabilities.tolist()
    assert drawn["cdf_low"] == shape.cdf_low.tolist()
    said = sv.summary(tally, quantiles=(0.5, 0.9), bins=16, confidence=0.9)
    assert [one["sentence"] for one in found["answers"]] == [one.sentence for one in said]


def test_a_dashboard_shows_as_many_bins_as_there_is_detail(embedded: Running) -> None:
    """At ε = 2 two thousand people are worth 32 bins; as many as there are cells would show noise."""
    mechanism = sv.sw(2.0, (0, 24), cells=53)
    tally = sv.Tally(mechanism, filled(embedded, mechanism, "bins"))
    shown = answer(estimates(embedded, "bins", quantiles=""), "distribution")["data"]
    assert len(shown["probability"]) == default_bins(tally) == 32


def test_a_circle_has_a_direction_instead_of_a_mean(embedded: Running) -> None:
    mechanism = sv.ogpm(epsilon=2.0, domain=sv.Circle(24), cells=256)
    tally = sv.Tally(mechanism, filled(embedded, mechanism, "circle"))
    found = estimates(embedded, "circle", bins=12)
    assert problems(found) == {}
    assert sorted(asked(found)) == ["concentration", "direction", "distribution", "honesty"]
    assert number(found, "direction")["value"] == sv.circular_mean(tally).value
    rose = answer(found, "distribution")
    assert (rose["picture"], len(rose["data"]["probability"])) == ("rose", 12)


def test_nothing_is_shown_below_the_minimum(embedded: Running, small: sv.Mechanism) -> None:
    embedded.create(small, name="few", min_n=65)
    for cells in ([], [1] * 64):
        if cells:
            embedded.post(small, cells, name="few")
        found = estimates(embedded, "few", bins=4 + len(cells))
        assert (found["n"], found["shown"]) == (len(cells), False)
        assert [found[part] for part in ("answers", "days", "groups", "central")] == [[], [], [], None]


def test_fakes_raise_the_alarm(embedded: Running, small: sv.Mechanism) -> None:
    filled(embedded, small, "honest")
    embedded.create(small, name="fake")
    embedded.post(small, [7] * 1000, name="fake")
    alarms = {}
    for name in ("honest", "fake"):
        found = answer(estimates(embedded, name, quantiles="", bins=16), "honesty")
        assert found["sentence"]
        alarms[name] = (found["data"]["alarm"], found["data"]["p_value"] <= 1e-6)
    assert alarms == {"honest": (False, False), "fake": (True, True)}


def test_bad_questions(embedded: Running, small: sv.Mechanism) -> None:
    embedded.create(small, name="asked")
    bad: list[dict[str, Any]] = [
        {"confidence": "nan"},
        {"confidence": 1},
        {"confidence": "1e999"},
        {"quantiles": "0.5,"},
        {"quantiles": "0,1"},
        {"quantiles": "0.5;0.6"},
        {"quantiles": ",".join(["0.5"] * 21)},
        {"bins": 3},
        {"bins": 10**30},
        {"bins": "many"},
    ]
    for question in bad:
        answer = embedded.get("/campaigns/asked/estimates", **question)
        check_refused(answer, "invalid")
        assert answer.json()["field"] == next(iter(question))
    check_refused(embedded.get("/campaigns/asked/counts", embedded.token("admin"), format="xls"), "invalid")


def test_there_are_no_more_bins_than_cells(embedded: Running, small: sv.Mechanism) -> None:
    filled(embedded, small, "fine")
    found = estimates(embedded, "fine", bins=1024, quantiles="")
    assert len(answer(found, "distribution")["data"]["probability"]) == small.cells
    assert problems(found) == {}


def test_counts_as_parquet(running: Running, small: sv.Mechanism) -> None:
    cells = filled(running, small, "columns")
    content = running.get("/campaigns/columns/counts", running.token("admin"), format="parquet").content
    table = pq.read_table(io.BytesIO(content))
    counts = np.zeros(256, dtype=np.int64)
    counts[table.column("cell").to_numpy()] = table.column("count").to_numpy()
    assert counts.tolist() == np.bincount(cells, minlength=256).tolist()
    assert str(table.schema.field("day").type) == "date32[day]"


def test_without_arrow_parquet_is_refused(
    embedded: Running, small: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded.create(small, name="columns")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    answer = embedded.get("/campaigns/columns/counts", embedded.token("admin"), format="parquet")
    check_refused(answer, "invalid")
    assert (answer.json()["field"], "needs the extra 'files'" in answer.text) == ("format", True)


def test_the_same_question_is_computed_once(
    embedded: Running, small: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(embedded, small, "busy")
    calls = []
    compute = embedded.app.state.service.results._compute

    def slow(*arguments: Any) -> Any:
        calls.append(1)
        time.sleep(0.2)
        return compute(*arguments)

    monkeypatch.setattr(embedded.app.state.service.results, "_compute", slow)
    answers: list[Any] = []
    ask = lambda: answers.append(estimates(embedded, "busy", quantiles=""))  # noqa: E731
    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert all(answer == answers[0] for answer in answers)


def test_nothing_is_computed_while_no_report_arrives(
    embedded: Running, small: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(embedded, small, "quiet")
    made: list[int] = []
    estimator = embedded.app.state.service.results.worker
    real = estimator.ask
    monkeypatch.setattr(results_cache, "_FRESH", 0.0)
    monkeypatch.setattr(results_cache, "_STALE", 0.0)
    monkeypatch.setattr(estimator, "ask", lambda *given: made.append(1) or real(*given))
    ask = lambda: estimates(embedded, "quiet", quantiles="", bins=8)  # noqa: E731
    first, again = ask(), ask()
    assert len(made) == 1
    assert first["answers"] == again["answers"]
    assert embedded.post(small, [1] * 64, name="quiet").status_code == 200
    assert ask()["n"] == first["n"] + 64
    assert len(made) == 2


def test_what_takes_long_is_computed_less_often(
    embedded: Running, small: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(embedded, small, "slow")
    worker, clock = embedded.app.state.service.results.worker, [1000.0]
    real, made = worker.ask, []

    def ask(*given: Any) -> dict[str, Any]:
        content = real(*given)
        made.append(worker.used)
        worker.used = 1.0
        return content

    monkeypatch.setattr(worker, "ask", ask)
    monkeypatch.setattr(results_cache, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    shown = lambda: estimates(embedded, "slow", quantiles="", bins=8)["n"]  # noqa: E731
    first = shown()
    assert embedded.post(small, [1] * 64, name="slow").status_code == 200
    clock[0] += 3.9  # four seconds of rest for the one of computing
    assert shown() == first
    campaign = embedded.store.campaign("slow").id
    assert campaign not in [asked for asked, _ in embedded.app.state.service.results._jobs]
    assert len(made) == 1
    clock[0] += 61.0
    assert shown() == first + 64
    assert made[1] > 0.0


def test_a_store_that_is_away_is_a_503(
    embedded: Running, small: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded.create(small, name="away")

    def gone(*_: Any) -> None:
        raise Unavailable

    for name in ("days", "day_counts", "counts", "check", "ingest"):
        monkeypatch.setattr(embedded.store, name, gone)
    embedded.app.state.service._probed = float("-inf")
    token = embedded.token("admin")
    for path in ("/campaigns/away/summary", "/campaigns/away/counts", "/campaigns/away/estimates", "/health"):
        answer = embedded.get(path, token)
        check_refused(answer, "store_unavailable")
        assert answer.headers["retry-after"] == "5"
    check_refused(embedded.post(small, [1], name="away"), "store_unavailable")


def test_an_estimate_that_never_ends_delays_nothing(embedded: Running, small: sv.Mechanism) -> None:
    """The estimator is stopped in the middle of its work; reports and summaries are answered all the same."""
    filled(embedded, small, "endless")
    assert estimates(embedded, "endless", quantiles="", bins=7)["shown"]
    pid = embedded.app.state.service.results.worker.pid
    assert pid not in (None, os.getpid())
    answers: list[Any] = []
    ask = lambda: answers.append(estimates(embedded, "endless", bins=9))  # noqa: E731
    thread = threading.Thread(target=ask)
    os.kill(pid, signal.SIGSTOP)
    try:
        thread.start()
        for number in range(1, 51):
            assert embedded.post(small, [number] * 64, name="endless").json() == {"accepted": 64}
            assert embedded.get("/campaigns/endless/summary").json()["n"] == 2000 + 64 * number
        assert not answers
    finally:
        os.kill(pid, signal.SIGCONT)
    thread.join(timeout=120)
    assert len(answer(answers[0], "distribution")["data"]["probability"]) == 9


def test_an_estimator_that_dies_is_started_again(embedded: Running, small: sv.Mechanism) -> None:
    filled(embedded, small, "fragile")
    estimator = embedded.app.state.service.results.worker
    assert embedded.get("/campaigns/fragile/estimates", quantiles="", bins=11).status_code == 200
    os.kill(estimator.pid, signal.SIGKILL)
    check_refused(
        embedded.get("/campaigns/fragile/estimates", quantiles="", bins=12), "estimates_unavailable"
    )
    found = estimates(embedded, "fragile", quantiles="", bins=12)
    assert len(answer(found, "distribution")["data"]["probability"]) == 12
    assert estimator.used == 0.0  # a first job loads libraries: what it takes says nothing


def test_the_estimator_ends_with_the_collector(tmp_path: Path, small: sv.Mechanism) -> None:
    """Also when the collector is killed and can tell nobody."""
    store = open_store(tmp_path / "store.db")
    campaign = create(store, small, min_n=1, collection="write")
    headers = {KEY: new_key(), "Authorization": f"Bearer {tokens.issue(store, campaign.id, 'write', 1)[0]}"}
    server = Server(str(tmp_path / "store.db"), tmp_path)
    body = {"digest": small.digest, "cells": [1, 2, 3] * 30}
    assert httpx.post(f"{server.url}/v1/campaigns/trial/reports", json=body, headers=headers).is_success
    assert httpx.get(f"{server.url}/v1/campaigns/trial/estimates", timeout=120).json()["shown"]
    tasks = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    [child] = [number for task in tasks for number in task.read_text().split()]
    server.kill()
    deadline = time.monotonic() + 60
    while _runs(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_fault_of_one_estimate_is_a_problem_in_words(
    small: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> list[Any]:
        raise ZeroDivisionError("private words")

    monkeypatch.setitem(TABLE, "mean", TABLE["mean"]._replace(answer=broken))
    tally = sv.Tally(small, [1, 2, 3])
    days = {f"2026-11-0{day}": sv.Tally(small, [day] * 9) for day in (1, 2)}
    found = results(tally, View(quantiles=(), bins=8), days, {})
    assert problems(found) == {"mean": "it could not be computed"}
    assert answer(found, "distribution")["data"] is not None
    assert [(one["points"], one["problem"]) for one in found["days"]] == [([], "it could not be computed")]
