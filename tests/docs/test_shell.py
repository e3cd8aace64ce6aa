"""Commands of the README and the site run, page by page, in a folder that holds what the page speaks of.

Those that cannot run here are listed with the reason; everything else has to succeed.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.collector import open_store, secret
from sottovoce.collector.campaigns import tokens
from sottovoce.collector.campaigns.campaign import Campaign, create
from sottovoce.collector.campaigns.declaration import NewCampaign
from sottovoce.collector.store.ingest import Batch
from tests.collector.conftest import cluster, no_store_left_open  # noqa: F401
from tests.docs.shell import CRON, FENCE, SETTING, Shell, mentions, typed_lines
from tests.docs.test_commands import COMMANDS, PAGES, ROOT, named_command, refusal

#: What does not run here, by how the line begins, and why.
ELSEWHERE = {
    "make": "builds, measures or tests for minutes; whether the target exists is tested in test_commands.py",
    "tools/": "fetches packages: `make dist` runs both scripts as the pages say",
    "pip install": "fetches packages: `make dist` installs wheel and archive; the extras are checked below",
    "python3 -m venv": "as above",
    "/opt/sottovoce-0.2.1/bin/pip": "as above",
    ". .venv/bin/activate": "the shell here has the command already",
    "systemctl": "there is no systemd; tests/collector/test_deploy.py starts and stops the unit's command",
    "sottovoce campaign check --last-day": "takes today only; tests/collector/test_clocks.py runs it",
    "curl": "asks the service that systemd started; every server here is asked for its health instead",
    "sottovoce vectors --check": "tests/clients checks the JavaScript and the Java client in this way",
    "sottovoce serve --host": "an address of another machine",
}
PROGRAMS = {"sottovoce", "make", "pip", "python3", "mkdir", "cp", "rm", "mv", "ln", "chown"}
PROGRAMS |= {"systemctl", "curl", "export", "."}


def program(line: str) -> str:
    """What a line starts, after its settings."""
    words = CRON.sub("", line).split()
    while words and SETTING.match(words[0]):
        words.pop(0)
    return words[0].rpartition("/")[2] or words[0] if words else ""


def commands(page: Path) -> list[str]:
    """What a reader of a page would type, then what its sentences name in full."""
    text = page.read_text()
    blocks = [line for line in typed_lines(text) if program(line) in PROGRAMS or line.startswith("tools/")]
    return [*blocks, *(line for line in mentions(text) if line not in blocks and is_whole(line))]


def is_whole(line: str) -> bool:
    """Whether a sentence names a command with all its arguments, not the command as such."""
    name = named_command(words := shlex.split(line)[1:])
    rest = words[len(name.split()) - 1 :] if name else []
    if name is None or not rest or "--help" in rest:
        return False
    return not re.search("^Missing|requires", refusal(COMMANDS[name], rest) or "")


def here(line: str) -> bool:
    return not line.startswith(tuple(ELSEWHERE))


SCRIPTS = {page: lines for page in PAGES if (lines := [*filter(here, commands(page))])}


def table(**columns: object) -> pa.Table:
    return pa.table(columns)


def spec(folder: Path) -> None:
    (folder / "spec.json").write_text(sv.duchi(1.0, (0, 24)).to_json())


def people(folder: Path) -> None:
    """Files of people, as several pages have them."""
    rng, n = np.random.default_rng(1), 200
    values = {
        "wait": rng.uniform(0, 60, n),
        "hours": rng.uniform(0, 24, n),
        "income": rng.uniform(200, 9e5, n),
    }
    groups = {"country": rng.choice(["it", "fr"], n), "team": rng.choice(["a", "b"], n)}
    everything = table(**values, **groups)
    for name in ("people.parquet", "waits.parquet"):
        pq.write_table(everything, folder / name)
    for name in ("people.csv", "data.csv"):
        pa.csv.write_csv(everything, folder / name)


def regions(folder: Path) -> None:
    rng, n = np.random.default_rng(1), 900
    columns = {"region": rng.choice(["north", "south"], n), "week": np.arange(n) % 3 + 1}
    people = table(hours=rng.uniform(0, 24, n), **columns)
    bulk.report(people, {"hours": sv.pm(1.0, (0, 24))}, folder / "reports.parquet", keep=[*columns])


def survey(folder: Path) -> None:
    """The file that howto/run-a-collector.md shows, also under the name that docs/decision.md uses."""
    page = (ROOT / "docs/howto/run-a-collector.md").read_text()
    (text,) = [block for language, block in FENCE.findall(page) if language == "toml"]
    (folder / "survey.toml").write_text(text)
    (folder / "sleep.toml").write_text(text)


def campaign(folder: Path) -> dict[str, str]:
    """A store in the data folder, its secret and a copy of that, a campaign and its tokens."""
    data = folder / "data"
    for made in (data, folder / "backup", folder / "elsewhere", folder / "opt"):
        made.mkdir()
    store = open_store(str(data / "collector.db")).unlock(secret.load(data / "collector.db.key"))
    content = {"name": "commute", "spec": sv.pm(1.0, (0, 24)).to_json(), "collection": "write"}
    created = create(store, NewCampaign.of(content))
    leaked, _ = tokens.issue(store, created.id, "write", 2)
    store.close()
    words = {"TOKEN": leaked, "ID": leaked, "NAME": "commute"}
    folders = {"/var/lib/sottovoce": data, "/backup": folder / "backup", "/opt": folder / "opt"}
    return words | {name: str(path) for name, path in folders.items()}


def both(folder: Path) -> dict[str, str]:
    survey(folder)
    return campaign(folder)


def ledger(folder: Path) -> None:
    sv.Ledger(folder / "ledger.db", budget=4.0)


def answers(folder: Path) -> None:
    """What people sent to the campaign `late` before it was closed."""
    data = folder / "data"
    store = open_store(str(data / "collector.db")).unlock(secret.load(data / "collector.db.key"))
    asked = Campaign.of(store.campaign("late"))
    cells = asked.reporter.report(np.full(200, 7.5))
    store.ingest([Batch(asked.id, 20_000, cells, bytes(16), bytes(16), expires=2**40)])
    store.close()


STAGES: dict[str, Callable[[Path], dict[str, str] | None]] = {
    "docs/decision.md": survey,
    "docs/howto/audit.md": spec,
    "docs/howto/bulk.md": people,
    "docs/howto/central.md": people,
    "docs/howto/compare.md": regions,
    "docs/howto/dashboards.md": campaign,
    "docs/howto/estimate.md": people,
    "docs/howto/minimum-batch.md": spec,
    "docs/howto/repeated-reports.md": ledger,
    "docs/howto/run-a-collector.md": survey,
    "docs/howto/skewed.md": people,
    "docs/operations/backup.md": campaign,
    "docs/operations/incidents.md": campaign,
    "docs/operations/install.md": both,
    "docs/operations/nginx.md": lambda folder: {"/etc/sottovoce": str(folder)},
    "docs/operations/upgrade.md": campaign,
}


@pytest.mark.parametrize("page", SCRIPTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page_run(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    stage = STAGES.get(str(page.relative_to(ROOT)), lambda folder: None)
    shell = Shell(tmp_path, monkeypatch, capsys, stage(tmp_path) or {})
    for line in SCRIPTS[page]:
        for address in re.findall(r"postgresql://\S+", line):
            if address not in shell.words:
                shell.words[address] = request.getfixturevalue("cluster").database()
        if line == "sottovoce campaign close late":
            answers(tmp_path)
        shell.run(line)
        if line.endswith("--list"):
            shell.words["ID"] = shell.printed[-1].split()[0]


def test_extras_that_pip_is_asked_for_exist() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    lines = [line for page in PAGES for line in commands(page) if line.startswith("pip install")]
    named = {
        extra for line in lines for extra in ",".join(re.findall(r"\[(.*?)\]", line)).split(",") if extra
    }
    assert {"analysis", "files", "server"} <= named <= set(declared)
    assert all(sv.__version__ in wheel for line in lines for wheel in re.findall(r"\S+\.whl", line))


def test_every_stage_is_of_a_page() -> None:
    assert STAGES.keys() <= {str(page.relative_to(ROOT)) for page in SCRIPTS}


def test_every_reason_is_needed() -> None:
    lines = [line for page in PAGES for line in commands(page)]
    assert not [begin for begin in ELSEWHERE if not any(line.startswith(begin) for line in lines)]


def test_a_command_that_fails_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(tmp_path, monkeypatch, capsys)
    for line in ("sottovoce campaign list", "SOTTOVOCE_DATA=none sottovoce campaign list"):
        with pytest.raises(AssertionError, match="there is no store"):
            shell.run(line)
    with pytest.raises(subprocess.CalledProcessError):
        shell.run("cp nothing here")
