"""Believe: after an item, update the belief about the auction; the truth corrects it.

Source: Chen et al. 2023, sec. 3.2 (belief update and belief correction).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from harbor._core.thoughts import Belief, Believed, Win
from harbor._models.simulated import answers
from harbor.graphs._context import facts
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import BeliefReply
from harbor.memory._bidder.auction_view import AuctionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import BidderState, NodeContext, Update


async def believe(state: BidderState, context: NodeContext) -> Update:
    """Ask for the new belief, count its errors, and keep the truth (or, without correction, what the model said)."""
    view = state["view"]
    news = view.results[view.believed :]  # more than one if an earlier update failed
    before, earlier = view.belief or _at_the_opening(view), facts.long_over(view.results[: view.believed])
    known = {"belief": facts.belief(before, earlier), "results": [facts.outcome(result) for result in news]}
    reply = _as_belief(await context.ask(context.prompt(view, known), BeliefReply))
    truth, said = view.truth(), _apart(reply, earlier)[1]
    wrong, fields = compare(said, _apart(truth, earlier)[1], view.name)
    return context.emit(
        Believed(
            bidder=view.name,
            closed=tuple(result.item for result in news),
            said=said,
            errors_self=wrong[True],
            errors_others=wrong[False],
            fields_self=fields[True],
            fields_others=fields[False],
            held=truth if context.switches.correct_beliefs else _joined(_apart(before, earlier)[0], said),
        )
    )


def compare(said: Belief, truth: Belief, me: str) -> tuple[dict[bool, int], dict[bool, int]]:
    """Compare a belief with the truth, field by field.

    Fields are the own budget, every bidder's profit, and every item won (by the truth or as said) with its price.
    Names are compared exactly.

    Returns:
        wrong fields and all fields, each by whether they are about `me`.
    """
    wrong, fields = {True: 0, False: 0}, {True: 0, False: 0}

    def field(mine: bool, right: bool) -> None:
        fields[mine] += 1
        wrong[mine] += not right

    field(True, said.budget == truth.budget)
    for bidder, profit in truth.profits.items():
        field(bidder == me, said.profits.get(bidder) == profit)
    for bidder in {**truth.wins, **said.wins}:
        mine, theirs = set(truth.wins.get(bidder, ())), set(said.wins.get(bidder, ()))
        for item in {win.item for win in mine | theirs}:
            prices = [{win.price for win in wins if win.item == item} for wins in (mine, theirs)]
            field(bidder == me, prices[0] == prices[1])
    return wrong, fields


def _at_the_opening(view: AuctionView) -> Belief:
    profits = {bidder: Decimal(0) for bidder in view.bidders} if view.values_revealed else {}
    return Belief(budget=view.initial_budget, profits=profits, wins={})


def _apart(belief: Belief, items: Collection[str]) -> tuple[Belief, Belief]:
    """Give a belief with its wins of these items alone, and with the others alone."""

    def part(among: bool) -> Belief:
        kept = {name: tuple(win for win in won if (win.item in items) == among) for name, won in belief.wins.items()}
        return replace(belief, wins={name: won for name, won in kept.items() if won})

    return part(True), part(False)


def _joined(earlier: Belief, later: Belief) -> Belief:
    """Give the later belief with the wins of the earlier one before its own."""
    bidders = {**earlier.wins, **later.wins}
    return replace(later, wins={name: (*earlier.wins.get(name, ()), *later.wins.get(name, ())) for name in bidders})


def _as_belief(reply: BeliefReply) -> Belief:
    wins: dict[str, list[Win]] = defaultdict(list)
    for win in reply.wins:
        wins[win.bidder].append(Win(win.item, win.price))
    return Belief(
        budget=reply.budget,
        profits={belief.bidder: belief.profit for belief in reply.profits},
        wins={bidder: tuple(won) for bidder, won in wins.items()},
    )


BELIEVE = ThoughtNode(
    name="believe",
    description="after an item, update the belief about the auction",
    occasions=("closed",),
    event=Believed,
    needs=("recall",),
    view=AuctionView,
    uses=("correct_beliefs",),
    prompt=PROMPTS / "believe.md",
    reply=BeliefReply,
    answer=answers.believe,
    run=believe,
)
