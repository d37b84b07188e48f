"""The information that an agent or a mind has about a game, as one set: the sentences of its rules and facts by name.

The sayings below parse words. A sentence that matches none of them counts as a sentence of the rules, so that every
sentence is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from harbor._core.basics.numbers import dollars
from harbor._core.prompts.prompts import facts_in
from harbor._models.calls.prompt import Prompt

WHO, MONEY = "[A-Z][a-z]+(?: [A-Z][a-z]+)*", r"\$[\d,]+(?:\.\d\d)?"
WHAT = rf"(?:(?:run|day) \d+|{WHO})"
OPENS = f"(?P<item>{WHAT}) opens at {MONEY}, in steps of at least (?P<increment>{MONEY})"
SAYINGS = (
    OPENS,
    r"(?P<item>(?:Run|Day) \d+) begins",
    f"your budget is (?P<initial_budget>{MONEY}), and your objective is: (?P<objective>[a-z]+)",
    f"(?P<of>{WHO}) (?P<estimate>{MONEY})",
    "Welcome, (?P<bidders>[^;.]+)",
    f"(?P<of>{WHO}) from (?P<start>{MONEY})",
    f"(?P<of>{WHAT}) is worth (?P<value>{MONEY}) to you",
    r"(?P<supply>\d+) units of water are supplied\.",
    f"(?P<act>^{WHO} (?:bids {MONEY} on|is out of) {WHAT})\\.$",
    f"(?P<leader>{WHO}) leads on",
    f"(?P<of>{WHAT}) is sold to (?P<winner>{WHO}) for (?P<price>{MONEY})",
    f"(?P<winner>{WHO}) wins and pays (?P<price>{MONEY})",
    f"(?P<of>{WHAT}) was worth (?P<true_value>{MONEY})",
    f"(?P<served>{WHO}(?: and {WHO})*) (?:is|are) served",
    rf"(?P<of>{WHO}) has health (?P<health>\d+) and (?P<balance_before_salary>{MONEY}); "
    r"a dry day would cost (?P<health_lost_if_dry>\d+)",
    f"(?P<you>{WHO}), your call on (?P<item>{WHAT}): .*at least (?P<minimum>{MONEY}) and at most (?P<budget>{MONEY})",
    r"^Run \d+ is over\.|^Say 'I bid \$<amount>' or 'I withdraw'\.",
)
"""Patterns of sentences that state facts. `of` is the subject of the fact."""
RULES_THAT_TELL = (
    f"you have (?P<assets>{MONEY}) to spend",
    rf"(?P<of>{WHO}) needs (?P<need>\d+) units a day and earns (?P<salary>{MONEY})",
    rf"Everybody begins with (?P<each_health>\d+) health and (?P<each_balance_before_salary>{MONEY})",
    r"loses health: (?P<each_health_lost_if_dry>\d+) on the first dry day",
)
"""Patterns of rule sentences that state facts. `each` is any resident that needs something."""
OF_NOW = {"supply", "winner", "price", "served", "value"}
"""Facts about the current item, run or day, unless another subject is named."""
ALSO_CALLED = {
    "players": "bidders",
    "winners": "winner",
    "run": "item",
    "today": "item",
    "supply_today": "supply",
    "maximum": "budget",
}
FOLLOWS = {"runs_left", "days_left", "value_is_above_assets", "action", "won", "assets_at_end", "paid", "fee"}
"""Facts that follow from others, and that the program computes for a mind."""
ASKED_HOW = {"rules", "game", "task", "give_reasons", "listing", "round"}
"""Facts about a mind's request, and facts that agents get as data beside the words: listings and rounds of bids."""


class Told:
    """The information that one listener has so far."""

    def __init__(self) -> None:
        self.rules: set[str] = set()
        self.acts: set[str] = set()
        self.facts: dict[str, object] = {}

    @property
    def all(self) -> set[str]:
        """Return the information as one set."""
        return self.rules | self.acts | {f"{name}: {fact}" for name, fact in self.facts.items()}

    def hear(self, words: str) -> None:
        """Read sentences. Skip bids on earlier items in an ascending auction, which a mind gets in other thoughts."""
        for sentence in re.split(r"(?<=\.) (?=[A-Z])", words):
            if re.search(OPENS, sentence):
                self.acts.clear()
                self.facts.pop("leader", None)
            said = [found for saying in SAYINGS for found in re.finditer(saying, sentence)]
            if not said:
                self.rules.add(sentence)
                said = [found for saying in RULES_THAT_TELL for found in re.finditer(saying, sentence)]
            for found in said:
                self._take(found.groupdict())

    def row(self, facts: Mapping[str, Any]) -> None:
        """Read a row of a list: first its subject, then its facts."""
        (_, of), *rest = facts.items()
        for name, fact in rest:
            if name in {"bids", "actions"}:
                for who, amount in fact.items():
                    self.did(who, amount, of)
            else:
                self.fact(name, fact, of)

    def did(self, who: str, amount: float | None, item: str) -> None:
        """Read an act of a bidder."""
        out = amount is None
        self.acts.add(f"{who} is out of {item}" if out else f"{who} bids {dollars(Decimal(str(amount)))} on {item}")

    def fact(self, name: str, fact: Any, of: str = "") -> None:
        """Read a fact. Skip one that is None."""
        name = ALSO_CALLED.get(name, name)
        if name in OF_NOW and not of:
            of = str(self.facts["item"])
        if name not in FOLLOWS | ASKED_HOW and fact not in (None, [], {}):
            self.facts[f"{name} of {of}" if of else name] = _plain(fact)

    def _take(self, said: Mapping[str, str]) -> None:
        of = said.get("of", "")
        for name, fact in said.items():
            if name == "act":
                self.acts.add(fact)
            elif name.startswith("each_"):
                for about in [key.removeprefix("need of ") for key in self.facts if key.startswith("need of ")]:
                    self.fact(name.removeprefix("each_"), fact, about)
            elif name != "of":
                self.fact(name, fact, of)


def told_in(words: str) -> set[str]:
    """Return all that an agent has heard."""
    told = Told()
    told.hear(words)
    return told.all


def told_by(prompt: Prompt) -> set[str]:
    """Return all that a prompt tells a mind."""
    told, facts = Told(), facts_in(f"{prompt.system}\n{prompt.human}")
    told.hear(facts["rules"])
    told.fact("item", item := facts.get("item") or facts.get("run") or facts["today"])
    for name, fact in facts.items():
        match fact:
            case [{"bidder": _, "amount": _}, *_]:
                for bid in fact:
                    told.did(bid["bidder"], bid["amount"], item)
            case [{}, *_]:
                for row in fact:
                    told.row(row)
            case _ if name == "withdrawn":
                for who in fact:
                    told.did(who, None, item)
            case _:
                told.fact(name, fact)
    return told.all


def _plain(fact: Any) -> object:
    """Normalize a fact: amounts become numbers, and a list of names becomes a list in words."""
    if isinstance(fact, Sequence) and not isinstance(fact, str):
        return _plain(", ".join(fact))
    if isinstance(fact, str):
        written = fact.removeprefix("$").replace(",", "")
        if re.fullmatch(r"[\d.]+", written):
            return float(written)
        return re.sub("^(Run|Day) ", lambda found: found[0].lower(), fact).replace(" and ", ", ")
    return float(fact)
