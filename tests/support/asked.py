"""The calls of minds in small games on the built-in model: every kind of call, in every game and protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic import BaseModel

from harbor import Auction, Bidder, Item, houses, run_series
from harbor._config.auction import AuctionConfig
from harbor._core.prompts.prompts import facts_in
from harbor._models.calls.prompt import Prompt
from harbor._models.calls.reply_shapes import schema_of
from harbor._models.simulated.chat_model import read_facts
from harbor.graphs._context.context import NodeContext
from support.folders import prompts

EVERYTHING: Mapping[str, Any] = {"theory_of_mind": "second", "strategy": "on", "memory": "list", "learning": True}
TOGETHER: Mapping[str, Any] = {"theory_of_mind": "second", "rivals": "together", "strategy": "on"}
IN_WORDS: Mapping[str, Any] = {"reply": "text", "context": "dialogue", "facts": "prose", "bounds": "untold"}
LARGE_STEPS = {"increment_share": 0.3}
ERRS = {"unreadable_rate": 0.2, "low_bid_rate": 0.2, "over_budget_rate": 0.2, "wrong_sum_rate": 0.5}
"""Error rates: some answers fail and some beliefs are wrong, so that every seat hears of such errors."""
SESSIONS: Mapping[str, Mapping[str, Any]] = {
    "second-price": {"runs": 4, "show": "actions and values", "rational_rivals": True},
    "first-price": {"runs": 4, "show": "actions and values"},
    "english-private": {"runs": 3, "show": "actions and values", "step_share": 0.3},
    "beauty": {"runs": 4},
    "water": {"days": 5},
}


@dataclass(frozen=True)
class Asked:
    """One call of a mind.

    Attributes:
        game: the game.
        protocol: protocol of the bidder.
        kind: kind of the request: "plan", "bid" and so on.
        seat: the bidder and its table.
        messages: the model's input: the system prompt, and the current request after earlier turns of a dialogue.
        unadvised: the same without hints.
        reply: names of the reply's fields, at any depth.
        schema: JSON schema of the reply.
        known: all facts in any call to this seat in its games, and the fields of all its replies.
    """

    game: str
    protocol: str
    kind: str
    seat: str
    messages: tuple[str, ...]
    unadvised: tuple[str, ...]
    reply: frozenset[str] = frozenset()
    schema: Mapping[str, Any] = field(default_factory=dict)
    known: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name of the call's file."""
        return f"{self.game}.{self.protocol}.{self.kind}"

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The facts in the call."""
        return facts_in("\n".join(self.messages))

    @cached_property
    def told(self) -> frozenset[str]:
        """The names of the facts in the call, at any depth."""
        return frozenset(names_in(self.facts)) - set(self.facts.get("catalog", ()))


def names_in(facts: Any) -> Iterator[str]:
    """Yield the names of facts at any depth. Skip keys with capitals or spaces: bidders, items and personas."""
    if isinstance(facts, dict):
        for key, value in facts.items():
            if key and key == key.lower() and " " not in key:
                yield key
            yield from names_in(value)
    elif isinstance(facts, list):
        for value in facts:
            yield from names_in(value)


def fields_of(schema: Any) -> Iterator[str]:
    """Yield the fields of a JSON schema, at any depth."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        for value in schema.values():
            yield from fields_of(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from fields_of(value)


@cache
def everything_asked() -> Sequence[Asked]:
    """Hold the games and return all calls."""
    return [call for table, config in tables().items() for call in asked_in(table, config)]


def asked_in(table: str, config: AuctionConfig) -> Sequence[Asked]:
    """Hold one game twice, so that memories of it exist, and return all calls."""
    with witnessing() as found:
        run_series(config.model_copy(update={"series": TWICE.series, "models": TWICE.models}))
    known: dict[str, set[str]] = {}
    for call in found:
        known.setdefault(call.seat, set()).update(call.told, call.reply)
    return [replace(call, seat=f"{table}/{call.seat}", known=frozenset(known[call.seat])) for call in found]


def tables() -> dict[str, AuctionConfig]:
    """Return the games in each protocol that knows them, with minds whose thoughts are switched on."""
    fused, limit = {**EVERYTHING, "strategy": "fused"}, {**EVERYTHING, "strategy": "off", "bidding": "limit"}
    minds = [
        Bidder("Ann", **EVERYTHING, correct_beliefs="model", persona="downsizing"),
        Bidder("Ben", **fused, persona=["downsizing", "urban-dwellers"]),
        Bidder("Cho", **IN_WORDS, relative_objective=True),
        Bidder("Dee", **limit, chain_of_thought=False),
    ]
    lots = [Item(name=f"Lot {number}", start=1_000, true_value=2_000) for number in range(34)]
    dear = [Item(name=name, start=2_000, true_value=2_000) for name in ("Lot A", "Lot B")]
    low = Bidder("Ann", **limit, overestimate=-0.2)  # so that no bidder takes an item at its first price
    own_account = {"theory_of_mind": "true", "bidding": "limit", "correct_beliefs": "none"}
    told = {"reply": "tool", "context": "fresh"}
    return {
        "english": sale(minds),
        "english in prose": sale([Bidder("Ann", **EVERYTHING, facts="prose")]),
        "english, values secret": sale([Bidder("Ann", **EVERYTHING)], rules={**LARGE_STEPS, "reveal": "price"}),
        "english, offered again": sale([low], items=dear, rules={**LARGE_STEPS, "lowerings": 2}),
        "long english": sale([Bidder("Ann", budget=60_000, **own_account)], items=lots),
        "english, together": sale(at_once()),
        "aucarena": sale([mind_of("aucarena")]),
        "aucarena, fused": sale([mind_of("aucarena", strategy="fused", reply="tool")]),
        "aucarena, limit": sale([mind_of("aucarena", strategy="off", bidding="limit", **told)]),
        "harbor": sale([mind_of("harbor", persona="downsizing")]),
        "uniform": session("first-price", distribution={"kind": "uniform", "low": 0, "high": 90}),
        **{game: session(game) for game in SESSIONS},
        **{f"{game}, together": session(game, minds=at_once(*named(game))) for game in SESSIONS},
        **{f"{game} of a paper": of_a_paper(game) for game in SESSIONS},
    }


def at_once(first: str = "Ann", second: str = "Ben") -> Sequence[Bidder]:
    """Seat two minds that consider all rivals in one call: one with all requests, one with profiles only."""
    profiles = {**TOGETHER, "theory_of_mind": "inferred", "predict": False, "facts": "prose"}
    return [Bidder(first, **TOGETHER, memory="list", learning=True), Bidder(second, **profiles)]


def named(game: str) -> tuple[str, str]:
    """Return the names of the first two players of a game."""
    return ("Alex", "Bob") if game == "water" else ("Ann", "Ben")


def mind_of(protocol: str, **more: Any) -> Bidder:
    """Seat a mind with all thoughts, in the protocol of a paper."""
    return Bidder("Ann", protocol=protocol, **{**EVERYTHING, **more})


def sale(minds: Sequence[Bidder], **more: Any) -> AuctionConfig:
    """Sell two houses, or the given items, in large steps, as each step asks all bidders."""
    first = minds[0]
    bidders = [*minds, Bidder("Eve", rule="rational", budget=first.budget, overestimate=first.overestimate)]
    return Auction(bidders=bidders, **{"items": houses(2, 1), "rules": LARGE_STEPS, **more})


def session(game: str, minds: Sequence[Bidder] = (), **rules: Any) -> AuctionConfig:
    """Play days or runs between the given minds, or between two default minds and a script."""
    first, second = named(game)
    minds = minds or [
        Bidder(first, **EVERYTHING, persona=["downsizing", "urban-dwellers"]),
        Bidder(second, **IN_WORDS, relative_objective=True),
    ]
    bidders = [*minds, Bidder("Cindy" if game == "water" else "Cho", rule="rational")]
    return Auction(bidders=bidders, rules={"game": game, **SESSIONS[game], **rules})


def of_a_paper(game: str) -> AuctionConfig:
    """Play days or runs in the protocol of the paper that they come from."""
    first, second = named(game)
    protocol = "alympics" if game == "water" else "econarena"
    bidders = [Bidder(first, protocol=protocol), Bidder(second, rule="rational")]
    return Auction(bidders=bidders, rules={"game": game, **SESSIONS[game]})


TWICE = Auction(
    bidders=[Bidder("Ann")], series={"auctions": 2}, models={"simulated": {"use": "simulated", "simulated": ERRS}}
)
"""The settings of all games."""


@contextmanager
def witnessing() -> Iterator[list[Asked]]:
    """Record each call of a mind, and the same call without hints."""
    found: list[Asked] = []
    fill, ask = NodeContext.prompt, NodeContext.ask
    unadvised: dict[int, Prompt] = {}

    def filled(context: NodeContext, *about: Any, **more: Any) -> Prompt:
        prompt = fill(context, *about, **more)
        bidder = replace(context.bidder, switches=context.switches.model_copy(update={"hints": False}))
        unadvised[id(prompt)] = fill(replace(context, bidder=bidder), *about, **more)
        return prompt

    async def asked(context: NodeContext, prompt: Prompt, kind: type[BaseModel], *more: Any, **others: Any) -> Any:
        game, schema = context.bidder.table.name, schema_of(kind)
        found.append(
            Asked(
                game,
                context.switches.protocol,
                "bid" if prompt.name == game.replace("-", "_") else prompt.name,
                context.model.bidder,
                _messages(prompt),
                _messages(unadvised.pop(id(prompt))),
                frozenset(fields_of(schema)),
                schema,
            )
        )
        return await ask(context, prompt, kind, *more, **others)

    with patch.object(NodeContext, "prompt", filled), patch.object(NodeContext, "ask", asked):
        yield found


def _messages(prompt: Prompt) -> tuple[str, ...]:
    return (prompt.system, *(asked for asked, _ in prompt.earlier), prompt.human)


def prompt_facts(folder: Path, bidder: str = "Ann") -> list[tuple[str, dict[str, Any]]]:
    """Read the tasks and the facts of a bidder's prompts in a run, in order."""
    return [(task, read_facts(text)) for task, text in prompts(folder, bidder)]
