"""A person answers in a real browser."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect
from tests.collector.pages.conftest import OpenPage
from tests.collector.pages.site import Site

import sottovoce as sv
from sottovoce.collector.campaigns import tokens

HOURS = sv.ogpm(epsilon=1.0, domain=(0, 24))


@pytest.fixture(scope="module")
def surveys(site: Site) -> dict[str, int]:
    common = {"question": "How many hours did you sleep?", "unit": "hours", "title": "Sleep"}
    return {
        "sleep": site.campaign("sleep", HOURS, **common),
        "outage": site.campaign("outage", HOURS, **common),
        "invited": site.campaign("invited", HOURS, **common, collection="enrolment"),
        "links": site.campaign("links", HOURS, **common, collection="enrolment"),
        "later": site.campaign("later", HOURS, **common, opens="2090-01-01T00:00:00Z"),
    }


def enter(page: Page, value: str) -> None:
    page.locator("#q0").fill(value)
    page.get_by_role("button", name="Next").click()


def answer(page: Page, value: str) -> None:
    enter(page, value)
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Randomise and send").click()


def ledger(page: Page) -> list[Any]:
    """The entries of this browser's ledger, in order; a seal and a line break come before each."""
    return page.evaluate(
        """() => new Promise((done) => {
          const opening = indexedDB.open("sottovoce", 1);
          opening.onsuccess = () => {
            const reading = opening.result.transaction("records").objectStore("records").getAll();
            reading.onsuccess = () => done(reading.result.map((text) => JSON.parse(text.slice(65))));
          };
        })"""
    )


def kinds(page: Page) -> list[str]:
    return [entry["kind"] for entry in ledger(page)]


def posts(page: Page) -> list[Any]:
    """Bodies and keys of what the page sends, as it sends them."""
    seen: list[Any] = []
    page.on(
        "request",
        lambda request: (
            seen.append((request.post_data, request.headers["idempotency-key"], request.headers))
            if request.method == "POST"
            else None
        ),
    )
    return seen


