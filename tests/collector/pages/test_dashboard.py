"""What an analyst sees, in a real browser, of reports that really arrived."""

from __future__ import annotations

import math
import re
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
from playwright.sync_api import Page, expect
from tests.collector.answers import number
from tests.collector.pages.conftest import OpenPage
from tests.collector.pages.site import Site
from tests.collector.pages.test_survey import answer, check_accessible

import sottovoce as sv

MINUTES = sv.pm(epsilon=2.0, domain=(0, 120), cells=256)
TWO_WIDTHS = sv.two_scale(epsilon=2.0, domain=(0, 120), cells=128)
ONE_BIT = sv.design("probability", 1.0, (0, 24), between=(6, 12))
GROUPS = sv.within(2.0, ["car", "bike"], (0, 120))
PAIR = sv.pair(4.0, {"x": (0, 1), "y": (0, 1)})
THERE = sv.polar(4.0, 10.0, design="unbiased")
HOURS = sv.ogpm(epsilon=2.0, domain=sv.Circle(24), cells=256)
LITRES = sv.pm(epsilon=8.0, domain=(-1e12, 5e12), cells=256)


@pytest.fixture(scope="module")
def boards(site: Site) -> dict[str, int]:
    made = {
        "commute": site.campaign(
            "commute", MINUTES, title="The way to work", question="How many minutes?", unit="minutes"
        ),
        "asleep": site.campaign("asleep", HOURS, title="Falling asleep", question="At what hour?", unit="h"),
        "faked": site.campaign("faked", HOURS, title="Too good to be true", unit="h"),
        "few": site.campaign("few", MINUTES, title="Hardly begun", min_n=65),
        "private": site.campaign("private", HOURS, title="Not for everyone", results="token", min_n=1000),
        "huge": site.campaign("huge", LITRES, title="Huge numbers", unit="litres"),
        "way-north": site.campaign("way-north", MINUTES, unit="minutes", family="way"),
        "way-south": site.campaign("way-south", MINUTES, unit="minutes", family="way"),
        "coin": site.campaign("coin", TWO_WIDTHS, title="Two widths", unit="minutes"),
        "one-bit": site.campaign("one-bit", ONE_BIT, unit="h"),
        "groups": site.campaign("groups", GROUPS, missing="uniform"),
        "pair": site.campaign("pair", PAIR, missing="uniform"),
        "there": site.campaign("there", THERE),
        "days": site.campaign("days", MINUTES, unit="minutes"),
        "nobody": site.campaign("nobody", MINUTES, title="Just opened"),
        "markup": site.campaign("markup", HOURS, title="<b>bold</b>", unit="<i>m</i>&amp;"),
    }
    site.answer("commute", MINUTES, people=1000, seed=1)
    rng = np.random.default_rng(2)
    site.send("asleep", HOURS, HOURS.report((23.5 + rng.normal(0, 1, 5000)) % 24, rng=rng))
    site.send("faked", HOURS, [5] * 2000)
    site.send("few", MINUTES, [5] * 64)
    site.answer("private", HOURS, people=500, seed=3)
    site.answer("huge", LITRES, people=300, seed=7)
    site.answer("coin", TWO_WIDTHS, people=2000, seed=6)
    site.answer("markup", HOURS, people=500, seed=4)
    site.answer("one-bit", ONE_BIT, people=500, seed=8)
    ways = rng.choice(["car", "bike"], 2000)
    site.send("groups", GROUPS, GROUPS.report({"group": ways, "number": rng.uniform(0, 90, 2000)}, rng=9))
    site.send("pair", PAIR, PAIR.report({"x": rng.random(2000), "y": rng.random(2000)}, rng=10))
    site.send("there", THERE, THERE.report(rng.normal(2, 2, (500, 2)), clip=True, rng=11))
    site.answer("days", MINUTES, people=900, seed=12)
    site.earlier("days", 3)
    site.answer("days", MINUTES, people=900, seed=13)
    for k, name in enumerate(("way-north", "way-south")):
        site.send(name, MINUTES, MINUTES.report(np.full(2000, 20.0 + 20 * k), rng=k))
    return made


