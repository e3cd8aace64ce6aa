"""The machinery of the benchmarks page, with peers made up here: one that works, and one that is missing.

What real peers do is not tested: they are not installed for tests. That the files about them load, say what
they are and agree with the `peers` group is.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks._tables import table_in
from benchmarks.page import accuracy, page, run, tables
from benchmarks.page.__main__ import main
from benchmarks.page.environments import Peer, known_peers, ourselves, run_peer
from benchmarks.page.peers import published

from benchmarks import growth

ROOT = Path(__file__).parents[2]

FAKE = '''
"""A made-up peer: adds noise slowly.

More words."""
DISTRIBUTIONS, REQUIRES = (), ()

def noise(epsilon):
    """Laplace noise, one value a call"""
    import numpy as np
    rng = np.random.default_rng(1)
    return lambda x: [value + rng.laplace(0, 1 / epsilon) for value in x.tolist()]

def broken(epsilon):
    raise RuntimeError("no such noise")

def counts(epsilon):
    """Counts of four bins, as they are"""
    import numpy as np
    return (lambda x: x), (lambda x: np.bincount((x * 4).astype(int), minlength=4))

print("half a line of chatter", end="")
PRIVATISERS = {"noise": noise, "broken": broken}
HISTOGRAMS = {"counts": counts, "broken": broken}
LAWS = {"noise": "Laplace"}
'''


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Peer:
    file = tmp_path_factory.mktemp("peers") / "fake.py"
    file.write_text(FAKE)
    return Peer.of(file)


@pytest.fixture(scope="module")
def missing(fake: Peer) -> Peer:
    file = fake.file.with_name("missing.py")
    file.write_text(
        FAKE.replace(
            "DISTRIBUTIONS, REQUIRES = (), ()", 'DISTRIBUTIONS = REQUIRES = ("sottovoce-no-such-peer",)'
        )
    )
    return Peer.of(file)


@pytest.fixture(scope="module")
def results(fake: Peer, missing: Peer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A quick run with the made-up peers; the missing one is looked for nowhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(tmp_path_factory.mktemp("empty")))
        patch.setattr(run, "EPSILONS", (1.0,))
        found = run.measure(peers=[fake, missing], quick=True)
    return dict(json.loads(json.dumps(found)))


def test_a_peer_is_timed_simulated_and_reconstructs(results: dict[str, Any]) -> None:
    found = results["peers"]["fake"]
    assert found["about"] == "A made-up peer: adds noise slowly."
    assert found["speed"]["rows"]["noise"]["seconds"] > found["speed"]["floor"] > 0
    rows = np.array(found["error"]["noise"])
    assert rows.shape == (
        1,
        5,
        4,
    )  # per ε and input: mean absolute and squared error, each with its own error
    # The mean of 200 |Laplace| has a standard error of 1/√200: 5.8 of them is a false alarm of 1e-6.
    assert abs(rows[:, :, 0] - 1.0).max() < 5.8 / np.sqrt(200)
    assert found["histogram"]["counts"][0]["two peaks"]["distance"] < 1 / 8


def test_an_operation_that_fails_is_reported_and_the_others_are_not_lost(results: dict[str, Any]) -> None:
    found = results["peers"]["fake"]
    for part in (found["speed"]["rows"], found["error"], found["histogram"]):
        assert part["broken"] == {"failed": "RuntimeError: no such noise"}
    assert "RuntimeError: no such noise" in tables.speed_table(results)


def test_a_peer_that_does_not_install_is_reported_with_the_reason(results: dict[str, Any]) -> None:
    reason = results["peers"]["missing"]["failed"]
    assert reason == "No matching distribution found for sottovoce-no-such-peer"
    assert f"**not measured**: {reason}" in page.page(results, "folder")


def test_a_peer_that_does_not_start_is_reported(fake: Peer, tmp_path: Path) -> None:
    file = tmp_path / "stumbles.py"
    file.write_text(FAKE.replace("print(", "import sottovoce_no_such_module\nprint("))
    stumbles = Peer("stumbles", file, "", (), (), {}, {})
    assert run_peer(stumbles, {}, tmp_path) == {
        "failed": "ModuleNotFoundError: No module named 'sottovoce_no_such_module'"
    }


def test_the_page_has_every_table_and_both_pictures(results: dict[str, Any], tmp_path: Path) -> None:
    files = page.write_page(results, tmp_path / "benchmarks.md")
    text = files[0].read_text()
    assert "$" not in text
    assert "A `--quick` run" in text
    for key in ("version", "sitting", "machine"):
        assert results[key] in text.split("\n\n")[1].replace("\n", " ")
    for file in files[2:]:
        assert file.read_bytes().startswith(b"\x89PNG")
        assert f"(benchmarks/{file.name})" in text
    assert json.loads(files[1].read_text()) == results
    for name in (
        *accuracy.LINE,
        *accuracy.ROUND,
        "AES-128-CTR words alone",
        "numpy `random` (PCG64), the floor",
    ):
        assert f"| {name} |" in text
    widths = {
        len({line.count("|") for line in part.split("\n") if line.startswith("|")})
        for part in text.split("\n\n")
        if part.startswith("|")
    }
    assert widths == {1}


def test_the_command_writes_the_page_again_from_results(
    results: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps({**results, "machine": "another machine"}))
    main(["--results", str(kept), "--output", str(tmp_path / "b.md")])
    assert "missing: not measured: No matching distribution" in capsys.readouterr().out
    assert (tmp_path / "b.md").read_text() == page.page({**results, "machine": "another machine"}, "b")


def test_the_floor_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.compiling, "available", lambda: False)
    found = run.measure("floor", quick=True)
    assert "peers" in found
    assert not found["peers"]
    assert "accuracy" not in found
    assert {row["whose"] for row in tables.speeds(found)} == {"floor", "ours"}
    with pytest.raises(ValueError, match="against must be one of floor, peers, got against='all'"):
        run.measure("all")


def test_a_run_says_when_and_of_which_commit(results: dict[str, Any]) -> None:
    said = (
        r"one sitting of \d+ minutes that began on 20\d\d-\d\d-\d\d \d\d:\d\d UTC, at commit `\w+(-dirty)?`"
    )
    assert re.fullmatch(said, results["sitting"])


def test_exact_errors_meet_the_limit_and_the_table_of_facts(results: dict[str, Any]) -> None:
    rows = results["accuracy"]["line"]
    # Worst cases at ε = 1 (FACTS 2 and 4).
    assert rows["l1"]["rows"]["OGPM"][0][0] == pytest.approx(0.37754, abs=1e-5)
    assert rows["l2"]["rows"]["OGPM"][0][0] == pytest.approx(0.21730, abs=1e-5)
    assert rows["l2"]["rows"]["PM"][0][0] == pytest.approx(1.3059, abs=1e-4)
    for place in results["accuracy"].values():
        for part in place.values():
            worst = np.array([[cell[0] for cell in cells] for cells in part["rows"].values()])
            assert (worst >= np.array(part["limit"]) * (1 - 1e-9)).all()


def test_published_samplers_are_what_the_library_says_they_are() -> None:
    """Their mean errors agree with the exact laws of the same mechanisms; another ε does not."""
    n, x = 100_000, 0.3
    for name, law in published.LAWS.items():
        m = accuracy.LINE[law](1.0, "l1")
        for epsilon, agrees in ((1.0, True), (1.05, False)):
            error = np.abs(published.PRIVATISERS[name](epsilon)(np.full(n, x)) - x)
            gap = abs(error.mean() - float(m.error(x, "l1"))) / (error.std() / np.sqrt(n))
            assert (gap < 4.9) == agrees, (name, epsilon, gap)


def test_published_ems_agrees_with_ours_step_by_step() -> None:
    assert max(row["difference"] for row in growth.bins(quick=True)) < 1e-12


def test_the_committed_page_is_what_the_command_writes_from_its_numbers() -> None:
    """After a change of words:

    python -m benchmarks.page --results docs/benchmarks/results.json --output docs/benchmarks.md
    """
    found = json.loads((ROOT / "docs/benchmarks/results.json").read_text())
    assert not found["quick"]
    assert (ROOT / "docs/benchmarks.md").read_text() == page.page(found, "benchmarks")
    assert table_in(ROOT / "README.md", "speed") == page.readme_words(found)


def test_the_group_is_what_the_peers_need() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    core = {line.split(">")[0] for line in project["project"]["dependencies"]}
    needed = {line for peer in known_peers() for line in peer.requires if line.split(">")[0] not in core}
    assert set(project["dependency-groups"]["peers"]) == needed


def test_every_peer_says_what_it_does() -> None:
    for peer in (*known_peers(), ourselves()):
        assert peer.about, peer.name
        assert peer.operations
        assert all(peer.operations.values()), peer.name
