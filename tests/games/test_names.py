"""Names decide nothing: bidders of other names, in another order by the alphabet, have the same game in their seats."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from harbor._core.log.events import SaleClosed
from harbor._core.log.log import Log
from harbor._core.log.log_entries import encode
from harbor._core.plugins.finding import find, names
from harbor._games.mechanism import drawn
from harbor._house.auctioneer import announce, call
from harbor._runs.opening import opened_sale
from harbor._runs.resolve import resolve
from harbor.evaluation._metrics.measurement import fitting, measure
from harbor.games import Action, Ask, AuctionConfig, Withdraw
from support.turns import take_turn

RISING, FALLING = ("Ann", "Ben", "Cho", "Dee"), ("Zoe", "Moe", "Lea", "Kim")
"""Names of as many seats, in the order of the alphabet and against it."""
SEEDS = 12
SETTINGS: dict[str, dict[str, Any]] = {
    "english": {"increment_share": 0.5},
    "english-private": {"runs": 2, "step_share": 0.25, "show": "actions and values"},
    "first-price": {"runs": 2, "show": "actions and values"}, "second-price": {"runs": 2, "show": "actions and values"},
    "beauty": {"runs": 2, "show": "actions and values"}, "water": {"days": 6},
}  # fmt: skip
ITEMS = [{"name": f"Lot {number}", "start": 100, "true_value": 200} for number in (1, 2, 3)]


def told(game: str, seats: tuple[str, ...], seed: int, act: Callable[[Ask, Random], Action] = drawn) -> dict[str, str]:
    """What is told of a game between bidders who are alike and often draw the same: by its log, words, and measures."""
    rules = {"game": game, **SETTINGS[game]}
    if game == "water":
        rules["residents"] = {name: {"need": 8, "salary": 70} for name in seats}
    elif "private" in game or "price" in game:
        rules["values"] = {name: [60] for name in seats}
        rules["assets"] = Decimal(100)
    given = {"items": ITEMS} if game == "english" else {}
    bidders = [{"name": name, "rule": "random"} for name in seats]
    config = AuctionConfig(bidders=bidders, rules=rules, seed=seed, **given)
    sale, rng = opened_sale(resolve(config), Log(), "run", "token"), Random(seed)
    sale.settle({})
    words = []
    while asks := sale.asks():
        words += [call(ask) for ask in asks]
        take_turn(sale, {ask.bidder: act(ask, rng) for ask in asks})
    sale.record(SaleClosed())
    entries, known = sale.log.entries, find("game", game)
    board, frames = known.board(), []
    for entry in entries:
        board.note(entry.event)
        frames.append(board.shown())
    return {
        "log": "\n".join(encode(entry._replace(at=0.0), "")[0].decode().partition(',"digest"')[0] for entry in entries),
        "words": "\n".join([*words, *(announce(entry.event) for entry in entries)]),
        "board": json.dumps(frames, default=str),
        "standings": json.dumps([asdict(row) for row in known.measures.standings(entries)], default=str),
        "measures": json.dumps([asdict(one) for one in measure(fitting(entries), entries)], default=str),
    }


def renamed(text: str) -> str:
    for old, new in zip(RISING, FALLING, strict=True):
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("game", names("game"))
def test_bidders_of_other_names_have_the_same_game_in_their_seats(game):
    for seed in range(SEEDS):
        rising, falling = (told(game, seats, seed) for seats in (RISING, FALLING))
        for what, text in rising.items():
            assert renamed(text).splitlines() == falling[what].splitlines(), f"{what} of seed {seed}"


@pytest.mark.parametrize("game", sorted({*names("game")} - {"english-private"}))  # its first would have gained most
@pytest.mark.parametrize("seats", [RISING, FALLING])
def test_bidders_who_did_the_same_stand_in_seat_order(seats, game):
    standings = json.loads(told(game, seats, 0, lambda *_: Withdraw("fault"))["standings"])
    assert tuple(row["bidder"] for row in standings) == seats
