"""How the built-in model answers about all rivals at once: as it answers about each, on the same facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from harbor._config.auction import Simulated
from harbor._games import types_of_play
from harbor._games.types_of_play import Facts, Values
from harbor.personas._catalog import traits


def rivals(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Say what each rival is like, what it may think of oneself, and what it will bid, as `profile` and so on do."""
    told = {name: fact for name, fact in facts.items() if name not in ("profiles", "profiles_of_you", "rivals")}

    def shares(row: Facts) -> list[Values]:
        known = {**told, "bidder": row["rival"], "shares_so_far": row["shares"]}
        known["records"] = compared(facts["records"], row["rival"])
        return list(types_of_play.profile(known, settings, chance)["shares"])

    def mirrored(rows: Sequence[Facts]) -> list[Values]:
        of_you = [{"rival": row["rival"], "shares_so_far": row["shares_of_you"]} for row in rows]
        known = {**told, "bidder": facts["you"], "profiles_of_you": of_you}
        known["records"] = compared(facts["records"], facts["you"])
        return list(types_of_play.mirror(known, settings, chance)["profiles"])

    def forecasts(rows: Sequence[Facts]) -> list[Values]:
        found = {"profiles": {row["rival"]: row["shares"] for row in rows}}
        found |= {"profiles_of_you": {row["rival"]: row["shares_of_you"] for row in rows if "shares_of_you" in row}}
        asked = [{**row, "bid_before": _bid_before(facts["records"], row["rival"])} for row in rows]
        return list(types_of_play.predict({**told, **found, "rivals": asked}, settings, chance)["forecasts"])

    return at_once(facts, shares, mirrored, forecasts)


def at_once(
    facts: Facts,
    shares: Callable[[Facts], list[Values]],
    mirrored: Callable[[Sequence[Facts]], list[Values]],
    forecasts: Callable[[Sequence[Facts]], list[Values]],
) -> Values:
    """Answer about all rivals at once, with the functions that answer about them apart.

    Forecasts are made of what has just been found out, to a tenth of a percent, as later prompts tell it.
    """
    rows = [dict(row) for row in facts["rivals"]]
    said: list[Values] = [{"rival": row["rival"], "shares": shares(row)} for row in rows]
    if all("shares_of_you" in row for row in rows):
        said = [{**one, "shares_of_you": of["shares"]} for one, of in zip(said, mirrored(rows), strict=True)]
    if "next_item" in facts:
        names, catalog = ("shares", "shares_of_you"), facts["catalog"]
        found = [{name: as_told(one[name], catalog) for name in names if name in one} for one in said]
        told = [{**row, **news} for row, news in zip(rows, found, strict=True)]
        said = [{**one, **forecast} for one, forecast in zip(said, forecasts(told), strict=True)]
    return {"reasons": "I judge by what each did and by what it did before.", "rivals": said}


def as_told(shares: Sequence[Facts], catalog: Mapping[str, str]) -> dict[str, float]:
    """Return the shares of a reply as later prompts tell them."""
    said = {one["persona"]: one["share"] for one in shares}
    return traits.in_percent(traits.from_percent(said, catalog), catalog)


def compared(records: Sequence[Facts], bidder: str) -> list[Values]:
    """Tell with what the type of one bidder compares its bids in each part, where all bidders are told of at once."""
    found = []
    for record in records:
        acts = sorted(record["acts"], key=lambda act: act["bidder"] != bidder)  # where it did nothing, any will do
        worth = record.get("compared_with") or next(
            (act["compared_with"] for act in acts if "compared_with" in act), None
        )
        found.append({**record, **({"compared_with": worth} if worth else {})})
    return found


def _bid_before(records: Sequence[Facts], rival: str) -> list[Values]:
    return [
        {"item": record["item"], "amount": act["amount"]}
        for record in records
        for act in record["acts"]
        if act["bidder"] == rival
    ]
