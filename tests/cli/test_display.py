"""What a terminal shows: live tables of any game, the steps of a long command, and texts that fit."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from decimal import Decimal
from io import StringIO

import pytest
from rich.console import Console

from harbor._cli.display.render import Table, render, wrapped
from harbor._cli.display.screen import Ticker, watching
from harbor._cli.shared.shell import step_bars
from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.basics.feedback import heard_by, steps
from harbor._core.log.acts import Acted
from harbor._core.log.events import BiddersAsked
from harbor._core.plugins import finding
from harbor._core.plugins.finding import find
from harbor._games.english.events import ItemOpened, RoundClosed
from support.held_games import GAMES, played
from support.processes import shown_in_terminal
from support.shown_runs import think_much

# ---------------------------------------------------------------- the board of any game


def drawn(entries):
    console = Console(file=StringIO(), force_terminal=True, width=100, color_system=None)
    with watching(console) as listen:
        for entry in entries:
            listen(entry)
    return console.file.getvalue()


@pytest.mark.parametrize("game", GAMES)
def test_the_table_ends_with_the_board_of_the_game(game):
    entries = played(game)
    board = find("game", game).board()
    for entry in entries:
        board.note(entry.event)
    told = drawn(entries)
    assert board.shown().headline in told
    assert all(row[0] in told for row in board.shown().rows)


def test_a_board_that_fails_is_told_of_once_and_the_auction_goes_on(monkeypatch):
    entries = played("second-price")
    known = finding.found("game", "second-price")
    broken = replace(known, value=replace(known.value, board=lambda: 1 / 0))
    monkeypatch.setitem(finding._FOUND["game"], "second-price", broken)
    told = drawn(entries)
    assert told.count("the board of the game 'second-price' failed (ZeroDivisionError") == 1
    assert "Run 2 is over" in told


# ---------------------------------------------------------------- beside the board

OPENED = ItemOpened("Lot", Decimal(100), Decimal(10))


def told(*events, at=0.0):
    ticker = Ticker()
    for event in events:
        ticker.note(event, at)
    return ticker


def closed(*prices):
    return [RoundClosed("Lot", number, "Ann", Decimal(price)) for number, price in enumerate(prices, 1)]


def test_the_prices_of_an_item_are_bars_from_the_lowest_to_the_highest():
    assert told(OPENED).prices() == ""
    assert told(OPENED, *closed(150, 170)).prices() == "price $100 ▁▆█ $170"
    assert told(OPENED, *closed(150), OPENED).prices() == ""


def test_who_thinks_is_told_with_whole_seconds_until_it_answers():
    asked = BiddersAsked("Lot", 1, 1, ("Ann", "Ben", "Cho"))
    assert told(asked).thinking(0.9) == ""
    assert told(asked).thinking(2.5) == "thinking: Ann 2 s, Ben 2 s, Cho 2 s"
    answered = [asked, Acted("Ann", "Lot", Bid(Decimal(100))), Acted("Ben", "Lot", Withdraw())]
    assert told(*answered).thinking(3) == "thinking: Cho 3 s"
    assert told(asked, *closed(150)).thinking(3) == ""


# ---------------------------------------------------------------- steps: a bar in a terminal, silence elsewhere


def test_a_terminal_shows_how_many_steps_are_done_of_how_many_and_what_they_are(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", StringIO())
    sys.stderr.isatty = lambda: True
    with step_bars():
        assert list(steps(["one", "two", "three"], "games read")) == ["one", "two", "three"]
    assert "3/3" in sys.stderr.getvalue()
    assert "games read" in sys.stderr.getvalue()


def test_steps_that_are_stopped_early_end_what_is_heard_of_them():
    heard = []
    with heard_by(lambda *told: heard.append(told)):
        going = steps([1, 2, 3], "games checked")
        next(going)
        going.close()
        list(steps([], "games read"))
    assert heard == [(0, 3, "games checked"), (3, 3, "games checked"), (0, 0, "games read")]


def test_a_step_that_takes_steps_itself_is_told_alone():
    heard = []
    with heard_by(lambda *told: heard.append(told)):
        for _ in steps(["one", "two"], "pages written"):
            assert list(steps([1, 2], "events shown")) == [1, 2]
        list(steps([1], "games read"))
    assert {what for _, _, what in heard[:3]} == {"pages written"}
    assert heard[3:] == [(0, 1, "games read"), (1, 1, "games read")]


def test_of_many_steps_some_are_told_and_the_last():
    heard = []
    with heard_by(lambda done, *_: heard.append(done)):
        list(steps(range(100_000), "events shown"))
    assert len(heard) < 1_100
    assert heard[-1] == 100_000


def test_a_terminal_sees_how_far_a_command_over_a_run_has_come(tmp_path):
    run = think_much(tmp_path / "run")
    shown = shown_in_terminal("view", run, "--no-open", "--out", "out.html", cwd=tmp_path, TERM="xterm")
    assert [what for what in ("events read", "decisions gathered", "events shown") if what not in shown] == []


# ---------------------------------------------------------------- tables and texts

NAMES = ["upgrade-to-a-larger-home", "final_profiling_error", "openai:gpt-4o-mini", "two words", "$1,234,567.89"]


def test_lines_end_between_words_and_else_between_the_parts_of_a_name():
    assert wrapped("a house by the sea", 10) == "a house by\nthe sea"
    assert wrapped("eco-conscious-buyers win", 14) == "eco-conscious-\nbuyers win"
    assert wrapped("$1,234,567.89", 5) == "$1,234,567.89"  # a number has no parts


def test_an_interval_stands_on_one_line():
    assert wrapped("-$92,667 [-$640,588, $455,255]", 24) == "-$92,667\n[-$640,588, $455,255]"
    assert wrapped("see [the note, below] there", 12) == "see [the\nnote, below]\nthere"  # words are no interval


@pytest.mark.parametrize("columns", [30, 60, 80])
def test_no_word_of_a_table_is_broken_at_any_width(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")  # as at a terminal
    monkeypatch.setenv("TERM", "xterm")
    render([Table("Title", [{"name": name, "what": "some words of it", "again": name} for name in NAMES])])
    shown = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert max(map(len, shown.splitlines())) <= columns
    words = {part for name in NAMES for part in wrapped(name, 1).split()} | {"some", "words"}
    assert [word for word in words if word not in shown] == []
