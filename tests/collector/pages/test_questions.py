"""A survey of every kind of question, in every language, by mouse, finger and keyboard."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from tests.collector.pages.conftest import OpenPage
from tests.collector.pages.site import Site
from tests.collector.pages.test_dashboard import drawn, interval, intervals, picture, told
from tests.collector.pages.test_survey import check_accessible, ledger, posts

import sottovoce as sv
from sottovoce.collector.pages.assets import STATIC
from sottovoce.reporters.composites.survey import Survey

LANGUAGES = {path.stem: json.loads(path.read_text("utf-8")) for path in STATIC.glob("languages/*.json")}
WAYS = ["Auto", "Fahrrad", "Bus und Bahn"]
FIVE = Survey(
    5.0,
    {
        "age": sv.sw(epsilon=1.0, domain=(0, 120), cells=120),
        "start": sv.ogpm(epsilon=1.0, domain=sv.Circle(24), cells=96),
        "way": sv.choice(1.0, WAYS),
        "mood": sv.choice(1.0, [1, 2, 3, 4, 5]),
        "home": sv.place(1.0, 10.0, points=16),
    },
    sampled=5,
)
TEXTS = {
    "age": {"text": "Wie alt sind Sie?", "unit": "Jahre"},
    "start": {"text": "Wann beginnen Sie zu arbeiten?"},
    "way": {"text": "Wie kommen Sie zur Arbeit?"},
    "mood": {"text": "Wie zufrieden sind Sie damit?"},
    "home": {"text": "Wo wohnen Sie, vom Rathaus aus?", "unit": "km"},
}
TOWNS = [f"Town {i}" for i in range(40)]
LOT = Survey(
    1.0,
    {
        "pay": sv.sw(epsilon=1.0, domain=sv.Interval(100, 100_000, scale="log"), cells=64),
        "town": sv.choice(1.0, TOWNS),
    },
    sampled=1,
)
WHERE = Survey(
    2.0,
    {
        "work": sv.place(1.0, box=((0.0, 20.0), (0.0, 10.0)), points=16),
        "home": sv.place(1.0, box=((13.1, 13.8), (52.3, 52.7)), degrees=True, points=16),
    },
    sampled=2,
)
RELATED = sv.survey(
    1.0, {"age": (0, 120), "commute": (0, 3), "way": ["car", "bike"]}, relations=[("age", "commute")]
)


@pytest.fixture(scope="module")
def asked(site: Site) -> None:
    site.campaign("weg", FIVE, title="Der Weg zur Arbeit", texts=TEXTS, language="de", missing="uniform")
    site.campaign("related", RELATED, title="Age and commute", missing="uniform")
    site.campaign("where", WHERE, missing="uniform", texts={"work": {"unit": "km"}})
    site.campaign("lot", LOT, title="Pay", texts={"pay": {"text": "Your pay?", "unit": "€"}})


def by_keyboard(page: Page) -> None:
    def reach(locator: str) -> None:
        for _ in range(14):
            page.keyboard.press("Tab")
            if page.locator(locator).evaluate("(it) => it === document.activeElement"):
                return
        raise AssertionError(f"{locator} cannot be reached")

    reach("#q0")
    page.keyboard.type("45,5\n")
    expect(page.locator("#q1-title")).to_be_focused()
    reach("#q1")
    page.keyboard.type("22:30\n")
    reach("#q2-0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    reach("#q3-0")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    reach("#q4")
    for key in ("Shift+ArrowRight", "Shift+ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    reach("#next")
    page.keyboard.press("Enter")
    expect(page.locator("#review-title")).to_be_focused()
    shown = ["45,5 Jahre", "22:30", "Fahrrad", "1", "2 km nach Osten, 0,2 km nach Norden"]
    expect(page.locator("#answers .value")).to_have_text(shown)
    reach("#agree")
    page.keyboard.press("Space")
    reach("#next")
    page.keyboard.press("Enter")


def by_pointer(page: Page) -> None:
    """Also there and back: what was answered stays. A question is not answered, which is said to be right."""
    following = page.locator("#next")
    page.locator("#q0-slider").fill("60")
    expect(page.locator("#q0")).to_have_value("60")
    check_accessible(page)
    following.click()
    page.locator("#q1").fill("7.30")
    following.click()
    expect(page.locator(".readings button").locator("visible=true")).to_have_text(["7:30", "7:18"])
    check_accessible(page)
    page.get_by_role("button", name="7:30").click()
    following.click()
    expect(page.locator("#q2-error")).to_contain_text("Bitte wählen Sie eine Möglichkeit")
    page.get_by_text("Bus und Bahn").click()
    check_accessible(page)
    following.click()
    expect(page.locator("#progress")).to_have_text("Frage 4 von 5")
    page.get_by_role("button", name="Zurück").click()
    expect(page.get_by_label("Bus und Bahn")).to_be_checked()
    following.click()
    page.get_by_label("Das möchte ich lieber nicht sagen").locator("visible=true").check()
    check_accessible(page)
    following.click()
    page.go_back()  # the browser's own button is one step back too
    expect(page.locator("#q3-title")).to_be_visible()
    page.go_forward()
    plan = page.locator("#q4")
    box = plan.bounding_box()
    assert box is not None
    plan.click(position={"x": box["width"] * 0.5, "y": box["height"] * 0.05})  # beyond the rim
    expect(page.locator("#q4-at")).to_have_text("10 km nach Norden")
    page.get_by_text("Lieber Zahlen eingeben").click()
    page.get_by_label("Nach Osten").fill("−3,5")
    page.get_by_label("Nach Norden").fill("2")
    expect(page.locator("#q4-at")).to_have_text("3,5 km nach Westen, 2 km nach Norden")
    check_accessible(page)
    following.click()
    shown = ["60 Jahre", "7:30", "Bus und Bahn", "Keine Antwort", "3,5 km nach Westen, 2 km nach Norden"]
    expect(page.locator("#answers .value")).to_have_text(shown)
    expect(page.locator("#answers")).to_contain_text("An ihre Stelle tritt eine zufällige Antwort")
    following.click()
    expect(page.locator("#agree-error")).to_be_visible()
    check_accessible(page)
    page.get_by_label("Ich bin damit einverstanden").check()
    following.click()


def people(count: int) -> dict[str, Any]:
    """Answers of many: on average 41 years, 7:30, half by car, 3.5, and 3 km east and 2 km south."""
    rng = np.random.default_rng(2)
    return {
        "age": rng.normal(41, 10, count),
        "start": rng.normal(7.5, 1, count) % 24,
        "way": rng.choice(WAYS, count, p=[0.5, 0.2, 0.3]),
        "mood": rng.choice([1, 2, 3, 4, 5], count, p=[0.1, 0.1, 0.2, 0.4, 0.2]),
        "home": rng.normal([3, -2], 2, (count, 2)),
    }


def test_a_survey_of_five_kinds_from_phone_to_dashboard(site: Site, asked: None, open_page: OpenPage) -> None:
    """In German, at a desk by keyboard and on a phone in the dark; what all reports tell is the truth."""
    site.send("weg", FIVE, FIVE.report(people(8000), clip=True, rng=3))
    for width, scheme, respond in ((1280, "light", by_keyboard), (320, "dark", by_pointer)):
        before = site.n("weg")
        view = {"viewport": {"width": width, "height": 740}, "color_scheme": scheme}
        page = open_page("/survey/weg", locale="de-DE", **view)
        sent = posts(page)
        expect(page.locator("#progress")).to_have_text("Frage 1 von 5")
        respond(page)
        expect(page.locator("#result-title")).to_be_focused()
        check_accessible(page)
        assert site.n("weg") == before + 1
        check_sent(page, sent)
        check_board(open_board(open_page, **view))


def open_board(open_page: OpenPage, **view: Any) -> Page:
    """The dashboard, with intervals of the largest confidence there is; the people's draws are seeded."""
    page = open_page("/static/favicon.svg", **view)
    surer = re.compile("/estimates.confidence=0.95")
    page.route(surer, lambda route: route.continue_(url=route.request.url.replace("0.95", "0.999")))
    page.goto(page.url.replace("/static/favicon.svg", "/#/weg"))
    expect(page.locator(told("position", "home"))).to_contain_text("99.9 % sure", timeout=600_000)
    return page


