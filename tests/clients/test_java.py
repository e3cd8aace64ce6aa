"""The Java client: its own tests, the shared vectors, and the sample program against a real collector."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
from tests.clients.conftest import ROOT, run
from tests.collector.pages.site import Site

import sottovoce as sv
from sottovoce.auditing.client_vectors import check


def test_its_own_tests(classes: str) -> None:
    assert re.search(
        r"^\d+ passed, 0 failed$",
        run("java", "-cp", classes, "sottovoce.Tests", ROOT / "tests/vectors"),
        re.M,
    )


def test_the_jar_needs_no_newer_java_and_nothing_else(classes: str) -> None:
    jar = classes.split(":")[0]
    names = run("jar", "--list", "--file", jar).split()
    assert "sottovoce/Client.class" in names
    assert {name.split("/")[0] for name in names} <= {"META-INF", "sottovoce"}
    assert "major version: 55" in run("javap", "-v", "-cp", jar, "sottovoce.Client")


def test_every_vector(classes: str) -> None:
    count, wrong = check(f"java -cp {classes} sottovoce.Check")
    assert wrong == []
    assert count > 500


def test_the_sample_reports_once(classes: str, site: Site, tmp_path: Path) -> None:
    m = sv.ogpm(1.0, (0, 120))
    site.campaign("java", m, question="How long is your way to work?")
    command = ("java", f"-Drecords={tmp_path}", "-cp", classes, "Commute", site.url, "java")
    first = run(*command, "32")
    assert first.splitlines()[0] == "How long is your way to work?"
    cell = int(re.search(r"Sent report (\d+) of 65536", first)[1])  # type: ignore[index]
    assert re.search(f"stands for {m.decode(cell):.6f}"[:-4], first)
    assert run(*command, "-").splitlines()[2:] == first.splitlines()[2:]
    assert site.n("java") == 1
    [record] = [json.loads(path.read_text()) for path in tmp_path.iterdir()]
    assert (record["cells"], record["state"]) == ([cell], "sent")


def test_the_sample_and_python_answer_in_a_second_round(classes: str, site: Site, tmp_path: Path) -> None:
    """Whose mechanism, a public coin between pairs of thresholds, the first round's counts have chosen."""
    plan, declared = sv.rounds("quantile", 1.0, (0, 120), p=0.5), {"task": "quantile", "p": 0.5}
    second = site.second_round("java-late", plan, np.linspace(10, 60, 500), rounds=declared)
    assert isinstance(second.reporter, sv.Mixture)
    told = run("java", f"-Drecords={tmp_path}", "-cp", classes, "Commute", site.url, second.name, "32")
    cell = int(re.search(rf"Sent report (\d+) of {second.reporter.cells}$", told, re.M)[1])  # type: ignore[index]
    assert site.store.waiting(second.id)[:, 1].tolist() == [cell]
    [record] = [json.loads(path.read_text()) for path in tmp_path.iterdir()]
    assert (record["cells"], record["state"]) == ([cell], "sent")
    with sv.Client(site.url, second.name, epsilon=1.0, outbox=":memory:") as client:
        receipt = client.report(32)
    assert sorted(site.store.waiting(second.id)[:, 1].tolist()) == sorted([cell, *receipt.cells])


def test_the_sample_answers_only_what_was_agreed(classes: str, site: Site, tmp_path: Path) -> None:
    site.campaign("java-more", sv.ogpm(1.5, (0, 120)))
    command = ["java", f"-Drecords={tmp_path}", "-cp", classes, "Commute", site.url, "java-more", "32"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout.startswith("PRIVACY privacy: ")
    assert not list(tmp_path.iterdir())
