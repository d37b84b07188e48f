"""A bad package costs one line that names it, and everything else goes on working."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.commands import harbor, mistake
from support.folders import ROOT
from support.plugins import install, installed

EXAMPLE = ROOT / "examples" / "plugin" / "clock_auction"
BAD = """
from dataclasses import replace
from itertools import count
from pathlib import Path

from clock_auction.catalogue import FLOWERS
from clock_auction.game import DUTCH
from clock_auction.node import REFLECT
from clock_auction.rules import Dutch, DutchRules, PriceCalled


class BadRules(DutchRules):
    game: str = "bad"


class Drifting(Dutch):
    drift = count()

    def settle(self, state, actions, rng):
        return list(map(self.drifted, super().settle(state, actions, rng)))

    def drifted(self, event):
        return replace(event, price=event.price - next(self.drift)) if isinstance(event, PriceCalled) else event


WHOLE = replace(DUTCH, name="bad", settings=BadRules)
"""
GAMES = {
    "fails on import": ("1 / 0", "can't be imported (ZeroDivisionError: division by zero); mend it"),
    "lacks a part": ("IT = replace(WHOLE, rational=None)", "game 'bad' lacks rational: what a rational player answers"),
    "lacks a part of a part": (
        "IT = replace(WHOLE, measures=replace(WHOLE.measures, standings=None))",
        "game 'bad' lacks measures.standings: the rows of its standings",
    ),
    "is for another version": ("IT = replace(WHOLE, api=2)", "game 'bad' is for version 2 of Harbor's extensions"),
    "has a prompt with another blank": (
        "IT = replace(WHOLE, play=replace(WHOLE.play, prompt=Path(__file__).with_name('bad.md')))",
        "game 'bad' has a prompt that can't be filled: ",
    ),
    "has a prompt that is not there": (
        "IT = replace(WHOLE, play=replace(WHOLE.play, prompt=Path('/nowhere.md')))",
        "game 'bad' has a prompt that can't be read ([Errno 2] No such file or directory: '/nowhere.md')",
    ),
    "has rules that are not pure": (
        "IT = replace(WHOLE, build=lambda rules, config: Drifting(*vars(DUTCH.build(rules, config)).values()))",
        "equal states, actions and ties give different events",
    ),
    "is no game": ("IT = FLOWERS", "'bad' is no game, but a Catalogue; give a Game"),
    "has a name that is not its own": ("IT = DUTCH", "entry point 'bad' brings the game 'dutch'"),
}
AUCTION = """
name = "bad"
rules = { game = "bad" }
items = [{ name = "Rose", start = 10, true_value = 30, listing = "A rose." }]

[[bidders]]
name = "Ann"

