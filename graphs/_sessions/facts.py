"""The state of a player's graph, and how its prompts are filled with what its game tells."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Annotated, TypedDict

from harbor._core.asks import Answer, Ask, Pause
from harbor._core.errors import ConfigError
from harbor._core.finding import find
from harbor._games.game import Game, Play
from harbor._models.client import Prompt
from harbor.graphs._context.context import BidderContext, NodeContext, fold_reducer
from harbor.graphs._context.prompting import Facts, fill
from harbor.memory._bidder.session_view import SessionView


class SessionState(TypedDict, total=False):
    """The state of a player's graph.

    `ask` is what the auctioneer wants; `view` takes a view or the events seen so far; `answer` comes out.
    """

    ask: Ask | Pause
    view: Annotated[SessionView, fold_reducer(SessionView)]
    answer: Answer | None


def game_of(bidder: BidderContext) -> Game:
    """Find the game that a bidder plays."""
    game: Game = find("game", bidder.game)
    return game


def play_of(bidder: BidderContext) -> Play:
    """Find how bidders see and play that game.

    Raises:
        ConfigError: its bidders think with nodes of its own.
    """
    game = game_of(bidder)
    if game.play is None:
        raise ConfigError(f"the game {game.name!r} has no prompts for these nodes; give it a Play")
    return game.play


def prompt(
    context: NodeContext,
    name: str,
    view: SessionView,
    facts: Facts = MappingProxyType({}),
    body: Traversable | None = None,
) -> Prompt:
    """Fill a prompt with who this player is, the rules as they were announced, and the facts of the call."""
    game, play = game_of(context.bidder), play_of(context.bidder)
    rules = next((event.words for event in view.seen if isinstance(event, game.opening)), "")
    known = {"game": game.name, **play.facts(view.name, view.seen)}
    if view.plan:
        known["plan"] = view.plan
    if view.expected:
        known["forecasts"] = [{"rival": rival, "bid": bid} for rival, bid in view.expected.items()]
    return fill(name, {**context.identity(view), "rules": rules}, {**known, **facts}, play.system, body)
