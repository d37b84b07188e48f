"""How the events of the beauty contest are read back from what the auctioneer says of them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from harbor._core.events import Event
from harbor._core.parsing import NUMBER
from harbor._games.beauty.rules import BeautyOpened, PrizeAwarded
from harbor._games.said import MORE, MOST, Moment, Reader, each
from harbor._games.sessions.heard import RUN_IS_OVER, of_session


def prize_awarded(text: str, moment: Moment) -> Event | None:
    """Read how a contest went, as much of it as is shown."""
    over = RUN_IS_OVER.match(text)
    if over is None:
        return None
    who = moment.anybody
    picks, at = each(rf"(?P<who>{who}) picked (?:nothing|(?P<number>{NUMBER}))\.", text, over.end())
    won, _ = each(rf"The target was (?P<target>{NUMBER}): (?P<winners>(?:{who})(?: and (?:{who}))*) won\.", text, at)
    return PrizeAwarded(
        f"r{over['run']}",
        {one["who"]: Decimal(one["number"]) if one["number"] else None for one in picks},
        tuple(won[0]["winners"].split(" and ")) if won else (),
        Decimal(won[0]["target"]) if won else None,
    )


HEARD: tuple[Reader, ...] = (
    *of_session(BeautyOpened, assets=False, bound=MORE, fraction=Fraction(901, 907), prize=MOST),
    prize_awarded,
)
