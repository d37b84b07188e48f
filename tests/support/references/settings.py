"""The page of settings: each key with its type, its default and its meaning."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from harbor._config.agents import AgentCommand, AgentServer
from harbor._config.auction import AuctionConfig, Bidder, Houses, Item, MemorySettings, Persona, Series
from harbor._config.models import ModelSettings, Simulated
from harbor._config.rules import RuleSettings
from harbor._config.thinking import MindSettings, ProtocolSettings
from harbor._core.plugins.finding import everything
from harbor._core.settings import Settings
from harbor._games.sessions.settings import Normal, SessionRules, Uniform, ValueRules
from harbor._games.water.rules import Resident
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.design_parts import (
    Comparison,
    Deviation,
    ModelPrice,
    Published,
    PublishedValue,
    Side,
    StandIn,
)
from harbor.evaluation._experiments.variations import Factor, Variation
from support.references.markdown import MADE, attributes, code, prose, table

Section = tuple[str, type[BaseModel]]
AUCTION: list[Section] = [
    ("An auction", AuctionConfig),
    ("Items: `[[items]]`", Item),
    ("A sample of items: `items = { count = 10 }`", Houses),
    ("Bidders: `[[bidders]]`", Bidder),
    ("A bidder's reasoning", MindSettings),
    ("What a bidder's model is told and asked", ProtocolSettings),
    ("A program as an agent: `agent = { command = [...] }`", AgentCommand),
    ('A server as an agent: `agent = { url = "..." }`', AgentServer),
    ("Personas of your own: `[[personas]]`", Persona),
    ("Memory: `[memory]`", MemorySettings),
    ("Series: `[series]`", Series),
    ("Models: `[models.NAME]`", ModelSettings),
    ("The built-in model: `[models.NAME.simulated]`", Simulated),
    ("Rules of every game: `[rules]`", RuleSettings),
    ("Rules of games of several runs", SessionRules),
    ("Rules of games with private values", ValueRules),
    ('Normal values: `distribution = { kind = "normal" }`', Normal),
    ('Uniform values: `distribution = { kind = "uniform" }`', Uniform),
]
EXPERIMENT: list[Section] = [
    ("An experiment", Experiment),
    ("Arms, conditions and levels: `[[arms]]`, `[[conditions]]`, `[[factors.levels]]`", Variation),
    ("Factors: `[[factors]]`", Factor),
    ("Comparisons: `[[comparisons]]`", Comparison),
    ("The sides of a comparison: `of`, `against`", Side),
    ("Published numbers: `[[published]]`", Published),
    ("One published number: `values`", PublishedValue),
    ("Departures from a paper: `[[deviations]]`", Deviation),
    ("Substitutes: `[[stand_ins]]`", StandIn),
    ("Prices: `[prices]`", ModelPrice),
]
RESIDENT: Section = ("A resident: `residents.NAME`", Resident)
PLURALS = {"text": "texts", "number": "numbers"}
CENTS = 2
LONGEST_DEFAULT = 50
WORDS = {
    str: "text",
    int: "whole number",
    float: "number",
    Decimal: "number",
    Fraction: "fraction",
    bool: "true or false",
    Any: "anything",
}
BOUNDS = {"gt": "above {}", "ge": "{} or more", "lt": "below {}", "le": "{} or less"}
HEAD = f"""# Settings

Every key of a config and of a design, with its type, its default and its meaning. A config is a TOML file for
`harbor auction`, a design one for `harbor experiment run`; in Python the same names are arguments of `Auction` and
`Bidder`. A key without a default has to be given. An unknown key is refused, with the nearest known one.

{MADE}"""


def page() -> str:
    """Return the page as it should be."""
    return "\n".join([HEAD, *_sections(AUCTION), *_games(), *_sections(EXPERIMENT)]).rstrip() + "\n"


def _sections(listed: Iterable[Section]) -> Iterator[str]:
    for title, cls in listed:
        yield f"## {title}\n"
        yield f"{prose(cls)}\n"
        yield from _keys(cls)


def _games() -> Iterator[str]:
    for found in everything("game"):
        cls = found.value.settings
        yield f'## Rules of `game = "{found.name}"`\n'
        shared = {SessionRules: "games of several runs", ValueRules: "games with private values"}
        others = [words for parent, words in shared.items() if issubclass(cls, parent)]
        also = f" Also the keys of {' and of '.join(others)}." if others else ""
        yield f"{prose(cls)}{also}\n"
        yield from _keys(cls)
        if found.name == "water":
            yield from _sections([RESIDENT])


def own_fields(cls: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields that a class itself declares, without inherited ones."""
    inherited = {name for parent in cls.__bases__ for name in getattr(parent, "model_fields", ())}
    return {name: one for name, one in cls.model_fields.items() if name not in inherited}


def _keys(cls: type[BaseModel]) -> Iterator[str]:
    meanings = attributes(cls)
    rows = [
        (code(name), _words(one.annotation, one.metadata), _default(one), meanings[name])
        for name, one in own_fields(cls).items()
    ]
    return table(("key", "type", "default", "meaning"), rows) if rows else iter(("It has no key of its own.\n",))


def _words(annotation: Any, metadata: Iterable[Any] = ()) -> str:
    """Describe a type in plain words."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        held = inner[0]
        return _words(held, [more for one in inner[1:] for more in getattr(one, "metadata", [one])] + list(metadata))
    if origin in (Union, UnionType):
        return " or ".join(_words(one, metadata) for one in inner if one is not NoneType)
    if origin is Literal:
        return ", ".join(code(json.dumps(value)) for value in inner)
    if origin is tuple:
        return (
            f"list of {_plural(_words(inner[0]))}" if inner[-1] is Ellipsis else f"{len(inner)} of {_words(inner[0])}"
        )
    if origin is dict:
        return f"table of {_plural(_words(inner[1]))}"
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return f"[table](#{_anchor(annotation)})"
    return _bounded(WORDS[annotation], metadata)


def _plural(words: str) -> str:
    return words.replace("[table]", "[tables]") if "[table]" in words else PLURALS.get(words, words)


def _anchor(cls: type[BaseModel]) -> str:
    """Return the anchor of a class's section. The repository and the site derive the same anchor from the title."""
    title = next(title for title, one in [*AUCTION, *EXPERIMENT, RESIDENT] if one is cls)
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _bounded(words: str, metadata: Iterable[Any]) -> str:
    if any(getattr(one, "decimal_places", None) == CENTS for one in metadata):
        return "dollars, above 0"
    bounds = [
        shape.format(f"{value:,}")
        for one in metadata
        for name, shape in BOUNDS.items()
        if (value := getattr(one, name, None)) is not None
    ]
    return f"{words}, {' and '.join(bounds)}" if bounds else words


def _default(one: FieldInfo) -> str:
    if one.is_required():
        return "required"
    if one.default_factory_takes_validated_data:
        return "hangs on others"
    value = one.default if one.default is not PydanticUndefined else one.get_default(call_default_factory=True)
    if isinstance(value, Decimal | Fraction):
        return code(str(value))
    if value is None or value in ("", (), {}):
        return ""
    if isinstance(value, BaseModel | dict) or (isinstance(value, tuple) and isinstance(value[0], BaseModel)):
        return "see below"
    return code(json.dumps(value, default=float)[:LONGEST_DEFAULT])
