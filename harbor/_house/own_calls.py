"""The action space that a call of Harbor's tells, read back from its words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from harbor._core.amounts import Amount, Number, Quantity
from harbor._core.bundles import Bundle
from harbor._core.offers import AcceptOrWait, Choice, Words
from harbor._core.parsing import NUMBER
from harbor._core.spaces import Space
from harbor._games.said import MONEY, money_in

Found = re.Match[str]
_JSON = r'"(?:[^"\\]|\\.)*"'
_WITHIN = rf"at least (?P<least>{MONEY}) and at most (?P<most>{MONEY})"
_BID = r"Say 'I bid \$<amount>' or 'I withdraw'\."


def _amount(found: Found) -> Amount:
    least, most = money_in(found["least"]), money_in(found["most"])
    return Amount(least, most, money_in(found["step"])) if found["step"] else Amount(least, most)


def _bundle(found: Found) -> Bundle:
    items = tuple(json.loads(name) for name in re.findall(_JSON, found["items"]))
    return Bundle(items, money_in(found["most"]), money_in(found["least"]))


def _choice(found: Found) -> Choice:
    """Read the options, whose quotes are not escaped: one that holds '", "' is read as two, and then said otherwise."""
    return Choice(tuple(found["options"][1:-1].split('", "')))


CALLS: tuple[tuple[re.Pattern[str], Callable[[Found], Any]], ...] = tuple(
    (re.compile(rf"(?:(?P<note>.*); )?{pattern}", re.DOTALL), make)
    for pattern, make in (
        (rf"exactly (?P<price>{MONEY})\. {_BID}", lambda found: Amount(*[money_in(found["price"])] * 2)),
        (
            rf"{_WITHIN}(?: in steps of (?P<step>{MONEY}))?\. {_BID}",
            _amount,
        ),
        (
            rf"a number from (?P<least>{NUMBER}) to (?P<most>{NUMBER})\. Say 'I choose <number>' or 'I withdraw'\.",
            lambda found: Number(Decimal(found["least"]), Decimal(found["most"])),
        ),
        (
            rf"a whole number of units from (?P<least>{NUMBER}) to (?P<most>{NUMBER})\. Say 'I take <number> units'\.",
            lambda found: Quantity(*(int(found[one].replace(",", "")) for one in ("least", "most"))),
        ),
        (
            rf"the price is (?P<price>{MONEY})\. Say 'I accept' or 'I wait'\.",
            lambda found: AcceptOrWait(money_in(found["price"])),
        ),
        (r"choose one of: (?P<options>\".*\")\. Say 'I choose <option>'\.", _choice),
        (
            rf"one bid for one or more of (?P<items>{_JSON}(?:, {_JSON})*), {_WITHIN}\."
            r" Say 'I bid \$<amount> for \"<item>\" and \"<item>\"' or 'I withdraw'\.",
            _bundle,
        ),
        (
            rf"say what you want to say, in at most (?P<longest>{NUMBER}) characters\.",
            lambda found: Words(int(found["longest"].replace(",", ""))),
        ),
    )
)


def space_in(words: str) -> tuple[str, Space] | None:
    """Read the end of a call: the note to its bidder, which may be empty, and the space; None if it is none."""
    for pattern, make in CALLS:
        if found := pattern.fullmatch(words):
            try:
                return found["note"] or "", make(found)
            except (ValueError, ArithmeticError):
                return None
    return None
