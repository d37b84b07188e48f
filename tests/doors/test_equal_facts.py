"""An agent at a door is told what Harbor's own bidders are told, and the other way round."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harbor import Auction, Bidder, houses
from harbor._core.telling import facts_in
from harbor._games.english.events import rules_in_words
from harbor._models.calls.client import ModelClient

NOT_OF_THE_GAME = {"task", "give_reasons", "game"}
"""Facts of how a mind is asked."""
GAMES: dict[str, dict[str, Any]] = {
    "english": {},
    "second-price": {"runs": 1},
    "first-price": {"runs": 1},
    "english-private": {"runs": 1},
    "beauty": {"runs": 1},
    "water": {"days": 1},
}


def leaves(value: Any) -> Iterator[str]:
    """List the texts and numbers in JSON."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from leaves(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def held(game: str, agent: Any = None) -> Auction:
    """Seat Alex, as an agent or as a mind that plans nothing, beside a script."""
    alex = Bidder("Alex", agent=True) if agent else Bidder("Alex", planning="none", believe=False)
    items = {"items": houses(2, seed=3)} if game == "english" else {}
    rules = {"game": game, **GAMES[game]}
    return Auction(bidders=[alex, Bidder("Bob", rule="rational")], rules=rules, seed=3, **items)


def first_turn(game: str) -> dict[str, Any]:
    """Return the first turn of an agent."""
    turns: list[Any] = []

    def agent(turn):
        turns.append(turn)
        return "withdraw"

    held(game, agent).run(agents={"Alex": agent})
    return dict(turns[0])


@pytest.mark.parametrize("game", GAMES)
def test_an_agent_is_told_every_fact_of_the_first_call_of_a_mind(game, monkeypatch):
    prompts: list[Any] = []
    ask = ModelClient.ask

    async def heard(client, prompt, *more, **others):
        prompts.append(prompt)
        return await ask(client, prompt, *more, **others)

    monkeypatch.setattr(ModelClient, "ask", heard)
    held(game).run()
    facts = facts_in(f"{prompts[0].system}\n{prompts[0].human}")
    told = {leaf for name, fact in facts.items() if name not in NOT_OF_THE_GAME for leaf in leaves(fact)}
    turn = first_turn(game)
    heard_there = " ".join([*leaves(turn), json.dumps(turn).replace(",", "")])
    assert {leaf for leaf in told if leaf not in heard_there and leaf not in turn["words"]} == set()


def test_an_agent_hears_the_rules_of_the_ascending_auction_in_the_words_that_a_mind_reads():
    assert rules_in_words("true value") in first_turn("english")["words"]
    assert "never announced" in rules_in_words("price")
