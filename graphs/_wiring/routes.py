"""Who thinks when: which nodes of a bidder's graph an occasion leads to, of those that are switched on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from langgraph.graph import END

from harbor._config.auction import MindSettings
from harbor._core.asks import Ask, Pause
from harbor.graphs._context.context import BidderState
from harbor.memory._bidder.auction_view import AuctionView

ABOUT_RIVALS = ("profile", "mirror", "predict")


@dataclass(frozen=True)
class Routes:
    """The ways through a graph of these nodes.

    A thought that needs what another one concludes comes in the step after it; all others run side by side. The three
    choices are asynchronous, as a synchronous one would cost a thread hop.
    """

    switches: MindSettings
    nodes: Sequence[str]

    def present(self, *names: str) -> list[str]:
        """Give those of these nodes that are switched on."""
        return [name for name in names if name in self.nodes]

    @property
    def bidding(self) -> list[str]:
        """What answers a call, one after another."""
        return self.present("strategize", "bid")

    @property
    def closing(self) -> list[str]:
        """What looks back when all is over, one after another."""
        return self.present("learn", "remember")

    @property
    def opening(self) -> list[str]:
        """What looks ahead before the first item."""
        return self.present("plan", "predict")

    @property
    def updates(self) -> list[str]:
        """What takes an item in that has closed."""
        return self.present("believe", "profile", "mirror")

    @property
    def unblocked(self) -> list[str]:
        """What looks ahead beside that."""
        return [name for name in self.present("replan", "predict") if name not in self._blocked]

    @property
    def blocked(self) -> list[str]:
        """What looks ahead once that is done."""
        return [name for name in self.present("replan", "predict") if name in self._blocked]

    @property
    def pausing(self) -> list[str]:
        """Where a pause may lead."""
        return list(dict.fromkeys([*self.opening, *self.updates, *self.unblocked, END]))

    @property
    def entry_points(self) -> list[str]:
        """Where the graph may be entered."""
        return [self.bidding[0], *self.present("recall"), *self.closing[:1], *self.pausing]

    async def route_entry(self, state: BidderState) -> list[str]:
        """Choose where to enter: a bid is wanted, all is over, an item has closed, or the sale is about to begin."""
        ask = state["ask"]
        if isinstance(ask, Ask):
            return self.bidding[:1]
        if ask.over:
            return self.closing[:1] or [END]
        return ["recall"] if self._recalls(ask, state["view"]) else await self.thoughts(state)

    async def thoughts(self, state: BidderState) -> list[str]:
        """Choose what to think about at a pause: the item that has closed, or the sale that is about to begin."""
        view = state["view"]
        closed = cast(Pause, state["ask"]).closed
        return _social(view, [*self.updates, *_if_worthwhile(view, self.unblocked)] if closed else self.opening)

    async def route_after_belief(self, state: BidderState) -> list[str]:
        """Go on from what was concluded about the item that has closed."""
        return _social(state["view"], _if_worthwhile(state["view"], self.blocked))

    @property
    def _blocked(self) -> set[str]:
        """Name the thoughts after an item that wait for others.

        Replanning and predicting wait for the profiles they are made from. Replanning waits for the belief only where
        it is not corrected: with correction the belief that is handed on is the truth, whatever is said.
        """
        waiting = {"replan", "predict"} if self.switches.profiles else set()
        return waiting if self.switches.correct_beliefs else {*waiting, "replan"}

    def _recalls(self, pause: Pause, view: AuctionView) -> bool:
        """Say whether to recall at a pause: before each item, or once where what is recalled is always the same."""
        if "recall" not in self.nodes or not view.coming:
            return False
        return not pause.closed or self.switches.memory in ("retrieved", "episodes")


def _social(view: AuctionView, nodes: list[str]) -> list[str]:
    """Leave out what is about rivals where there are none; with nothing left, the pause is over."""
    return [name for name in nodes if view.rivals or name not in ABOUT_RIVALS] or [END]


def _if_worthwhile(view: AuctionView, nodes: list[str]) -> list[str]:
    """Go to these nodes if anything is left that this bidder could buy; a plan for nothing is not worth a call."""
    return nodes if any(lot.start <= view.budget for lot in view.coming) else []