def open_board(open_page: OpenPage, name: str, **options: Any) -> Page:
    page = open_page(f"/#/{name}", **options)
    expect(page.locator("#campaign")).to_be_visible()
    return page


def told(question: str, item: str = "") -> str:
    """Where the answer to a question is on the page."""
    return f".item[data-item='{item}'] .answer[data-question='{question}']"


def picture(question: str, item: str = "") -> str:
    return f"{told(question, item)} > [role=img]"


def drawn(page: Page, chart: str = picture("distribution")) -> None:
    expect(page.locator(f"{chart} svg.main-svg").first).to_be_visible(timeout=60_000)


def interval(page: Page, question: str = "mean", item: str = "") -> tuple[float, float]:
    return intervals(page.locator(f"{told(question, item)} > p").inner_text())[0]


def intervals(text: str) -> list[tuple[float, float]]:
    """Those that a text names, without their units."""
    ends = re.findall(r"between (-?[\d.,:]+)(?:.%)? and (-?[\d.,:]+)", text.replace("−", "-"))
    return [(_number(low), _number(high)) for low, high in ends]


def _number(text: str) -> float:
    """Also of a time of day, in hours."""
    hours, _, minutes = text.rstrip(".,").replace(",", "").partition(":")
    return float(hours) + float(minutes or 0) / 60


def test_the_count_rises_and_the_interval_shrinks(
    site: Site, boards: dict[str, int], open_page: OpenPage
) -> None:
    page = open_board(open_page, "commute")
    expect(page.locator("#count")).to_have_text("1,000")
    drawn(page)
    low, high = interval(page)
    served = number(httpx.get(f"{site.url}/v1/campaigns/commute/estimates").json(), "mean")
    assert low <= served["low"] < low + 1  # rounded outward, to a tenth of its width
    assert high - 1 < served["high"] <= high
    bar = page.locator(f"{told('mean')} .bar").bounding_box()
    assert bar is not None

    person = open_page("/survey/commute")
    answer(person, "35")
    expect(person.locator("#result")).to_be_visible()
    site.answer("commute", MINUTES, people=20_000, seed=5)
    expect(page.locator("#count")).to_have_text("21,000")  # the one answer is not published alone
    for _ in range(120):  # the mean follows the count as soon as it is computed
        new_low, new_high = interval(page)
        if new_high - new_low < (high - low) / 2:
            break
        page.wait_for_timeout(500)
    assert new_high - new_low < (high - low) / 2
    smaller = page.locator(f"{told('mean')} .bar").bounding_box()
    assert smaller is not None
    assert smaller["width"] < bar["width"]


def test_distribution_and_quantiles(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "commute")
    drawn(page)
    assert page.locator(f"{picture('distribution')} .scatterlayer .trace").count() == 3
    says = page.locator(f"{told('distribution')} > p")
    expect(says).to_contain_text(re.compile(r"The most common values appear to lie between \d+"))
    assert re.search(r"We are 95.% sure that at least \d\d of 100 people are between", says.inner_text())
    shapes = page.locator(f"{picture('distribution')} .shapelayer path")
    expect(shapes).to_have_count(2)  # the even level, and the range
    expect(page.locator(told("quantile"))).to_have_count(5)
    expect(page.locator(told("quantile")).first).to_contain_text("10 of 100 are below")
    page.locator(told("distribution")).get_by_text("The numbers behind the picture").click()
    shares = page.locator(f"{told('distribution')} tbody tr td:nth-child(3)").all_inner_texts()
    total = sum(float(share.split()[0]) for share in shares)
    people = int(page.locator("#count").inner_text().replace(",", ""))
    assert len(shares) == 2 ** round(math.log2(4 * (people * 2.0**2) ** 0.25))  # `default_bins`
    assert total == pytest.approx(100, abs=1)
    page.locator(told("distribution")).get_by_text("with its band").click()
    drawn(page, f"{told('distribution')} details [role=img]")


