"""The live table of a terminal: the board of whichever game is held, also of a stranger's whose board fails."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from harbor._cli.display.screen import watching
from harbor._core.plugins import finding
from harbor._core.plugins.finding import find
from support.held_games import GAMES, played


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
