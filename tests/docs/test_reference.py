"""The reference is complete: names, parameters, options and settings are all described."""

from __future__ import annotations

import re
from pathlib import Path

import griffe
import pytest
from tools.site_pages import described_settings, every_command, options_of

from tests.docs.sections import gaps
from tests.docs.surface import ROOT, everything, public, source

PUBLIC = public()
COMMANDS = list(every_command())
EVERYTHING = sorted(everything())


def test_the_surface_is_found() -> None:
    expected = {
        "sottovoce.ogpm",
        "sottovoce.laws.laplace",
        "sottovoce.bulk.spark.report",
        "sottovoce.central.mean",
    }
    assert expected <= set(PUBLIC)
    assert {"sottovoce.reporters.rows.Rows", "sottovoce.designs.solver.certificate.Certificate"} <= set(
        EVERYTHING
    )


@pytest.mark.parametrize("path", EVERYTHING)
def test_docstrings(path: str) -> None:
    missing = gaps(source(path), path)
    assert not missing, "\n".join(missing)


GOOD = '''
from dataclasses import dataclass

@dataclass(frozen=True)
class Plain:
    """A class.

    Attributes:
        size: How large.
    """

    size: int

    def most(self, wanted: int, *more: int) -> int:
        """The largest.

        Args:
            wanted: A number.
            *more: Others.

        Returns:
            One of them.

        Raises:
            ValueError: If none is wanted.
        """
        if not wanted:
            raise ArgumentError("wanted must be positive", argument="wanted")
        return max(wanted, *more)

    @property
    def half(self) -> float:
        """Half the size."""
'''


@pytest.mark.parametrize(
    ("there", "instead", "gap"),
    [
        ("", "", ""),
        ("        size: How large.", "        width: How large.", "C: Attributes or Args must name size"),
        ("wanted: A", "asked: A", "C.most: Args must be ['wanted', 'more'], got ['asked', 'more']"),
        ("            *more: Others.\n", "", "C.most: Args must be ['wanted', 'more'], got ['wanted']"),
        ("Returns:", "Note:", "C.most: Returns is missing"),
        ("ValueError:", "OSError:", "C.most: Raises must name ArgumentError"),
        ('"""Half the size."""', "...", "C.half has no docstring"),
    ],
)
def test_gaps_are_found(there: str, instead: str, gap: str, tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text(GOOD.replace(there, instead, 1))
    module = griffe.load("sample", search_paths=[str(tmp_path)])
    assert gaps(module["Plain"], "C") == ([gap] if gap else [])


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_option_has_help(name: str, command: object) -> None:
    assert command.help, f"{name} needs a docstring"  # type: ignore[attr-defined]
    silent = [param.name for param in options_of(command) if not getattr(param, "help", None)]
    assert not silent, f"{name}: no help for {', '.join(silent)}"


def test_every_setting_is_described() -> None:
    silent = [name for name, _, text in described_settings() if not text]
    assert not silent, f"collector/settings.py: write a sentence below {', '.join(silent)}"


def test_every_field_of_a_campaign_is_in_the_interface() -> None:
    from sottovoce.collector.campaigns.declaration import NewCampaign

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
