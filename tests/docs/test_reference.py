"""The reference is complete: names, parameters, options and settings are all described."""

from __future__ import annotations

import re

import griffe
import pytest
from tools.site_pages import described_settings, every_command, options_of

from tests.docs.surface import ROOT, everything, gaps, public, shared_words, source

SHARED = shared_words()
PUBLIC = public()
COMMANDS = list(every_command())
EVERYTHING = sorted(everything())


def test_the_surface_is_found() -> None:
    assert {"epsilon", "domain", "rng", "x"} <= SHARED
    expected = {
        "sottovoce.ogpm",
        "sottovoce.laws.laplace",
        "sottovoce.bulk.spark.report",
        "sottovoce.central.mean",
    }
    assert expected <= set(PUBLIC)
    assert {"sottovoce.compose.reports.VectorTally", "sottovoce.core.rows.RowMechanism"} <= set(EVERYTHING)


@pytest.mark.parametrize("path", EVERYTHING)
def test_docstrings(path: str) -> None:
    missing = gaps(source(path), path, SHARED)
    assert not missing, "\n".join(missing)


def test_gaps_are_found() -> None:
    code = '''
def f(epsilon, width, _hidden=0):
    """Something about a half-width."""
class C:
    """A class."""
    def __init__(self, size):
        pass
    def bare(self):
        pass
    def most(self, wanted):
        """What is wanted."""
'''
    module = griffe.visit("module", filepath=None, code=code)
    assert gaps(module["f"], "f", {"epsilon"}) == ["f does not explain width"]
    assert gaps(module["C"], "C", set()) == ["C does not explain size", "C.bare has no docstring"]


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_option_has_help(name: str, command: object) -> None:
    assert command.help, f"{name} needs a docstring"  # type: ignore[attr-defined]
    silent = [param.name for param in options_of(command) if not getattr(param, "help", None)]
    assert not silent, f"{name}: no help for {', '.join(silent)}"


def test_every_setting_is_described() -> None:
    silent = [name for name, _, text in described_settings() if not text]
    assert not silent, f"collector/settings.py: write a sentence below {', '.join(silent)}"


def test_every_field_of_a_campaign_is_in_the_interface() -> None:
    from sottovoce.collector.campaigns import NewCampaign

    text = (ROOT / "docs" / "reference" / "http-api.md").read_text()
    assert not [
        name for name in NewCampaign.model_fields if f'"{name}"' not in text and f"`{name}`" not in text
    ]


def test_environment_variables_are_listed() -> None:
    used = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"\bSOTTOVOCE_[A-Z]+\b", path.read_text())
    }
    text = (ROOT / "docs" / "reference" / "settings.md").read_text()
    assert used
    assert not [name for name in used if f"`{name}`" not in text]
