"""Everything that can happen in an auction, as frozen events that say who may see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor._core.events import AnalystEvent as AnalystEvent
    from harbor._core.events import Answered as Answered
    from harbor._core.events import AuctionHeld as AuctionHeld
    from harbor._core.events import BidderLabelled as BidderLabelled
    from harbor._core.events import BiddersAsked as BiddersAsked
    from harbor._core.events import BidderSeated as BidderSeated
    from harbor._core.events import BidderWithdrew as BidderWithdrew
    from harbor._core.events import BidFailed as BidFailed
    from harbor._core.events import BidPlaced as BidPlaced
    from harbor._core.events import CatalogShown as CatalogShown
    from harbor._core.events import ItemLabelled as ItemLabelled
    from harbor._core.events import ItemOpened as ItemOpened
    from harbor._core.events import ItemSold as ItemSold
    from harbor._core.events import ItemUnsold as ItemUnsold
    from harbor._core.events import LogOpened as LogOpened
    from harbor._core.events import Lot as Lot
    from harbor._core.events import LotClosed as LotClosed
    from harbor._core.events import ModelCalled as ModelCalled
    from harbor._core.events import Paused as Paused
    from harbor._core.events import PriceLowered as PriceLowered
    from harbor._core.events import PrivateEvent as PrivateEvent
    from harbor._core.events import PublicEvent as PublicEvent
    from harbor._core.events import RoundClosed as RoundClosed
    from harbor._core.events import SaleClosed as SaleClosed
    from harbor._core.events import SaleOpened as SaleOpened
    from harbor._core.events import SeatFailed as SeatFailed
    from harbor._core.events import SeriesClosed as SeriesClosed
    from harbor._core.events import SeriesOpened as SeriesOpened
    from harbor._core.events import ThoughtFailed as ThoughtFailed
    from harbor._core.events import ValueRevealed as ValueRevealed
    from harbor._core.thoughts import Belief as Belief
    from harbor._core.thoughts import Believed as Believed
    from harbor._core.thoughts import Decided as Decided
    from harbor._core.thoughts import Expected as Expected
    from harbor._core.thoughts import Learned as Learned
    from harbor._core.thoughts import Memory as Memory
    from harbor._core.thoughts import Mirrored as Mirrored
    from harbor._core.thoughts import Planned as Planned
    from harbor._core.thoughts import Predicted as Predicted
    from harbor._core.thoughts import Prediction as Prediction
    from harbor._core.thoughts import Profiled as Profiled
    from harbor._core.thoughts import Recalled as Recalled
    from harbor._core.thoughts import Remembered as Remembered
    from harbor._core.thoughts import Strategized as Strategized
    from harbor._core.thoughts import Win as Win

__getattr__, __all__ = face(__name__)


def __dir__() -> list[str]:
    return __all__
