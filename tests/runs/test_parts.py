"""A log names every extension that its run is made of, and the package that it comes from."""

from __future__ import annotations

from importlib.metadata import version

from harbor import Auction, Bidder, SimulatedChat, of_type
from harbor._core.log.events import LogOpened
from harbor._core.plugins.extensions import HARBOR
from support.plugins import install, installed

PACKAGE = """
from harbor import Model, SimulatedChat
from harbor._core.log.players import Policy
from harbor.games import Bid, ScriptedPolicy

class Minimum(Policy):
    def decide(self, ask, seen):
        return Bid(ask.minimum)

POLICY = ScriptedPolicy(name="mine", description="bids the minimum", make=lambda table: Minimum())
CHAT = Model(name="chat", description="a copy of the built-in one", make=lambda settings, seed: SimulatedChat())
"""
POINTS = {"harbor.policies": {"mine": "brought:POLICY"}, "harbor.models": {"chat": "brought:CHAT"}}


def parts(auction: Auction, **given) -> list[tuple[str, str, str, str]]:
    [opened] = of_type(auction.run(**given).log, LogOpened)
    return [(one.kind, one.name, one.package, one.version) for one in opened.parts]


def harbors(kind: str, name: str) -> tuple[str, str, str, str]:
    return kind, name, HARBOR, version(HARBOR)


def test_a_log_names_the_game_the_policies_the_models_and_the_catalogue(tmp_path):
    bidders = [Bidder("Ann", model="chat"), Bidder("Ben", rule="mine"), Bidder("Cho", rule="random"), Bidder("Dee")]
    with installed(install(tmp_path, "brought", {"brought.py": PACKAGE}, POINTS, "2.3")):
        assert parts(Auction(items={"count": 1}, bidders=bidders)) == [
            harbors("game", "english"), ("policy", "mine", "brought", "2.3"), harbors("policy", "random"),
            ("model", "chat", "brought", "2.3"), harbors("model", "simulated"), harbors("catalogue", "homes@1"),
        ]  # fmt: skip


def test_a_game_without_items_and_personas_takes_nothing_from_a_catalogue():
    auction = Auction(bidders=[Bidder("Alex", rule="random")], rules={"game": "water", "days": 1})
    assert parts(auction) == [harbors("game", "water"), harbors("policy", "random")]


def test_a_built_in_model_that_is_given_as_an_object_is_named_as_the_built_in_one():
    auction = Auction(bidders=[Bidder("Alex", model="mine")], rules={"game": "water", "days": 1})
    assert parts(auction, models={"mine": SimulatedChat()}) == [harbors("game", "water"), harbors("model", "simulated")]
