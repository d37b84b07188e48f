"""A bad package costs one line that names it, and everything else goes on working."""

from __future__ import annotations

import shutil

import pytest

from support.commands import harbor, mistake
from support.folders import ROOT
from support.plugins import install, installed

BAD = """
from dataclasses import replace
from pathlib import Path

from clock_auction.game import DUTCH
from clock_auction.rules import DutchRules


class BadRules(DutchRules):
    game: str = "bad"


WHOLE = replace(DUTCH, name="bad", settings=BadRules)
"""
FLAWS = {
    "1 / 0": "can't be imported (ZeroDivisionError: division by zero); mend it",

    "IT = replace(WHOLE, play=replace(WHOLE.play, prompt=Path(__file__).with_name('bad.md')))":
        "game 'bad' has a prompt that can't be filled: ",

}  # fmt: skip
AUCTION = """
name = "bad"
rules = { game = "bad" }
items = [{ name = "Rose", start = 10, true_value = 30, listing = "A rose." }]
bidders = [{ name = "Ann" }, { name = "Ben", rule = "rational" }]
"""


@pytest.mark.parametrize(("code", "why"), FLAWS.items(), ids=["import", "blank"])
def test_a_bad_game_is_refused_in_one_line_that_names_the_package_and_other_games_go_on(code, why, tmp_path):
    site = tmp_path / "site"
    shutil.copytree(ROOT / "examples" / "plugin" / "clock_auction", site / "clock_auction")
    (site / "bad.md").write_text("The price is ${price}.\n<facts>\n${facts}\n</facts>\n")
    (tmp_path / "auction.toml").write_text(AUCTION)
    install(site, "bad-game", {"bad.py": f"{BAD}\n{code}\n"}, {"harbor.games": {"bad": "bad:IT"}}, "0.3")
    with installed(site):
        said = mistake(harbor("auction", "auction.toml", "--out", "out", cwd=tmp_path))
        assert "'bad:IT'" in mistake(harbor("--plugin", "bad:IT", "list", "games"))
        others = harbor("auction", "demo", "--items", "1", "--quiet", "--out", "others", cwd=tmp_path)
    assert (others.returncode, others.stderr) == (0, "")
    assert "package 'bad-game'" in said
    assert why in said
    assert not (tmp_path / "out").exists()