def test_confidence_is_a_choice(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "asleep")
    drawn(page)
    low, high = interval(page, "direction")
    page.locator("#confidence").select_option("0.8")
    expect(page.locator(told("direction"))).to_contain_text("80 % sure")
    new_low, new_high = interval(page, "direction")
    assert new_high - new_low < high - low


def test_a_sequential_mean_holds_at_every_look(
    site: Site, boards: dict[str, int], open_page: OpenPage
) -> None:
    page = open_board(open_page, "way-north")
    drawn(page)
    low, high = interval(page)
    page.get_by_label("Intervals of means that hold at every look").check()
    expect(page.locator(told("mean"))).to_contain_text("times the width")
    new_low, new_high = interval(page)
    assert new_low < low < high < new_high


def test_rose_plot(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "asleep")
    drawn(page)
    rose = picture("distribution")
    assert page.locator(f"{rose} .polarlayer .barlayer .trace").count() == 1
    lines = f'document.querySelectorAll("{rose} .polarlayer .scatterlayer .trace").length'
    assert page.evaluate(lines) == 6  # the ribbon, the even level, the curve, the range, the hand and its arc
    expect(page.locator(told("distribution"))).to_contain_text(
        "The most common times appear to lie between 2"
    )
    expect(page.get_by_role("heading", name="Mean time")).to_be_visible()
    expect(page.locator(told("quantile"))).to_have_count(0)
    expect(page.locator(".scale")).to_have_count(0)  # a rose has a hand instead
    said = re.search(r"is (\d+):(\d\d)", page.locator(told("direction")).inner_text())
    assert said
    value = int(said[1]) + int(said[2]) / 60
    assert min(abs(value - 23.5), 24 - abs(value - 23.5)) < 0.5


def test_groups_of_a_family(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "way-north")
    drawn(page, "#groups")
    expect(page.locator("#groups tbody tr")).to_have_count(2)
    expect(page.locator("#groups tbody tr").last).to_contain_text("way-south")
    expect(page.locator("#groups tbody tr td:last-child")).to_have_text(["2", "1"])
    expect(page.locator(".item .series")).to_have_count(0)  # one day is no series
    page.locator("#groups a").last.click()
    expect(page).to_have_url(re.compile("#/way-south$"))


def test_everything_that_can_be_asked_is_shown(
    site: Site, boards: dict[str, int], open_page: OpenPage
) -> None:
    """One bit tells its share and no mean; a pair has a card of its own, and no sums; groups, and a map."""
    for name, heads, answers in (
        ("one-bit", ["The answers"], ["Between 6 and 12", "Do the reports look honest?"]),
        ("groups", ["Several questions together"], ["number by group"]),
        ("there", ["The answers"], ["Mean place", "Map"]),
        ("pair", ["x", "y", "Several questions together"], ["Correlation of x and y", "Slope of x and y"]),
    ):
        page = open_board(open_page, name, viewport={"width": 390, "height": 800})
        expect(page.locator(".item > h2")).to_have_text(heads, timeout=120_000)
        shown = page.locator(".item").last.locator("h3").all_inner_texts()
        assert shown[: len(answers)] == answers
        expect(page.locator("#planner")).to_be_visible(visible=name == "one-bit")
        check_accessible(page)
    drawn(open_board(open_page, "groups"), picture("groups"))
    expect(open_board(open_page, "there").locator(f"{picture('heatmap')} rect").first).to_be_visible()


def test_days_are_a_series(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "days")
    drawn(page, ".item .series")
    expect(page.locator(".series h3")).to_have_text(["Mean, day by day"])
    expect(page.locator(".series")).to_contain_text(
        re.compile("sure of all 2 intervals together. Per day it")
    )
    check_accessible(page)


