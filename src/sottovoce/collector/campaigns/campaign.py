"""A campaign: its questions, one reporter, and the rules that were fixed before anyone answered."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from sottovoce.collector.campaigns.campaign_round import Round
from sottovoce.collector.campaigns.clock import Moment, now
from sottovoce.collector.refusals import Refusal, broken_rule
from sottovoce.collector.store import Store, Stored
from sottovoce.errors import ArgumentError
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.formats import from_json
from sottovoce.values.domain import Domain
from sottovoce.values.missing_and_outside import Policy
from sottovoce.values.space import Space

NAME = r"^[a-z0-9][a-z0-9-]{0,62}$"
#: Control characters but the end of a line, and those that turn the direction in which others are read.
_CONTROL = frozenset(map(chr, (*range(10), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F))))
_CONTROL |= frozenset(map(chr, range(0x2066, 0x206A)))
Status = Literal["scheduled", "open", "closed"]
StandIn = float | Literal["uniform"]


def _plain(text: str) -> str:
    if not _CONTROL.isdisjoint(text) or any(0xD800 <= ord(letter) < 0xE000 for letter in text):
        raise ArgumentError("must be plain text without control characters", code="text")
    return text


Plain = Annotated[str, AfterValidator(_plain)]


class Wording(BaseModel):
    """How one question of a survey is put."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    text: Plain = Field(default="", max_length=2000)
    unit: Plain = Field(default="", max_length=40)


class Declaration(BaseModel):
    """What people are told before they answer."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)

    title: Plain = Field("", max_length=200)
    question: Plain = Field(
        "", max_length=2000, description="The question of a campaign with one; of others, what comes first."
    )
    operator: Plain = Field("", max_length=200)
    unit: Plain = Field("", max_length=40)
    texts: dict[str, Wording] = Field({}, max_length=256, description="Of a survey, by what is asked.")
    language: str = Field(
        "", max_length=35, pattern=r"^([a-z]{2,3}(-[A-Za-z0-9]{2,8})*)?$", description="Of the texts."
    )
    collection: Literal["open", "enrolment", "write"] = "open"
    outside: Literal["clip", "missing"] = "clip"
    opens: Moment | None = Field(None, description="UTC, ISO 8601.")
    closes: Moment | None = Field(None, description="UTC, ISO 8601.")
    results: Literal["public", "token"] = "token"
    min_n: int = Field(100, ge=1, le=10**9)
    retention_days: int | None = Field(None, ge=1, le=36500)
    family: str = Field(
        "",
        pattern=r"^([a-z0-9][a-z0-9-]{0,62})?$",
        description="Campaigns of one family are public groups, a link each: the dashboard compares them.",
    )
    rounds: Round | None = Field(None, description="Which of several rounds this is, and what they are for.")


class NewCampaign(Declaration):
    """What an administrator says to create a campaign; everything else follows from the spec."""

    name: str = Field(pattern=NAME)
    spec: str = Field(max_length=1 << 22, description="The mechanism's canonical JSON, as text.")
    missing: StandIn | dict[str, StandIn] | None = Field(
        None, description="Stands for a missing value, of all questions or by name; else the middle."
    )

    @classmethod
    def of(cls, content: Mapping[str, object]) -> NewCampaign:
        """The same from named fields; a refusal names the one that breaks its rule."""
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise broken_rule(error.errors()[0]) from None


class Rules(Declaration):
    """A declaration in full, as it is stored."""

    missing: StandIn | dict[str, StandIn]
    created: Moment


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
        return _spaces(self.reporter)

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
    if not set(declaration.texts) <= set(_spaces(reporter)):
        raise Refusal("invalid", "texts must be of questions that the spec has", "texts")


def _checked_reporter(spec: str) -> Reporter:
    try:
        reporter = read_reporter(spec)
    except (ValueError, TypeError) as error:
        raise Refusal("invalid", f"spec: {error}", "spec") from None
    if reporter.to_json() != spec:
        raise Refusal("invalid", "spec: must be the canonical text of the mechanism", "spec")
    return reporter


def _spaces(reporter: Reporter) -> Mapping[str, Space]:
    domain = reporter.domain
    return domain if isinstance(domain, Mapping) else {"value": domain}


def _stand_in(new: NewCampaign, reporter: Reporter) -> StandIn | dict[str, StandIn]:
    """What stands for missing values of all questions, or by name; if it is not said, the middle."""
    missing, domain = new.missing, reporter.domain
    if missing is None:
        missing = float(domain.from_unit(0.5)) if isinstance(domain, Domain) else "uniform"
    spaces = _spaces(reporter)
    rules = missing if isinstance(missing, dict) else dict.fromkeys(spaces, missing)
    if set(rules) != set(spaces):
        raise Refusal("invalid", "missing must be one rule, or one for each question by name", "missing")
    try:
        for name, space in spaces.items():
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
