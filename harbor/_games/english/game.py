"""The ascending auction as one value; its bidders think with nodes that bring their own prompts."""

from __future__ import annotations

from harbor._config.auction import AuctionConfig
from harbor._core.asks import Ask, Bid, Withdraw
from harbor._core.decisions import BidReply
from harbor._core.events import Lot
from harbor._core.outcomes import Allocated, Paid
from harbor._games.english import measures, policy
from harbor._games.english.board import EnglishBoard
from harbor._games.english.events import (
    ItemOpened,
    ItemSold,
    ItemUnsold,
    PriceLowered,
    RoundClosed,
    SaleOpened,
    ValueRevealed,
)
from harbor._games.english.from_public import from_public
from harbor._games.english.rules import English, ValuedLot
from harbor._games.english.settings import EnglishRules
from harbor._games.english.standing import STAYS, explains, standing
from harbor._games.english.thoughts import PROMPTS, THOUGHTS
from harbor._games.game import Game, Measures, Play, Seen
from harbor._games.revealed import estimates_of, truth_per_estimate, values_of


def build(rules: EnglishRules, config: AuctionConfig) -> English:
    """Build the rules for the items that are listed."""
    listed = config.items if isinstance(config.items, tuple) else ()
    items = tuple(ValuedLot(Lot(item.name, item.start, item.listing), item.true_value) for item in listed)
    return English(items, {bidder.name: bidder.budget for bidder in config.bidders}, rules)


def rational(ask: Ask, seen: Seen) -> Bid | Withdraw:
    """Bid the minimum up to what the item is expected to be worth; never buy at a loss that could be foreseen.

    True values are common to all, and a bidder's estimates miss them by one share that it is not told: who bids up to
    the estimate itself falls to the winner's curse. A revealed true value, over one's own estimate of that item, tells
    the share; from then on the expected worth is known but for rounding. Before, nothing tells how high an estimate
    leans, so it bids the starting price, where that is not above the estimate, and raises nobody. If true values are
    never revealed, this holds for the whole sale. Budgets it leaves out of account: see the policy "knapsack".
    """
    estimates = estimates_of(seen)
    share = truth_per_estimate(estimates, values_of(seen))
    worth = estimates[ask.item] * (1 if share is None else share)
    willing = ask.minimum <= worth and (share is not None or ask.round == 1)
    return Bid(ask.minimum) if willing else Withdraw()


ENGLISH = Game(
    name="english",
    description="items are sold one after another to the highest bid, under budgets",
    settings=EnglishRules,
    build=build,
    opening=SaleOpened,
    events=(SaleOpened, ItemOpened, PriceLowered, RoundClosed, Allocated, Paid, ItemSold, ItemUnsold, ValueRevealed),
    types=(),
    play=Play(
        facts=lambda name, seen: {},  # noqa: ARG005 its thoughts tell all themselves
        system=PROMPTS / "system.md",
        prompt=PROMPTS / "bid.md",
        policy=policy.bid,
        plan="Spend the money on the items that are worth most for their probable price.",
        thoughts=THOUGHTS,
        tells=("objective", "persona_value", "recall", "profile", "mirror", "predict", "strategize"),
        reply=BidReply,
        stays=STAYS,
        explains=explains,
        standing=standing,
    ),
    rational=rational,
    measures=Measures("items", measures.standings, measures.items, public=True),
    uses=("items", "profile_over", "series", "budget", "objective", "overestimate"),
    from_public=from_public,
    acts="open",
    draws="open",
    board=EnglishBoard,
)
