"""The built-in model answers Harbor's own prompts here: each as a paper's prompt, and those about all rivals at once.

Its arithmetic needs facts in the form of the papers' prompts: the coming items, and weights from -1 to 1. So this
module converts the facts of Harbor's own prompts to that form, and converts the replies back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

from harbor._config.auction import Simulated
from harbor._games.bidder_view import View
from harbor._games.english import policy, thought_facts
from harbor._games.game import Facts, Values
from harbor._games.policies import as_told, at_once
from harbor._games.replies import Row
from harbor.personas._catalog.traits import from_percent, in_percent

Answer = Callable[[Facts, Simulated, Random], Values]
Told = Mapping[str, Any]
NOT_LISTED: Told = {"item": "", "start": 0, "estimate": 0}
"""An item of a long sale that is over and no longer listed: its bids are no evidence."""


def retold(answer: Answer) -> Answer:
    """Return a function that answers Harbor's own prompt, from one that answers a paper's prompt."""

    def answered(facts: Facts, settings: Simulated, chance: Random) -> Values:
        if "all_items" not in facts:
            return answer(facts, settings, chance)
        return in_shares(answer(_retold(facts), settings, chance), facts.get("catalog", {}))

    return answered


def in_shares(values: Values, catalog: Iterable[str]) -> Values:
    """Return a reply with shares in percent in place of its weights."""
    if "weights" in values:
        return {**_without(values, "weights"), "shares": _listed(values["weights"], catalog)}
    if "profiles" not in values:
        return values
    told = [{"rival": one["rival"], "shares": _listed(one["weights"], catalog)} for one in values["profiles"]]
    return {**values, "profiles": told}


def _listed(weights: Sequence[Told], catalog: Iterable[str]) -> list[Values]:
    shares = in_percent({one["persona"]: one["weight"] for one in weights}, catalog)
    return [{"persona": one, "share": share} for one, share in shares.items()]


def _retold(facts: Facts) -> Facts:
    """Return the facts in the papers' form: coming items, wins so far, true dollars per estimated dollar, weights."""
    rows, over = {row["item"]: {"start": 0, **row} for row in facts["all_items"]}, list(facts.get("results", ()))
    catalog = facts.get("catalog", {})
    known = {"catalog": {}, **facts} | _to_come(facts, rows, len(over)) | _account(facts, rows, over)
    if "bidding" in facts:
        return {**known, **_records(facts, rows, over, catalog)}
    known |= _true_per_estimate(facts.get("earlier_results"), rows, over)
    if "rivals" in facts:
        known["rivals"] = [_weighed(rival, catalog) for rival in facts["rivals"]]
    return known


def _to_come(facts: Facts, rows: Mapping[str, Told], over: int) -> Values:
    names, priorities = list(rows), facts.get("priorities", {})
    place = names.index(facts["item"]) if facts.get("item") in rows else over
    items = [{**rows[name], **_if_there("priority", priorities.get(name))} for name in names[place:]]
    finished = facts.get("earlier_results", {}).get("number", 0) + place
    known: Values = {"items": items, "items_finished": finished}
    later = facts.get("later_items", {"number": 0, "estimate_total": 0})
    earlier = facts.get("earlier_results", {"number": 0, "estimates": 0})
    total = sum(float(row["estimate"]) for row in rows.values()) + later["estimate_total"] + earlier["estimates"]
    number = earlier["number"] + len(rows) + later["number"]
    return {**known, "mean_estimate": round(total / number, 2)} if rows else known


def _account(facts: Facts, rows: Mapping[str, Told], over: Sequence[Told]) -> Values:
    """Return the money left if the facts lack it, the earlier wins, and the results that are new to a belief."""
    known: Values = {}
    if "belief" in facts and "over" not in facts:
        known["budget"] = facts["belief"]["budget"]
    elif "budget" not in facts and "over" not in facts:
        earlier = facts.get("earlier_results", {}).get("wins", ())
        paid = [float(row["paid"]) for row in earlier if row["bidder"] == facts["you"]]
        paid += [float(row["price"]) for row in over if row["winner"] == facts["you"]]
        known["budget"] = round(float(facts["initial_budget"]) - sum(paid), 2)
    if "over" in facts:
        before = [row for row in over if row["item"] not in facts["over"]]
        wins = [
            {"bidder": row["winner"], "item": row["item"], "price": row["price"]} for row in before if row["winner"]
        ]
        known |= {"belief": {"wins": wins, **facts["belief"]}}
        known |= {"results": [{"true_value": None, **row} for row in over if row["item"] in facts["over"]]}
    if "learnings" in facts:
        known["results"] = [{"true_value": None, **rows[row["item"]], **row} for row in over]
    return known


