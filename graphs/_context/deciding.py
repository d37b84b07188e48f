"""How a bidder that is played by a model is asked for a thought or a decision, in every game.

The prompt of a thought is the game's own, or that of the node with the state of the game. A decision takes one model
call, which is not repeated if the reply can't be used: the reply is the answer to the auctioneer.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ValidationError

from harbor._config.protocol_replies import OwnReply
from harbor._config.thinking import BUNDLES, MindSettings
from harbor._core.asking.answers import MARKUP, Heard
from harbor._core.asking.asks import Answer, Ask, Bid, Pause, Unreadable
from harbor._core.asking.decisions import (
    LONGEST_TEXT,
    BidReply,
    Decision,
    InWords,
    WordsReply,
    as_reply,
    without_reasons,
)
from harbor._core.basics.actions import scrub
from harbor._core.basics.errors import UnreadableReply
from harbor._core.basics.numbers import as_number
from harbor._core.log.acts import Tried
from harbor._core.log.events import Event, PrivateEvent
from harbor._core.log.thoughts import RAISING, Decided, DecidedInWords, Expected, Stated, StrategicAction, Strategized
from harbor._core.prompts.prompts import Turn, as_json
from harbor._games.bidder_view import View
from harbor._games.game import Facts, Game, Thought
from harbor._games.replies import FusedReply, Row, answered, in_words, refusal
from harbor.graphs._context.node import ThoughtNode

if TYPE_CHECKING:
    from harbor._models.calls.prompt import Prompt
    from harbor.graphs._context.context import NodeContext, Update

SHARED = ("rules", "catalog")
"""Facts that are the same for every call of a seat, or for every seat."""


def stays(game: Game, mind: MindSettings) -> tuple[str, ...]:
    """Name the facts that stand before those of a call; in Harbor's own prompts these are all the constant facts."""
    return (*game.played.stays, "game", *SHARED) if mind.protocol == "native" else SHARED


def words_of(node: ThoughtNode, game: Game) -> Thought | None:
    """Return the prompt of a node in a game, with its facts; None if the node asks no model, or there is no prompt."""
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
    """Return the name of the prompt and the model calls of a node in a game, which depends on whose prompt it is."""
    if node.name in game.played.thoughts or node.prompt is None:
        usual = not node.answers or node.name in game.played.thoughts
        return node.task if usual else game.name.replace("-", "_")
    return node.prompt.name.removesuffix(".md") if node.has_harbors_prompt else node.task


def reply_of(node: ThoughtNode, game: Game) -> type[BaseModel] | None:
    """Return the shape of a node's replies in a game; None if the ask decides."""
    words = words_of(node, game)
    return (words and words.reply) or node.reply or (game.played.reply if node.answers else None)


def worth_a_call(node: ThoughtNode, game: Game, view: View) -> bool:
    """Return whether a thought is worth a model call now; a game with its own version of the thought decides that."""
    own = game.played.thoughts.get(node.name)
    return own.when(view) if own and own.when else node.when(view, cast("Ask | Pause", view.now))


def standing(game: Game, view: View) -> Row:
    """Return the state of a game as facts: those of the game for a player, the plan, and the forecasts of rivals."""
    told = game.played.facts(view.name, view.seen)
    if not told:  # the game's own words tell all
        return {}
    rules = next((event.words for event in view.seen if isinstance(event, game.opening)), "")
    known: Row = {"rules": rules, "game": game.name, **told}
    if view.plan:
        known["plan"] = view.plan
    expected = view.notes.get("contest-believe")
    if expected and view.place(expected.closed) == len(view.results):  # else the forecast is outdated
        known["forecasts"] = [{"rival": rival, "bid": bid} for rival, bid in expected.bids.items()]
    return known


def own_form(game: Game, view: View, told: Facts) -> type[OwnReply] | None:
    """Return the protocol's own form of answer for a call with these facts; None if it has none."""
    forms = BUNDLES[view.mind.protocol].replies.get(game.name)
    return forms.asked(view.mind.chain_of_thought, told) if forms else None


def _how(game: Game, view: View, told: Facts) -> Row:
    """Return facts on how to answer a call: the keys of the protocol's own form, or in words if set so."""
    form = own_form(game, view, told)
    return {"answer_keys": list(form.all_keys())} if form else in_words(cast(Ask, view.now), view.mind)


def call(game: Game, view: View) -> Row:
    """Return the state of a game at a call, and the legal answers."""
    ask, told = cast(Ask, view.now), standing(game, view)
    bounds = ask.space.facts() if view.mind.bounds == "told" or ask.minimum == ask.maximum else {}
    return {**told, **_how(game, view, told), **bounds, **refusal(ask.refusal, ask.attempt)}


def earlier_calls(game: Game, view: View) -> list[Turn] | None:
    """Return the earlier calls of the game with their answers; None if the bidder's `context` is "fresh"."""
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
    """Return the text of a decision in the protocol's own form, after its reasons; empty if it had another form."""
    match concluded:
        case [Decided(reasons=reasons), Stated(said=said)]:
            return "\n".join(filter(None, ("" if "reason" in said else reasons, as_json(said))))
    return ""


def _told(game: Game, node: ThoughtNode, view: View, *about: Any, **more: Any) -> Facts:
    own = game.played.standing(view) if view.mind.protocol == "native" else {}
    return {**own, **standing(game, view), **(node.facts(view, *about, **more) if node.facts else more)}


