"""The cache keeps replies, so that no game pays again for an equal request.

The address of a reply contains all that can change the reply: the exact model with its settings, the form and schema
of the reply, every word of the messages, the attempt, and the cache's `draw`. Unless the temperature is 0, it also
contains the game's seed, and how often the game has made this request. So games with different seeds get different
replies, and a request that a game repeats gets another reply. An address omits the bidder, because the prompt names it.
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
"""Settings that an address leaves out. Most change no reply; the form of the reply is a part of its own.

Headers may change a reply. The address has only their digest, because entries are published and headers may be secret.
"""
LONGEST_WAIT = 60.0
"""Longest wait in seconds for the same call of another game, because that call may be retried for long."""
_SERVER = re.compile(r"_(?:BASE_URL|API_BASE|API_URL|ENDPOINT|HOST)")  # in names of environment variables


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A request: the model's settings, the form and schema of the reply, messages as [role, text], and the attempt.

    `settings` are the settings that were sent. `not_taken` were left out because the model does not take them.
    """

    settings: ModelSettings
    form: ReplyForm
    schema: dict[str, Any] | None
    messages: list[list[str]]
    attempt: int
    not_taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyCache:
    """A cache that keeps the replies of hosted models, so that no reply is paid for twice.

    Replies are kept in `folder`. Without it, they are kept in the folder of the environment variable ``HARBOR_CACHE``,
    or else in ``~/.cache/harbor/replies``. Runs with different values of `draw` share no reply, even if their seeds are
    equal.

    >>> from pathlib import Path
    >>> ReplyCache(Path("missing")).is_empty
    True
    """

    folder: Path | None = None
    draw: str = ""

    @property
    def is_empty(self) -> bool:
        """True if the folder has no reply."""
        return not any((self.folder or own_folder()).glob("v*/??/*.json"))

    def of_game(self, seed: int, longest_wait: float = LONGEST_WAIT) -> GameCache:
        """Return this cache for one game, with a new count of the game's calls.

        Equal calls of one game are numbered, so that each gets a reply of its own; with temperature 0 they share a
        reply. If another game of this process is making the same call, this game's call waits for that reply, but at
        most `longest_wait` seconds (`inf`: until the other call has ended).
        """
        return GameCache(ReplyFolder(self.folder or own_folder()), seed, self.draw, longest_wait)


def is_cached(settings: ModelSettings) -> bool:
    """Say whether replies of a model may be kept: only if it is "provider:model".

    Replies of the user's own code may depend on more than settings and words, and the built-in model is free.
    """
    provider, _, model = settings.use.partition(":")
    return provider in PROVIDERS and bool(model)


class GameCache:
    """The cache as one game uses it; it counts the game's requests.

    A call opens `alone`, then calls `find`, and if nothing is found, `keep` with the same request object. A call that
    is replayed from the records of an interrupted run calls `count` instead.
    """

    def __init__(self, folder: ReplyFolder, seed: int, draw: str = "", longest_wait: float = LONGEST_WAIT) -> None:
        self._folder, self._seed, self._draw, self._longest_wait = folder, seed, draw, longest_wait
        self._times: Counter[str] = Counter()
        self._questions: dict[int, _Question] = {}  # by the id of the request; the question keeps the request alive
        self._models: dict[int, tuple[ModelSettings, Asked]] = {}

    @asynccontextmanager
    async def alone(self, *requests: CallRequest) -> AsyncIterator[None]:
        """Let other games of this process with the same first request wait meanwhile; they may find the reply then.

        A request that was not found inside is forgotten afterwards.
        """
        key = (id(asyncio.get_running_loop()), str(self._folder.path), self._question(requests[0]).place)
        other, asking = _ASKING.get(key), asyncio.Event()
        try:
            if other is None:
                _ASKING[key] = asking
            else:  # wait only once: if that call fails, this one has to ask
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
        """Count a request, and return it as JSON with its number in the game."""
        question = self._question(request)
        del self._questions[id(request)]
        if request.settings.temperature != 0:
            self._times[question.place] += 1
            question.asked["number"] = self._times[question.place]
        return question.asked

    def find(self, request: CallRequest) -> CachedReply | None:
        """Count a request, and return the kept reply; None: the model has to be asked."""
        question = self._question(request)
        self.count(request)
        found = self._folder.read(numbered(question.place, question.asked))
        if found is None:
            self._questions[id(request)] = question
        return found.reply if found else None

    def keep(self, request: CallRequest, reply: CachedReply) -> CachedReply:
        """Keep the reply to a request that was not found, and return the reply to go on with.

        Return another game's reply if it was kept meanwhile. If nothing can be written, warn once and return `reply`.
        """
        question = self._questions.pop(id(request))
        address = numbered(question.place, question.asked)
        try:
            return self._folder.keep(new_entry(question.asked, replace(reply, address=address))).reply
        except OSError as error:
            _warn_once(self._folder.path, error.strerror or type(error).__name__)
            return reply

    def _question(self, request: CallRequest) -> _Question:
        """Return a request as JSON without its number in the game. The words are long, so make it once per call."""
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
    """A request under way, the request as JSON, and its digest without the number of the request."""

    request: CallRequest
    asked: Asked
    place: str


_ASKING: dict[tuple[int, str, str], asyncio.Event] = {}
"""Requests under way by event loop, folder and digest; the event is set when the request has ended."""


def _without(not_taken: tuple[str, ...]) -> Asked:
    """Distinguish a model that does not take a setting from one that was not given the setting."""
    return {"not_taken": list(not_taken)} if not_taken else {}


def _model(settings: ModelSettings) -> Asked:
    told = settings.model_dump(mode="json", exclude=set(NO_PART), exclude_defaults=True)
    if settings.headers:
        told["headers"] = sha256(repr(sorted(settings.headers.items())).encode()).hexdigest()
    return told | {"use": settings.use, "base_url": server_of(settings)}


def server_of(settings: ModelSettings) -> str | None:
    """Return the server's address for a model; None: the provider's own.

    A provider's package also reads the address from environment variables whose names begin like the provider's
    (``OPENAI_BASE_URL``, ``OLLAMA_HOST``).
    """
    if settings.base_url is not None:
        return settings.base_url.rstrip("/")
    begins = settings.use.partition(":")[0].partition("_")[0].upper()[:5]
    places = (name for name in sorted(os.environ) if name.startswith(begins) and _SERVER.search(name))
    return " ".join(plain(os.environ[name]) for name in places if os.environ[name]) or None


def plain(url: str) -> str:
    """Return an address without user name, password and query."""
    return re.sub(r"(^|//)[^/]*@", r"\1", url).partition("?")[0].rstrip("/")


@cache
def _warn_once(folder: Path, why: str) -> None:
    warnings.warn(
        f"replies can't be kept in {str(folder)!r} ({why}), and may be paid for again; make room, or name another"
        " folder in HARBOR_CACHE",
        stacklevel=4,
    )