def _true_per_estimate(earlier: Told | None, rows: Mapping[str, Told], over: Sequence[Told]) -> Values:
    """Return the true dollars per estimated dollar of the items whose true values are known."""
    told = [(row["true_value"], rows[row["item"]]["estimate"]) for row in over if row.get("true_value") is not None]
    told += [(earlier["true_values"], earlier["estimates"])] if earlier and "true_values" in earlier else []
    estimates = sum(estimate for _, estimate in told)
    return {"true_per_estimate": round(sum(value for value, _ in told) / estimates, 4)} if estimates else {}


def _records(facts: Facts, rows: Mapping[str, Told], over: Sequence[Told], catalog: Iterable[str]) -> Values:
    """Return the bidding of the judged bidder, or one's own."""
    bids = {one["item"]: one["bids"] for one in facts["bidding"]}

    def record(way: Told) -> Values:
        names = [row["item"] for row in over]
        before = over[: names.index(way["item"])] if way["item"] in names else over
        return {
            "bidder": way["bidder"],
            **_true_per_estimate(facts.get("earlier_results"), rows, before),
            "item": {"listing": "", **rows.get(way["item"], NOT_LISTED)},
            "bids": bids[way["item"]],
            "declined_at": way.get("declined_at"),
            "won": way["ended"] == "won",
        }

    if "your_bidding" not in facts:
        return {**record(facts), "profile": from_percent(facts["shares"], catalog)}
    of_you = [
        {"rival": one["rival"], "profile": from_percent(one["shares"], catalog)} for one in facts["shares_of_you"]
    ]
    return {"items": [record(way) for way in facts["your_bidding"]], "profiles_of_you": of_you}


def _weighed(rival: Told, catalog: Iterable[str]) -> Values:
    """Return the facts about a rival with weights; an empty profile stays empty."""
    known: Values = {"rival": rival["rival"], "spent": rival["spent"], "profile": _weights(rival["shares"], catalog)}
    return known | ({"profile_of_you": _weights(rival["shares_of_you"], catalog)} if "shares_of_you" in rival else {})


def _weights(shares: Mapping[str, float], catalog: Iterable[str]) -> dict[str, float]:
    return from_percent(shares, catalog) if shares else {}


def _if_there(name: str, value: Any) -> Values:
    return {} if value is None else {name: value}


def _without(values: Values, name: str) -> Values:
    return {key: value for key, value in values.items() if key != name}


NEWS = ("rivals", "how_far", "next_item", "budget")
"""The facts that the prompts of separate thoughts lack or name otherwise."""


def told(view: View, items: Sequence[str], asked: Sequence[str], *, mirrors: bool, forecasts: bool) -> Row:
    """Return everyone's bidding on the items that are over, the facts about the rivals, and the next item."""
    rows = []
    for rival in asked:
        row: Row = {
            "rival": rival,
            "spent": thought_facts.spent(view, rival),
            "shares": _shares(view, view.profiles, rival),
        }
        rows.append({**row, "shares_of_you": _shares(view, view.mirrors, rival)} if mirrors else row)
    bidders = [*asked, view.name] if mirrors else asked
    known: Row = {
        **thought_facts.with_bidding(view, items),
        "catalog": view.catalog,
        "how_far": [thought_facts.way_of(view, item, bidder) for item in items for bidder in bidders],
        "rivals": rows,
    }
    return {**known, "next_item": view.coming[0].name, **thought_facts.money(view)} if forecasts else known


def _shares(view: View, found: Mapping[str, Any], rival: str) -> dict[str, float]:
    return thought_facts.shares(view, found.get(rival, {}))


def rivals(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Return, for each rival, its profile, its likely profile of this bidder, and a forecast of its limit."""
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
