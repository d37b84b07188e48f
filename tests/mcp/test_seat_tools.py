"""What a bidder's client is told and can do, by the SDK's own client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mcp import Client

from harbor._config.auction import AuctionConfig, Bidder, Item
from harbor._core.log.acts import Tried
from harbor._core.log.events import Answered, SeatFailed
from harbor._core.log.log import of_type
from harbor._games.english.events import ItemSold
from harbor._mcp.held_auctions import HeldAuction
from support.mcp_clients import Played, Served, play, tools, withdraw

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

    async def end(self) -> None:
        """Withdraw Ann from whatever is left of the auction."""
        await play(self.client, self.tokens["Ann"], withdraw, self.played)
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


async def test_a_turn_is_told_with_its_words_first_and_without_what_was_told_before(tmp_path):
    async with selling(tmp_path) as sale:
        turn = await sale.call("wait_for_turn")
        whole = await sale.call("wait_for_turn", everything=True)
    assert list(turn)[:4] == ["status", "turn", "seconds_left", "words"]
    assert not {"seat", "seen", "so_far"} & turn.keys()
    assert "Ann, your call on Vase: at least $100" in turn["words"]
    assert next(event["type"] for event in whole["seen"]) == "bidder_seated"
    assert len(whole["seen"]) == whole["turn"] == turn["turn"]


async def test_clients_with_one_token_are_one_bidder_one_after_the_other_and_at_once(tmp_path):
    async with selling(tmp_path) as sale:
        both, ann = sale.played, sale.tokens["Ann"]
        async with Client(sale.served.bidders) as gone:
            first = await both.call(gone, "wait_for_turn", seat=ann)
        async with Client(sale.served.bidders) as second:
            told = await asyncio.gather(*(both.call(one, "wait_for_turn", seat=ann) for one in (sale.client, second)))
            assert {turn["turn"] for turn in told} == {first["turn"]}
            await sale.call("answer", turn=first["turn"], answer="I bid $100.")
            await both.call(second, "answer", seat=ann, turn=first["turn"], answer="I bid $190.")
            assert "the first answer counts" in both.refused[0]
            await play(second, ann, withdraw)
        await sale.one.ended()
    assert of_type(sale.one.result.log, SeatFailed) == []
    assert of_type(sale.one.result.log, Answered)[0].words == "I bid $100."


async def test_what_does_not_count_is_said_at_once_and_asked_again_as_a_failed_bid(tmp_path):
    why = "$99 is below the least bid of $100"
    async with selling(tmp_path) as sale:
        said = await sale.call("answer", turn=(await sale.call("wait_for_turn"))["turn"], answer="I bid $99.")
        assert said["status"] == "refused"
        assert f"does not count: {why}. Call wait_for_turn" in said["words"]
        again = await sale.call("wait_for_turn")
        assert (again["attempt"], again["refusal"]) == (2, why)
        await sale.end()
    assert [event.reason for event in of_type(sale.one.result.log, Tried)] == [why]


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
        pages = [await sale.call("what_happened", since=0)]
        while pages[-1]["more"]:
            pages.append(await sale.call("what_happened", since=pages[-1]["next"]))
    events = [event["type"] for page in pages for event in page["events"]]
    assert (len(pages) > 1, pages[-1]["over"], events.count("item_sold")) == (True, True, 40)
    assert len(events) == pages[-1]["next"] == len(sale.one.seats[0].seen)


async def test_a_client_of_seats_has_no_other_tools_and_nothing_to_read_and_waits_at_most_50_seconds(tmp_path):
    async with selling(tmp_path) as sale:
        names = [tool.name for tool in (await sale.client.list_tools()).tools]
        assert names == ["wait_for_turn", "answer", "what_happened"]
        assert (await sale.client.list_resources()).resources == (await sale.client.list_prompts()).prompts == []
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
