"""An agent at a door is told what Harbor's own bidders are told, and the other way round."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harbor import Auction, Bidder, Item, houses
from harbor._core.log.acts import Acted
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import event_json
from harbor._core.prompts.prompts import facts_in
from harbor._models.calls.client import ModelClient
from support.listening import LISTENING, Listener
from support.told import told_by, told_in

NOT_OF_THE_GAME = {"task", "give_reasons", "game"}
"""Facts of how a mind is asked."""
SALES: dict[str, dict[str, Any]] = {
    "english": {"increment_share": 0.3}, "second-price": {"runs": 2}, "water": {"days": 3},
}  # fmt: skip
"""Games in which a mind is called more than once."""
GAMES: dict[str, dict[str, Any]] = {
    "english": {}, **{game: {"runs": 1} for game in ("first-price", "english-private", "beauty")},
}  # fmt: skip


def leaves(value: Any) -> Iterator[str]:
    """List the texts and numbers in JSON."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from leaves(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def held(game: str, alex: Bidder, **how: Any) -> None:
    """Seat Alex beside a script."""
    items = {"items": houses(2, seed=3)} if game == "english" else {}
    bidders = [alex, Bidder("Bob", rule="rational")]
    Auction(bidders=bidders, rules={"game": game, **GAMES[game]}, seed=3, **items).run(**how)


def prompts_of(patched: pytest.MonkeyPatch) -> list[Any]:
    """Keep the prompts that are sent from now on."""
    prompts: list[Any] = []
    ask = ModelClient.ask

    async def heard(client, prompt, *more, **others):
        prompts.append(prompt)
        return await ask(client, prompt, *more, **others)

    patched.setattr(ModelClient, "ask", heard)
    return prompts


@pytest.mark.parametrize("game", GAMES)
def test_an_agent_is_told_every_fact_of_the_first_call_of_a_mind(game, monkeypatch):
    prompts, turns = prompts_of(monkeypatch), []
    held(game, Bidder("Alex", planning="none", believe=False))
    held(game, Bidder("Alex", agent=True), agents={"Alex": lambda turn: turns.append(dict(turn)) or "withdraw"})
    facts = facts_in(f"{prompts[0].system}\n{prompts[0].human}")
    told = {leaf for name, fact in facts.items() if name not in NOT_OF_THE_GAME for leaf in leaves(fact)}
    heard_there = " ".join([*leaves(turns[0]), json.dumps(turns[0]).replace(",", "")])
    assert {leaf for leaf in told if leaf not in heard_there and leaf not in turns[0]["words"]} == set()


def sale(game: str, alex: Bidder) -> Auction:
    """Seat Alex beside two scripts."""
    lots = [Item(name=name, start=1_000, true_value=2_000) for name in ("Vase", "Clock")]
    items = {"items": lots} if game == "english" else {}
    poor = {"budget": 1_100} if game == "english" else {}
    rivals = [Bidder("Bob", rule="rational"), Bidder("Cindy", rule="rational", **poor)]
    return Auction(bidders=[alex, *rivals], rules={"game": game, **SALES[game]}, seed=3, **items)


@pytest.fixture(scope="module")
def minds() -> dict[str, tuple[list[set[str]], list[Any]]]:
    """What a mind is told at each call of each game, and what it did."""
    return {game: mind(game) for game in SALES}


def mind(game: str) -> tuple[list[set[str]], list[Any]]:
    """Seat Alex as a mind that is called for each bid."""
    with pytest.MonkeyPatch.context() as patched:
        prompts = prompts_of(patched)
        log = sale(game, Bidder("Alex", planning="none", believe=False, bidding="call")).run().log
    acts = [json.loads(event_json(one))["act"] for one in of_type(log, Acted) if one.bidder == "Alex"]
    return [told_by(prompt) for prompt in prompts], acts


AT_DOORS = [*((door, "english") for door in LISTENING), ("a function", "second-price"), ("a function", "water")]


@pytest.mark.parametrize(("door", "game"), AT_DOORS)
def test_at_each_call_an_agent_at_any_door_is_told_in_words_just_what_a_mind_is_told(door, game, minds):
    told, acts = minds[game]
    listener = Listener(acts)
    with LISTENING[door](listener) as agent:
        sale(game, Bidder("Alex", agent=True)).run(agents={"Alex": agent})
    heard = [told_in(words) for words in listener.heard]
    alone = [(here - there, there - here) for here, there in zip(heard, told, strict=True)]
    assert alone == [(set(), set())] * len(acts)