def check_sent(page: Page, sent: list[Any]) -> None:
    """What left is what is shown and what the ledger has, with its price; what was entered is in neither."""
    [(body, _, _)] = sent
    [cells] = json.loads(body)["cells"]
    report = FIVE.decode([cells])
    shown = page.locator("#sent .value").all_inner_texts()
    age = float(shown[0].split()[0].replace("−", "-").replace(",", "."))
    assert age == pytest.approx(report["age"][0], rel=1e-3, abs=1e-3)
    hours, minutes = map(int, shown[1].split(":"))
    assert (hours + minutes / 60 - report["start"][0] + 12) % 24 == pytest.approx(12, abs=0.01)
    assert all(name in shown[2] for name, held in zip(WAYS, report["way"][0], strict=True) if held)
    [entry] = [entry for entry in ledger(page) if entry["kind"] == "report"]
    assert (entry["cells"], entry["spent"]) == (cells, "5")
    assert "Fahrrad" not in json.dumps(entry)
    expect(page.locator("#spent")).to_contain_text("ε = 5 für diese Meldung")


def check_board(page: Page) -> None:
    """Every question with its picture and an interval that holds the truth."""
    titles = page.locator(".item > h2")
    expect(titles).to_have_text([one["text"] for one in TEXTS.values()])
    for question, item in (
        ("distribution", "age"),
        ("distribution", "start"),
        ("shares", "way"),
        ("shares", "mood"),
    ):
        drawn(page, picture(question, item))
    for truth, question, item in ((41, "mean", "age"), (7.5, "direction", "start"), (3.5, "mean", "mood")):
        low, high = interval(page, question, item)
        assert low < truth < high, item
    east, north = intervals(page.locator(f"{told('position', 'home')} > p").inner_text())
    assert east[0] < 3 < east[1]
    assert north[0] < -2 < north[1]
    page.locator(f"{told('shares', 'way')} summary").click()
    cells = page.locator(f"{told('shares', 'way')} tbody td:last-child").all_inner_texts()
    shares = [tuple(map(float, cell.split(" to "))) for cell in cells]
    assert all(low < share < high for share, (low, high) in zip([50, 20, 30], shares, strict=True))
    darkest = (
        page.locator(f"{picture('heatmap', 'home')} rect[fill-opacity='1.000'] title").text_content() or ""
    )
    x, y, _ = (float(one) for one in re.findall(r"-?[\d.]+", darkest.replace("−", "-")))
    assert np.hypot(x - 3, y + 2) < 3
    expect(page.locator(told("mean", "way"))).to_have_count(0)
    expect(page.locator("#silence")).to_contain_text("nobody can tell who")
    expect(page.locator("#planner")).to_be_hidden()
    expect(page.locator("#epsilon")).to_contain_text("one of the 3 options. In 58 of 100 cases")
    expect(page.get_by_role("link", name="Open the survey page")).to_have_attribute("href", "/survey/weg")
    check_accessible(page)


