"""A person answers in a real browser."""

from __future__ import annotations

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

HOURS = sv.ogpm(epsilon=1.0, domain=(0, 24))


@pytest.fixture(scope="module")
def surveys(site: Site) -> dict[str, int]:
    common = {"question": "How many hours did you sleep?", "unit": "hours", "title": "Sleep"}
    return {
        "sleep": site.campaign("sleep", HOURS, **common),
        "outage": site.campaign("outage", HOURS, **common),
        "invited": site.campaign("invited", HOURS, **common, collection="enrolment"),
        "later": site.campaign("later", HOURS, **common, opens="2090-01-01T00:00:00Z"),
    }


def agree(page: Page) -> None:
    expect(page.locator("#continue")).to_be_disabled()
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Continue").click()


def answer(page: Page, value: str) -> None:
    agree(page)
    page.locator("#value").fill(value)
    page.get_by_role("button", name="Randomise and send").click()


def stored(page: Page) -> list[Any]:
    return page.evaluate("Object.values(localStorage).map((text) => JSON.parse(text))")


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
    expect(page.get_by_role("heading", name="Sleep")).to_be_visible()
    expect(page.locator("#trust")).to_contain_text(site.url.removeprefix("http://"))
    expect(page.locator("#epsilon")).to_contain_text("2.72 times as likely")
    before = site.n("sleep")
    answer(page, "7,5")
    expect(page.locator("#result")).to_be_visible()
    assert site.n("sleep") == before + 1
    [(body, _, headers)] = sent
    content = json.loads(body)
    assert set(content) == {"digest", "cells"}
    assert content["digest"] == HOURS.digest
    assert not headers.get("cookie")
    assert not headers.get("referer")
    [record] = stored(page)
    assert (record["reports"], record["state"]) == ([content["cells"]], "sent")
    assert "7.5" not in json.dumps(record)
    cell = content["cells"][0]
    expect(page.locator("#sent-cell")).to_contain_text(f"{cell:,} of 65,536")
    shown = float(page.locator("#sent").inner_text().split()[0].replace(",", ""))
    assert shown == pytest.approx(HOURS.decode(cell), rel=1e-3)
    expect(page.locator("#sent-meaning")).to_contain_text("each from 0 to 24 hours can give this very report")


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
    agree(page)
    page.locator("#value").fill("3")
    page.get_by_role("button", name="Randomise and send").click()
    for _ in range(40):
        page.clock.run_for(1000)
        if page.locator("#waiting").is_visible():
            break
    expect(page.locator("#waiting")).to_be_visible()
    assert answers == [200] * 4
    expect(page.locator("#result")).to_be_hidden()
    assert page.locator("#sent").inner_text() == ""
    [record] = stored(page)
    assert record["state"] == "pending"
    page.unroute("**/reports")
    page.reload()
    expect(page.locator("#waiting")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#result")).to_be_visible()
    assert len({(body, key) for body, key, _ in sent}) == 1
    assert len(sent) == 5
    assert site.n("outage") == 1


def test_nothing_to_say_is_said_like_anything_else(
    site: Site, surveys: dict[str, int], open_page: OpenPage
) -> None:
    page = open_page("/survey/sleep")
    sent = posts(page)
    agree(page)
    for wrong in ("", "seven", "1e", "--2", "NaN", "Infinity"):
        page.locator("#value").fill(wrong)
        page.get_by_role("button", name="Randomise and send").click()
        expect(page.locator("#value-error")).to_contain_text("Please enter a number")
    assert not sent
    expect(page.locator("#rule")).to_contain_text("12 hours is randomised instead")
    page.get_by_label("would rather not say").check()
    page.get_by_role("button", name="Randomise and send").click()
    expect(page.locator("#result")).to_be_visible()
    assert set(json.loads(sent[0][0])) == {"digest", "cells"}


def test_out_of_range_follows_the_rule(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    page = open_page("/survey/sleep")
    answer(page, "1000")
    expect(page.locator("#result")).to_be_visible()


def test_a_number_that_can_be_read_in_two_ways_is_not_guessed(
    site: Site, surveys: dict[str, int], open_page: OpenPage
) -> None:
    page = open_page("/survey/sleep")
    sent = posts(page)
    answer(page, "1,234")
    expect(page.locator("#value-error")).to_have_text(
        "1,234 can be read in two ways: please write 1234 or 1.2340."
    )
    for value in ("12.345", "1,234,567"):
        page.locator("#value").fill(value)
        page.locator("#send").click()
        expect(page.locator("#value-error")).to_have_text(re.compile("two ways|enter a number"))
    assert not sent
    page.locator("#value").fill("7,5")
    page.locator("#send").click()
    expect(page.locator("#result")).to_be_visible()


def test_an_invitation_is_used_once_and_leaves_the_address(
    site: Site, surveys: dict[str, int], open_page: OpenPage
) -> None:
    [token] = site.tokens(surveys["invited"], "enrolment")
    page = open_page(f"/survey/invited#{token}")
    answer(page, "6")
    expect(page.locator("#result")).to_be_visible()
    assert page.url == f"{site.url}/survey/invited"
    again = open_page(f"/survey/invited#{token}")
    answer(again, "9")
    expect(again.locator("#waiting-reason")).to_have_text("This invitation has been used already.")
    expect(again.locator("#waiting-title")).to_have_text("Not accepted")
    expect(again.get_by_role("button", name="Try again")).to_be_hidden()
    assert site.n("invited") == 1
    without = open_page("/survey/invited")
    expect(without.locator("#notice")).to_contain_text("by invitation")


def test_what_cannot_be_answered(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    expect(open_page("/survey/later").locator("#notice")).to_contain_text("opens on 2090-01-01")
    expect(open_page("/survey/none").locator("#notice")).to_have_text("There is no such survey.")
    expect(open_page("/survey/%E0%A4%A").locator("#notice")).to_have_text("There is no such survey.")


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


def test_with_the_keyboard_alone(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    page = open_page("/survey/sleep")
    expect(page.locator("#consent")).to_be_visible()

    def tab_to(locator: str) -> None:
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.locator(locator).evaluate("(it) => it === document.activeElement"):
                return
        raise AssertionError(f"{locator} cannot be reached")

    tab_to("#agree")
    page.keyboard.press("Space")
    tab_to("#continue")
    page.keyboard.press("Enter")
    tab_to("#value")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(page.locator("#result-title")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(site: Site, surveys: dict[str, int], open_page: OpenPage, scheme: str) -> None:
    page = open_page("/survey/sleep", color_scheme=scheme, viewport={"width": 360, "height": 740})
    expect(page.locator("#consent")).to_be_visible()
    page.get_by_text("Details that a specialist").click()
    check_accessible(page)
    agree(page)
    page.locator("#value").fill("x")
    page.get_by_role("button", name="Randomise and send").click()
    check_accessible(page)
    page.locator("#value").fill("7")
    page.get_by_role("button", name="Randomise and send").click()
    expect(page.locator("#result")).to_be_visible()
    check_accessible(page)


def test_the_accessibility_check_can_fail(site: Site, surveys: dict[str, int], open_page: OpenPage) -> None:
    page = open_page("/survey/sleep")
    expect(page.locator("#consent")).to_be_visible()
    page.evaluate("document.getElementById('agree-label').remove()")
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
