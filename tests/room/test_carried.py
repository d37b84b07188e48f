"""What the messages of the room carry beside their words: all that a seat may see, once, and nothing else."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage

from harbor._core.asking.asks import Ask
from harbor._core.log.log_entries import event_json, is_seen_by
from harbor._core.log.message_metadata import ask_in, carried, events_in
from harbor._core.log.thoughts import Decided, DecidedInWords, Planned
from harbor._core.plugins.finding import find
from harbor._house.auctioneer import told_to
from support.canaries import MARKED, WORD
from support.held_games import GAMES, auction
from support.speaker import Speaker


class Keeper(Speaker):
    """An agent that answers each ask at its lower edge, and keeps all that it is told."""

    def __init__(self, bidder: str) -> None:
        super().__init__(bidder)
        self.told: list[Any] = []

    async def on_messages(self, messages: Any, cancellation_token: Any) -> Response:
        self.told += messages
        ask = ask_in(messages[-1].metadata)
        assert isinstance(ask, Ask)
        return Response(chat_message=TextMessage(content=ask.space.say(ask.space.edges()[0]), source=self.name))


@cache
def played(game: str) -> tuple[list[Any], dict[str, Keeper]]:
    """Play a game of two agents, and of others with a model whose every thought has a canary; give its events."""
    held = auction(game)
    agents = {bidder.name: Keeper(bidder.name.replace(" ", "_")) for bidder in held.bidders[:2]}
    others = {"rule": None, "model": MARKED.name}
    seats = [one.model_copy(update={"rule": None, "agent": True} if one.name in agents else others)
             for one in held.bidders]  # fmt: skip
    config = held.model_copy(update={"bidders": seats})
    log = config.run(agents=agents, models={MARKED.name: MARKED.make(None, 0)}).log
    return [entry.event for entry in log], agents


@pytest.mark.parametrize("game", GAMES)
def test_a_seat_is_carried_all_that_it_may_see_before_its_last_ask_once_and_nothing_else(game):
    events, agents = played(game)
    kinds = find("game", game).events
    assert any(WORD in str(event) for event in events if isinstance(event, Planned | Decided | DecidedInWords))
    for bidder, agent in agents.items():
        lines = [json.dumps(line) for one in agent.told for line in json.loads(one.metadata.get("events", "[]"))]
        told = [event for one in agent.told for event in events_in(one.metadata, bidder, kinds) or ()]
        seen = [event for event in events if is_seen_by(bidder, event)]
        assert told == seen[: len(told)]
        assert len(lines) == len(told) > 5
        assert not any(WORD in line for line in lines)
        left = seen[len(told) :]
        assert bidder not in [name for event in left for name in getattr(event, "bidders", ())]  # it is not asked again


def test_the_words_of_a_message_are_those_of_the_events_that_it_carries():
    kinds, (_, agents) = find("game", "english").events, played("english")
    for bidder, agent in agents.items():
        for message in agent.told[:-1]:
            if "ask" not in message.metadata:
                told = events_in(message.metadata, bidder, kinds) or ()
                assert message.content == " ".join(words for event in told for words in told_to(bidder, event))


def test_what_is_carried_is_read_back_and_names_stand_only_where_there_is_something():
    assert carried(()) == {}
    events, _ = played("second-price")
    kinds = find("game", "second-price").events
    for event in events:
        told = events_in(carried([event_json(event)]), "Ann", kinds)
        assert told == ([event] if is_seen_by("Ann", event) else [])
