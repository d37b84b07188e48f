"""The settings of an auction: the only home of defaults. Plain data, from TOML or from Python."""

from __future__ import annotations

import json
import math
import sys
import tomllib
import unicodedata
from collections import Counter
from contextvars import ContextVar
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from harbor.errors import ConfigError, unknown
from harbor.money import NUMBER_IN_JSON, Price

M = TypeVar("M", bound=BaseModel)


def _speakable(name: Any) -> Any:
    """Let a name through that can be read aloud and printed: no control or invisible characters, no odd spaces."""
    if not isinstance(name, str):
        return name
    hidden = [character for character in name if unicodedata.category(character)[0] == "C"]
    if hidden:
        raise ValueError(f"holds the control character {hidden[0]!r}; use printable characters")
    if name != " ".join(name.split()) or not name:
        raise ValueError("is empty or has spaces at its ends or in a row; trim it")
    return name


def _decimal(amount: Any) -> Any:
    """Take a float as it is written (0.1 is one tenth), and nothing that is no number."""
    if isinstance(amount, bool | str):
        raise ValueError("is not a number; write one, such as 20000")
    if isinstance(amount, float):
        if not math.isfinite(amount):
            raise ValueError("is not a finite number")
        return Decimal(str(amount))
    return amount


def _as_mix(persona: Any) -> Any:
    """Take no persona, one, two in equal parts, or two with weights, as weights that add up to one."""
    if persona is None or persona in ({}, [], ()):
        return {}
    if isinstance(persona, str):
        return {persona: 1.0}
    if isinstance(persona, list | tuple) and all(isinstance(id, str) for id in persona):  # noqa: A001 - the catalog's word
        twice = [id for id in persona if persona.count(id) > 1]  # noqa: A001
        if twice:
            raise ValueError(f"mixes {twice[0]!r} with itself; name two different personas")
        persona = dict.fromkeys(persona, 1.0)
    if not isinstance(persona, dict):
        raise ValueError("is no persona; give an id, two ids, or two ids with weights")
    if len(persona) > MOST_PERSONAS:
        raise ValueError(f"mixes {len(persona)} personas; a bidder holds at most two")
    if not all(_is_weight(weight) for weight in persona.values()):
        raise ValueError("has a weight that is no positive number; give positive weights")
    largest = float(max(persona.values()))
    weights = {name: weight / largest for name, weight in persona.items()}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def _is_weight(weight: Any) -> bool:
    return isinstance(weight, int | float) and not isinstance(weight, bool) and 0 < weight <= sys.float_info.max


def _written(text: str) -> str:
    if not any(unicodedata.category(character)[0] not in "CZ" for character in text):
        raise ValueError("must not be empty; write a text")
    return text


MOST_PERSONAS = 2
PATIENCE_SECONDS = 600.0
LEAST_CATALOG = 2
Mix = Annotated[dict[str, float], BeforeValidator(_as_mix)]
"""The weights of a bidder's personas by id: empty for none, else they add up to one."""

Name = Annotated[str, BeforeValidator(_speakable), Field(max_length=80)]
Dollars = Annotated[Price, BeforeValidator(_decimal)]
Number = Annotated[Decimal, Field(allow_inf_nan=False), NUMBER_IN_JSON, BeforeValidator(_decimal)]
Share = Annotated[Number, Field(gt=0, le=1)]
Rate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


_inside = ContextVar("_inside", default=False)


