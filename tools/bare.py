"""What a device does where nothing but numpy and cryptography is: `make dist` runs this there.

Everything on the way from a spec to a sent report must work, and what does not must say what to install.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import sottovoce as sv
from sottovoce.errors import MissingExtra

#: What needs an extra, and how it is asked for.
ELSEWHERE = {
    "an optimal design": lambda: sv.optimal(1.0, question="value"),
    "an estimate": lambda: sv.mean,
    "a law": lambda: sv.laws,
    "a survey": lambda: sv.survey,
    "bulk work": lambda: sv.bulk,
}


def refused(ask: Callable[[], object]) -> Exception | None:
    """The error in which a question ends."""
    try:
        ask()
    except (OSError, MissingExtra) as error:
        return error
    return None


def main() -> None:
    text = sv.ogpm(epsilon=1.0, domain=(0, 24)).to_json()
    mechanism = sv.from_json(text)
    assert 0 <= mechanism.report(7.5) < mechanism.cells
    assert len(mechanism.report([7.5] * 5000)) == 5000
    assert sv.ptt(1.0).epsilon == sv.ogpm(1.0, at=0.2).epsilon == 1.0  # every classic design
    assert sv.audit(text).epsilon <= 1.0
    with tempfile.TemporaryDirectory() as folder:
        ledger = sv.Ledger(Path(folder) / "ledger.db", budget=1)
        ledger.enrol("commute", mechanism)
        assert ledger.report("commute", None).spent == ledger.spent == 1
        refusal = refused(lambda: sv.Client("http://127.0.0.1:9", "commute", epsilon=1.0, attempts=1))
        assert "cannot be reached" in str(refusal)
    for feature, ask in ELSEWHERE.items():
        refusal = refused(ask)
        assert isinstance(refusal, MissingExtra), feature
        assert str(refusal) == str(MissingExtra(feature, str(refusal.argument)))
    print("a device needs numpy and cryptography only")


if __name__ == "__main__":
    main()
