"""How a bidder decides on a call, in every game: one model call, no repair, and the answer to the auctioneer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.asks import Answer, Ask, Bid, Unreadable
from harbor._core.decisions import LONGEST_TEXT, BidReply, Decision, InWords
from harbor._core.errors import UnreadableReply
from harbor._core.parsing import scrub
from harbor._core.thoughts import RAISING, Decided, DecidedInWords, StrategicAction, Strategized
from harbor.graphs._context.replies import FusedReply

if TYPE_CHECKING:
    from harbor._models.calls.prompt import Prompt
    from harbor.graphs._context.context import NodeContext, Update


MARKUP = " \t*_`\"'>#-"
"""What models put around a sentence."""


async def decide(
    ask: Ask,
    context: NodeContext,
    prompt: Prompt,
    kind: type[Decision] | None = None,
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
        reply = await context.ask(prompt, kind or ask.space.reply, check=lambda reply: reply.missing(), repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    if isinstance(reply, FusedReply):
        action = reply.strategy
        context.emit(Strategized(ask.bidder, ask.item, ask.round, ask.attempt, action, reply.reasons))
    answer = reply.taken()
    return {**context.emit(decided(ask, answer, reply.reasons, action)), "answer": answer}


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


def heard(words: str, ask: Ask) -> tuple[str, Answer]:
    """Find the one line that answers, the last if several say so, and take the others for the reasons."""
    lines = words.splitlines()
    told = {number: text for number, line in enumerate(lines) if (text := line.strip(MARKUP))}
    answers = {number: ask.space.read(text, ask.item) for number, text in told.items()}
    said = [number for number, answer in answers.items() if not isinstance(answer, Unreadable)]
    if not said:
        return words, next(reversed(answers.values()), Unreadable("nothing was said"))
    reasons = "\n".join(line for number, line in enumerate(lines) if number != said[-1])
    return reasons.strip(), answers[said[-1]]


def decided(ask: Ask, answer: Answer, reasons: str, action: StrategicAction | None) -> Decided | DecidedInWords:
    """Conclude what was answered: an amount where the space asks for nothing else, or the words."""
    if not issubclass(ask.space.reply, BidReply):
        return DecidedInWords(ask.bidder, ask.item, ask.round, ask.attempt, reasons, ask.space.say(answer))
    amount = answer.amount if isinstance(answer, Bid) else None
    contradicts = action is not None and (action in RAISING) != (amount is not None)
    return Decided(ask.bidder, ask.item, ask.round, ask.attempt, reasons, amount, contradicts)
