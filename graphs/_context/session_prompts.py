"""How a prompt is filled with what its game tells, in games whose prompts are those of their `Play`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from harbor._core.acts import Tried
from harbor._core.asks import Answer, Ask, Pause
from harbor._core.dialogue import Turn
from harbor._core.errors import ConfigError
from harbor._core.finding import find
from harbor._core.thoughts import Decided, DecidedInWords
from harbor._games.game import Game, Play
from harbor.graphs._context.answering import answered, in_words, refusal
from harbor.graphs._context.node import NOTHING_MORE, Facts
from harbor.memory._bidder.session_view import SessionView

if TYPE_CHECKING:
    from harbor._models.calls.prompt import Prompt
    from harbor.graphs._context.context import BidderContext, NodeContext


class SessionState(TypedDict, total=False):
    """The state of the graph of such a player, as in `ThoughtState`."""

    ask: Ask | Pause
    view: SessionView
    answer: Answer | None


def prompt(context: NodeContext, view: SessionView, facts: Facts = NOTHING_MORE) -> Prompt:
    """Fill the prompt of a node with who this player is, the announced rules, and the facts of the call."""
    _, play = played_by(context.bidder)
    known = {**_known(context, view), **facts}
    return context.fill(view, context.identity(view), known, play.system, shared=_rules(context, view))


def bid_prompt(context: NodeContext, view: SessionView, facts: Facts, ask: Ask) -> Prompt:
    """Fill the prompt for a bid, which is the game's and named after it."""
    game, play = played_by(context.bidder)
    known = {**_known(context, view), **in_words(ask, context.switches), **facts}
    task, who, shared = game.name.replace("-", "_"), context.identity(view), _rules(context, view)
    earlier = None if context.switches.context == "fresh" else _turns(context, view, ask)
    return context.fill(view, who, known, play.system, play.prompt, task, shared, earlier)


def _turns(context: NodeContext, view: SessionView, ask: Ask) -> list[Turn]:
    """Give the earlier calls of the game with what was answered."""
    turns, then, first, refused, mind = [], SessionView(outlook=view.outlook), 0, "", context.switches
    for place, event in enumerate(view.seen):
        if isinstance(event, Tried):
            refused = event.reason
        elif isinstance(event, Decided | DecidedInWords):
            then, first = then.after(view.seen[first:place]), place
            known = {**_known(context, then), **in_words(ask, mind), **refusal(refused, event.attempt)}
            turns.append(Turn(known, answered(ask.space, event, mind)))
            refused = ""
    return turns


def played_by(bidder: BidderContext) -> tuple[Game, Play]:
    """Find the game that a bidder plays, and how bidders see and play it.

    Raises:
        ConfigError: its bidders think with nodes of its own.
    """
    game: Game = find("game", bidder.game)
    if game.play is None:
        raise ConfigError(f"the game {game.name!r} has no prompts for these nodes; give it a Play")
    return game, game.play


def _rules(context: NodeContext, view: SessionView) -> Facts:
    """Give the rules as they were announced to everyone."""
    game, _ = played_by(context.bidder)
    return {"rules": next((event.words for event in view.seen if isinstance(event, game.opening)), "")}


def _known(context: NodeContext, view: SessionView) -> Facts:
    game, play = played_by(context.bidder)
    known = {"game": game.name, **play.facts(view.name, view.seen)}
    if view.plan:
        known["plan"] = view.plan
    if view.expected:
        known["forecasts"] = [{"rival": rival, "bid": bid} for rival, bid in view.expected.items()]
    return known