class Settings(BaseModel):
    """Frozen settings that refuse unknown keys.

    Raises:
        ConfigError: one line that names the setting, its value and the remedy.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **settings: Any) -> None:
        if _inside.get():  # settings inside settings: the outermost explain, as they know the whole place
            super().__init__(**settings)
            return
        token = _inside.set(True)
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise ConfigError(f"{type(self).__name__}: {_explain(type(self), error)}") from error
        finally:
            _inside.reset(token)


class Rules(Settings):
    """The rules of an ascending auction.

    `increment_share` is the least raise as a share of the starting price; `lowerings` says how often an item without a
    bid comes again with its price lowered by `lowering_share`; `reasks` how often, after the first time, a failed bid
    is asked again.
    Source: Chen et al. 2023, sec. 3.1.
    """

    increment_share: Share = Decimal("0.1")
    lowerings: int = Field(0, ge=0, le=3)
    lowering_share: Annotated[Share, Field(lt=1)] = Decimal("0.5")
    reveal: Literal["price", "true value"] = "true value"
    reasks: int = Field(3, ge=0, le=20)


class Item(Settings):
    """An item for sale; `persona` is a ground-truth label that no bidder sees."""

    name: Name
    start: Dollars
    true_value: Dollars
    listing: str = Field("", max_length=4_000)
    persona: str | None = None


class Houses(Settings):
    """A sample of houses: `count` in all, of which `matched` for the persona of each bidder that has one."""

    count: int = Field(10, ge=1)
    matched: int | None = Field(None, ge=0)


class Simulated(Settings):
    """How the built-in model plays and errs.

    `policy` is "judge" (weighs fit, profit and budget) or "minimum" (raises by the minimum while under `limit_share` of
    its estimate). Rates are shares of replies: unreadable, bid too low, bid above budget, belief with a wrong sum.
    """

    policy: Literal["judge", "minimum"] = "judge"
    limit_share: Annotated[Number, Field(gt=0, le=10)] = Decimal("0.9")
    latency_seconds: Seconds = 0.0
    unreadable_rate: Rate = 0.0
    low_bid_rate: Rate = 0.0
    over_budget_rate: Rate = 0.0
    wrong_sum_rate: Rate = 0.0


class ModelSettings(Settings):
    """A model under a name of your own: `use` is "simulated" or "provider:name".

    Prices are dollars per million tokens; without them the cost of a call is unknown.
    """

    use: str = "simulated"
    temperature: float = Field(0.0, ge=0, le=2)
    repairs: int = Field(2, ge=0, le=10)
    retries: int = Field(2, ge=0, le=10)
    input_price: float | None = Field(None, ge=0, allow_inf_nan=False)
    output_price: float | None = Field(None, ge=0, allow_inf_nan=False)
    simulated: Simulated = Simulated()


class Switches(Settings):
    """What a bidder's mind has: a node that is switched off is not in its graph.

    `planning`: "none" (neither plan nor replan), "static" (plan only), "adaptive" (both). `correct_beliefs`: a belief
    is put right before it is handed on. `theory_of_mind`: "none"; "true" (rivals' personas are given), "inferred"
    (profiled from how they bid), "second" (and how they profile oneself): the last three predict rivals' limits.
    `strategy`: "off", "on" (an action before each bid), "fused" (action and bid in one call).
    """

    planning: Literal["none", "static", "adaptive"] = "adaptive"
    correct_beliefs: bool = True
    theory_of_mind: Literal["none", "true", "inferred", "second"] = "none"
    strategy: Literal["off", "on", "fused"] = "off"

    @property
    def profiles(self) -> bool:
        """Whether the mind profiles its rivals."""
        return self.theory_of_mind in ("inferred", "second")


class Bidder(Switches):
    """A bidder: a mind with a model, a script (`rule`), an AutoGen agent given to `run` (`agent`), or a `person`.

    A person has ten minutes for an answer, others two. `persona` is an id, two ids, or two ids with weights.
    `objective` is "profit", "items", or any text, such as a wanted item; `overestimate` is a share of the true value.
    """

    name: Name
    persona: Mix = {}
    model: str = "simulated"
    rule: Literal["minimum-raise", "truthful"] | None = None
    max_bids: int = Field(4, ge=1)
    agent: bool = False
    person: bool = False
    objective: str = Field("profit", min_length=1, max_length=1_000)
    budget: Dollars = Decimal(1_000_000)
    overestimate: Annotated[Number, Field(gt=-1, le=10)] = Decimal("0.1")
    timeout_seconds: float = Field(120.0, gt=0, allow_inf_nan=False)

    def __init__(self, name: str | None = None, /, **settings: Any) -> None:
        super().__init__(**settings if name is None else {"name": name, **settings})

    @property
    def mind(self) -> bool:
        """Whether a model plays it."""
        return not (self.rule or self.agent or self.person)

    @model_validator(mode="before")
    @classmethod
    def _patience(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("person") is True:
            return {"timeout_seconds": PATIENCE_SECONDS, **values}
        return values

    @model_validator(mode="after")
    def _one_player(self) -> Bidder:
        players = [name for name in ("rule", "agent", "person") if getattr(self, name)]
        if len(players) > 1:
            raise ValueError(f"a bidder has one player, not {' and '.join(players)}; drop one")
        if (self.rule or self.agent) and (self.theory_of_mind != "none" or self.strategy != "off"):
            player = "a rule" if self.rule else "an agent"
            raise ValueError(f"{player} has no theory of mind and no strategy of Harbor's; drop the two settings")
        return self


class Persona(Settings):
    """A buyer; a bidder acts out the text and never reads its own id."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    name: Name
    text: Annotated[str, AfterValidator(_written), Field(max_length=4_000)]


class AuctionConfig(Settings):
    """One auction: what is sold to whom, under which rules, from which seed.

    `personas` adds personas of your own to the catalog; `catalog` names those that rivals are profiled over (all).
    """

    name: Name = "auction"
    seed: int = Field(0, ge=0)
    items: Annotated[tuple[Item, ...], Field(min_length=1)] | Houses = Houses()
    bidders: tuple[Bidder, ...] = Field(min_length=1)
    personas: tuple[Persona, ...] = ()
    catalog: tuple[str, ...] | None = None
    rules: Rules = Rules()
    models: dict[str, ModelSettings] = Field(default_factory=lambda: {"simulated": ModelSettings()})

    @model_validator(mode="after")
    def _distinct_names(self) -> AuctionConfig:
        check_distinct("bidder", [bidder.name for bidder in self.bidders])
        if isinstance(self.items, tuple):
            check_distinct("item", [item.name for item in self.items])
        check_distinct("persona", [persona.id for persona in self.personas])
        check_distinct("persona text", [persona.text for persona in self.personas])
        check_distinct("catalog", list(self.catalog or ()))
        if self.catalog is not None and len(self.catalog) < LEAST_CATALOG:
            raise ValueError(f"catalog {list(self.catalog)!r} leaves nothing to infer; name two personas or more")
        return self


def check_distinct(kind: str, names: list[str]) -> None:
    """Refuse names that are equal, or differ only in case.

    Raises:
        ValueError: it names both.
    """
    folded = Counter(name.casefold() for name in names)
    for name in names:
        if folded[name.casefold()] > 1:
            twins = [twin for twin in names if twin.casefold() == name.casefold()]
            other = next((twin for twin in twins if twin != twins[0]), None)
            if other is None:
                raise ValueError(f"{kind} name {twins[0]!r} is there twice; rename or drop one")
            raise ValueError(f"{kind} names {twins[0]!r} and {other!r} differ only in case; rename one")


def check(settings: type[M], values: dict[str, Any], source: str) -> M:
    """Build settings from plain values.

    Raises:
        ConfigError: one line that names the setting, its value and the remedy.
    """
    token = _inside.set(True)
    try:
        return settings.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{source}: {_explain(settings, error)}") from error
    finally:
        _inside.reset(token)


def read_settings(path: Path, settings: type[M]) -> M:
    """Read settings, such as an auction, from a TOML file, or from the `config.json` of a run.

    Raises:
        ConfigError: no such file, not TOML (or JSON), or a setting that is refused.
    """
    kind, parse = ("JSON", json.loads) if path.suffix == ".json" else ("TOML", tomllib.loads)
    try:
        values = parse(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"config {str(path)!r} can't be read ({error.strerror}); give a TOML file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"config {str(path)!r} is not {kind} (not UTF-8 text); give a {kind} file") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"config {str(path)!r} is not {kind} ({error}); mend that line") from error
    return check(settings, values, f"config {str(path)!r}")


_PLAINLY = {
    "tuple_type": "must be a list; in TOML write it as [[name]], with two brackets, once for each",
    "model_type": "must be a table of settings, such as name = value",
    "model_attributes_type": "must be a table of settings, such as name = value",
    "dict_type": "must be a table of settings, such as name = value",
    "too_short": "must hold at least one",
    "decimal_max_places": "must have at most two places after the point",
}
"""Complaints of the validator that need to be put in words for people."""


def _explain(settings: type[BaseModel], error: ValidationError) -> str:
    """Put the first complaint of a validation in one line; an unknown key before the one that it was meant to be."""
    problems = [problem for problem in error.errors() if problem["type"] != "tuple_type"] or error.errors()
    problem = next((problem for problem in problems if problem["type"] == "extra_forbidden"), problems[0])
    place = [part for part in problem["loc"] if part not in ("Houses",) and not str(part).startswith("tuple[")]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{_printable(part)}" for part in place).lstrip(".")
    if problem["type"] == "extra_forbidden":
        line = unknown("key", str(place[-1]), _known_keys(settings, place))
        return f"{line} (at {where})" if len(place) > 1 else line
    if problem["type"] == "missing":
        return f"{where} is missing; give it"
    message = _PLAINLY.get(problem["type"], problem["msg"].removeprefix("Value error, "))
    message = message[0].lower() + message[1:]
    given = problem["input"]
    shown = "" if isinstance(given, dict | tuple | list | BaseModel) else f" {_show(given)}"
    return f"{where}{shown}: {message}" if where else message


def _show(given: object) -> str:
    return str(given) if isinstance(given, Decimal) else repr(given)


def _printable(part: str) -> str:
    return part if part.isprintable() else repr(part)


def _known_keys(annotation: Any, place: list[int | str]) -> list[str]:
    """Find the names that the settings know at the place of an unknown key."""
    fields = getattr(annotation, "model_fields", None)
    if fields is not None:
        return list(fields) if len(place) == 1 else _known_keys(fields[place[0]].annotation, place[1:])
    options = get_args(annotation)
    origin = get_origin(annotation)
    if origin is dict:
        return _known_keys(options[1], place[1:])
    if origin is tuple:
        return _known_keys(options[0], place[1:]) if isinstance(place[0], int) else []
    if origin is Annotated:
        return _known_keys(options[0], place)
    suited = (option for option in options if isinstance(place[0], int) != hasattr(option, "model_fields"))
    return next((known for option in suited if (known := _known_keys(option, place))), [])
