"""What the built-in model answers about all rivals at once: what it answers about them apart, on the same facts."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from harbor._config.auction import Simulated
from harbor._games.english import policy
from harbor._games.english.retelling import retold
from harbor._games.game import Facts, Values
from harbor._games.types_of_play import as_told, at_once

NEWS = ("rivals", "how_far", "next_item", "budget")
"""The facts that the prompts of the thoughts apart have under other names, or lack."""


def rivals(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Say what each rival is like, what it may think of oneself, and how far it will go."""
    profile, mirror, predict = map(retold, (policy.profile, policy.mirror, policy.predict))
    told = {name: fact for name, fact in facts.items() if name not in NEWS}
    plain = {name: fact for name, fact in told.items() if name != "bidding"}

    def ways(bidder: str) -> list[Any]:
        return [way for way in facts["how_far"] if way["bidder"] == bidder]

    def shares(row: Facts) -> list[Values]:
        said, known = [], row["shares"]
        for way in ways(row["rival"]):
            said = profile({**told, **way, "shares": known}, settings, chance)["shares"]
            known = as_told(said, facts["catalog"])
        return said

    def mirrored(rows: Sequence[Facts]) -> list[Values]:
        of_you = [{"rival": row["rival"], "shares": row["shares_of_you"]} for row in rows]
        asked = {**told, "your_bidding": ways(facts["you"]), "shares_of_you": of_you}
        return list(mirror(asked, settings, chance)["profiles"])

    def forecasts(rows: Sequence[Facts]) -> list[Values]:
        money = {"budget": facts["budget"]} if "budget" in facts else {}
        asked = {**plain, **money, "rivals": rows, "item": facts["next_item"]}
        return list(predict(asked, settings, chance)["forecasts"])

    return at_once(facts, shares, mirrored, forecasts)
