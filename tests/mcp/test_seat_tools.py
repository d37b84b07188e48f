"""What a bidder's client is told and can do, by the SDK's own client."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp import Client

from harbor._config.auction import AuctionConfig, Bidder, Item
from harbor._core.log.acts import Tried
from harbor._core.log.events import Answered, SeatFailed
from harbor._core.log.log import of_type
from harbor._games.english.events import ItemSold
from harbor._mcp.held_auctions import HeldAuction, HeldAuctions
from support.mcp_clients import Played, play, tools, up_to, withdraw

VASE = Item(name="Vase", start=100, true_value=200)
CLOCK = Item(name="Clock", start=50, true_value=80)


def config(*names: str, items: tuple[Item, ...] = (VASE,), seconds: float = 60) -> AuctionConfig:
    """Bidders for clients of these names, against a rule that raises once."""
    mine = [Bidder(name, agent=True, timeout_seconds=seconds) for name in names]
    return AuctionConfig(items=items, bidders=(*mine, Bidder("Ben", rule="minimum-raise", max_bids=1)))


def hold(held: HeldAuctions, *names: str, **how: object) -> tuple[HeldAuction, dict[str, str]]:
    """Hold an auction for clients, and give the tokens by bidder."""
    one = held.hold(config(*names, **how), wait_seconds=60)
    return one, {seat.bidder: seat.token for seat in one.seats}


async def test_a_client_plays_a_seat_from_its_first_turn_to_the_end_and_wins_what_it_bids_most_for(tmp_path):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        one, tokens = hold(served.held, "Ann")
        played = await play(client, tokens["Ann"], up_to(300))
        await one.ended()
    [sold] = of_type(one.result.log, ItemSold)
    assert (sold.winner, one.status) == ("Ann", "over")
    assert json.loads(played.heard[-1])["words"].endswith("The auction is over. There is nothing more to do.")
    assert "Vase is sold to Ann" in played.heard[-1]


async def test_a_turn_is_told_with_its_words_first_and_without_what_was_told_before(tmp_path):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        _, tokens = hold(served.held, "Ann")
        turn = await Played().call(client, "wait_for_turn", seat=tokens["Ann"])
        whole = await Played().call(client, "wait_for_turn", seat=tokens["Ann"], everything=True)
        assert list(turn)[:4] == ["status", "turn", "seconds_left", "words"]
        assert not {"seat", "seen", "so_far"} & turn.keys()
        assert "Ann, your call on Vase: at least $100" in turn["words"]
        assert next(event["type"] for event in whole["seen"]) == "bidder_seated"
        assert len(whole["seen"]) == whole["turn"] == turn["turn"]


async def test_one_client_can_hold_several_seats(tmp_path):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        one, tokens = hold(served.held, "Ann", "Cho")
        await asyncio.gather(play(client, tokens["Ann"], up_to(150)), play(client, tokens["Cho"], withdraw))
        await one.ended()
    assert {event.bidder for event in of_type(one.result.log, Answered)} == {"Ann", "Cho"}


async def test_a_client_that_goes_is_followed_by_another_with_the_same_token(tmp_path):
    async with tools(tmp_path) as served:
        one, tokens = hold(served.held, "Ann")
        async with Client(served.bidders) as first:
            turn = await Played().call(first, "wait_for_turn", seat=tokens["Ann"])
        async with Client(served.bidders) as second:
            again = await Played().call(second, "wait_for_turn", seat=tokens["Ann"])
            assert again["turn"] == turn["turn"]
            await play(second, tokens["Ann"], withdraw)
        await one.ended()
    assert of_type(one.result.log, SeatFailed) == []


async def test_two_clients_with_one_token_are_one_bidder_whose_first_answer_counts(tmp_path):
    async with tools(tmp_path) as served, Client(served.bidders) as first, Client(served.bidders) as second:
        one, tokens = hold(served.held, "Ann")
        both, ann = Played(), tokens["Ann"]
        turn, same = await asyncio.gather(*(both.call(one, "wait_for_turn", seat=ann) for one in (first, second)))
        assert turn["turn"] == same["turn"]
        await both.call(first, "answer", seat=ann, turn=turn["turn"], answer="I bid $100.")
        await both.call(second, "answer", seat=ann, turn=turn["turn"], answer="I bid $190.")
        assert "the first answer counts" in both.refused[0]
        await play(second, ann, withdraw)
        await one.ended()
    assert of_type(one.result.log, Answered)[0].words == "I bid $100."


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"action": "bid"}, "a bid needs an amount"),
        ("Maybe...", "neither a bid nor a withdrawal"),
        ("I bid $99.", "$99 is below the least bid of $100"),
    ],
)
async def test_what_does_not_count_is_said_at_once_and_asked_again_as_a_failed_bid(tmp_path, answer, why):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        one, tokens = hold(served.held, "Ann")
        played, ann = Played(), tokens["Ann"]
        turn = await played.call(client, "wait_for_turn", seat=ann)
        said = await played.call(client, "answer", seat=ann, turn=turn["turn"], answer=answer)
        assert said["status"] == "refused"
        assert f"does not count: {why}. Call wait_for_turn" in said["words"]
        again = await played.call(client, "wait_for_turn", seat=ann)
        assert (again["attempt"], again["refusal"]) == (2, why)
        await play(client, ann, withdraw)
        await one.ended()
    assert [event.reason for event in of_type(one.result.log, Tried)] == [why]


async def test_an_answer_that_comes_late_is_refused_and_the_bidder_is_asked_for_the_next_item(tmp_path):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        one, tokens = hold(served.held, "Ann", items=(VASE, CLOCK), seconds=1.5)
        played, ann = Played(), tokens["Ann"]
        turn = await played.call(client, "wait_for_turn", seat=ann)
        while not of_type(one.entries, SeatFailed):
            await played.call(client, "what_happened", seat=ann)
        await played.call(client, "answer", seat=ann, turn=turn["turn"], answer="I bid $100.")
        assert played.refused[0].startswith("Error executing tool answer: ")
        await play(client, ann, withdraw)
        await one.ended()
    assert next(event.kind for event in of_type(one.result.log, SeatFailed)) == "timeout"
    assert {sold.winner for sold in of_type(one.result.log, ItemSold)} == {"Ben"}


async def test_a_client_that_never_comes_is_out_of_the_bidding_and_the_sale_waits_for_it_no_longer_than_said(tmp_path):
    async with tools(tmp_path) as served:
        one = served.held.hold(config("Ann", items=(VASE, CLOCK), seconds=3_600), wait_seconds=0.1)
        await one.ended()
    assert [event.bidder for event in of_type(one.result.log, SeatFailed)] == ["Ann", "Ann"]
    assert {sold.winner for sold in of_type(one.result.log, ItemSold)} == {"Ben"}


async def test_a_token_of_another_sale_plays_its_own_seat_only_and_one_of_none_is_refused(tmp_path):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        one, mine = hold(served.held, "Ann")
        other, theirs = hold(served.held, "Dan", "Eva", items=(CLOCK,))
        played = Played()
        turn = await played.call(client, "wait_for_turn", seat=mine["Ann"])
        await played.call(client, "wait_for_turn", seat=theirs["Dan"], seconds=0)
        await played.call(client, "answer", seat=theirs["Dan"], turn=turn["turn"], answer="I bid $100.")
        await played.call(client, "answer", seat="seat-of-nobody", turn=turn["turn"], answer="I bid $100.")
        await played.call(client, "what_happened", seat="Ann")
        assert ["there is no turn" in words for words in played.refused] == [True, False, False]
        assert all("no seat here has this token" in words for words in played.refused[1:])
        assert of_type(one.entries, Answered) == of_type(other.entries, Answered) == []


async def test_what_happened_tells_the_same_in_pages(tmp_path):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        one, tokens = hold(
            served.held, "Ann", items=tuple(Item(name=f"Vase {n}", start=10, true_value=20) for n in range(40))
        )
        await play(client, tokens["Ann"], withdraw)
        await one.ended()
        played, since, events = Played(), 0, []
        while (page := await played.call(client, "what_happened", seat=tokens["Ann"], since=since))["more"]:
            events += page["events"]
            since = page["next"]
        events += page["events"]
        assert page["over"]
        assert [event["type"] for event in events].count("item_sold") == 40
        assert len(events) == page["next"] == len(one.seats[0].seen)


async def test_a_client_of_seats_has_no_other_tools_and_nothing_to_read_but_by_them(tmp_path):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["wait_for_turn", "answer", "what_happened"]
        assert (await client.list_resources()).resources == []
        assert (await client.list_prompts()).prompts == []


async def test_every_description_says_when_to_call_and_what_comes_back_with_an_example(tmp_path):
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        for tool in (await client.list_tools()).tools:
            assert "{" in tool.description, tool.name
            assert "It returns" in tool.description, tool.name
            assert "\n        " not in tool.description, tool.name
            for name, field in tool.input_schema["properties"].items():
                assert field.get("description"), (tool.name, name)


@pytest.mark.parametrize("seconds", [-1, 51, "long"])
async def test_a_wait_is_at_most_50_seconds(tmp_path, seconds):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        _, tokens = hold(served.held, "Ann")
        played = Played()
        await played.call(client, "wait_for_turn", seat=tokens["Ann"], seconds=seconds)
        assert "seconds" in played.refused[0]


async def test_a_client_of_two_seats_is_told_to_ask_for_each_as_it_could_wait_for_the_wrong_one(tmp_path):
    async with tools(tmp_path) as served, Client(served.bidders) as client:
        one, tokens = hold(served.held, "Ann", "Cho")
        played, waits = Played(), {"Ann": 0, "Cho": 0}
        while not one.has_ended:
            for name, token in tokens.items():
                turn = await played.call(client, "wait_for_turn", seat=token, seconds=0)
                if turn["status"] == "your_turn":
                    await played.call(client, "answer", seat=token, turn=turn["turn"], answer=withdraw(turn))
                elif turn["status"] == "wait":
                    waits[name] += 1
                    assert "other seats, call it for each of them first, with seconds=0" in turn["words"]
    assert of_type(one.result.log, SeatFailed) == []
    assert waits["Ann"]
