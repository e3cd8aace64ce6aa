"""The npm package as people use it: packed, installed, bundled, run in Chromium, three Nodes and Hermes."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.collector.pages.conftest import chromium
from tests.collector.pages.site import Site

import sottovoce as sv

ROOT = Path(__file__).parents[2]
MATRIX = ROOT / "clients" / "js" / "matrix"
BUNDLERS = ("esbuild", "rollup", "webpack", "vite5", "vite")
KIND = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
NODES = {"18": MATRIX / f"node_modules/node18-{KIND}/bin/node", "installed": "node",
         "26": MATRIX / f"node_modules/node26-{KIND}/bin/node"}  # fmt: skip


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package installed, and every bundle in out/."""
    assert (MATRIX / "node_modules").is_dir(), "run: make clients/js/matrix/node_modules"
    folder = tmp_path_factory.mktemp("bundles")
    entries = [*(f"app-{name}" for name in BUNDLERS), "lean-esbuild", "lean-rollup", "native-metro"]
    # Bundlers ask for a newer Node than Debian 12 has, which what they make runs on all the same.
    subprocess.run([NODES["26"], MATRIX / "build.js", folder, *entries], check=True, timeout=300)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def specs() -> dict[str, Any]:
    """What `run` of the app is given: two campaigns, and draws whose cells are known."""
    vectors = json.loads((ROOT / "tests/vectors/sampling.json").read_text())
    named = {one["name"]: one for one in vectors["mechanisms"] + vectors["composites"]}
    law = named["survey of all kinds"]
    return {
        "survey": {key: named["survey of a few"][key] for key in ("spec", "digest")},
        "scalar": {key: named["ogpm"][key] for key in ("spec", "digest")},
        "law": law["spec"], **{key: law[key] for key in ("values", "words", "expected")},
    }  # fmt: skip


def right(outcome: dict[str, Any], specs: dict[str, Any]) -> None:
    assert (outcome["state"], outcome["width"], outcome["same"]) == ("sent", 1, True)
    assert outcome["digests"] == [specs["survey"]["digest"], specs["scalar"]["digest"]]
    assert outcome["refusal"] == "BudgetError budget"
    assert outcome["epsilon"] == sv.audit(specs["law"]).epsilon


def test_the_package_holds_what_it_should(built: Path) -> None:
    """Sources, the same for `require` made from them, types for every entry, and nothing else."""
    files = set(json.loads((built / "result.json").read_text())["files"])
    own = {str(path.relative_to(ROOT / "clients/js")) for part in ("lib", "node")
           for path in (ROOT / "clients/js" / part).iterdir()}  # fmt: skip
    made = {f"cjs/{name}" for name in own} | {"cjs/package.json"}
    assert files == own | made | {"README.md", "package.json", "commonjs.js"}
    package = json.loads((built / "node_modules/sottovoce/package.json").read_text())
    targets = re.findall(
        r'"\./([^"]+)"', json.dumps([package["exports"], package["main"], package["module"]])
    )
    assert set(targets) <= files | {"package.json"}
    for target in targets:
        if target.endswith("/index.js"):
            assert target.replace(".js", ".d.ts") in files


def test_the_syntax_is_that_of_2019_and_browsers_get_no_node(built: Path, tmp_path: Path) -> None:
    check = ["node", MATRIX / "syntax.js"]
    package = built / "node_modules/sottovoce"
    assert subprocess.run([*check, package], capture_output=True, text=True).stdout == ""
    for bundle in (built / "out").iterdir():
        assert "node:" not in bundle.read_text()
    mutant = tmp_path / "mutant"
    subprocess.run(["cp", "-r", package, mutant], check=True)
    (mutant / "lib/wire.js").write_text('import "node:fs"; export const a = (b) => b?.c ?? 1;')
    found = subprocess.run([*check, mutant], capture_output=True, text=True).stdout
    assert found.count("lib/wire.js") == 2


def test_the_lock_leaves_nothing_out() -> None:
    """npm of Debian 12 skips what asks for a newer Node than its own, though another one runs it."""
    assert '"engines"' not in (MATRIX / "package-lock.json").read_text()


def test_what_an_app_does_not_use_is_left_out(built: Path) -> None:
    for name in ("esbuild", "rollup"):
        whole, lean = ((built / f"out/{entry}-{name}.js").read_text() for entry in ("app", "lean"))
        assert len(whole) - len(lean) > 25_000  # client, ledger and stores
        assert "Idempotency-Key" in whole
        assert "Idempotency-Key" not in lean
        assert "sottovoce ledger" not in lean


@pytest.mark.parametrize("name", BUNDLERS)
def test_every_bundle_runs_in_a_browser(built: Path, specs: Any, page: Page, name: str) -> None:
    page.goto("about:blank")
    page.add_script_tag(path=built / f"out/app-{name}.js")
    right(page.evaluate("(specs) => App.run(specs)", specs), specs)


