"""What a bidder's client is told and can do, by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from mcp import Client

from harbor._config.auction import AuctionConfig, Bidder, Item
from harbor._core.log.acts import Tried
from harbor._core.log.events import Answered, SeatFailed
from harbor._core.log.log import of_type
from harbor._games.english.events import ItemSold
from harbor._mcp.held_auctions import HeldAuction
from support.mcp_clients import Decide, Played, Served, play, tools, up_to, withdraw

VASE = Item(name="Vase", start=100, true_value=200)
CLOCK = Item(name="Clock", start=50, true_value=80)


def config(*names: str, items: tuple[Item, ...] = (VASE,), seconds: float = 60) -> AuctionConfig:
    """Bidders for clients of these names, against a rule that raises once."""
    mine = [Bidder(name, agent=True, timeout_seconds=seconds) for name in names]
    return AuctionConfig(items=items, bidders=(*mine, Bidder("Ben", rule="minimum-raise", max_bids=1)))


@dataclass
class Sale:
    """An auction that is held for a client of its seats."""

    served: Served
    client: Client
    one: HeldAuction
    tokens: dict[str, str]
    played: Played = field(default_factory=Played)

    async def call(self, tool: str, seat: str = "Ann", **given: object) -> dict[str, object]:
        """Call a tool for a seat by its bidder's name, or by a token."""
        return await self.played.call(self.client, tool, seat=self.tokens.get(seat, seat), **given)

    async def end(self, decide: Decide = withdraw) -> None:
        """Play Ann's seat up to the end of the auction."""
        await play(self.client, self.tokens["Ann"], decide, self.played)
        await self.one.ended()


@asynccontextmanager
async def selling(folder: Path, *names: str, **how: object) -> AsyncIterator[Sale]:
    """Hold an auction for a client of these seats."""
    async with tools(folder) as served, Client(served.bidders) as client:
        yield Sale(served, client, *hold(served, *names or ("Ann",), **how))


def hold(served: Served, *names: str, **how: object) -> tuple[HeldAuction, dict[str, str]]:
    """Hold an auction for clients, and give the tokens by bidder."""
    one = served.held.hold(config(*names, **how), wait_seconds=60)
    return one, {seat.bidder: seat.token for seat in one.seats}


async def test_a_client_plays_a_seat_from_its_first_turn_to_the_end_and_wins_what_it_bids_most_for(tmp_path):
    async with selling(tmp_path) as sale:
        await sale.end(up_to(300))
    [sold] = of_type(sale.one.result.log, ItemSold)
    assert (sold.winner, sale.one.status) == ("Ann", "over")
    last = sale.played.heard[-1]
    assert json.loads(last)["words"].endswith("The auction is over. There is nothing more to do.")
    assert "Vase is sold to Ann" in last


async def test_a_turn_is_told_with_its_words_first_and_without_what_was_told_before(tmp_path):
    async with selling(tmp_path) as sale:
        turn = await sale.call("wait_for_turn")
        whole = await sale.call("wait_for_turn", everything=True)
    assert list(turn)[:4] == ["status", "turn", "seconds_left", "words"]
    assert not {"seat", "seen", "so_far"} & turn.keys()
    assert "Ann, your call on Vase: at least $100" in turn["words"]
    assert next(event["type"] for event in whole["seen"]) == "bidder_seated"
    assert len(whole["seen"]) == whole["turn"] == turn["turn"]


async def test_a_client_that_goes_is_followed_by_another_with_the_same_token(tmp_path):
    async with tools(tmp_path) as served:
        one, tokens = hold(served, "Ann")
        async with Client(served.bidders) as first:
            turn = await Played().call(first, "wait_for_turn", seat=tokens["Ann"])
        async with Client(served.bidders) as second:
            again = await Played().call(second, "wait_for_turn", seat=tokens["Ann"])
            assert again["turn"] == turn["turn"]
            await play(second, tokens["Ann"], withdraw)
        await one.ended()
    assert of_type(one.result.log, SeatFailed) == []


async def test_two_clients_with_one_token_are_one_bidder_whose_first_answer_counts(tmp_path):
    async with selling(tmp_path) as sale, Client(sale.served.bidders) as second:
        both, ann = sale.played, sale.tokens["Ann"]
        turn, same = await asyncio.gather(*(both.call(one, "wait_for_turn", seat=ann) for one in (sale.client, second)))
        assert turn["turn"] == same["turn"]
        await sale.call("answer", turn=turn["turn"], answer="I bid $100.")
        await both.call(second, "answer", seat=ann, turn=turn["turn"], answer="I bid $190.")
        assert "the first answer counts" in both.refused[0]
        await sale.end()
    assert of_type(sale.one.result.log, Answered)[0].words == "I bid $100."


