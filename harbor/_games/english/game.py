"""The ascending auction as one value; its bidders think with nodes that bring their own prompts."""

from __future__ import annotations

from harbor._config.auction import AuctionConfig
from harbor._core.events import (
    ItemOpened,
    ItemSold,
    ItemUnsold,
    Lot,
    PriceLowered,
    RoundClosed,
    SaleOpened,
    ValueRevealed,
)
from harbor._games.english import measures
from harbor._games.english.rules import English, ValuedLot
from harbor._games.english.settings import EnglishRules
from harbor._games.game import Game, Measures
from harbor._games.policies import Truthful


def build(rules: EnglishRules, config: AuctionConfig) -> English:
    """Build the rules for the items that are listed."""
    listed = config.items if isinstance(config.items, tuple) else ()
    items = tuple(ValuedLot(Lot(item.name, item.start, item.listing), item.true_value) for item in listed)
    return English(items, {bidder.name: bidder.budget for bidder in config.bidders}, rules)


ENGLISH = Game(
    name="english",
    description="items are sold one after another to the highest bid, under budgets",
    settings=EnglishRules,
    build=build,
    opening=SaleOpened,
    events=(SaleOpened, ItemOpened, PriceLowered, RoundClosed, ItemSold, ItemUnsold, ValueRevealed),
    nodes=(
        "recall",
        "plan",
        "profile",
        "mirror",
        "predict",
        "strategize",
        "bid",
        "fused",
        "limit",
        "believe",
        "replan",
        "learn",
        "remember",
    ),
    rational=Truthful().decide,
    measures=Measures("items", measures.standings, measures.items),
    uses=("items", "profile_over", "series", "budget", "objective", "overestimate"),
)
