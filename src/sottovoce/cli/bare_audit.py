"""What the command line answers with nothing installed beside the library itself: an audit."""

from __future__ import annotations

import argparse
from pathlib import Path

import sottovoce as sv

#: The options of `sottovoce audit`, for Typer where it is installed and for argparse where it is not.
HELP = {
    "spec": "A mechanism's JSON spec.",
    "limit": "Also fail above this ε.",
    "people": "Also the central ε of the counts of so many honest people.",
    "delta": "The δ of the central ε.",
}


def audit(words: list[str]) -> int:
    """Run `sottovoce audit` without Typer.

    Args:
        words: What was typed after `audit`.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser("sottovoce audit", description="Count the exact ε of a JSON spec.")
    parser.add_argument("spec", type=Path, help=HELP["spec"])
    parser.add_argument("--limit", type=float, help=HELP["limit"])
    parser.add_argument("--people", type=int, help=HELP["people"])
    parser.add_argument("--delta", type=float, default=1e-6, help=HELP["delta"])
    return verdict(**vars(parser.parse_args(words)))


def verdict(spec: Path, limit: float | None, people: int | None, delta: float) -> int:
    """Print what is counted.

    Args:
        spec: The file.
        limit: Another ε to hold it against, besides the claimed one.
        people: How many people's counts are published, for the central ε.
        delta: The δ of that.

    Returns:
        The exit code: 1 if the counts break the claim or the limit.
    """
    text = spec.read_bytes()
    result = sv.audit(text)
    print(f"exact epsilon   {result.epsilon!r}")
    print(f"largest ratio   {result.ratio.numerator}/{result.ratio.denominator}")
    print(f"claimed         {result.claimed!r}: {'holds' if result.holds else 'DOES NOT HOLD'}")
    above = limit is not None and not result.epsilon <= limit  # above nan, too
    if above:
        print(f"above the limit of {limit!r}")
    if above or not result.holds:
        return 1
    if people is not None:
        central = sv.shuffled(sv.from_json(text), people, delta)
        print(f"central epsilon {central.epsilon:.5g} at delta {delta:g}, no less than {central.lower:.5g}")
        print(central.sentence)
    return 0
