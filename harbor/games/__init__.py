"""The parts of a game of your own: asks, spaces of actions, the mechanism, amounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor._config.auction import AuctionConfig as AuctionConfig
    from harbor._config.auction import Persona as Persona
    from harbor._config.models import Simulated as Simulated
    from harbor._config.rules import RuleSettings as RuleSettings
    from harbor._core.asking.action_space import AcceptOrWait as AcceptOrWait
    from harbor._core.asking.action_space import Choice as Choice
    from harbor._core.asking.action_space import Words as Words
    from harbor._core.asking.amounts import Amount as Amount
    from harbor._core.asking.amounts import Bundle as Bundle
    from harbor._core.asking.amounts import Number as Number
    from harbor._core.asking.amounts import Quantity as Quantity
    from harbor._core.asking.asks import Ask as Ask
    from harbor._core.basics.actions import Accept as Accept
    from harbor._core.basics.actions import Action as Action
    from harbor._core.basics.actions import Bid as Bid
    from harbor._core.basics.actions import BundleBid as BundleBid
    from harbor._core.basics.actions import Choose as Choose
    from harbor._core.basics.actions import Say as Say
    from harbor._core.basics.actions import Take as Take
    from harbor._core.basics.actions import Wait as Wait
    from harbor._core.basics.actions import Withdraw as Withdraw
    from harbor._core.basics.numbers import CENT as CENT
    from harbor._core.basics.numbers import Claim as Claim
    from harbor._core.basics.numbers import Money as Money
    from harbor._core.basics.numbers import dollars as dollars
    from harbor._core.basics.numbers import stream as stream
    from harbor._core.basics.numbers import to_cents as to_cents
    from harbor._core.log.events import Event as Event
    from harbor._core.log.log import of_type as of_type
    from harbor._core.log.log_entries import Entry as Entry
    from harbor._core.log.players import Policy as Policy
    from harbor._core.settings import Name as Name
    from harbor._core.settings import Share as Share
    from harbor._games.board import Board as Board
    from harbor._games.board import Mark as Mark
    from harbor._games.board import Picture as Picture
    from harbor._games.board import Shown as Shown
    from harbor._games.game import Game as Game
    from harbor._games.game import Measures as Measures
    from harbor._games.game import Outlook as Outlook
    from harbor._games.game import Play as Play
    from harbor._games.game import ScriptedPolicy as ScriptedPolicy
    from harbor._games.game import Table as Table
    from harbor._games.game import Thought as Thought
    from harbor._games.mechanism import Chance as Chance
    from harbor._games.mechanism import Mechanism as Mechanism
    from harbor._games.policies import Truthful as Truthful

__getattr__, __all__ = face(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