async def decide(
    ask: Ask,
    context: NodeContext,
    prompt: Prompt,
    kind: type[Any] | None = None,
    action: StrategicAction | None = None,
) -> Update:
    """Ask for an action, conclude the decision, and answer with it.

    Args:
        ask: the auctioneer's ask.
        context: the context of the node.
        prompt: the filled prompt.
        kind: the shape of the reply (None: that of the action space); a `FusedReply` brings its own strategic action.
        action: the strategic action that the bidder chose before (None: it chose none).
    """
    if context.switches.reply == "text":
        return await _decide_in_words(ask, context, prompt, action)
    try:
        # No repair: an unreadable reply is a failed bid. The auctioneer counts it and asks again.
        shape = kind or ask.space.reply
        words = partial(_decision_in, ask=ask, shape=shape)
        reply = await context.ask(prompt, shape, check=lambda reply: reply.missing(), repairs=0, words=words)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    if isinstance(reply, FusedReply):
        action = reply.strategy
        context.emit(Strategized(ask.bidder, ask.item, ask.round, ask.attempt, action, reply.reasons))
    answer = reply.taken()
    return {**context.emit(decided(ask, answer, reply.reasons, action)), "answer": answer}


async def decide_in_form(
    ask: Ask,
    view: View,
    context: NodeContext,
    prompt: Prompt,
    form: type[OwnReply],
    told: Facts,
    action: StrategicAction | None = None,
) -> Update:
    """Ask for a decision in the protocol's own form; conclude it, the whole reply, and its forecast.

    Args:
        ask: the auctioneer's call.
        view: the bidder's observations.
        context: context of the node.
        prompt: the filled prompt.
        form: shape of the answer.
        told: the facts of the prompt about the game.
        action: the strategic action chosen before, if any.
    """
    try:
        reply = await context.ask(prompt, form, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    answer, values = reply.taken(), reply.values().items()
    said = {key: as_number(value) if isinstance(value, Decimal) else value for key, value in values}
    concluded: list[PrivateEvent] = [
        decided(ask, answer, reply.why, action),
        Stated(ask.bidder, ask.item, ask.round, ask.attempt, said, reply.recalled(told)),
    ]
    if reply.expects is not None:
        closed = view.results[-1].item if view.results else ""
        concluded.append(Expected(ask.bidder, closed, dict.fromkeys(view.rivals, reply.expects)))
    return {**context.emit(*concluded), "answer": answer}


async def _decide_in_words(ask: Ask, context: NodeContext, prompt: Prompt, action: StrategicAction | None) -> Update:
    """Ask for a decision in the model's own words, which are read in the same way as the words of any agent."""
    try:
        words = (await context.ask(prompt, InWords, repairs=0)).words
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    reasons, answer = heard(words, ask)
    if isinstance(answer, Unreadable):
        return {"answer": answer}
    return {**context.emit(decided(ask, answer, scrub(reasons)[:LONGEST_TEXT], action)), "answer": answer}


def _decision_in(words: str, ask: Ask, shape: type[Decision]) -> Decision | None:
    """Return the decision in a reply that is words instead of the shape; None if the words have no whole decision."""
    if ask.space.reply is WordsReply:  # any text would be a decision
        return None
    reasons, answer = heard(words, ask)
    if isinstance(answer, Unreadable):
        return None
    try:
        decision: Decision = without_reasons(shape).model_validate({**as_reply(answer), "reasons": reasons})
        return decision
    except ValidationError:
        return None


def heard(words: str, ask: Ask) -> tuple[str, Answer]:
    """Return the reasons and the answer in a reply in words; in a speech, the last line is the answer."""
    lines = words.splitlines()
    if ask.space.reply is WordsReply:
        said = next((line.strip(MARKUP) for line in reversed(lines) if line.strip(MARKUP)), "")
        found = Heard(ask.space.read(said) if said else Unreadable("nothing was said"), said)
    else:
        found = ask.space.heard(words, ask.item)
    if isinstance(found.answer, Unreadable):
        return words, found.answer
    if found.words == words and len(lines) > 1:  # the line that has the whole answer
        alone = (line.strip(MARKUP) for line in reversed(lines))
        found = next(
            (Heard(found.answer, one) for one in alone if ask.space.read(one, ask.item) == found.answer), found
        )
    place = max((number for number, line in enumerate(lines) if found.words in line), default=None)
    if place is None:
        return (words if found.words != words else ""), found.answer
    lines[place] = lines[place].replace(found.words, "").strip(MARKUP)
    return "\n".join(lines).strip(), found.answer


def decided(ask: Ask, answer: Answer, reasons: str, action: StrategicAction | None) -> Decided | DecidedInWords:
    """Return the event of a decision: with an amount if the space asks for nothing else, or with words."""
    if not issubclass(ask.space.reply, BidReply):
        return DecidedInWords(ask.bidder, ask.item, ask.round, ask.attempt, reasons, ask.space.say(answer))
    amount = answer.amount if isinstance(answer, Bid) else None
    contradicts = action is not None and (action in RAISING) != (amount is not None)
    return Decided(ask.bidder, ask.item, ask.round, ask.attempt, reasons, amount, contradicts)
