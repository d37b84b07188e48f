"""The border between an agent of any make and the room: all of an agent's code runs behind it.

It has copies of what it is told and a cancellation token of its own, and only plain words and numbers come back. What
code can do to the process that it runs in can't be stopped here: end it, cancel the tasks of others, change what it
finds in memory, or block in a callback or a thread of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from autogen_agentchat.base import ChatAgent, Response
from autogen_agentchat.messages import BaseChatMessage
from autogen_core import CancellationToken

from harbor._core.asks import Ask, Pause, Unreadable
from harbor._core.errors import HarborError
from harbor._core.events import SeatFailed
from harbor._core.parsing import LONGEST, scrub
from harbor._doors.given import Usage, answer_in, bounded
from harbor._house.hearing import failed, in_words, is_not_theirs
from harbor._room.told_calls import told_calls
from harbor._room.turn_time import run_quietly


class Said(NamedTuple):
    """What an agent answered: its words, and the model calls that it tells of."""

    words: str
    calls: tuple[Usage, ...]


async def answer_of(
    agent: ChatAgent,
    heard: Sequence[BaseChatMessage],
    token: CancellationToken,
    bidder: str,
    fatal: tuple[type[HarborError], ...],
) -> Said | SeatFailed:
    """Ask an agent, and take its answer to pieces here, as every piece may be code of its own.

    Raises:
        HarborError: one of the `fatal` errors.
        CancelledError: it was cancelled, or cancelled itself.
        Overdue: it was interrupted.
        KeyboardInterrupt: of the user, not of the agent.
    """
    try:
        response = await agent.on_messages(heard, token)
        return Said(_words(response), told_calls(agent, response))
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        if is_not_theirs(error) or isinstance(error, fatal):
            raise
        return failed(bidder, error)


def meant(said: Said, ask: Ask | Pause | None) -> Said:
    """Put an answer that came as JSON in words, and add the calls that it tells of; words stay as they are."""
    if not isinstance(ask, Ask):
        return said
    given = answer_in(said.words, ask)
    try:
        return Said(in_words(given.answer, ask), bounded((*said.calls, *given.usage)))
    except ValueError as error:
        return Said(in_words(Unreadable(str(error)), ask), said.calls)


def copied(messages: Sequence[BaseChatMessage]) -> list[BaseChatMessage]:
    """Copy messages, so that what one agent does to them reaches nobody else."""
    return [message.model_copy(deep=True) for message in messages]


def linked(house: CancellationToken) -> CancellationToken:
    """Make a token that the house's cancels, and that cancels nobody else's."""
    own = CancellationToken()
    house.add_callback(lambda: run_quietly(own.cancel))
    return own


def _words(response: Response) -> str:
    text: object = response.chat_message.to_text()
    if not isinstance(text, str):
        raise TypeError(f"the text of its answer is {type(text).__name__}; give words")
    enough = str.__getitem__(
        text, slice(2 * LONGEST + 2)
    )  # not text[:], which is code of the agent's if it has a class
    return scrub(enough)[: LONGEST + 1]  # longer ones are refused, whatever they go on with