@pytest.mark.parametrize(("answer", "why"), [
    ({"action": "bid"}, "a bid needs an amount"),
    ("Maybe...", "neither a bid nor a withdrawal"),
    ("I bid $99.", "$99 is below the least bid of $100"),
])  # fmt: skip
async def test_what_does_not_count_is_said_at_once_and_asked_again_as_a_failed_bid(tmp_path, answer, why):
    async with selling(tmp_path) as sale:
        said = await sale.call("answer", turn=(await sale.call("wait_for_turn"))["turn"], answer=answer)
        assert said["status"] == "refused"
        assert f"does not count: {why}. Call wait_for_turn" in said["words"]
        again = await sale.call("wait_for_turn")
        assert (again["attempt"], again["refusal"]) == (2, why)
        await sale.end()
    assert [event.reason for event in of_type(sale.one.result.log, Tried)] == [why]


async def test_an_answer_that_comes_late_is_refused_and_the_bidder_is_asked_for_the_next_item(tmp_path):
    async with selling(tmp_path, items=(VASE, CLOCK), seconds=1.5) as sale:
        turn = await sale.call("wait_for_turn")
        while not of_type(sale.one.entries, SeatFailed):
            await sale.call("what_happened")
        await sale.call("answer", turn=turn["turn"], answer="I bid $100.")
        assert sale.played.refused[0].startswith("Error executing tool answer: ")
        await sale.end()
    log = sale.one.result.log
    assert next(event.kind for event in of_type(log, SeatFailed)) == "timeout"
    assert {sold.winner for sold in of_type(log, ItemSold)} == {"Ben"}


async def test_a_client_that_never_comes_is_out_of_the_bidding_and_the_sale_waits_for_it_no_longer_than_said(tmp_path):
    async with tools(tmp_path) as served:
        one = served.held.hold(config("Ann", items=(VASE, CLOCK), seconds=3_600), wait_seconds=0.1)
        await one.ended()
    assert [event.bidder for event in of_type(one.result.log, SeatFailed)] == ["Ann", "Ann"]
    assert {sold.winner for sold in of_type(one.result.log, ItemSold)} == {"Ben"}


async def test_a_token_of_another_sale_plays_its_own_seat_only_and_one_of_none_is_refused(tmp_path):
    async with selling(tmp_path) as sale:
        other, theirs = hold(sale.served, "Dan", "Eva", items=(CLOCK,))
        answer = {"turn": (await sale.call("wait_for_turn"))["turn"], "answer": "I bid $100."}
        await sale.call("wait_for_turn", seat=theirs["Dan"], seconds=0)
        await sale.call("answer", seat=theirs["Dan"], **answer)
        await sale.call("answer", seat="seat-of-nobody", **answer)
        await sale.played.call(sale.client, "what_happened", seat="Ann")
        refused = sale.played.refused
        assert ["there is no turn" in words for words in refused] == [True, False, False]
        assert all("no seat here has this token" in words for words in refused[1:])
        assert of_type(sale.one.entries, Answered) == of_type(other.entries, Answered) == []


async def test_what_happened_tells_the_same_in_pages(tmp_path):
    vases = tuple(Item(name=f"Vase {n}", start=10, true_value=20) for n in range(40))
    async with selling(tmp_path, items=vases) as sale:
        await sale.end()
        since, events, more = 0, [], True
        while more:
            page = await sale.call("what_happened", since=since)
            events += page["events"]
            since, more = page["next"], page["more"]
    assert page["over"]
    assert [event["type"] for event in events].count("item_sold") == 40
    assert len(events) == since == len(sale.one.seats[0].seen)


async def test_a_client_of_seats_has_no_other_tools_and_nothing_to_read_but_by_them(tmp_path):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["wait_for_turn", "answer", "what_happened"]
        assert (await client.list_resources()).resources == []
        assert (await client.list_prompts()).prompts == []


async def test_a_wait_is_at_most_50_seconds(tmp_path):
    async with selling(tmp_path) as sale:
        for seconds in (-1, 51, "long"):
            await sale.call("wait_for_turn", seconds=seconds)
    assert ["seconds" in words for words in sale.played.refused] == [True] * 3


async def test_a_client_of_two_seats_is_told_to_ask_for_each_as_it_could_wait_for_the_wrong_one(tmp_path):
    async with selling(tmp_path, "Ann", "Cho") as sale:
        waits = {"Ann": 0, "Cho": 0}
        while not sale.one.has_ended:
            for name in waits:
                turn = await sale.call("wait_for_turn", seat=name, seconds=0)
                if turn["status"] == "your_turn":
                    await sale.call("answer", seat=name, turn=turn["turn"], answer=withdraw(turn))
                elif turn["status"] == "wait":
                    waits[name] += 1
                    assert "other seats, call it for each of them first, with seconds=0" in turn["words"]
    log = sale.one.result.log
    assert of_type(log, SeatFailed) == []
    assert {event.bidder for event in of_type(log, Answered)} == {"Ann", "Cho"}
    assert waits["Ann"]