def test_questions_that_are_not_drawn_are_not_sent(site: Site, asked: None, open_page: OpenPage) -> None:
    page = open_page("/survey/lot")
    page.locator("#q0-slider").fill("4")  # of powers of ten
    expect(page.locator("#q0")).to_have_value("10000")
    page.locator("#next").click()
    expect(page.get_by_role("heading", name="town")).to_be_visible()  # without a text, its name
    page.locator("#q1").fill("nowhere")
    page.locator("#next").click()
    expect(page.locator("#q1-error")).to_contain_text("Please choose an option")
    check_accessible(page)
    page.locator("#q1").fill("town 17 ")
    page.locator("#next").click()
    expect(page.locator("#answers .value")).to_have_text(["10,000 €", "Town 17"])
    page.get_by_text("How this works").click()
    expect(page.locator("#how-steps")).to_contain_text("1 of the 2 questions")
    page.get_by_label("I agree").check()
    page.locator("#next").click()
    expect(page.locator("#sent .value", has_text="Not drawn: nothing was sent")).to_have_count(1)


def test_places_in_a_box_and_in_degrees(site: Site, asked: None, open_page: OpenPage) -> None:
    page = open_page("/survey/where", viewport={"width": 320, "height": 640}, color_scheme="dark")
    plan = page.locator("#q0")
    box = plan.bounding_box()
    assert box is not None
    assert box["width"] > 1.5 * box["height"]  # to scale
    plan.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    middle = [float(one) for one in re.findall(r"[\d.]+", page.locator("#q0-at").inner_text())]
    assert middle == pytest.approx([10, 5], abs=0.2)
    plan.focus()
    for _ in range(40):
        plan.press("Shift+ArrowRight")  # no further than the edge
    expect(page.locator("#q0-at")).to_contain_text("20 km to the east")
    check_accessible(page)
    page.locator("#next").click()
    page.get_by_text("Enter numbers instead").locator("visible=true").click()
    page.get_by_label("Longitude").fill("13.4")
    page.get_by_label("Latitude").fill("62.5")
    page.locator("#next").click()
    expect(page.locator("#q1-error")).to_contain_text("Please mark a place")  # Berlin is not there
    page.get_by_label("Latitude").fill("52.51")
    expect(page.locator("#q1-at")).to_have_text("52.51° N, 13.4° E")
    check_accessible(page)
    page.locator("#next").click()
    page.get_by_label("I agree").check()
    page.locator("#next").click()
    sent = page.locator("#sent .value")
    expect(sent).to_have_count(2)
    latitude, longitude = map(float, re.findall(r"[\d.]+", sent.last.inner_text()))
    assert 52.3 <= latitude <= 52.7
    assert 13.1 <= longitude <= 13.8