def test_in_a_worker(built: Path, specs: Any, page: Page, site: Site) -> None:
    script = (built / "out/app-esbuild.js").read_text()
    script += (
        "onmessage = ({ data }) => App.run(data).then(postMessage, (error) => postMessage(String(error)));"
    )
    page.goto(f"{site.url}/static/favicon.svg")
    page.route("**/worker.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    run = "(specs) => new Promise((done) => { const w = new Worker('/worker.js');"
    right(
        page.evaluate(run + "w.onmessage = ({ data }) => done(data); w.postMessage(specs); })", specs), specs
    )


NATIVE = """
    var setTimeout = () => 0, clearTimeout = () => {};
    function AbortController() { this.signal = {}; }
    function URL() {}
    Object.defineProperty(URL.prototype, "hostname", { get() { throw new Error("not implemented"); } });
    var nativeRandom = (array) => { array.set(entropy.slice(0, array.length)); return array; };
"""


def test_as_react_native_packs_and_runs_it(built: Path, specs: Any, tmp_path: Path) -> None:
    """Metro's bundle on Hermes, with what React Native has: no crypto, no storage, a URL without a host."""
    hermes = [MATRIX / "node_modules/hermes-engine-cli/linux64-bin/hermes"]
    if KIND != "x64":  # for which there is no Hermes: an empty context of Node
        text = "require('fs').readFileSync(process.argv[1], 'utf8')"
        script = f"require('vm').runInNewContext({text}, {{print: console.log}})"
        hermes = ["node", "-e", script]
    entropy = list(memoryview(os.urandom(1 << 16)).cast("I"))
    globals = f"var specs = {json.dumps(specs)}, entropy = {entropy};"
    program = tmp_path / "native.js"
    program.write_text(globals + NATIVE + (built / "out/native-metro.js").read_text())
    done = subprocess.run([*hermes, program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    right(json.loads(done.stdout), specs)


IMPORT = "import('./app.js').then((app) => app.run(JSON.parse(process.argv[1])))"
BUNDLED = "new Promise((done) => done((0, eval)(require('fs').readFileSync('out/app-esbuild.js', 'utf8')"
BUNDLED += ".replace('var App', 'App')))).then(() => App.run(JSON.parse(process.argv[1])))"
SCRIPTS = {"import": IMPORT, "bundle": BUNDLED}


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("way", SCRIPTS)
def test_in_every_node(built: Path, specs: Any, node: str, way: str) -> None:
    script = f"{SCRIPTS[way]}.then((outcome) => console.log(JSON.stringify(outcome)))"
    if way == "bundle" and node == "18":  # a bundle for browsers finds no global crypto there: it is given
        script = "globalThis.crypto = require('crypto').webcrypto; " + script
    done = subprocess.run(
        [NODES[node], "-e", script, json.dumps(specs)], capture_output=True, text=True, cwd=built, timeout=60
    )
    assert done.returncode == 0, done.stderr
    right(json.loads(done.stdout), specs)


@pytest.mark.parametrize("node", NODES)
def test_require(built: Path, specs: Any, tmp_path: Path, node: str) -> None:
    script = """
        const { Client, Ledger, fileStore, fromJson, sha256 } = require("sottovoce");
        const [spec, folder] = process.argv.slice(1);
        const m = fromJson(spec);
        fileStore(folder).then((store) => Ledger.open(store, { budget: 2 })).then((ledger) =>
          ledger.enrol("a", spec).then(() => ledger.report("a", 1, "monday")).then(({ cells }) => console.log(
            JSON.stringify({ node: process.versions.node, cells, fresh: m.report(1), sha: sha256("abc") }))));
    """
    command = [
        NODES[node],
        "--input-type=commonjs",
        "-e",
        script,
        specs["scalar"]["spec"],
        str(tmp_path / "ledger"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=built, timeout=60)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    cells = sv.from_json(specs["scalar"]["spec"]).cells
    assert outcome["sha"].startswith("ba7816bf8f01cfea")
    assert 0 <= outcome["cells"][0] < cells
    assert 0 <= outcome["fresh"] < cells
    assert node == "installed" or outcome["node"].startswith(f"{node}.")


def test_the_sample_app(built: Path, page: Page, site: Site) -> None:
    """Built by Vite, in Chromium, against a real collector; its ledger outlives the page."""
    m = sv.ogpm(1.0, (0, 120))
    site.campaign("vite", m, question="How long is your way to work?")
    site.campaign("vite-too", m, question="And yesterday?")

    def serve(route: Route) -> None:
        name = route.request.url.split("?")[0].rpartition("/app/")[2] or "index.html"
        route.fulfill(path=built / "site" / name)

    page.route("**/app/**", serve)

    def answer(campaign: str, minutes: str) -> str:
        page.goto(f"{site.url}/app/?campaign={campaign}")
        expect(page.locator("#question")).not_to_have_text("…")
        page.get_by_label("Minutes").fill(minutes)
        page.get_by_role("button").click()
        expect(page.locator("#result")).not_to_be_empty()
        return page.locator("#result").inner_text()

    first = answer("vite", "32")
    assert re.fullmatch(r"Sent report \d+ of 65536", first)
    assert answer("vite", "50") == first
    assert answer("vite-too", "").startswith("BudgetError: ")
    assert (site.n("vite"), site.n("vite-too")) == (1, 0)
