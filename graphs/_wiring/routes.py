"""Which nodes of a bidder's graph run when: at a call, at a pause, and after the auction."""

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
    """The routes through a graph of these nodes.

    A node that needs the conclusion of another runs in the step after it; all others run side by side. The three
    routing functions are asynchronous, as a synchronous one would cost a thread hop.
    """

    switches: MindSettings
    nodes: Sequence[str]

    def present(self, *names: str) -> list[str]:
        """Give those of these nodes that are switched on."""
        return [name for name in names if name in self.nodes]

    @property
    def bidding(self) -> list[str]:
        """The nodes that answer a call, one after another."""
        return self.present("strategize", "bid")

    @property
    def closing(self) -> list[str]:
        """The nodes that look back when the auction is over, one after another."""
        return self.present("learn", "remember")

    @property
    def opening(self) -> list[str]:
        """The nodes that look ahead before the first item."""
        return self.present("plan", "predict")

    @property
    def updates(self) -> list[str]:
        """The nodes that take a closed item into account."""
        return self.present("believe", "profile", "mirror")

    @property
    def unblocked(self) -> list[str]:
        """The nodes that look ahead and need not wait for an update."""
        return [name for name in self.present("replan", "predict") if name not in self._blocked]

    @property
    def blocked(self) -> list[str]:
        """The nodes that look ahead once the updates are done."""
        return [name for name in self.present("replan", "predict") if name in self._blocked]

    @property
    def pausing(self) -> list[str]:
        """The nodes that a pause may lead to."""
        return list(dict.fromkeys([*self.opening, *self.updates, *self.unblocked, END]))

    @property
    def entry_points(self) -> list[str]:
        """The nodes at which the graph may be entered."""
        return [self.bidding[0], *self.present("recall"), *self.closing[:1], *self.pausing]

    async def route_entry(self, state: BidderState) -> list[str]:
        """Choose where to enter: a bid is wanted, all is over, an item has closed, or the sale is about to begin."""
        ask = state["ask"]
        if isinstance(ask, Ask):
            return self.bidding[:1]
        if ask.over:
            return self.closing[:1] or [END]
        return ["recall"] if self._recalls(ask, state["view"]) else await self.route_pause(state)

    async def route_pause(self, state: BidderState) -> list[str]:
        """Choose the nodes of a pause: for the item that has closed, or for the auction that is about to begin."""
        view = state["view"]
        closed = cast(Pause, state["ask"]).closed
        return _with_rivals(view, [*self.updates, *_if_worthwhile(view, self.unblocked)] if closed else self.opening)

    async def route_after_belief(self, state: BidderState) -> list[str]:
        """Choose the nodes that look ahead from the new belief."""
        return _with_rivals(state["view"], _if_worthwhile(state["view"], self.blocked))

    @property
    def _blocked(self) -> set[str]:
        """Name the nodes after an item that wait for others.

        Replanning and predicting wait for the profiles that they use. Replanning waits for the belief only if beliefs
        are not corrected: with correction it uses the truth, whatever the model says.
        """
        waiting = {"replan", "predict"} if self.switches.profiles else set()
        return waiting if self.switches.correct_beliefs else {*waiting, "replan"}

    def _recalls(self, pause: Pause, view: AuctionView) -> bool:
        """Say whether to recall at a pause: before each item, or only once if the memories are always the same."""
        if "recall" not in self.nodes or not view.coming:
            return False
        return not pause.closed or self.switches.memory in ("retrieved", "episodes")


def _with_rivals(view: AuctionView, nodes: list[str]) -> list[str]:
    """Leave out the nodes about rivals if there are none; with no node left, the pause is over."""
    return [name for name in nodes if view.rivals or name not in ABOUT_RIVALS] or [END]


def _if_worthwhile(view: AuctionView, nodes: list[str]) -> list[str]:
    """Give these nodes if any coming item is affordable; a plan for nothing is not worth a call."""
    return nodes if any(lot.start <= view.budget for lot in view.coming) else []
