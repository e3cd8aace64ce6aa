"""What an administrator does in a real browser: a survey from its first question to its last answer."""

from __future__ import annotations

import csv
import json
import re

from playwright.sync_api import Page, expect
from tests.collector.pages.conftest import OpenPage
from tests.collector.pages.site import Site
from tests.collector.pages.test_survey import check_accessible

from sottovoce.collector.campaigns.tokens import token_id


def signed_in(site: Site, open_page: OpenPage) -> Page:
    page = open_page("/admin", viewport={"width": 1000, "height": 900})
    page.get_by_label("Admin token").fill(site.tokens(0, "admin")[0])
    page.get_by_role("button", name="Use").click()
    expect(page.locator("#work")).to_be_visible()
    return page


def create(page: Page) -> None:
    page.get_by_role("button", name="Create the survey", exact=True).click()
    page.get_by_role("button", name="Yes, create the survey").click()


def test_a_survey_from_first_to_last(site: Site, open_page: OpenPage) -> None:
    page = signed_in(site, open_page)
    page.get_by_label("Name in the address").fill("village")
    page.get_by_label("Heading").fill("Our village")
    page.get_by_label("Who may answer").select_option("enrolment")
    page.get_by_label("People you expect").fill("2000")
    page.get_by_role("button", name="Add a question").click()
    first = page.locator("#new-questions fieldset").first
    first.get_by_label("Name").fill("age")
    first.get_by_label("Question").fill("How old are you?")
    first.get_by_label("To", exact=True).fill("120")
    first.get_by_label("Unit").fill("years")
    page.get_by_role("button", name="Add a question").click()
    second = page.locator("#new-questions fieldset").last
    second.get_by_label("Name").fill("transport")
    second.get_by_label("Answer").select_option("options")
    second.get_by_label("Options, one a line").fill("car\nbike\ntrain")
    for name, kind in (("start", "clock"), ("commute", "range")):
        page.get_by_role("button", name="Add a question").click()
        page.locator("#new-questions fieldset").last.get_by_label("Name").fill(name)
        page.locator("#new-questions fieldset").last.get_by_label("Answer").select_option(kind)
    page.get_by_label("Numbers whose relation").fill("age, commute")
    plan = page.locator("#plan")
    words = (
        r"Each report is about one of 7 figures, by lot.* "
        r"With 2,000 people, 95 % intervals: age: ± [\d.]+.years; transport: each share to about ± [\d.]+.%; "
        r"start: ± [\d.]+.minutes; .* age and commute: ± "
    )
    expect(plan).to_contain_text(re.compile(words))
    check_accessible(page)
    create(page)
    expect(page.locator("#notice")).to_contain_text("/survey/village")
    row = page.locator("#campaigns tbody tr", has_text="Our village")
    expect(row).to_contain_text("people with an invitation")

    row.get_by_role("button", name="Words").click()
    page.get_by_label("age: question").fill("Your age?")
    page.get_by_role("button", name="Save the words").click()
    expect(page.locator("#notice")).to_have_text("The words are saved.")

    row.get_by_role("button", name="Invite").click()
    page.get_by_label("People", exact=True).fill("2")
    with page.expect_download() as download:
        page.get_by_role("button", name="Links as CSV").click()
    with open(download.value.path(), newline="") as file:
        links = [line["link"] for line in csv.DictReader(file)]
    assert len(links) == 2
    with page.expect_download() as download:
        page.get_by_role("button", name="Sheet of QR codes").click()
    assert download.value.path().read_text().count("<svg") == 2
    lost = links[0].partition("#")[2]
    page.get_by_label("Token, or the twelve digits").fill(lost)
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator("#notice")).to_contain_text(token_id(lost))
    check_accessible(page)

    page.on("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Close").click()
    expect(row).to_contain_text("closed")
    assert page.evaluate("Object.keys(localStorage).length + Object.keys(sessionStorage).length") == 0


def test_what_is_refused_is_said(site: Site, open_page: OpenPage) -> None:
    page = open_page("/admin")
    page.get_by_label("Admin token").fill("nothing")
    page.get_by_role("button", name="Use").click()
    expect(page.locator("#notice")).to_contain_text("a valid bearer token is needed")
    check_accessible(page)
    expect(page.locator("#work")).to_be_hidden()
    page = signed_in(site, open_page)
    page.get_by_role("button", name="Add a question").click()
    page.get_by_label("To", exact=True).fill("-5")
    expect(page.locator("#plan")).to_contain_text("high")
    page.get_by_label("Name in the address").fill("crooked")
    page.get_by_role("button", name="Create the survey").click()
    expect(page.locator("#notice")).to_contain_text("The collector answered")
    expect(page.locator("#check")).to_be_hidden()


def test_a_number_is_read_as_the_survey_page_reads_it(site: Site, open_page: OpenPage) -> None:
    """What 10,000 means is asked, and the whole survey is read back before it is made."""
    page = signed_in(site, open_page)
    page.get_by_label("Name in the address").fill("pay")
    page.get_by_label("People you expect").fill("2,000")  # nobody expects two people and no fraction
    page.get_by_role("button", name="Add a question").click()
    page.get_by_label("Unit").fill("€")
    page.get_by_label("From", exact=True).fill("-1.234,5")
    top = page.get_by_label("To", exact=True)
    top.fill("500,000")
    page.get_by_label("Question", exact=True).fill("What do you earn?")
    expect(page.locator("#plan")).to_have_text("One of the numbers cannot be read yet.")
    page.get_by_role("button", name="Create the survey").click()
    expect(page.get_by_role("alert").filter(has_text="500,000")).to_contain_text("in two ways")
    expect(page.locator("#check")).to_be_hidden()
    check_accessible(page)
    expect(page.get_by_role("button", name="500", exact=True)).to_be_visible()
    page.get_by_role("button", name="500000").click()
    expect(top).to_have_value("500000")
    top.fill("half a million")
    page.get_by_role("button", name="Create the survey").click()
    expect(page.get_by_text("Please enter a number.")).to_be_visible()
    top.fill("500000")
    page.get_by_role("button", name="Create the survey").click()
    words = page.locator("#check-list")
    expect(words).to_contain_text("“What do you earn?” a number from −1,234.5 to 500,000\u00a0€")
    expect(words).to_contain_text("ε of a person's whole report2")
    check_accessible(page)
    page.get_by_role("button", name="Change something").click()
    expect(page.locator("#campaigns")).not_to_contain_text("pay")
    create(page)
    expect(page.locator("#notice")).to_contain_text("/survey/pay")
    domain = json.loads(site.store.campaign("pay").spec)["questions"][0]["spec"]["domain"]
    assert domain == [-1234.5, 500_000]
