"""How a game puts a thought to a bidder: in words of its own, or in those of the node, with how the game stands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from pydantic import BaseModel

from harbor._config.own_replies import OwnReply
from harbor._config.protocol import BUNDLES
from harbor._config.thinking import MindSettings
from harbor._core.acts import Tried
from harbor._core.asks import Ask, Pause
from harbor._core.dialogue import Turn
from harbor._core.events import Event
from harbor._core.telling import as_json
from harbor._core.thoughts import Decided, DecidedInWords, Stated
from harbor._games.answering import Row, answered, in_words, refusal
from harbor._games.bidder_view import View
from harbor._games.game import Facts, Game, Thought
from harbor.graphs._context.node import ThoughtNode

SHARED = ("rules", "catalog")
"""The facts that are the same for every call of a seat, or for every seat."""


def stays(game: Game, mind: MindSettings) -> tuple[str, ...]:
    """Name the facts that stand before those of a call; in Harbor's own prompts these are all that stay the same."""
    return (*game.played.stays, "game", *SHARED) if mind.protocol == "native" else SHARED


def words_of(node: ThoughtNode, game: Game) -> Thought | None:
    """Give the words of a node in a game; None: it asks no model, or nobody has words for it."""
    if own := game.played.thoughts.get(node.name):
        return own
    if node.answers and not node.facts:
        told, turns = partial(call, game), partial(earlier_calls, game)
        if node.prompt is None and node.reply is None:
            return Thought(prompt=game.played.prompt, facts=told, answer=game.played.policy, turns=turns)
    if node.prompt is None or node.answer is None:
        return None
    return Thought(prompt=node.prompt, facts=partial(_told, game, node), answer=node.answer)


def task_of(node: ThoughtNode, game: Game) -> str:
    """Name the prompts and calls of a node in a game: as the words for it are named."""
    if node.name in game.played.thoughts or node.prompt is None:
        usual = not node.answers or node.name in game.played.thoughts
        return node.task if usual else game.name.replace("-", "_")
    return node.prompt.name.removesuffix(".md") if node.has_harbors_prompt else node.task


def reply_of(node: ThoughtNode, game: Game) -> type[BaseModel] | None:
    """Give the shape of its replies in a game; None: what is asked for decides."""
    words = words_of(node, game)
    return (words and words.reply) or node.reply or (game.played.reply if node.answers else None)


def worth_a_call(node: ThoughtNode, game: Game, view: View) -> bool:
    """Say whether a thought is worth a call now: the game says so, where it has words of its own for it."""
    own = game.played.thoughts.get(node.name)
    return own.when(view) if own and own.when else node.when(view, cast("Ask | Pause", view.now))


def standing(game: Game, view: View) -> Row:
    """Tell how a game stands: what it tells a player, the plan, and what was expected of rivals."""
    told = game.played.facts(view.name, view.seen)
    if not told:  # its own words tell all
        return {}
    rules = next((event.words for event in view.seen if isinstance(event, game.opening)), "")
    known: Row = {"rules": rules, "game": game.name, **told}
    if view.plan:
        known["plan"] = view.plan
    expected = view.notes.get("contest-believe")
    if expected and view.place(expected.closed) == len(view.results):  # else what was expected is over
        known["forecasts"] = [{"rival": rival, "bid": bid} for rival, bid in expected.bids.items()]
    return known


def own_form(game: Game, view: View, told: Facts) -> type[OwnReply] | None:
    """Give the form of answer that the protocol has of its own for a call with these facts; None: it has none."""
    forms = BUNDLES[view.mind.protocol].replies.get(game.name)
    return forms.asked(view.mind.chain_of_thought, told) if forms else None


def _how(game: Game, view: View, told: Facts) -> Row:
    """Tell how to answer a call: with the keys of the protocol's own form, or in words if that is asked for."""
    form = own_form(game, view, told)
    return {"answer_keys": list(form.all_keys())} if form else in_words(cast(Ask, view.now), view.mind)


def call(game: Game, view: View) -> Row:
    """Tell how a game stands at a call, and what may be answered."""
    ask, told = cast(Ask, view.now), standing(game, view)
    bounds = ask.space.facts() if view.mind.bounds == "told" or ask.minimum == ask.maximum else {}
    return {**told, **_how(game, view, told), **bounds, **refusal(ask.refusal, ask.attempt)}


def earlier_calls(game: Game, view: View) -> list[Turn] | None:
    """Give the earlier calls of the game with what was answered; None for a bidder that is in no dialogue."""
    if view.mind.context == "fresh":
        return None
    ask, apart = cast(Ask, view.now), stays(game, view.mind)
    turns, then, first, refused = [], View(folds=view.folds, outlook=view.outlook, mind=view.mind), 0, ""
    for place, event in enumerate(view.seen):
        if isinstance(event, Tried):
            refused = event.reason
        elif isinstance(event, Decided | DecidedInWords):
            then, first = then.after(view.seen[first:place]), place
            told = standing(game, then)
            known = {**told, **_how(game, view, told), **refusal(refused, event.attempt)}
            turns.append(
                Turn(
                    {name: one for name, one in known.items() if name not in apart},
                    _answered_in_form(view.seen[place : place + 2]) or answered(ask.space, event, view.mind),
                )
            )
            refused = ""
    return turns


def _answered_in_form(concluded: Sequence[Event]) -> str:
    """Write a decision as it was given in the protocol's own form, with the thoughts before it; empty: in none."""
    match concluded:
        case [Decided(reasons=reasons), Stated(said=said)]:
            return "\n".join(filter(None, ("" if "reason" in said else reasons, as_json(said))))
    return ""


def _told(game: Game, node: ThoughtNode, view: View, *about: Any, **more: Any) -> Facts:
    own = game.played.standing(view) if view.mind.protocol == "native" else {}
    return {**own, **standing(game, view), **(node.facts(view, *about, **more) if node.facts else more)}
