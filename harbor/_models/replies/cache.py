"""The cache of replies as a game uses it: an equal request with the same chance is not paid for again.

An address is made of all that can change a reply: the exact model with its settings, the form and schema of the reply,
every word of the messages, and the attempt. Unless the temperature is 0, the game's seed is part of it, and the number
of this very request in the game: so games of different chance draw replies of their own, and so does a request that a
game makes twice. Who asks is not: a prompt names its bidder.
"""

from __future__ import annotations

import asyncio
import os
import re
import warnings
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from harbor._config.models import PROVIDERS, ModelSettings, ReplyForm
from harbor._core.basics.loops import running_timeout
from harbor._models.replies.reply_folder import (
    Asked,
    CachedReply,
    ReplyFolder,
    new_entry,
    numbered,
    own_folder,
    place_of,
)

NO_PART = frozenset(
    {"api_key_env", "headers", "timeout_seconds", "max_concurrent", "requests_per_minute", "tokens_per_minute"}
    | {
        "fallback",
        "reply",
        "repairs",
        "retry_seconds",
        "must_take",
        "input_price",
        "cached_price",
        "output_price",
        "simulated",
    }
)
"""The settings that are no part of an address as they are: most change no reply, the form of which is told apart.

Headers may change one, and are in it by their digest alone: entries are published, and headers may hold secrets.
"""
LONGEST_WAIT = 60.0
"""Seconds after which somebody else's call is no longer waited for: it may have to be tried for long."""
_SERVER = re.compile(r"_(?:BASE_URL|API_BASE|API_URL|ENDPOINT|HOST)")


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A request: the model's settings, the form and schema of the reply, messages as [role, text], the attempt.

    The settings are those that were sent, and `not_taken` those that were left out as the model does not take them.
    """

    settings: ModelSettings
    form: ReplyForm
    schema: dict[str, Any] | None
    messages: list[list[str]]
    attempt: int
    not_taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyCache:
    """A store of the replies of hosted models, so that the same reply is not paid for twice.

    `folder` holds the replies (None: the folder in the environment variable ``HARBOR_CACHE``, or else
    ``~/.cache/harbor/replies``). Runs with different texts in `draw` share no replies, even if their seeds are equal.
    """

    folder: Path | None = None
    draw: str = ""

    @property
    def is_empty(self) -> bool:
        """True if the folder has no replies."""
        return not any((self.folder or own_folder()).glob("v*/??/*.json"))

    def of_game(self, seed: int, longest_wait: float = LONGEST_WAIT) -> GameCache:
        """Return the cache for use by one new game.

        If another game of this process has just made the same call, the game waits for that reply, for at most
        `longest_wait` seconds (`inf`: until the call of the other game has ended).
        """
        return GameCache(ReplyFolder(self.folder or own_folder()), seed, self.draw, longest_wait)


def is_cached(settings: ModelSettings) -> bool:
    """Return whether replies of a model may be kept: its name is "provider:model".

    Answers of other code may depend on more than settings and words, and the built-in model is free.
    """
    provider, _, model = settings.use.partition(":")
    return provider in PROVIDERS and bool(model)


class GameCache:
    """The cache as one game uses it: it counts the game's requests.

    A call goes: `alone`, and in it `find`, and if nothing is found `keep` with the very request that was looked for. A
    call that is replayed from the records of an interrupted run is told by `count` instead.
    """

    def __init__(self, folder: ReplyFolder, seed: int, draw: str = "", longest_wait: float = LONGEST_WAIT) -> None:
        self._folder, self._seed, self._draw, self._longest_wait = folder, seed, draw, longest_wait
        self._times: Counter[str] = Counter()
        self._questions: dict[int, _Question] = {}  # by the id of the request, which the question holds on to
        self._models: dict[int, tuple[ModelSettings, Asked]] = {}

    @asynccontextmanager
    async def alone(self, *requests: CallRequest) -> AsyncIterator[None]:
        """Let other games of this process that ask the same as the first wait meanwhile: they may find the reply then.

        Requests that were looked for inside, and not found, are forgotten afterwards.
        """
        key = (id(asyncio.get_running_loop()), str(self._folder.path), self._question(requests[0]).place)
        other, asking = _ASKING.get(key), asyncio.Event()
        try:
            if other is None:
                _ASKING[key] = asking
            else:  # after any end of that call: those who wait may have to ask, and none waits twice
                with suppress(TimeoutError):
                    async with running_timeout(self._longest_wait):
                        await other.wait()
            yield
        finally:
            if other is None:
                del _ASKING[key]
                asking.set()
            for request in requests:
                self._questions.pop(id(request), None)

    def count(self, request: CallRequest) -> Asked:
        """Count a request, and return it with its number in the game."""
        question = self._question(request)
        del self._questions[id(request)]
        if request.settings.temperature != 0:
            self._times[question.place] += 1
            question.asked["number"] = self._times[question.place]
        return question.asked

    def find(self, request: CallRequest) -> CachedReply | None:
        """Count a request, and give the reply that is kept; None: it has to be asked."""
        question = self._question(request)
        self.count(request)
        found = self._folder.read(numbered(question.place, question.asked))
        if found is None:
            self._questions[id(request)] = question
        return found.reply if found else None

    def keep(self, request: CallRequest, reply: CachedReply) -> CachedReply:
        """Keep the reply to a request that was not found, and give the reply to go on with.

        That is another one if somebody else has kept theirs meanwhile. Where nothing can be written, a warning is given
        once, and the reply is as it was.
        """
        question = self._questions.pop(id(request))
        address = numbered(question.place, question.asked)
        try:
            return self._folder.keep(new_entry(question.asked, replace(reply, address=address))).reply
        except OSError as error:
            _warn_once(self._folder.path, error.strerror or type(error).__name__)
            return reply

    def _question(self, request: CallRequest) -> _Question:
        """Return a request without its number in the game; the words are long, so it is made once per call."""
        if id(request) not in self._questions:
            settings = request.settings
            if id(settings) not in self._models:
                self._models[id(settings)] = settings, _model(settings)
            asked = {
                "model": self._models[id(settings)][1] | _without(request.not_taken),
                "form": request.form,
                "schema": request.schema,
                "messages": request.messages,
                "attempt": request.attempt,
                "draw": self._draw,
                "seed": None if settings.temperature == 0 else self._seed,
                "number": None,
            }
            self._questions[id(request)] = _Question(request, asked, place_of(asked))
        return self._questions[id(request)]


@dataclass(frozen=True, slots=True)
class _Question:
    """A request under way, its content, and the digest of the content without the number."""

    request: CallRequest
    asked: Asked
    place: str


_ASKING: dict[tuple[int, str, str], asyncio.Event] = {}
"""Requests under way, by event loop, folder and request; the event tells their end."""


def _without(not_taken: tuple[str, ...]) -> Asked:
    """Tell a model that does not take a setting from one that was not given it."""
    return {"not_taken": list(not_taken)} if not_taken else {}


def _model(settings: ModelSettings) -> Asked:
    told = settings.model_dump(mode="json", exclude=set(NO_PART), exclude_defaults=True)
    if settings.headers:
        told["headers"] = sha256(repr(sorted(settings.headers.items())).encode()).hexdigest()
    return told | {"use": settings.use, "base_url": server_of(settings)}


def server_of(settings: ModelSettings) -> str | None:
    """Return the address of the server that a model is asked at; None: the provider's own.

    A provider's package also takes it from the environment (``OPENAI_BASE_URL``, ``OLLAMA_HOST``), by names that begin
    as the provider's does.
    """
    if settings.base_url is not None:
        return settings.base_url.rstrip("/")
    begins = settings.use.partition(":")[0].partition("_")[0].upper()[:5]
    places = (name for name in sorted(os.environ) if name.startswith(begins) and _SERVER.search(name))
    return " ".join(plain(os.environ[name]) for name in places if os.environ[name]) or None


def plain(url: str) -> str:
    """Return an address without a name, a password and a query."""
    return re.sub(r"(^|//)[^/]*@", r"\1", url).partition("?")[0].rstrip("/")


@cache
def _warn_once(folder: Path, why: str) -> None:
    warnings.warn(
        f"replies can't be kept in {str(folder)!r} ({why}), and may be paid for again; make room, or name another"
        " folder in HARBOR_CACHE",
        stacklevel=4,
    )
