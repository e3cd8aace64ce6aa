"""A domain in a spec: the keys that give an interval or a circle, read with suspicion."""

from __future__ import annotations

from typing import Any

from sottovoce.errors import SpecError
from sottovoce.values.circle import Circle
from sottovoce.values.domain import Domain
from sottovoce.values.interval import Interval
from sottovoce.wire.checked_json import as_bool, as_float, as_list, excerpt


def write_domain(domain: Domain) -> dict[str, Any]:
    """The keys of a spec that give the domain."""
    if isinstance(domain, Circle):
        return {"domain": [domain.origin, domain.circumference], "circle": True}
    scale = {"scale": domain.scale} if domain.is_log else {}
    return {"domain": [domain.low, domain.high], "circle": False, **scale}


def read_domain(content: dict[str, Any]) -> Domain:
    """The domain that these keys give."""
    first, second = as_list(content["domain"], "domain", as_float, length=2)
    circle = as_bool(content["circle"], "circle")
    if "scale" in content and (circle or content["scale"] != "log"):
        raise SpecError(
            f"scale must be 'log', of an interval, got {excerpt(content['scale'])}", argument="scale"
        )
    try:
        if circle:
            return Circle(second, origin=first)
        return Interval(first, second, "log" if "scale" in content else "linear")
    except ValueError as error:
        raise SpecError(f"domain: {error}", argument="domain") from None
