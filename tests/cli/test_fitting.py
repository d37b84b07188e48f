"""Tables and texts in a terminal: no word is broken, and a table that is too wide becomes lists."""

from __future__ import annotations

import re

import pytest

from harbor._cli.display.render import Table, render, wrapped

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
