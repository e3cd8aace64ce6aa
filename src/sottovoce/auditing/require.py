"""A rule of the contract, and the error that names it where it is broken."""

from __future__ import annotations

from sottovoce.errors import ContractError


def require(holds: object, rule: str, sentence: str) -> None:
    """Raise a `ContractError` that names the rule, unless it holds."""
    if not holds:
        raise ContractError(f"{rule}: {sentence}", code=rule)
