"""A setting that nobody reads is refused, by what the game, its nodes and who plays a bidder say that they read."""

from __future__ import annotations

from itertools import product

import pytest

from harbor import Bidder
from harbor._config.auction import AuctionConfig
from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.finding import find, names
from harbor._house.people import Person
from harbor._runs.inputs import RunInputs
from harbor._runs.resolve import resolve
from support.clerk import Clerk

OTHER = {
    "planning": "none", "correct_beliefs": False, "theory_of_mind": "inferred", "strategy": "on", "bidding": "limit",
    "chain_of_thought": False, "memory": "list", "learning": True, "believe": False, "predict": False, "reply": "json",
    "context": "dialogue", "facts": "prose", "bounds": "untold", "hints": False, "relative_objective": True,
    "persona_value": 500, "model": "other", "max_bids": 5, "levels": [0.5, 0.5], "objective": "items", "budget": 70,
    "overestimate": 0,
}  # fmt: skip
"""For each setting that not everybody reads, a value that it does not have by default."""
OF_A_GAME = ("objective", "budget", "overestimate")
PLAYERS = {
    "model": {}, "minimum-raise": {"rule": "minimum-raise"}, "random": {"rule": "random"}, "person": {"person": True},
    "agent": {"agent": True},
}  # fmt: skip
PROTOCOL = {"believe", "reply", "context", "facts", "bounds", "hints", "relative_objective"}
MIND = {"planning", "theory_of_mind", "predict", "strategy", "memory", "learning"}
SESSIONS = {*MIND, "chain_of_thought", "model", *PROTOCOL}


def read_by(player: str, game: str) -> set[str]:
    """What the rules of a game and the player read, of the settings that are tried."""
    mind = set(OTHER) - {"max_bids", "levels", *OF_A_GAME} if game == "english" else SESSIONS
    return {*find("game", game).uses, *{"model": mind, "minimum-raise": {"max_bids"}}.get(player, set())}


def refusal(game: str, player: str, setting: str) -> str:
    """What is said of a bidder with this setting; empty: nothing."""
    persona = {"persona": "downsizing"} if setting == "persona_value" else {}
    bidder = Bidder("Alex", **PLAYERS[player], **persona, **{setting: OTHER[setting]})
    given = {"person": {"people": {"Alex": Person()}}, "agent": {"agents": {"Alex": Clerk()}}}.get(player, {})
    try:
        resolve(AuctionConfig(bidders=[bidder], rules={"game": game}, models={"other": {}}), RunInputs(**given))
    except ConfigError as error:
        return str(error)
    return ""


def test_every_setting_of_a_bidder_is_tried():
    everyone = "name persona timeout_seconds rule agent person nodes protocol prompts placebo rivals"
    assert set(Bidder.model_fields) - set(everyone.split()) == set(OTHER)


@pytest.mark.parametrize("game", names("game"))
def test_a_setting_is_refused_where_neither_the_game_nor_the_player_reads_it(game):
    for player, setting in product(PLAYERS, OTHER):
        is_read = setting in read_by(player, game)
        expected = (
            "" if is_read else f"bidder 'Alex' of the game {game!r} has no use for {setting}: neither the game nor"
        )
        if not is_read and setting == "bidding" and player == "model":
            expected = f"bidder 'Alex': the game {game!r} has no words for the node 'limit'; drop bidding 'limit'"
        said = refusal(game, player, setting)
        assert (bool(said), said.startswith(expected)) == (bool(expected), True), (player, setting, said)


@pytest.mark.parametrize("game", sorted({*names("game")} - {"english"}))
def test_a_catalogue_is_refused_in_other_games_than_sales_of_items_but_where_it_has_a_persona(game):
    def config(**bidder):
        return AuctionConfig(
            bidders=[Bidder("Alex", rule="random", **bidder)], rules={"game": game}, catalogue="homes@1"
        )

    with pytest.raises(ConfigError, match=f"the game {game!r} has no use for catalogue; drop it"):
        resolve(config())
    assert resolve(config(persona="downsizing")).bidders[0].personas
