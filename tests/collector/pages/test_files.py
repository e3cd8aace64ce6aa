"""What is served: fixed files with a strict policy, one copy of the client, nothing else."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import httpx2 as httpx
import pytest
from hatchling.builders.wheel import WheelBuilder
from tests.collector.pages.site import Site
from tools.planner_table import simulate

import sottovoce
import sottovoce as sv
from sottovoce.collector.pages.assets import STATIC, assets

PLANNER = json.loads((STATIC / "planner.json").read_text("ascii"))
ROOT = Path(__file__).parents[3]
CLIENT = ROOT / "clients" / "js"


@pytest.mark.parametrize(
    "path", ["/", "/admin", "/survey/any-name", "/static/dashboard.js", "/static/sottovoce/index.js"]
)
def test_headers(site: Site, path: str) -> None:
    answer = httpx.get(site.url + path)
    assert answer.status_code == 200
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert {policy[kind] for kind in ("script-src", "style-src", "connect-src", "img-src")} == {"'self'"}
    assert {policy[kind] for kind in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in answer.headers
    again = httpx.get(site.url + path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    ["/static/", "/static/none.js", "/static/../routes.py", "/static/%2e%2e/routes.py", "/static/sottovoce",
     "/static//etc/passwd", "/survey/", "/survey/a/b", "/static/sottovoce/index.d.ts"],
)  # fmt: skip
def test_anything_else_is_not_found(site: Site, path: str) -> None:
    answer = httpx.get(site.url + path)
    assert answer.status_code == 404
    assert set(answer.json()) == {"code", "message", "field"}


def test_a_person_at_an_unknown_address_sees_a_page(site: Site) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml"}
    answer = httpx.get(f"{site.url}/surveys/commute", headers=browser)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert 'href="/"' in answer.text
    assert "content-security-policy" in answer.headers
    assert httpx.get(f"{site.url}/v1/nothing", headers=browser).json()["code"] == "not_found"


def test_plotly_comes_from_the_installed_package_and_is_compressed(site: Site) -> None:
    plain = httpx.get(f"{site.url}/static/plotly.min.js", headers={"Accept-Encoding": "identity"})
    small = httpx.get(f"{site.url}/static/plotly.min.js", headers={"Accept-Encoding": "gzip"})
    assert plain.content == small.content == assets()["plotly.min.js"].content
    assert int(small.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert b"plotly.js v" in plain.content[:200]


def test_pages_have_nothing_inline() -> None:
    for page in STATIC.glob("*.html"):
        text = page.read_text()
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text), page.name
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text)), page.name
        addresses = re.findall(r'(?:src|href)="([^"]*)"', text)
        assert all(address.startswith(("/static/", "#")) or address == "/" for address in addresses), (
            page.name
        )
        served = [address.removeprefix("/static/") for address in addresses if address.startswith("/static/")]
        assert set(served) <= set(assets()), page.name


def test_scripts_write_text_never_markup() -> None:
    for name, asset in assets().items():
        if name.endswith(".js") and name != "plotly.min.js":
            assert not re.search(
                rb"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function\b", asset.content
            )


def test_there_is_one_copy_of_the_client() -> None:
    """The pages load the files of the npm package; the wheel carries them under the pages' folder."""
    assert (STATIC / "sottovoce").resolve() == (CLIENT / "lib").resolve()
    package = json.loads((CLIENT / "package.json").read_text())
    assert package["version"] == sottovoce.__version__
    assert "dependencies" not in package
    assert (CLIENT / package["types"]).is_file()
    wheel = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    names = {path.name for path in (CLIENT / "lib").iterdir()}
    assert {f"sottovoce/collector/pages/static/sottovoce/{name}" for name in names} <= wheel
    assert {
        f"sottovoce/collector/pages/static/{name}" for name in ("dashboard.html", "survey.html", "style.css")
    } <= wheel


def test_the_planners_means_are_those_of_the_plan(site: Site) -> None:
    """Of the certified optimum on an interval; of the best direction on a circle."""
    served = httpx.get(f"{site.url}/v1/planner").json()
    assert served == PLANNER
    for kind in ("interval", "circle"):
        mean = served[kind]["mean"]
        assert len(mean["error"]) == len(mean["design"]) == len(served["epsilon"])
        assert all(a > b > 0 for a, b in pairwise(mean["error"]))
    interval = served["interval"]["mean"]
    for epsilon in (0.5, 1.0, 4.0):
        at = served["epsilon"].index(epsilon)
        best = sv.optimal(epsilon, (0, 1))
        assert interval["design"][at] == "optimal"
        assert interval["error"][at] == pytest.approx(math.sqrt(best.worst_variance()), rel=1e-3)
        assert interval["ratio"][at] == pytest.approx(best.certificate.ratio, abs=1e-3)
        assert interval["error"][at] < math.sqrt(sv.duchi(epsilon, (0, 1)).worst_variance())
        found = sv.plan("direction", epsilon, 10_000, sv.Circle(1)).best
        assert served["circle"]["mean"]["error"][at] == pytest.approx(100 * found.error, rel=1e-6)


@pytest.mark.parametrize("kind", ["interval", "circle"])
def test_the_planners_shapes_can_be_simulated_again(kind: str) -> None:
    """With other random numbers, within 4.9 standard errors (false-alarm rate 1e-6); a mutant is not."""
    shapes = PLANNER[kind]["shapes"]
    i, j = shapes["epsilon"].index(2.0), shapes["people"].index(100_000)
    fresh = simulate(kind == "circle", 2.0, 100_000, repetitions=4, seed=99)
    for name, again in zip(("distribution", "quartiles"), fresh, strict=True):
        if name not in shapes:
            continue
        noise = math.hypot(shapes[name]["sd"][i][j], again.std(ddof=1) / math.sqrt(again.size))
        assert abs(again.mean() - shapes[name]["error"][i][j]) < 4.9 * noise
        other = shapes[name]["error"][i - 3][j]  # as if ε were 0.25
        assert abs(again.mean() - other) > 4.9 * noise


def test_the_planners_grid_falls_with_people(site: Site) -> None:
    for kind in ("interval", "circle"):
        for row in PLANNER[kind]["shapes"]["distribution"]["error"]:
            assert row[-1] < row[2] < row[0]