def test_an_empty_campaign_leads_on(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "nobody")
    expect(page.locator("#empty")).to_contain_text("Send people this link")
    expect(page.locator("#empty-link")).to_have_text(f"{site.url}/survey/nobody")
    check_accessible(page)
    expect(open_board(open_page, "few").locator("#empty")).to_be_hidden()


def test_a_campaign_with_a_public_coin(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    """Two window widths: answered in the browser, shown as a distribution."""
    person = open_page("/survey/coin")
    answer(person, "40")
    expect(person.locator("#sent .value")).to_contain_text("minutes")
    page = open_board(open_page, "coin")
    expect(page.locator("#count")).to_have_text("2,000")  # the one answer is not published alone
    drawn(page)
    assert page.locator(f"{picture('distribution')} .scatterlayer .trace").count() == 3
    expect(page.locator(told("quantile"))).to_have_count(5)
    low, high = interval(page)
    assert low < 120 * 4 / 11 < high
    expect(page.locator("#alarm")).to_be_hidden()


def test_fakes_raise_the_alarm(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "faked")
    expect(page.locator("#alarm")).to_contain_text("cannot all be honest", timeout=120_000)  # computed
    honest = open_board(open_page, "asleep")
    drawn(honest)
    expect(honest.locator("#alarm")).to_be_hidden()


def test_refusals_are_counted_by_reason(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    reports = f"{site.url}/v1/campaigns/few/reports"
    body = {"digest": MINUTES.digest, "cells": [99_999]}
    for key in ("a" * 32, "b" * 32):
        assert httpx.post(reports, json=body, headers={"Idempotency-Key": key}).status_code == 422
    page = open_board(open_page, "few")
    row = page.locator("#refusals tbody tr", has_text="a cell that the mechanism does not have")
    expect(row).to_contain_text("2")
    expect(page.locator("#count")).to_have_text("64")
    expect(page.locator("#count-note")).to_have_text("Estimates appear from 65 reports on.")
    expect(page.locator("#pending")).to_have_text("not yet")
    expect(page.locator(".item")).to_have_count(0)


def test_what_epsilon_means(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "commute")
    expect(page.locator("#epsilon")).to_contain_text("0 minutes or 120 minutes. With your report")
    expect(page.locator("#epsilon")).to_contain_text("a factor of at most 7.39")
    expect(page.locator("#epsilon")).to_contain_text("at most 89 of 100 cases; without it in 50")
    expect(page.locator("#central")).to_contain_text("people answered honestly. The operator receives single")


def test_planner(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "few")
    drawn(page, "#plan-chart")

    def error() -> float:
        return float(page.locator("#plan-error").inner_text().split()[1].replace(",", ""))

    page.locator("#plan-people").fill("4")
    expect(page.locator("#plan-people-value")).to_have_text("10,000")
    table = httpx.get(f"{site.url}/v1/planner").json()
    at = table["epsilon"].index(2.0)
    expect(page.locator("#plan-epsilon-value")).to_have_text("2")
    expected = 1.959964 * 120 * table["interval"]["mean"]["error"][at] / 100
    expect(page.locator("#plan-note")).to_contain_text("Certified: no unbiased mechanism")
    assert error() == pytest.approx(expected, rel=0.005)
    page.locator("#plan-people").fill("6")
    assert error() == pytest.approx(expected / 10, rel=0.005)
    page.locator("#plan-epsilon").focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    assert error() > expected / 10
    page.locator("#confidence").select_option("0.8")
    expect(page.locator("#plan-note")).to_contain_text("80 % interval")
    shapes = table["interval"]["shapes"]
    at_two, at_million = shapes["epsilon"].index(2.0), shapes["people"].index(1_000_000)
    for _ in range(6):
        page.locator("#plan-epsilon").press("ArrowRight")
    for question, words in (("distribution", "Wasserstein"), ("quartiles", "quartile")):
        page.locator("#plan-question").select_option(question)
        expect(page.locator("#plan-note")).to_contain_text(words)
        nodes = shapes[question]["error"][at_two]
        assert error() == pytest.approx(120 * nodes[at_million], rel=0.005)
        page.locator("#plan-people").fill("5.5")  # between the nodes of the grid
        assert 120 * nodes[at_million] < error() < 120 * nodes[at_million - 1]
        page.locator("#plan-people").fill("6")
    around = open_board(open_page, "asleep")
    expect(around.locator("#plan-question option")).to_have_text(["mean direction", "distribution"])


def test_private_results_need_a_token(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_page("/#/private")
    expect(page.locator("#notice")).to_contain_text("need a read token")
    check_accessible(page)
    expect(page.locator("#campaigns")).not_to_contain_text("Not for everyone")
    [token] = site.tokens(boards["private"], "read")
    page.get_by_text("Token", exact=True).click()
    page.get_by_label("A read token").fill(token)
    page.get_by_role("button", name="Use").click()
    expect(page.locator("#campaign")).to_be_visible()
    expect(page.locator("#count")).to_have_text("500")
    expect(page.locator("#campaigns")).to_contain_text("Not for everyone")
    assert token not in page.url
    assert page.evaluate("Object.keys(localStorage).length") == 0
    with page.expect_download() as download:
        page.get_by_role("button", name="Counts as CSV").click()
    assert download.value.suggested_filename == "private-counts.csv"
    lines = download.value.path().read_text().splitlines()
    assert lines[0] == "day,cell,count"
    assert sum(int(line.split(",")[2]) for line in lines[1:]) == 500


def test_an_unknown_token_is_said_and_hides_nothing(
    site: Site, boards: dict[str, int], open_page: OpenPage
) -> None:
    page = open_board(open_page, "few")
    page.get_by_text("Token", exact=True).click()
    for wrong, words in (("read_…", "not a token"), (f"read_{'A' * 43}", "does not know that token")):
        page.get_by_label("A read token").fill(wrong)
        page.get_by_role("button", name="Use").click()
        expect(page.locator("#token-note")).to_contain_text(words)
        expect(page.locator("#campaign")).to_be_visible()
        expect(page.locator("#campaigns")).to_contain_text("Falling asleep")
    [other] = site.tokens(boards["private"], "read")  # good for another campaign; this one is public
    page.get_by_label("A read token").fill(other)
    page.get_by_role("button", name="Use").click()
    expect(page.locator("#campaigns")).to_contain_text("Not for everyone")
    expect(page.locator("#count")).to_have_text("64")


def test_numbers_as_people_write_them(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "huge", viewport={"width": 390, "height": 800})
    drawn(page)
    expect(page.locator("#facts")).to_contain_text("−1 × 10¹² to 5 × 10¹² litres")
    ticks = page.locator(f"{picture('distribution')} .xtick text").all_text_contents()
    assert ticks[:3] == ["−1 × 10¹²", "0", "1 × 10¹²"]
    expect(page.locator("#epsilon")).to_contain_text("at most 9,997 of 10,000")  # never all
    page.get_by_text("Token", exact=True).click()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    words = """async ([low, high, value]) => {
        const { range, writer } = await import("/static/words.js");
        return [range(low, high), writer(low, high)(value)];
    }"""
    for given, written in (
        ((43947, 46805, 45330), ["43,900 to 46,800", "45,300"]),
        ((35.84, 36.32, 36.1), ["35.84 to 36.32", "36.10"]),
        ((-0.3, 15, 7.6), ["0 to 15", "8"]),
        ((None, 3, 1), ["up to 3", "1"]),
        ((None, None, 1), ["any value", "1"]),
    ):
        assert page.evaluate(words, given) == written


def test_an_arc_across_midnight(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_page("/#/asleep")
    words = """async (ends) => {
        const { arc } = await import("/static/words.js");
        return arc(...ends, { low: 0, high: 24 });
    }"""
    assert page.evaluate(words, [-0.05, 0.09]) == "23.95 to 0.09"
    assert page.evaluate(words, [23.9, 24.05]) == "23.90 to 0.05"
    assert page.evaluate(words, [9, 33]) == "anywhere on the circle"


def test_a_second_round_is_answered_and_shown(site: Site, open_page: OpenPage) -> None:
    """The mean direction in two rounds: a person answers in the second, and its dashboard tells of both."""
    rng, plan = np.random.default_rng(8), sv.rounds("direction", 2.0, sv.Circle(24))
    hours = (23.5 + rng.normal(0, 1, 3500)) % 24
    second = site.second_round("dusk", plan, hours[:500], rounds={"task": "direction"}, unit="h")
    person = open_page(f"/survey/{second.name}")
    answer(person, "22")
    expect(person.locator("#result")).to_be_visible()
    [[_, cell]] = site.store.waiting(second.id).tolist()
    expect(person.locator("#sent-cells")).to_contain_text(str(cell))
    site.send(second.name, second.reporter, second.reporter.report(hours[500:], rng=rng))
    page = open_board(open_page, second.name)
    expect(page.locator("#campaign")).to_contain_text("round 2 of 2 for the mean direction, after dusk")
    expect(page.locator(told("direction"))).to_contain_text("sure that it is between")
    served = httpx.get(f"{site.url}/v1/campaigns/{second.name}/estimates", timeout=60).json()
    both = number(served, "direction")
    low, high = interval(page, "direction")
    assert 0 <= both["low"] % 24 - low < 0.1  # rounded outward
    assert 0 <= high - both["high"] % 24 < 0.1


def test_an_operators_words_are_only_words(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "markup")
    expect(page.locator("#title")).to_have_text("<b>bold</b>")
    drawn(page)
    assert page.locator("#title b, .item i").count() == 0
    assert "&lt;i&gt;m&lt;/i&gt;&amp;amp;" in page.evaluate(
        f'document.querySelector("{picture("distribution")}").data[1].hovertext[0]'
    )


def test_moving_between_campaigns(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "few")
    page.get_by_role("link", name="Falling asleep").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_have_text("Falling asleep")
    expect(page.get_by_role("link", name="Falling asleep")).to_have_attribute("aria-current", "page")
    expect(page.locator("#main")).to_be_focused()
    page.go_back()
    expect(page.locator("#title")).to_have_text("Hardly begun")
    page.goto(f"{site.url}/#/nothing-here")
    expect(page.locator("#notice")).to_have_text("There is no such campaign.")
    check_accessible(page)


def test_an_outage_is_said_and_ends(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "few")
    page.route(
        "**/summary", lambda route: route.fulfill(status=503, json={"code": "x", "message": "no store"})
    )
    expect(page.locator("#notice")).to_have_text("The collector answered: no store")
    expect(page.locator("#count")).to_have_text("64")
    page.unroute("**/summary")
    expect(page.locator("#notice")).to_be_hidden()


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
def test_accessibility(
    site: Site, boards: dict[str, int], open_page: OpenPage, scheme: str, width: int
) -> None:
    page = open_board(open_page, "commute", color_scheme=scheme, viewport={"width": width, "height": 800})
    drawn(page)
    drawn(page, "#plan-chart")
    for details in page.locator("details > summary").locator("visible=true").all():
        details.click()
    drawn(page, f"{told('distribution')} details [role=img]")
    check_accessible(page)
    page.get_by_role("link", name="Falling asleep").click()
    expect(page.locator("#title")).to_have_text("Falling asleep")
    drawn(page)
    check_accessible(page)


def test_colours_follow_the_scheme(site: Site, boards: dict[str, int], open_page: OpenPage) -> None:
    page = open_board(open_page, "commute", color_scheme="light")
    drawn(page)
    chart = f"{picture('distribution')} svg.main-svg"
    background = f'getComputedStyle(document.querySelector("{chart}")).backgroundColor'
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    for _ in range(200):  # the policy forbids what Playwright's own waiting would evaluate
        if page.evaluate(background) == "rgb(24, 33, 32)":
            break
        page.wait_for_timeout(100)
    assert page.evaluate(background) == "rgb(24, 33, 32)"
