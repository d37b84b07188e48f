"""The model client, the only way to a model: a prompt becomes a validated reply.

Every call, good or bad, becomes one `ModelCalled` event for the log and one raw record for `calls.jsonl`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import BaseModel

from harbor._config.models import BUILT_IN, ModelSettings, ReplyForm
from harbor._config.protocol_replies import OwnReply
from harbor._core.asking.decisions import InWords
from harbor._core.basics.errors import UnreadableReply
from harbor._core.log.events import EventSink
from harbor._models.calls.call import Call
from harbor._models.calls.forms import Forms
from harbor._models.calls.line import Line, identity_of
from harbor._models.calls.messages import in_words
from harbor._models.calls.prompt import Prompt
from harbor._models.calls.reply_shapes import Shape, Words, read, usable
from harbor._models.calls.requests import Pool, Way
from harbor._models.replies.cache import GameCache
from harbor._models.replies.replay import CallBudget, RawCall, ReplayCache

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass
class ModelClient:
    """A model as one bidder uses it.

    `sink` takes the events, `keep` the raw calls; `clock` gives seconds since the log was opened. A call that `replay`
    has recorded is not made again, nor is one whose reply `cache` has. Any other call waits until `budget`, if there is
    one, admits it, and goes by a key of the `pool` (None: by that of the chat model). With `play_on` the bidder goes on
    without a call that is never answered. `reply` is the one form that the bidder wants replies in, if it does.
    """

    bidder: str
    name: str
    chat: BaseChatModel
    settings: ModelSettings
    sink: EventSink = lambda _: None
    keep: Callable[[RawCall], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    replay: ReplayCache = field(default_factory=ReplayCache, repr=False)
    budget: CallBudget | None = None
    cache: GameCache | None = None
    play_on: bool = False
    pool: Pool | None = None
    reply: ReplyForm | None = None

    @property
    def ways(self) -> Pool:
        """The ways to the model; the built-in one is here, so it needs no line."""
        if self.pool is None:
            built_in = self.settings.use == BUILT_IN
            line = None if built_in else Line(self.name, self.settings, identity_of(self.chat, self.settings))
            self.pool = Pool(self.name, (Way(self.settings, Forms(self.chat, self.settings), line),))
        return self.pool

    async def ask(
        self,
        prompt: Prompt,
        reply_type: type[Reply],
        check: Callable[[Reply], str] = lambda _: "",
        repairs: int | None = None,
        words: Words = lambda _: None,
    ) -> Reply:
        """Ask for a structured reply, and again with the complaint if it can't be used.

        Args:
            prompt: what to ask.
            reply_type: the shape of the reply.
            check: says what is wrong with a well-formed reply; empty if nothing is.
            repairs: how often to ask again (None: as the model's settings say).
            words: reads a reply from a text without an object; None where it says none.

        Raises:
            UnreadableReply: it gave no usable reply within the repairs.
            CallFailed: the call was never answered, and the bidder plays on.
            ModelError: the provider refuses the call.
            RunPaused: the provider can't be reached.
        """
        repaired: list[BaseMessage] = []
        last = 1 + (self.settings.repairs if repairs is None else repairs)
        shape, complaint = Shape.of(reply_type, prompt.offered), ""
        for attempt in range(1, last + 1):
            call = Call(self, prompt, repaired, shape, attempt, self.clock())
            try:
                said = await call.run()
                found = read(said.message, reply_type, words)
                complaint = found.complaint if found.reply is None else check(found.reply)
            except BaseException as error:
                call.break_off(error)
                raise
            call.log("refused" if found.refused else "unreadable" if complaint else "ok", said, complaint, found.marks)
            if found.reply is not None and not complaint:
                return found.reply
            again = HumanMessage(_REPAIR.format(complaint=complaint))
            repaired = [*repaired, AIMessage(in_words(said.message)), again]
        raise UnreadableReply(usable(complaint, _fields(reply_type)))


def _fields(reply_type: type[BaseModel]) -> tuple[str, ...]:
    """Name the fields that a reply has, as its prompt does."""
    if issubclass(reply_type, OwnReply):
        return reply_type.all_keys()
    return () if issubclass(reply_type, InWords) else tuple(reply_type.model_fields)


_REPAIR = "That reply can't be used: {complaint}. Reply again, in the shape asked for."
