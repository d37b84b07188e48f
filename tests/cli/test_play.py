"""People as bidders: through a real terminal, and through queues."""

from __future__ import annotations

import asyncio
import json
import re
from decimal import Decimal

import pytest

from harbor import Auction, Bidder, Item, Person, aresume
from harbor._cli.display.terminal import is_due
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Ask, Pause
from harbor._core.log.acts import Signal, Tried
from harbor._core.log.events import Answered, BidderSeated, SaleClosed
from harbor._core.log.log import of_type
from harbor._games.english.events import ItemSold
from harbor._house.auctioneer import told_to
from support import forging
from support.cases import some
from support.commands import harbor, mistake, process
from support.forging import lines_of
from support.processes import LONG, Terminal

SMALL = """
name = "small"
bidders = [{name = "Ann", budget = 10000}, {name = "Ben", rule = "minimum-raise", max_bids = 1, budget = 10000}]
items = [
  { name = "Lot A", start = 1000, true_value = 3000, listing = "A fine \\u001b[31mred\\u202e house" },
  { name = "Lot B", start = 2000, true_value = 5000 },
]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


def of(folder, *types):
    return forging.of_type(lines_of(folder / "run" / "events.jsonl"), *types)


def sold(folder):
    return [(line["winner"], line["price"]) for line in of(folder, "item_sold")]


# ---------------------------------------------------------------- at the terminal


def playing(folder, *options, columns=200):
    return Terminal(folder, "play", "small.toml", "--out", "run", *options, columns=columns)


@pytest.mark.slow
def test_a_whole_sale_is_played_in_which_texts_are_escaped_and_only_a_refused_bid_costs_an_attempt(folder):
    with playing(folder) as person:
        opening = person.answer("what?")
        told = ["You are Ann.", "your budget is $10,000", "Lot A opens at $1,000, in steps of at least $100."]
        told += ["A fine \ufffd[31mred\ufffd house", "Your estimate: $3,300.", "You have 600 s."]
        told += ["Ann, your call on Lot A: at least $1,000 and at most $10,000."]
        assert [words for words in told if words not in opening] == []
        for explained, words in (
            ("That can't be read: ", ""),
            ("Nothing was typed. Type an amount from 1000 to 10000, or: withdraw, or: help", "1000 or 1200"),
            ("That can't be read: ", "\x1b[A"),
            ("That can't be read: ", "20000"),
            ("Your bid failed: $20,000 is above the greatest bid of $10,000.", "5"),
            ("Your bid failed: $5 is below the least bid of $1,000.", "1500"),
        ):
            assert explained in person.answer(words)
        person.expect("Ben bids $1,000 on Lot A.")
        person.expect("Lot A is sold to Ann for $1,500.")
        assert "So far Ann: 1 item for $1,500, profit $1,500." in person.answer("withdraw")
        person.expect("Standings")
        assert person.end() == 0
    assert [line["reason"].split()[0] for line in of(folder, "tried")] == ["$20,000", "$5"]
    assert sold(folder) == [("Ann", 1500), ("Ben", 2000)]
    assert [line["words"] for line in of(folder, "answered")] == ["20000", "5", "1500", "withdraw"]
    config = json.loads((folder / "run" / "config.json").read_text())
    assert [bidder["person"] for bidder in config["bidders"]] == [True, False]
    assert {line["bidder"]: line["player"] for line in of(folder, "bidder_labelled")}["Ann"] == "person"


@pytest.mark.slow
@pytest.mark.parametrize("keys", some(["quit\n", "\x03", "\x04"], ["\x03"]), ids=["quit", "ctrl-c", "the end of input"])
def test_a_person_may_ask_for_help_and_standings_and_pause_an_auction_that_resume_continues(folder, keys):
    with playing(folder, columns=60) as person:
        assert max(map(len, person.answer("help").splitlines())) <= 60
        assert "quit: pause the auction, as Ctrl-C does" in person.answer("1500\n9999\n8888")
        assert person.answer("standings").count("Input typed before the question is dropped.") == 1
        told = person.expect("\n> ")
        assert "Ann: in" in told or "Ann: thinks" in told
        assert "You bought Lot A for $1,500, worth $3,000." in told
        person.type(keys)
        person.expect("harbor: stopped; what happened up to here is in run/events.jsonl; resume with: ")
        person.expect("harbor resume run")
        assert person.end() == 130
    before = lines_of(folder / "run" / "events.jsonl")
    assert not of(folder, "seat_failed", "sale_closed")
    with Terminal(folder, "resume", "run") as person:
        again = person.answer("4000")
        assert "Lot A is sold to Ann for $1,500." in again
        assert "> " not in again  # what was answered is not asked again
        assert "Ann, your call on Lot B" in again
        person.expect("Standings")
        assert person.end() == 0
    assert lines_of(folder / "run" / "events.jsonl")[: len(before)] == before
    assert [line["words"] for line in of(folder, "answered")] == ["1500", "4000"]
    assert sold(folder) == [("Ann", 1500), ("Ann", 4000)]


@pytest.mark.slow
def test_answers_may_be_piped_in_also_those_of_another_bidder(folder):
    done = process("play", "small.toml", "--as", "Ben", "--out", "run", cwd=folder, given="9000\nout\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Ben bids $9,000 on Lot A." in done.stdout
    assert sold(folder)[0][0] == "Ben"
    assert json.loads((folder / "run" / "config.json").read_text())["bidders"][1]["rule"] is None


@pytest.mark.slow
def test_who_takes_too_long_is_told_and_has_withdrawn(folder):
    (folder / "small.toml").write_text(SMALL.replace('{name = "Ann",', '{name = "Ann", timeout_seconds = 0.2,'))
    with playing(folder) as person:
        person.expect("You have 0.2 s.")
        person.expect("Your time is up: that counts as a withdrawal.")
        person.expect("Lot A is sold to Ben for $1,000.")
        person.expect("harbor: warning: Ann gave no answer 2 times")
        assert person.end() == 0
    assert {line["act"].get("reason") for line in of(folder, "acted") if line["bidder"] == "Ann"} == {"fault"}


def test_the_time_that_is_left_is_written_anew_seldom_and_at_the_end_each_second():
    told, written = 150.0, []
    for left in range(149, -1, -1):
        if is_due(told, left):
            told = left
            written.append(left)
    assert written == [120, 60, 30, 10, 5, 4, 3, 2, 1]
    assert is_due(61.0, 58), "a second that was slept through"


@pytest.mark.parametrize(("words", "said"), [
    (["play", "small.toml", "--as", "Anne"], "unknown bidder 'Anne'; did you mean 'Ann'?"),
    (["auction", "person.toml"], "bidder 'Ann' is played by a person; use: harbor play"),
    (["play", "two.toml"], "bidder 'Ann' is played by a person; use: harbor play, or give it to run(people=...)"),
])  # fmt: skip
def test_a_mistake_is_one_line(words, said, folder):
    person = SMALL.replace('{name = "Ann",', '{name = "Ann", person = true,')
    (folder / "person.toml").write_text(person)
    (folder / "two.toml").write_text(person.replace("bidders = [", 'bidders = [{name = "Cho", person = true},'))
    assert said in mistake(harbor(*words, "--out", "run", cwd=folder))
    assert not (folder / "run").exists()


# ---------------------------------------------------------------- through queues


def sale():
    return Auction(
        items=[Item(name="Lot A", start=1000, true_value=3000), Item(name="Lot B", start=2000, true_value=5000)],
        bidders=[Bidder(name, person=True, budget=10_000) for name in ("Ann", "Ben")],
    )


async def answering(person, answers):
    """Answer calls as they come, and give them."""
    calls = []
    for words in answers:
        calls.append(await asyncio.wait_for(person.asks.get(), LONG))
        person.answers.put_nowait(words)
    return calls


async def test_words_that_come_too_late_are_no_answer_to_the_next_call_and_a_pause_passes_a_person_by():
    person = Person()
    person.answers.put_nowait("9000")
    acting = asyncio.ensure_future(person.act(Ask("Ann", "Lot A", 1, Amount(Decimal(1), Decimal(9999))), ()))
    await asyncio.wait_for(person.asks.get(), LONG)
    person.answers.put_nowait("10")
    assert await acting == "10"
    assert await person.act(Pause("Ann"), ()) is None


async def test_two_people_bid_in_one_auction_which_is_stopped_and_resumed_and_each_sees_what_its_seat_may(tmp_path):
    ann, ben = Person(), Person()
    held = asyncio.ensure_future(sale().arun(out=tmp_path / "run", people={"Ann": ann, "Ben": ben}))
    first, _ = await asyncio.gather(answering(ann, ["1000"]), answering(ben, ["1200"]))
    await asyncio.wait_for(ann.asks.get(), LONG)
    held.cancel()
    await asyncio.wait({held})
    ann, ben = Person(), Person()
    resumed, calls, _ = await asyncio.gather(
        aresume(tmp_path / "run", people={"Ann": ann, "Ben": ben}),
        answering(ann, ["I bid 1400", "2000"]),
        answering(ben, ["I'm out", "I withdraw"]),
    )
    asked = [(call.ask.item, call.ask.round, call.ask.minimum) for call in (*first, *calls)]
    assert asked == [("Lot A", 1, 1000), ("Lot A", 2, 1300), ("Lot B", 1, 2000)]
    assert {event.audience for call in (*first, *calls) for event in call.seen} == {"everyone", "bidder:Ann"}
    sales = [(sold.winner, sold.price) for sold in of_type(resumed.log, ItemSold)]
    assert sales == [("Ann", Decimal(1400)), ("Ann", Decimal(2000))]
    assert isinstance(resumed.log[-1].event, SaleClosed)
    answered = [event.words for event in of_type(resumed.log, Answered) if event.bidder == "Ann"]
    assert answered == ["1000", "I bid 1400", "2000"]


# ---------------------------------------------------------------- the other games


def other(folder, rules, *rivals):
    bidders = ['{name = "Alex"}', *(f'{{name = "{name}", rule = "rational"}}' for name in rivals)]
    (folder / "other.toml").write_text(f"rules = {{{rules}}}\nbidders = [{', '.join(bidders)}]\n")
    return Terminal(folder, "play", "other.toml", "--out", "run")


@pytest.mark.slow
def test_a_player_of_a_sealed_auction_is_told_what_it_alone_knows_in_sentences(folder):
    rules = 'game = "second-price", runs = 1, reasks = 0, values = {Alex = [120], Bob = [30]}'
    with other(folder, rules, "Bob") as person:
        assert "\nOnly you know: run 1 is worth $120 to you.\n" in person.answer("150")
        assert "\nYou pay a fee of $10 for a broken rule in run 1.\n" in person.expect("Standings")
    raw = ("budget", "Your estimate", "fee:", "paid:", "Only you know:\n")
    assert [one for one in raw if one in person.shown] == []


@pytest.mark.studies
def test_the_call_of_a_class_game_suggests_no_number_calls_nobody_rational_and_ends_in_points_and_dollars(folder):
    done = process("play", "beauty", "--out", "run", cwd=folder, given="33\n" * 6)
    assert (done.returncode, done.stderr) == (0, "")
    before, over, _ = done.stdout.partition("Run 1 is over")
    assert over
    assert "Type a number from 0 to 100, or: withdraw." in before
    assert "such as" not in before
    assert "rational" not in done.stdout
    standings = done.stdout.partition("Standings")[2]
    assert [word for word in ("points", "earned", "$") if word not in standings] == []


@pytest.mark.studies
def test_a_number_is_not_told_as_money_and_rivals_are_called_rational_where_the_rules_say_so(folder):
    with other(folder, 'game = "beauty", runs = 1, rational_rivals = true', "Bob", "Cindy") as person:
        assert "All other players are perfectly rational." in person.answer("33.3333")
        told = person.expect("Standings")
    assert "Alex chooses 33.3333 on run 1.\nBob chooses 0 on run 1.\n" in told
    assert "Run 1 is over.\nThe target was 7.4074: Bob and Cindy won.\n" in told
    assert not re.search(r"\$(33|0)", told)


@pytest.mark.slow
def test_who_is_eliminated_is_told_so_and_each_sentence_of_a_day_is_a_line(folder):
    rules = 'game = "water", days = 4, supplies = [0, 0, 0, 0]'
    with other(folder, rules, "Bob") as person:
        for _ in range(3):
            person.answer("0")
        assert "\nAlex bids $0 on day 3.\nBob bids $75 on day 3.\nNobody is served.\n" in person.answer("999")
        assert "above the greatest bid of $280" in person.answer("0")
        told = person.expect("Standings").splitlines()
    assert "You are eliminated, and out of the game." in told
    assert "Bob is eliminated." in told
    assert "Alex is eliminated." not in person.shown


def test_what_a_bidder_brings_is_told_a_sentence_a_line():
    seated = BidderSeated("Ann", Decimal(500), {"You like boats.": 0.5}, "items", {"Ben": {"farmer": 1.0}})
    assert told_to("Ann", seated) == [
        "Only you know: your budget is $500, and your objective is: items.",
        "You act as (weight 0.5): You like boats.",
        "You know what Ben is like: farmer 1.",
    ]
    guessed = Signal("Ann", {"Vase": Decimal(110), "Jug": Decimal(90)}, noisy=True)
    assert told_to("Ann", guessed) == ["Only you know your estimates: Vase $110; Jug $90."]
    known = Signal("Ann", {"run 1": Decimal(7), "run 2": Decimal(9)})
    worths = ["run 1 is worth $7", "run 2 is worth $9"]
    assert told_to("Ann", known) == [f"Only you know: {worth} to you." for worth in worths]
    assert told_to("Ann", Tried("Ann", "Vase", 1, 1, "it is odd")) == []
    assert told_to("Ann", ItemSold("Vase", "Ben", Decimal(5))) == ["Vase is sold to Ben for $5."]
