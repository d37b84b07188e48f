"""How the events of the water game are read back from what the auctioneer says of them."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache

from harbor._core.events import Event
from harbor._games.said import MONEY, NAME, SOME, Moment, Reader, each, examples, money_in
from harbor._games.water.rules import DayClosed, DayOpened, Status, WaterOpened

_PERSON = re.compile(rf"(?P<who>{NAME}) needs (?P<need>\d+) units a day and earns (?P<salary>{MONEY})(?:; |$)")
_NUMBERS = {"days": "911", "least": "921", "most": "931", "mean": "941"}


@cache
def _opening() -> re.Pattern[str]:
    """Make the pattern of the opening from an example."""
    example = WaterOpened({"§name": 951}, {"§name": SOME}, 911, 921, 931, 941.0)
    pattern = re.escape(example.words).replace(re.escape(example.sentences()[1]), r"(?P<people>.+?)\.", 1)
    for name, number in _NUMBERS.items():
        pattern = pattern.replace(number, rf"(?P<{name}>[\d.e+]+)", 1)
    return re.compile(pattern)


def water_opened(text: str, moment: Moment) -> Event | None:  # noqa: ARG001
    """Read the opening."""
    found = _opening().match(text)
    if found is None:
        return None
    people = list(_PERSON.finditer(found["people"]))
    return WaterOpened(
        {one["who"]: int(one["need"]) for one in people},
        {one["who"]: money_in(one["salary"]) for one in people},
        int(found["days"]),
        int(found["least"]),
        int(found["most"]),
        float(found["mean"]),
    )


def day_closed(text: str, moment: Moment) -> Event | None:
    """Read how a day went; of a resident that is eliminated, health is all that is told."""
    who = rf"(?P<who>{moment.anybody})"
    bids, at = each(
        rf"{who} (?:makes no bid|bids (?P<bid>{MONEY}): (?P<verdict>above its balance|served|not served))\.", text, 0
    )
    told, _ = each(
        rf"{who} has health (?P<health>\d+) and (?P<balance>{MONEY}); a dry day would cost (?P<dry>\d+)\."
        rf"|(?P<gone>{moment.anybody}) is eliminated\.|You are eliminated, and out of the game\.",
        text,
        at,
    )
    if not bids or not told:
        return None
    verdicts = {one["who"]: one["verdict"] for one in bids}
    return DayClosed(
        moment.item,
        {one["who"]: money_in(one["bid"]) if one["bid"] else None for one in bids},
        tuple(name for name, verdict in verdicts.items() if verdict == "above its balance"),
        tuple(name for name, verdict in verdicts.items() if verdict == "served"),
        {one["who"] or one["gone"] or moment.bidder: _status(one) for one in told},
    )


def _status(told: re.Match[str]) -> Status:
    if not told["who"]:
        return Status(0, Decimal(0), 0)
    return Status(int(told["health"]), money_in(told["balance"]), int(told["dry"]))


HEARD: tuple[Reader, ...] = (
    water_opened,
    *examples(DayOpened("day §number", 911), said=lambda event: getattr(event, "words", "")),
    day_closed,
)
