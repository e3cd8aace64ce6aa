"""A campaign: its questions, one reporter, and the rules that were fixed before anyone answered."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic import ValidationError

from sottovoce.collector.campaigns.clock import now
from sottovoce.collector.campaigns.declaration import Declaration, NewCampaign, Rules, StandIn, Wording
from sottovoce.collector.refusals import Refusal, broken_rule
from sottovoce.collector.store import Store, Stored
from sottovoce.errors import ArgumentError
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.contract import Reporter, spaces
from sottovoce.reporters.formats import from_json
from sottovoce.values.domain import Domain
from sottovoce.values.missing_and_outside import Policy
from sottovoce.values.space import Space

Status = Literal["scheduled", "open", "closed"]


@lru_cache(maxsize=64)
def read_reporter(spec: str) -> Reporter:
    """The reporter of a spec, read once."""
    return from_json(spec)


@dataclass(frozen=True)
class Campaign:
    """A campaign of the store with its rules read."""

    stored: Stored
    rules: Rules

    @staticmethod
    def of(stored: Stored) -> Campaign:
        """The campaign of a row of the store."""
        return Campaign(stored, Rules.model_validate_json(stored.rules))

    @property
    def id(self) -> int:
        """Its number, which no other campaign gets."""
        return self.stored.id

    @property
    def name(self) -> str:
        """What it is called in addresses."""
        return self.stored.name

    @property
    def reporter(self) -> Reporter:
        """What every device runs."""
        return read_reporter(self.stored.spec)

    @property
    def asked(self) -> Mapping[str, Space]:
        """Where the values lie that a person is asked for, by name."""
        return spaces(self.reporter)

    def wording(self, name: str) -> Wording:
        """How something that is asked is put."""
        alone = Wording(text=self.rules.question, unit=self.rules.unit) if len(self.asked) == 1 else Wording()
        return self.rules.texts.get(name, alone)

    def status(self, moment: dt.datetime) -> Status:
        """Whether reports are taken at a moment, not yet, or no more."""
        opens, closes = self.rules.opens, self.rules.closes
        if closes is not None and moment >= closes:
            return "closed"
        return "scheduled" if opens is not None and moment < opens else "open"

    def refuses(self, moment: dt.datetime) -> str | None:
        """The code with which new reports are refused at a moment; None if they are welcome."""
        return {"open": None, "scheduled": "not_open_yet", "closed": "closed"}[self.status(moment)]


def create(store: Store, new: NewCampaign) -> Campaign:
    """Check a new campaign and store it; its reporter and rules are fixed from now on.

    Raises:
        Refusal: If the spec is not one, a rule contradicts it, or the name is taken.
    """
    reporter = _checked_reporter(new.spec)
    if new.opens is not None and new.closes is not None and new.opens >= new.closes:
        raise Refusal("invalid", "closes must be later than opens", "closes")
    _check_texts(new, reporter)
    this = new.rounds
    if this is not None:
        this.check()
        if (this.number, this.first, this.plan(reporter).first.digest) != (1, "", reporter.digest):
            sentence = "rounds: a campaign begins with the first, whose mechanism the plan makes"
            raise Refusal("invalid", sentence, "rounds")
    return _stored(store, new, reporter)


def follow(store: Store, campaign: Campaign, people: int) -> Campaign:
    """Store the next round of a campaign, NAME-2 after the first, made from what this one has published.

    Raises:
        Refusal: If there is no next round, or this one is not closed or has published nothing.
    """
    rules, reporter, this = campaign.rules, campaign.reporter, campaign.rules.rounds
    if this is None or this.last:
        raise Refusal("invalid", f"{campaign.name} has no next round", "rounds")
    if campaign.status(now()) != "closed":
        raise Refusal(
            "invalid", f"close {campaign.name} first: its counts decide about the next round", "rounds"
        )
    counts = store.counts(campaign.id, reporter.cells)
    try:
        following = this.next(Tally.from_counts(reporter, counts), people)
    except ValueError as error:
        raise Refusal("invalid", f"rounds: {error}", "rounds") from None
    number, first = this.number + 1, this.first or campaign.name
    # The middle of one domain need not lie in another.
    own = {"missing"} if isinstance(rules.missing, float) and this.task == "range" else set()
    declared = rules.model_dump(exclude={"created", "opens", "closes", *own}) | {
        "name": f"{first}-{number}",
        "spec": following.to_json(),
        "rounds": this.model_copy(update={"number": number, "first": first}),
    }
    return _stored(store, NewCampaign.of(declared), following)


def _stored(store: Store, new: NewCampaign, reporter: Reporter) -> Campaign:
    rules = Rules(
        **new.model_dump(exclude={"name", "spec", "missing"}),
        missing=_stand_in(new, reporter),
        created=now().replace(hour=0, minute=0, second=0),
    )
    return Campaign.of(store.create_campaign(new.name, reporter.digest, new.spec, rules.model_dump_json()))


def _check_texts(declaration: Declaration, reporter: Reporter) -> None:
    if not set(declaration.texts) <= set(spaces(reporter)):
        raise Refusal("invalid", "texts must be of questions that the spec has", "texts")


def _checked_reporter(spec: str) -> Reporter:
    try:
        reporter = read_reporter(spec)
    except (ValueError, TypeError) as error:
        raise Refusal("invalid", f"spec: {error}", "spec") from None
    if reporter.to_json() != spec:
        raise Refusal("invalid", "spec: must be the canonical text of the mechanism", "spec")
    return reporter


def _stand_in(new: NewCampaign, reporter: Reporter) -> StandIn | dict[str, StandIn]:
    """What stands for missing values of all questions, or by name; if it is not said, the middle."""
    missing, domain = new.missing, reporter.domain
    if missing is None:
        missing = float(domain.from_unit(0.5)) if isinstance(domain, Domain) else "uniform"
    asked = spaces(reporter)
    rules = missing if isinstance(missing, dict) else dict.fromkeys(asked, missing)
    if set(rules) != set(asked):
        raise Refusal("invalid", "missing must be one rule, or one for each question by name", "missing")
    try:
        for name, space in asked.items():
            Policy(rules[name], new.outside).checked(space)
    except ArgumentError as error:
        raise Refusal("invalid", str(error), error.argument) from None
    return missing


#: What may change while people answer: words. Mechanism, rules and dates are what they agreed to.
EDITABLE = frozenset({"title", "question", "operator", "unit", "texts", "language"})


def edit(store: Store, campaign: Campaign, changes: Mapping[str, object]) -> Campaign:
    """Change how a campaign is put into words. Returns the campaign as it is now.

    Raises:
        Refusal: If something else is to change, or a text breaks its rule.
    """
    if others := sorted(set(changes) - EDITABLE):
        raise Refusal("invalid", f"only texts may change, got {others[0]}", others[0])
    content = campaign.rules.model_dump() | dict(changes)
    try:
        rules = Rules.model_validate(content)
    except ValidationError as error:
        raise broken_rule(error.errors()[0]) from None
    _check_texts(rules, campaign.reporter)
    return Campaign.of(store.change_rules(campaign.stored, rules.model_dump_json()))


def close(store: Store, campaign: Campaign, moment: dt.datetime) -> Campaign:
    """Take no new reports from a moment on; an earlier closing stays. Returns the campaign as it is now."""
    if campaign.status(moment) == "closed":
        return campaign
    opens = campaign.rules.opens
    changes = {"closes": moment, "opens": opens if opens is None else min(opens, moment)}
    rules = campaign.rules.model_copy(update=changes)
    return Campaign.of(store.change_rules(campaign.stored, rules.model_dump_json()))