[[bidders]]
name = "Ben"
rule = "rational"
"""
THINKING = 'name = "n"\nitems = { count = 1 }\n[[bidders]]\nname = "Ann"\nnodes = ["bad"]\n'


@pytest.fixture
def site(tmp_path) -> Path:
    """A place of packages, with modules that bad packages are made of."""
    shutil.copytree(EXAMPLE, tmp_path / "site" / "clock_auction")
    (tmp_path / "site" / "bad.md").write_text("The price is ${price}.\n<facts>\n${facts}\n</facts>\n")
    (tmp_path / "auction.toml").write_text(AUCTION)
    return tmp_path / "site"


def others_work(place: Path) -> None:
    """Run an ordinary auction, as if nothing were there."""
    done = harbor("auction", "demo", "--items", "1", "--quiet", "--out", "others", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("flaw", GAMES)
def test_a_bad_game_is_refused_in_one_line_that_names_the_package_and_other_games_go_on(flaw, site, tmp_path):
    code, why = GAMES[flaw]
    install(site, "bad-game", {"bad.py": f"{BAD}\n{code}\n"}, {"harbor.games": {"bad": "bad:IT"}}, "0.3")
    with installed(site):
        said = mistake(harbor("auction", "auction.toml", "--out", "out", cwd=tmp_path))
        others_work(tmp_path)
    assert "package 'bad-game'" in said
    assert why in said
    assert not (tmp_path / "out").exists()


def test_nobody_takes_the_name_of_a_game_of_harbors(site, tmp_path):
    code = "class Rules(DutchRules):\n    game: str = 'english'\n\nIT = replace(DUTCH, name='english', settings=Rules)"
    install(site, "bad-game", {"bad.py": f"{BAD}\n{code}\n"}, {"harbor.games": {"english": "bad:IT"}})
    with installed(site):
        others_work(tmp_path)
        listed = harbor("list", "games")
    assert listed.returncode == 0
    [line] = listed.stderr.splitlines()
    assert "the name of the game 'english' is taken by 'harbor-auctions'" in line


FLOWERS = 'catalogue = "flowers@1"\nbidders = [{ name = "Ann" }]'
SAME_NAME = [
    ("game", "harbor.games", "dutch", "clock_auction.game:DUTCH", AUCTION.replace('"bad" }', '"dutch" }')),
    ("catalogue", "harbor.catalogues", "flowers", "clock_auction.catalogue:FLOWERS", FLOWERS),
]


@pytest.mark.parametrize(("kind", "group", "name", "value", "settings"), SAME_NAME)
def test_of_two_packages_that_bring_one_name_both_are_named(kind, group, name, value, settings, site, tmp_path):
    for package in ("one", "other"):
        install(site, package, {}, {group: {name: value}})
    (tmp_path / "auction.toml").write_text(settings)
    with installed(site):
        said = mistake(harbor("auction", "auction.toml", cwd=tmp_path))
        others_work(tmp_path)
    assert f"{kind} '{name}' is brought by the packages 'one' and 'other'; uninstall all but one" in said


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("nowhere:DUTCH", "can't be imported (ModuleNotFoundError: No module named 'nowhere')"),
        ("clock_auction.game:NOBODY", "can't be imported (AttributeError: "),
        ("clock_auction.catalogue:FLOWERS", "is no game, but a Catalogue; give a Game"),
        ("clock_auction.rules:Dutch", "is no game, but <class 'clock_auction.rules.Dutch'>; give a Game"),
        ("clock_auction/game.py", "a path is neither"),
        ("clock_auction/game.py:DUTCH", "a path is neither"),
        ("../game:DUTCH", "a path is neither"),
    ],
)
def test_a_reference_that_leads_to_no_game_is_refused_in_one_line(reference, why, site, tmp_path):
    (tmp_path / "auction.toml").write_text(AUCTION.replace('"bad" }', f'"{reference}" }}'))
    with installed(site):
        said = mistake(harbor("auction", "auction.toml", cwd=tmp_path))
    assert repr(reference) in said
    assert why in said


@pytest.mark.parametrize("reference", ["nowhere:DUTCH", "clock_auction.rules:Dutch", "clock_auction/game.py", "dutch"])
def test_a_reference_of_the_command_line_that_leads_to_no_extension_is_refused_in_one_line(reference, site):
    with installed(site):
        assert repr(reference) in mistake(harbor("--plugin", reference, "list", "games"))


def test_a_node_whose_prompt_can_t_be_filled_is_refused_in_one_line(site, tmp_path):
    code = (
        f"{BAD}\nIT = replace(REFLECT, name='bad', tells='`bad` is it.', prompt=Path(__file__).with_name('bad.md'))\n"
    )
    install(site, "bad-node", {"bad.py": code}, {"harbor.nodes": {"bad": "bad:IT"}})
    (tmp_path / "auction.toml").write_text(THINKING)
    with installed(site):
        said = mistake(harbor("auction", "auction.toml", cwd=tmp_path))
        others_work(tmp_path)
    assert "package 'bad-node' 0.1" in said
    assert "has a prompt that can't be filled" in said
