"""How a bidder decides on a call, in every game: one model call, no repair, and the answer to the auctioneer."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from harbor._config.own_replies import OwnReply
from harbor._core.asks import Answer, Ask, Bid, Unreadable
from harbor._core.decisions import LONGEST_TEXT, BidReply, Decision, InWords, WordsReply, as_reply, without_reasons
from harbor._core.errors import UnreadableReply
from harbor._core.events import PrivateEvent
from harbor._core.last_answer import MARKUP, Heard
from harbor._core.money import as_number
from harbor._core.parsing import scrub
from harbor._core.thoughts import RAISING, Decided, DecidedInWords, Expected, Stated, StrategicAction, Strategized
from harbor._games.game import Facts
from harbor._games.replies import FusedReply

if TYPE_CHECKING:
    from harbor._games.bidder_view import View
    from harbor._models.calls.prompt import Prompt
    from harbor.graphs._context.context import NodeContext, Update


async def decide(
    ask: Ask,
    context: NodeContext,
    prompt: Prompt,
    kind: type[Any] | None = None,
    action: StrategicAction | None = None,
) -> Update:
    """Ask for an action, conclude the decision, and answer with it.

    Args:
        ask: the auctioneer's call.
        context: of the node.
        prompt: the filled prompt.
        kind: the shape of the reply (None: that of the action space); a `FusedReply` brings its own strategic action.
        action: the strategic action that was chosen before, if any.
    """
    if context.switches.reply == "text":
        return await _decide_in_words(ask, context, prompt, action)
    try:
        # No repair: an unreadable reply is a failed bid, which the auctioneer counts and asks again.
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
    """Ask for a decision in the protocol's own form; conclude it, all that was said, and what is expected.

    Args:
        ask: the auctioneer's call.
        view: what the bidder has observed.
        context: of the node.
        prompt: the filled prompt.
        form: of the answer.
        told: the facts of the prompt about the game.
        action: the strategic action that was chosen before, if any.
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
    """Ask for a decision in the model's own words, which the house reads as it reads those of any agent."""
    try:
        words = (await context.ask(prompt, InWords, repairs=0)).words
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    reasons, answer = heard(words, ask)
    if isinstance(answer, Unreadable):
        return {"answer": answer}
    return {**context.emit(decided(ask, answer, scrub(reasons)[:LONGEST_TEXT], action)), "answer": answer}


def _decision_in(words: str, ask: Ask, shape: type[Decision]) -> Decision | None:
    """Read a decision from words where its shape was asked for; None: they say none, or not all of it."""
    if ask.space.reply is WordsReply:  # whatever is said would be one
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
    """Read the answer in words, and take what stands around it for the reasons; of a speech the last line is said."""
    lines = words.splitlines()
    if ask.space.reply is WordsReply:
        said = next((line.strip(MARKUP) for line in reversed(lines) if line.strip(MARKUP)), "")
        found = Heard(ask.space.read(said) if said else Unreadable("nothing was said"), said)
    else:
        found = ask.space.heard(words, ask.item)
    if isinstance(found.answer, Unreadable):
        return words, found.answer
    if found.words == words and len(lines) > 1:  # the line that says it, if it says so alone
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
    """Conclude what was answered: an amount where the space asks for nothing else, or the words."""
    if not issubclass(ask.space.reply, BidReply):
        return DecidedInWords(ask.bidder, ask.item, ask.round, ask.attempt, reasons, ask.space.say(answer))
    amount = answer.amount if isinstance(answer, Bid) else None
    contradicts = action is not None and (action in RAISING) != (amount is not None)
    return Decided(ask.bidder, ask.item, ask.round, ask.attempt, reasons, amount, contradicts)