def test_answering(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    page = open_page("/survey/sleep")
    sent = posts(page)
    expect(page.get_by_role("heading", name="Sleep", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="How many hours did you sleep?")).to_be_visible()
    expect(page.locator("#privacy")).to_contain_text("changed at random on this device")
    expect(page.locator("#how-steps")).to_be_hidden()
    page.get_by_text("How this works").click()
    expect(page.locator("#trust")).to_contain_text(site.url.removeprefix("http://"))
    expect(page.locator("#epsilon")).to_be_hidden()
    page.get_by_text("What exactly is promised").click()
    expect(page.locator("#epsilon")).to_contain_text("by a factor of at most 2.72")
    expect(page.locator("#epsilon")).to_contain_text(
        "guess right in at most 74 of 100 cases; without it in 50"
    )
    expect(page.locator("#privacy")).to_contain_text("Your report is a hint at your answer.")
    expect(page.locator("#how-steps")).to_contain_text("between 3 hours and 9 hours in 38 of 100 cases")
    before = site.n("sleep")
    enter(page, "7,5")
    expect(page.locator("#answers .value")).to_have_text("7.5 hours")
    page.get_by_role("button", name="Randomise and send").click()
    expect(page.locator("#agree-error")).to_contain_text("tick the box if you agree")
    assert not sent
    page.get_by_label("I agree that one randomised report is sent").check()
    page.get_by_role("button", name="Randomise and send").click()
    expect(page.locator("#result")).to_be_visible()
    assert site.n("sleep") == before + 1
    [(body, _, headers)] = sent
    content = json.loads(body)
    assert set(content) == {"digest", "cells"}
    assert content["digest"] == HOURS.digest
    assert not headers.get("cookie")
    assert not headers.get("referer")
    *_, report, _ = entries = ledger(page)
    assert [entry["kind"] for entry in entries] == ["open", "enrol", "report", "acknowledge"]
    assert (report["cells"], report["spent"]) == (content["cells"], "1")
    assert "7.5" not in json.dumps(report)
    expect(page.locator("#spent")).to_contain_text("ε = 1 for this report")
    cell = content["cells"][0]
    expect(page.locator("#sent-cells")).to_contain_text(f"{cell:,}")
    shown = float(page.locator("#sent .value").inner_text().split()[0].replace("−", "-"))
    assert shown == pytest.approx(HOURS.decode(cell), rel=1e-3)


def test_no_second_draw(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    page = open_page("/survey/sleep")
    answer(page, "8")
    expect(page.locator("#result")).to_be_visible()
    count, text = site.n("sleep"), page.locator("#sent").inner_text()
    page.reload()
    expect(page.locator("#result-title")).to_have_text("You have answered from this device.")
    assert page.locator("#sent").inner_text() == text
    expect(page.locator("#form")).to_be_hidden()
    other = open_page("/survey/sleep", context=page.context)
    expect(other.locator("#result")).to_be_visible()
    assert site.n("sleep") == count


def test_an_outage_repeats_the_same_draw_and_shows_nothing_before_it_is_sent(
    site: Site, surveys: dict[str, int], open_page: OpenPage
) -> None:
    page = open_page("/survey/outage")
    page.clock.install()
    sent = posts(page)
    answers: list[int] = []

    def lose(route: Route) -> None:
        """The collector stores the report, but its answer never arrives."""
        answers.append(route.fetch().status)
        route.abort()

    page.route("**/reports", lose)
    answer(page, "3")
    for _ in range(40):
        page.clock.run_for(1000)
        if page.locator("#waiting").is_visible():
            break
    expect(page.locator("#waiting")).to_be_visible()
    assert answers == [200] * 4
    expect(page.locator("#result")).to_be_hidden()
    assert page.locator("#sent").inner_text() == ""
    assert kinds(page) == ["open", "enrol", "report"]
    page.unroute("**/reports")
    page.reload()
    expect(page.locator("#waiting")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#result")).to_be_visible()
    assert len({(body, key) for body, key, _ in sent}) == 1
    assert len(sent) == 5
    assert site.n("outage") == 1


@pytest.mark.parametrize("state", ["sent", "pending"])
def test_who_answered_before_the_page_had_a_ledger_is_known(
    site: Site, surveys: dict[str, int], open_page: OpenPage, state: str
) -> None:
    """The record that the page kept then is entered in the ledger, and sent if it was not."""
    page = open_page("/static/favicon.svg")
    place = f"http://localhost:{site.url.rsplit(':')[-1]}/v1/campaigns/sleep"
    record = {"key": "5" * 32, "digest": HOURS.digest, "reports": [[17]], "state": state}
    page.evaluate(
        "([name, record]) => localStorage.setItem(name, JSON.stringify({ ...record, created: Date.now() }))",
        [f"sottovoce:{place} {hashlib.sha256(b'').hexdigest()}", record],
    )
    sent = posts(page)
    for _ in range(2):
        page.goto(f"{site.url}/survey/sleep")
        if state == "pending" and not sent:
            page.get_by_role("button", name="Try again").click()
        expect(page.locator("#sent-cells")).to_contain_text("17")
        expect(page.locator("#spent")).to_contain_text("ε = 1 for this report")
    assert kinds(page) == ["open", "enrol", "report", "acknowledge"]
    assert [key for _, key, _ in sent] == ["5" * 32] * (state == "pending")


def test_without_a_record_nothing_is_sent(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    page = open_page("/static/favicon.svg")
    page.add_init_script(
        "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); }"
    )
    page.goto(f"{site.url}/survey/sleep")
    expect(page.locator("#notice")).to_contain_text("does not let the page store anything")


def test_nothing_to_say_is_said_like_anything_else(
    site: Site, surveys: dict[str, int], open_page: OpenPage
) -> None:
    page = open_page("/survey/sleep")
    sent = posts(page)
    for wrong in ("", "seven", "1e", "--2", "NaN", "Infinity"):
        enter(page, wrong)
        expect(page.locator("#q0-error")).to_contain_text("Please enter a number")
        expect(page.locator("#q0")).to_be_focused()
    page.get_by_label("would rather not say").check()
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#answers")).to_contain_text("12 hours takes its place")
    assert not sent
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Randomise and send").click()
    expect(page.locator("#result")).to_be_visible()
    assert set(json.loads(sent[0][0])) == {"digest", "cells"}


def test_out_of_range_follows_the_rule(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    page = open_page("/survey/sleep")
    enter(page, "1000")
    expect(page.locator("#answers")).to_contain_text("out of range and counts as 24 hours")
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Randomise and send").click()
    expect(page.locator("#result")).to_be_visible()


def test_a_number_that_can_be_read_in_two_ways_is_asked_back(
    site: Site, surveys: dict[str, int], open_page: OpenPage
) -> None:
    page = open_page("/survey/sleep")
    enter(page, "12,345")
    expect(page.locator("#q0-error")).to_have_text("“12,345” can be read in two ways. Which do you mean?")
    readings = page.locator(".readings button")
    expect(readings).to_have_text(["12345 hours", "12.3450 hours (between 12 and 13)"])
    expect(readings.first).to_be_focused()
    check_accessible(page)
    readings.last.click()
    expect(page.locator("#answers .value")).to_have_text("12.345 hours")
    page.get_by_role("button", name="Change").click()
    expect(page.locator("#q0")).to_have_value("12.3450")


def test_an_invitation_is_used_once_and_leaves_the_address(
    site: Site, surveys: dict[str, int], open_page: OpenPage
) -> None:
    [token] = site.tokens(surveys["invited"], "enrolment")
    page = open_page(f"/survey/invited#{token}")
    answer(page, "6")
    expect(page.locator("#result")).to_be_visible()
    assert page.url == f"{site.url}/survey/invited"
    [raced] = site.tokens(surveys["invited"], "enrolment")
    pages = [
        open_page(f"/survey/invited#{raced}") for _ in range(2)
    ]  # in two browsers, before either has answered
    for one in pages:
        expect(one.locator("#form")).to_be_visible()
    answer(pages[0], "9")
    expect(pages[0].locator("#result")).to_be_visible()
    answer(pages[1], "9")
    expect(pages[1].locator("#waiting-reason")).to_have_text("This invitation has been used already.")
    expect(pages[1].locator("#waiting-title")).to_have_text("Not accepted")
    expect(pages[1].get_by_role("button", name="Try again")).to_be_hidden()
    assert site.n("invited") == 2


REFUSED_LINKS = {
    "en": ("has been used already", "not known", "belongs to another survey"),
    "de": ("bereits verwendet", "nicht bekannt", "zu einer anderen Umfrage"),
    "fr": ("déjà été utilisée", "pas connue", "autre enquête"),
    "es": ("ya se ha utilizado", "no conoce", "otra encuesta"),
    "it": ("già stato usato", "non conosce", "altro sondaggio"),
}


@pytest.mark.parametrize("language", REFUSED_LINKS)
def test_a_link_that_is_used_or_wrong_says_so_before_the_first_question(
    site: Site, surveys: dict[str, int], open_page: OpenPage, language: str
) -> None:
    """In the words of the page, and without spending anything: a good link still answers."""
    used, good = site.tokens(surveys["links"], "enrolment", 2)
    [other] = site.tokens(surveys["invited"], "enrolment")
    report = {"digest": HOURS.digest, "cells": [5]}
    sent = {"Authorization": f"Bearer {used}", "Idempotency-Key": used[-32:]}
    assert httpx.post(f"{site.url}/v1/campaigns/links/reports", json=report, headers=sent).status_code == 200
    unknown = tokens.make("enrolment")
    for token, words in zip((used, unknown, other), REFUSED_LINKS[language], strict=True):
        page = open_page(f"/survey/links#{token}", locale=language)
        expect(page.locator("#notice")).to_contain_text(words)
        expect(page.locator("#form")).to_be_hidden()
        assert kinds(page) == ["open"]
    page = open_page("/survey/links#half-a-link", locale=language)
    expect(page.locator("#notice")).to_contain_text(REFUSED_LINKS[language][1])
    page = open_page(f"/survey/links#{good}", locale=language)
    expect(page.locator("#form")).to_be_visible()


def test_a_second_link_in_the_same_tab_is_another_persons(
    site: Site, surveys: dict[str, int], open_page: OpenPage
) -> None:
    one, two = site.tokens(surveys["links"], "enrolment", 2)
    before = site.n("links")
    page = open_page(f"/survey/links#{one}")
    answer(page, "6")
    expect(page.locator("#result")).to_be_visible()
    cells = page.locator("#sent-cells").inner_text()
    page.goto(f"{site.url}/survey/links#{two}")  # the same document: browsers load nothing
    expect(page.locator("#form")).to_be_visible()
    expect(page.locator("#result")).to_be_hidden()
    expect(page.locator("#sent-cells")).to_be_empty()
    expect(page.locator("#q0")).to_have_value("")
    answer(page, "9")
    expect(page.locator("#result-title")).to_have_text("Sent. Thank you.")
    assert site.n("links") == before + 2
    page.goto(f"{site.url}/survey/links#{one}")  # who answered first sees their own again
    expect(page.locator("#result-title")).to_have_text("You have answered from this device.")
    assert page.locator("#sent-cells").inner_text() == cells
    assert kinds(page).count("report") == 2


def test_an_open_survey_needs_no_link(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    """What stands behind the # is no token there: it was refused after all answers."""
    page = open_page("/survey/sleep#questions")
    answer(page, "7")
    expect(page.locator("#result")).to_be_visible()


def test_what_cannot_be_answered(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    notices = {
        "later": "opens on January 1, 2090",
        "invited": "by invitation",
        "none": "There is no such survey.",
    }
    for name, words in {**notices, "%E0%A4%A": "There is no such survey."}.items():
        page = open_page(f"/survey/{name}", viewport={"width": 320, "height": 640})
        expect(page.locator("#notice")).to_contain_text(words)
        check_accessible(page)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c | {"epsilon": 0.5}, "more than the agreed epsilon=0.5"),
        (lambda c: c | {"digest": "0" * 64}, "not the one that the campaign's digest names"),
        (lambda c: c | {"spec": c["spec"].replace('"epsilon":1.0', '"epsilon":0.9')}, "digest names"),
    ],
)
def test_a_lying_collector_gets_nothing(
    site: Site, surveys: dict[str, int], open_page: OpenPage, change: Any, words: str
) -> None:
    page = open_page("/static/favicon.svg")
    content = change(httpx.get(f"{site.url}/v1/campaigns/sleep").json())
    page.route(re.compile("/v1/campaigns/sleep$"), lambda route: route.fulfill(json=content))
    sent = posts(page)
    page.goto(f"{site.url}/survey/sleep")
    expect(page.locator("#notice")).to_contain_text("Stopped to protect you, nothing was sent")
    expect(page.locator("#notice")).to_contain_text(words)
    assert not sent


def test_accessibility(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    """Of what only single questions show; the other states are looked at where a survey is answered."""
    page = open_page("/survey/sleep", viewport={"width": 320, "height": 640})
    expect(page.locator("#form")).to_be_visible()
    page.get_by_text("How this works").click()
    page.get_by_text("What exactly is promised").click()
    check_accessible(page)
    enter(page, "x")
    check_accessible(page)
    page.route("**/reports", lambda route: route.abort())
    page.clock.install()
    answer(page, "7")
    for _ in range(40):
        page.clock.run_for(1000)
        if page.locator("#waiting").is_visible():
            break
    expect(page.locator("#waiting-title")).to_be_focused()
    check_accessible(page)


def test_the_accessibility_check_can_fail(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    page = open_page("/survey/sleep")
    expect(page.locator("#form")).to_be_visible()
    page.evaluate("document.querySelector('.none label').remove()")
    with pytest.raises(AssertionError, match="label"):
        check_accessible(page)


def check_accessible(page: Page) -> None:
    """No finding of axe, and nothing to scroll sideways."""
    found = Axe().run(
        page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]}
    )
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_vectors_in_the_browser(site: Site, open_page: OpenPage) -> None:
    """The checks that Node runs, on the files that the pages load."""
    root = Path(__file__).parents[3]
    script = (root / "clients/js/tests/vectors.js").read_text().replace("../lib/", "/static/sottovoce/")
    page = open_page("/static/favicon.svg")
    page.route(
        "**/static/vectors.js", lambda route: route.fulfill(body=script, content_type="text/javascript")
    )
    page.goto(f"{site.url}/survey/none")
    run = "async ([check, vectors]) => (await import('/static/vectors.js'))[check](vectors)"
    sampling = json.loads((root / "tests/vectors/sampling.json").read_text())
    specs = json.loads((root / "tests/vectors/specs.json").read_text())
    result = page.evaluate(run, ["checkSampling", sampling])
    assert result["wrong"] == []
    assert result["checked"] > 700_000
    assert page.evaluate(run, ["checkAudits", specs]) == []
