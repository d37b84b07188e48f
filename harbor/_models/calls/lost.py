"""Lost requests: no answer came, and the provider may charge for one all the same.

Each stands in the ledger by an upper bound of what it can have cost.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from harbor._config.models import ModelSettings
from harbor._core.events import Spent
from harbor._models.calls.faults import chain_of, status_of
from harbor._models.calls.trouble import is_unconnected
from harbor._models.calls.usage import WRITING
from harbor._models.passports.passport import Passport

GIVEN_UP = (504, 524)
"""Statuses of a gateway that has waited for the model in vain; with any other error nothing was answered."""
LATE = ("ReadTimeout", "StreamChunkTimeoutError")
"""What they raise when no answer comes in time."""
MOST_OUTPUT = 131_072
"""Tokens of an answer whose limit nobody tells: no model is known that writes more."""
FOR_THE_CALL, FOR_A_MESSAGE = 1_000, 20
"""Tokens that providers add to a prompt: Anthropic up to 800 for tools, all a few for the role of each message."""
_MILLION = 1_000_000


def may_be_charged(error: BaseException) -> bool:
    """Say whether a request that ended in this error may have been answered: it was sent, and not refused."""
    status = status_of(error)
    if status is not None and status >= 400:
        return status in GIVEN_UP
    return not is_unconnected(error)


def is_late(error: BaseException) -> bool:
    """Say whether a request was sent, and was given up because no answer came in time."""
    timed_out = any(isinstance(one, TimeoutError) and one.errno is None for one in chain_of(error))
    return (timed_out or _is_one(error, LATE)) and not is_unconnected(error)


def _is_one(error: BaseException, names: Sequence[str]) -> bool:
    return any(kind.__name__ in names for one in chain_of(error) for kind in type(one).__mro__)


def most_spent(
    messages: Sequence[BaseMessage],
    schema: Mapping[str, Any],
    settings: ModelSettings,
    passport: Passport,
    chat: BaseChatModel,
) -> Spent:
    """Give the most that one request can have cost; a token is at least a byte."""
    sent = (*(str(message.content) for message in messages), json.dumps([schema, settings.extra], ensure_ascii=False))
    read = sum(len(text.encode(errors="replace")) for text in sent) + FOR_THE_CALL + FOR_A_MESSAGE * len(messages)
    written = _most_output(settings, passport, chat)
    if settings.input_price is None or settings.output_price is None:
        return Spent(1, read, written, None)
    dollars = (read * WRITING * settings.input_price + written * settings.output_price) / _MILLION
    return Spent(1, read, written, dollars)


def _most_output(settings: ModelSettings, passport: Passport, chat: BaseChatModel) -> int:
    """Give the most tokens of an answer; a limit that the server does not take is none."""
    given = None if "max_tokens" in passport.not_taken else settings.max_tokens
    return given or passport.most_output_tokens or (chat.profile or {}).get("max_output_tokens") or MOST_OUTPUT
