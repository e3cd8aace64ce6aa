"""sottovoce audit: what it counts decides its exit code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.cli import main


@pytest.mark.parametrize(
    ("claim", "limit", "code"),
    [
        ("1.0", None, 0), ("1.0", "1", 0), ("1.0", "0.9999", 1), ("1.0", "nan", 1), ("0.9", None, 1),
        ("0.9", "1", 1), ("1e300", "16", 0), ("-1.0", None, 1),
    ],
)  # fmt: skip
def test_exit_code(
    claim: str, limit: str | None, code: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    spec = tmp_path / "spec.json"
    text = sv.ogpm(1.0, (0, 24)).to_json()
    spec.write_text(text.replace('"epsilon":1.0', f'"epsilon":{claim}'))
    line = ["sottovoce", "audit", str(spec), *(["--limit", limit] if limit else [])]
    monkeypatch.setattr(sys, "argv", line)
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr().out
    assert int(end.value.code or 0) == code
    assert f"exact epsilon   {sv.audit(text).epsilon!r}\n" in said
    assert ("DOES NOT HOLD" in said) == (claim in ("0.9", "-1.0"))
    assert ("above the limit" in said) == (limit in ("0.9999", "nan"))


@pytest.mark.parametrize(("claim", "code"), [("1.0", 0), ("0.9", 1)])
def test_central_epsilon(
    claim: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is said for a spec that keeps its claim, and with what it needs."""
    spec = tmp_path / "spec.json"
    m = sv.duchi(1.0)
    spec.write_text(m.to_json().replace('"epsilon":1.0', f'"epsilon":{claim}'))
    monkeypatch.setattr(sys, "argv", ["sottovoce", "audit", str(spec), "--people", "1000", "--delta", "1e-4"])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr().out
    assert int(end.value.code or 0) == code
    assert (sv.shuffled(m, 1000, 1e-4).sentence in said) == (code == 0)
