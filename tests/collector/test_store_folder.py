"""Where a collector keeps its store, and which commands make one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
from platformdirs.unix import Unix
from tests.collector.cluster import Cluster
from tools.site_pages import every_command
from typer.testing import CliRunner

from sottovoce.cli import build_app
from sottovoce.cli.which_store import located
from sottovoce.collector.process import secret_path
from sottovoce.storage import folders

CREATE = ("create", "hours", "--epsilon", "1", "--question", "mean", "--domain", "0", "24")
#: Every command but those that fill a store: create and restore (and serve).
OTHERS: dict[str, tuple[str, ...]] = {
    "list": (),
    "edit": ("hours", "--title", "New"),
    "close": ("hours",),
    "next-round": ("hours", "--people", "9"),
    "tokens": ("hours",),
    "invite": ("hours", "--count", "1", "--url", "https://survey.example", "--output", "links.csv"),
    "revoke": ("0" * 12, "hours"),
    "export": ("hours", "--output", "counts.csv"),
    "purge": ("hours", "--yes"),
    "check": (),
    "backup": ("--output", "copy.db"),
    "forget-secret": ("--yes",),
}


def run(*arguments: str) -> Any:
    return CliRunner().invoke(build_app("campaign"), ["campaign", *arguments])


def test_every_command_is_tried() -> None:
    names = {name.split()[-1] for name, _ in every_command() if name.startswith("sottovoce campaign ")}
    assert names == {"create", "restore", *OTHERS}


@pytest.mark.parametrize("command", OTHERS)
def test_a_store_is_not_made_in_passing(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: Cluster
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path / "data"))
    empty = cluster.database()
    for where in ((), ("--store", "typo.db"), ("--store", empty)):
        refusal = run(command, *OTHERS[command], *where).exception
        assert isinstance(refusal, FileNotFoundError)
        assert "there is no store at" in str(refusal)
    assert not list(tmp_path.iterdir())
    with psycopg.connect(empty) as connection:
        tables = connection.execute(
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"
        )
        assert tables.fetchone() == (0,)


def test_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = tmp_path / "named"
    monkeypatch.setenv("SOTTOVOCE_DATA", str(named))
    assert run(*CREATE).exit_code == 0
    assert run("tokens", "hours", "--kind", "read").exit_code == 0
    assert [path.name for path in named.glob("*.db")] == ["collector.db"]
    assert named.stat().st_mode & 0o777 == 0o700
    assert secret_path(located(None), None) == named / "collector.db.key"
    assert secret_path("postgresql://somewhere/db", None) == named / "collector.key"


def test_the_data_folder_is_where_the_system_keeps_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the rules of Unix, on whatever system the test runs."""
    monkeypatch.setattr("platformdirs.PlatformDirs", Unix)
    monkeypatch.delenv("SOTTOVOCE_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere/share")
    assert folders.data_folder() == Path("/somewhere/share/sottovoce")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert folders.data_folder() == Path("/home/ada/.local/share/sottovoce")
