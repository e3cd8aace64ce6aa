"""The alert rules and the dashboard ask for what the collector's metrics have, and for nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from sottovoce.collector.metrics_endpoint import Counters
from sottovoce.collector.refusals import SENTENCES

DEPLOY = Path(__file__).parents[2] / "docs/operations/deploy"


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"]
    return group["rules"]


def panels() -> list[dict[str, Any]]:
    return json.loads((DEPLOY / "dashboard.json").read_text())["panels"]


EXPRESSIONS = {rule["alert"]: rule["expr"] for rule in rules()} | {
    f"{panel['title']}, {target['legendFormat']}": target["expr"]
    for panel in panels()
    for target in panel["targets"]
}


@pytest.fixture(scope="module")
def metrics() -> dict[str, set[str]]:
    """Every series that a collector which has done everything once shows, with its labels."""
    counters = Counters()
    counters.refusals.labels("busy").inc()
    counters.requests.labels("GET", "200").observe(0.1)
    samples = [
        sample
        for family in text_string_to_metric_families(counters.text().decode())
        for sample in family.samples
        if not sample.name.endswith("_created")
    ]
    return {one.name: set(one.labels) for one in samples}


def wrong(expression: str, metrics: dict[str, set[str]]) -> set[str]:
    """What an expression asks for that is not there: metrics, labels, codes; brackets that do not close."""
    names = set(re.findall(r"\b(?:sottovoce_\w+|up)\b(?=[{\[\s)])", re.sub(r'"[^"]*"', '""', expression)))
    faults = {name for name in names if name not in metrics and name != "up"}
    labels = set(re.findall(r'(\w+)\s*=~?\s*"', expression))
    for group in re.findall(r"by \(([^)]*)\)", expression):
        labels |= {label.strip() for label in group.split(",")}
    known = {"job", "instance"}.union(*(metrics.get(name, set()) for name in names))
    faults |= labels - known
    for codes in re.findall(r'code=~?"([^"]*)"', expression):
        faults |= set(codes.split("|")) - set(SENTENCES)
    bare = re.sub(r'"[^"]*"', "", expression)
    while (less := re.sub(r"\([^(){}\[\]]*\)|\[[^(){}\[\]]*\]|\{[^(){}\[\]]*\}", "", bare)) != bare:
        bare = less
    return faults | set(re.findall(r"[(){}\[\]]", bare)) | ({"no metric"} if not names else set())


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_is_asked_for_exists(name: str, metrics: dict[str, set[str]]) -> None:
    assert not wrong(EXPRESSIONS[name], metrics)


def test_every_metric_is_watched(metrics: dict[str, set[str]]) -> None:
    text = " ".join(EXPRESSIONS.values())
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in metrics}
    assert {family for family in families if family not in text} == set()


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("sum(rate(sottovoce_report_total[5m]))", "sottovoce_report_total"),
        ('sottovoce_refusals_total{code="bussy"}', "bussy"),
        ("sum by (campaign) (sottovoce_reports_total)", "campaign"),
        ("sum(rate(sottovoce_reports_total[5m])", "("),
        ("vector(1)", "no metric"),
    ],
)
def test_faults_are_noticed(expression: str, fault: str, metrics: dict[str, set[str]]) -> None:
    assert fault in wrong(expression, metrics)


def test_alerts_say_what_to_do() -> None:
    for rule in rules():
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["labels"]["severity"] in ("page", "ticket")
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels()]
    assert len(set(places)) == len({panel["id"] for panel in panels()}) == len(places)
