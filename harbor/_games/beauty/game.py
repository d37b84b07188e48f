"""The beauty contest as one value."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from importlib.resources import files

from harbor._config.auction import AuctionConfig
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.numbers import stream
from harbor._core.log.acts import Paid, PaidSealed
from harbor._games.beauty import rules as contest
from harbor._games.beauty.rules import GROUPS, Beauty, BeautyOpened, PrizeAwarded
from harbor._games.beauty.settings import BeautyRules
from harbor._games.game import Game, Measures, Play, Seen
from harbor._games.sessions import facts
from harbor._games.sessions.facts import SessionBoard
from harbor._games.sessions.measures import standings
from harbor._games.sessions.session import RunLabelled, RunOpened
from harbor._games.types_of_play import OF_STEPS


def build(rules: BeautyRules, config: AuctionConfig) -> Beauty:
    """Build the rules; with a group, draw the bound."""
    drawn = Decimal(stream(config.seed, "bound").randrange(*GROUPS[rules.group])) if rules.group else rules.bound
    return Beauty(tuple(bidder.name for bidder in config.bidders), rules, drawn)


def from_public(rules: BeautyRules, events: Seen) -> Beauty:
    """Make the rules from the settings, and from the bidders and the bound of the opening event."""
    opened = next(event for event in events if isinstance(event, BeautyOpened))
    return Beauty(opened.bidders, rules, opened.bound)


BEAUTY = Game(
    name="beauty",
    description="everyone picks a number, and the one closest to a fraction of the mean wins a prize",
    settings=BeautyRules,
    build=build,
    opening=BeautyOpened,
    events=(BeautyOpened, RunOpened, Paid, PaidSealed, PrizeAwarded, RunLabelled),
    types=OF_STEPS,
    play=Play(
        facts=contest.standing,
        outlook=facts.outlook,
        yardstick=contest.reference,
        system=files("harbor._games.sessions") / "system.md",
        prompt=files("harbor._games.beauty") / "bid.md",
        policy=contest.policy,
        plan=contest.PLAN,
        forecast=contest.forecast,
        reply=BidReply,
        stays=(*facts.STAYS, "bound", "fraction"),
        heeds_personas=False,
    ),
    rational=contest.rational,
    level=contest.level,
    measures=Measures("runs", standings, contest.contests),
    unit="number",
    from_public=from_public,
    board=partial(SessionBoard, in_dollars=False),
)
