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


def test_a_game_without_personas_takes_nothing_from_a_catalogue_and_a_model_given_as_an_object_has_its_name():
    for bidder, given, part in (
        (Bidder("Alex", rule="random"), {}, harbors("policy", "random")),
        (Bidder("Alex", model="mine"), {"models": {"mine": SimulatedChat()}}, harbors("model", "simulated")),
    ):
        auction = Auction(bidders=[bidder], rules={"game": "water", "days": 1})
        assert parts(auction, **given) == [harbors("game", "water"), part]