def test_numbers_that_vary_together_are_asked_one_by_one(
    site: Site, asked: None, open_page: OpenPage
) -> None:
    """Once each, beside another question. A report is about one function of the answers, and says which."""
    page = open_page("/survey/related")
    for i, value in enumerate(("45", "1.5")):
        page.locator(f"#q{i}").fill(value)
        page.locator("#next").click()
    page.get_by_text("bike").click()
    page.locator("#next").click()
    page.get_by_text("How this works").click()
    expect(page.locator("#how-steps")).to_contain_text("one figure that is formed from your answers")
    page.get_by_label("I agree").check()
    page.locator("#next").click()
    expect(page.locator("#sent dt")).to_have_count(1)
    assert page.locator("#sent dt").inner_text() in RELATED.items


def test_every_text_exists_in_every_language() -> None:
    scripts = "".join(path.read_text("utf-8") for path in [*STATIC.glob("*.js"), STATIC / "survey.html"])
    english = LANGUAGES["en"]
    assert set(LANGUAGES) == {"en", "de", "fr", "es", "it"}
    for language, texts in LANGUAGES.items():
        assert list(texts) == list(english), language
        for key, text in texts.items():
            assert text.strip() == text != "", (language, key)
            assert language == "en" or text != english[key] or key in ("compass",), (language, key)
            places = [sorted(re.findall(r"\{\w+\}", one)) for one in (text, english[key])]
            assert places[0] == places[1], (language, key)
    written = {word for pair in re.findall(r'"(\w+)"|(fact_\w+):', scripts) for word in pair}
    families = ("close_", "refused_")
    for key in english:
        assert key.removesuffix("_one") in written or key.startswith(families), f"nothing says {key}"
    said = set(re.findall(r'(?:say\(|data-say=)"(\w+)"', scripts))
    assert said <= set(english)


SPOKEN = {
    "en": ("7.5", "From 0 to 120 Jahre"),
    "fr": ("7,5", "De 0 à 120 Jahre"),
    "es": ("7,5", "De 0 a 120 Jahre"),
    "it": ("7,5", "Da 0 a 120 Jahre"),
    "de": ("7,5", "Von 0 bis 120 Jahre"),
}


def test_languages_are_chosen_and_changed(site: Site, asked: None, open_page: OpenPage) -> None:
    """By the browser's, then by hand; what was entered stays, written as that language writes it."""
    page = open_page("/survey/weg", locale="fr-FR")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator("#title")).to_have_attribute("lang", "de")
    page.locator("#q0").fill("7,5")
    for language, (entry, hint) in SPOKEN.items():
        page.locator("#language").select_option(language)
        expect(page.locator("#q0-hint")).to_have_text(hint)
        expect(page.locator("#q0")).to_have_value(entry)
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator("#next")).to_have_text(LANGUAGES[language]["next"])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    other = open_page("/survey/weg", locale="nl-NL")  # without texts: the campaign's own language
    expect(other.locator("html")).to_have_attribute("lang", "de")
    missing = open_page("/survey/none", locale="es-ES")
    expect(missing.locator("#notice")).to_have_text("Esta encuesta no existe.")


READ: dict[str, list[float]] = {
    "7,5": [7.5], "7.5": [7.5], "45,000": [45000, 45], "-1.234": [-1234, -1.234], "0,500": [0.5],
    "1.234.567": [1234567], "1,234,567.5": [1234567.5], "1.234,5": [1234.5], "45 000": [45000],
    "45’000,5": [45000.5], "−3": [-3], "1e3": [1000],
    "": [], "1,2,3": [], "1.234.56": [], "--2": [], "1 2": [], "0x10": [], "1e999": [],
}  # fmt: skip
TIMES: dict[str, list[float]] = {
    "22:30": [22.5], "10:30 pm": [22.5], "10:30 p. m.": [22.5], "09:30": [9.5], "22h30": [22.5],
    "2230": [22.5], "22.30 Uhr": [22.5], "22.30": [22.5, 22.3], "7,5": [7.5], "7.75": [7.75], "12 am": [0],
    "12:15 pm": [12.25], "24:00": [24], "10:30": [10.5],
    "24:30": [], "25": [], "13 pm": [], "8:5": [], "-3": [], "noon": [],
}  # fmt: skip


def test_what_people_type(site: Site, open_page: OpenPage) -> None:
    page = open_page("/survey/none")
    run = "async ([read, ...given]) => (await import('/static/reading.js'))[read](...given)"
    assert {text: page.evaluate(run, ["numbers", text]) for text in READ} == READ
    assert {text: page.evaluate(run, ["times", text, False]) for text in TIMES} == TIMES
    halves = {"10:30": [10.5, 22.5], "12": [0, 12], "09:30": [9.5], "22:30": [22.5]}
    assert {text: page.evaluate(run, ["times", text, True]) for text in halves} == halves
