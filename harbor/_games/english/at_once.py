"""All rivals at once: what a prompt about them tells, and what the built-in model answers, as it does about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from harbor._config.auction import Simulated
from harbor._games.all_rivals import as_told, at_once
from harbor._games.answering import Row
from harbor._games.bidder_view import View
from harbor._games.english import policy, standing, thought_facts
from harbor._games.english.retelling import retold
from harbor._games.game import Facts, Values

NEWS = ("rivals", "how_far", "next_item", "budget")
"""The facts that the prompts of the thoughts apart have under other names, or lack."""


def told(view: View, items: Sequence[str], asked: Sequence[str], *, mirrors: bool, forecasts: bool) -> Row:
    """Tell how all bid on the items that are over, what is known of the rivals, and what is for sale next."""
    rows = []
    for rival in asked:
        row: Row = {"rival": rival, "spent": standing.spent(view, rival), "shares": _shares(view, view.profiles, rival)}
        rows.append({**row, "shares_of_you": _shares(view, view.mirrors, rival)} if mirrors else row)
    bidders = [*asked, view.name] if mirrors else asked
    known: Row = {
        **thought_facts.with_bidding(view, items),
        "catalog": view.catalog,
        "how_far": [thought_facts.way_of(view, item, bidder) for item in items for bidder in bidders],
        "rivals": rows,
    }
    return {**known, "next_item": view.coming[0].name, **standing.money(view)} if forecasts else known


def _shares(view: View, found: Mapping[str, Any], rival: str) -> dict[str, float]:
    return standing.shares(view, found.get(rival, {}))


def rivals(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Say what each rival is like, what it may think of oneself, and how far it will go."""
    profile, mirror, predict = map(retold, (policy.profile, policy.mirror, policy.predict))
    known = {name: fact for name, fact in facts.items() if name not in NEWS}
    plain = {name: fact for name, fact in known.items() if name != "bidding"}

    def ways(bidder: str) -> list[Any]:
        return [way for way in facts["how_far"] if way["bidder"] == bidder]

    def shares(row: Facts) -> list[Values]:
        said, so_far = [], row["shares"]
        for way in ways(row["rival"]):
            said = profile({**known, **way, "shares": so_far}, settings, chance)["shares"]
            so_far = as_told(said, facts["catalog"])
        return said

    def mirrored(rows: Sequence[Facts]) -> list[Values]:
        of_you = [{"rival": row["rival"], "shares": row["shares_of_you"]} for row in rows]
        asked = {**known, "your_bidding": ways(facts["you"]), "shares_of_you": of_you}
        return list(mirror(asked, settings, chance)["profiles"])

    def forecasts(rows: Sequence[Facts]) -> list[Values]:
        money = {"budget": facts["budget"]} if "budget" in facts else {}
        asked = {**plain, **money, "rivals": rows, "item": facts["next_item"]}
        return list(predict(asked, settings, chance)["forecasts"])

    return at_once(facts, shares, mirrored, forecasts)
