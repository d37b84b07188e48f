"""A run opens its own connections for its models, shares them among its bidders, and closes them when it ends.

LangChain shares one HTTP client among all OpenAI models of a process, and one among all Anthropic models. A connection
that one event loop leaves open is dead in the next: a call over it fails, or is retried and paid for twice. Answers
have a limit of bytes, and a web page is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from ssl import SSLContext
from typing import Any

from langchain_core.language_models import BaseChatModel

from harbor._config.models import BUILT_IN, ModelSettings, ReplyForm
from harbor._core.basics.errors import ConfigError
from harbor._models.calls.faults import StrangeAnswer
from harbor._models.calls.forms import Forms
from harbor._models.calls.line import Identity, Line, identity_of
from harbor._models.calls.requests import Pool, Way
from harbor._models.passports.passport import FOLDER, Known, known_of, unknown
from harbor._models.replies.cache import is_cached, plain
from harbor._models.replies.reply_folder import own_folder

CONNECT_SECONDS = 30.0
"""Time limit in seconds to connect. The packages' own time limits for an answer are off, because the line has one."""
LONGEST_ANSWER = 32 * 2**20
"""Limit of bytes per answer. No model's reply is longer, and an endless stream would fill the memory."""


Transport = Callable[[BaseChatModel], Any]


@asynccontextmanager
async def connected(chats: Iterable[BaseChatModel], transport: Transport | None = None) -> AsyncIterator[None]:
    """Open own connections for hosted models, and close them; leave other models alone.

    `transport` makes the HTTP transport for a model of OpenAI's or Anthropic's package (None: real connections).
    """
    async with AsyncExitStack() as stack:
        for chat in chats:
            if (opened := _OPEN.get(_package(chat))) is not None and not _brings_its_own(chat):
                http, close = opened(chat, transport)
                http.event_hooks = {**http.event_hooks, "response": [*http.event_hooks["response"], _bounded]}
                stack.push_async_callback(close)
        yield


def shares_connections(chat: BaseChatModel) -> bool:
    """Say whether the run opens a model's connections: LangChain would share them with all models of a provider."""
    return _package(chat) in _SHARED and not _brings_its_own(chat)


def _brings_its_own(chat: BaseChatModel) -> bool:
    return getattr(chat, "http_async_client", None) is not None


def _package(chat: BaseChatModel) -> str:
    """Name the package that opens a model's connections; other providers' packages build on OpenAI's. "" if none."""
    packages = (kind.__module__.partition(".")[0] for kind in type(chat).__mro__)
    return next((package for package in packages if package in _OPEN), "")


Opened = tuple[Any, Callable[[], Any]]


def _http(kind: Any, chat: Any, transport: Transport | None, proxy: str | None) -> Any:
    """Make an HTTP client of class `kind`, which is the provider package's subclass of its HTTP package's client."""
    carried = _carried(chat, transport, proxy)
    return kind(verify=_certificates(kind.__mro__[1].__module__.partition(".")[0]), **carried)


@cache
def _certificates(http_package: str) -> SSLContext:
    """Read the trusted certificates once, because reading takes longer than several calls."""
    context: SSLContext = import_module(http_package).create_ssl_context()
    return context


def _own_openai(chat: Any, transport: Transport | None) -> Opened:
    from openai import DefaultAsyncHttpxClient, Timeout

    http = _http(DefaultAsyncHttpxClient, chat, transport, chat.openai_proxy)
    client = chat.root_async_client
    limits = Timeout(None, connect=CONNECT_SECONDS) if chat.request_timeout is None else client.timeout
    chat.root_async_client = client.copy(http_client=http, max_retries=0, timeout=limits)
    if "stream_chunk_timeout" not in chat.model_fields_set:
        chat.stream_chunk_timeout = None  # a thinking model may send nothing for a long time
    chat.async_client = _as_written()(chat.root_async_client)
    return http, chat.root_async_client.close


@cache
def _as_written() -> Any:
    """Return a subclass of OpenAI's completions that sends a request as LangChain has written it.

    OpenAI's class walks every message and schema to rename fields. LangChain has no fields to rename, and the walk
    costs a quarter of a call's processor time.
    """
    from openai.resources.chat import AsyncCompletions

    class AsWritten(AsyncCompletions):
        async def create(self, *, extra_body: Any = None, **written: Any) -> Any:
            own = {name: written.pop(name) for name in _OF_THE_PACKAGE if name in written}
            return await super().create(messages=(), **own, extra_body={**written, **(extra_body or {})})

    return AsWritten


_OF_THE_PACKAGE = ("model", "stream", "extra_headers", "extra_query", "timeout")
"""Arguments that OpenAI's package reads itself; Azure's addresses depend on the model."""


def _own_anthropic(chat: Any, transport: Transport | None) -> Opened:
    from anthropic import DefaultAsyncHttpxClient, Timeout

    http = _http(DefaultAsyncHttpxClient, chat, transport, chat.anthropic_proxy)
    client = chat._async_client
    limits = Timeout(None, connect=CONNECT_SECONDS) if chat.default_request_timeout is None else client.timeout
    # ChatAnthropic takes no HTTP client
    chat._async_client = client.copy(http_client=http, max_retries=0, timeout=limits)
    return http, chat._async_client.close


def _carried(chat: BaseChatModel, transport: Transport | None, proxy: Any) -> dict[str, Any]:
    """Return the client's arguments that route requests; a proxy from the environment would override the transport."""
    return {"proxy": proxy} if transport is None else {"transport": transport(chat), "trust_env": False}


def _of_ollama(chat: Any, _: Transport | None) -> Opened:
    http = chat._async_client._client
    if http.timeout.connect is None:
        http.timeout = type(http.timeout)(None, connect=CONNECT_SECONDS)
    return http, http.aclose


def _of_google(chat: Any, _: Transport | None) -> Opened:
    client = chat.client._api_client
    http = client._async_httpx_client
    client._http_options.httpx_async_client = http  # else the package uses aiohttp if that is installed

    async def close() -> None:
        await client.aclose()
        await http.aclose()

    return http, close


_SHARED = ("langchain_openai", "langchain_anthropic")  # packages that share one HTTP client among all models
_OPEN: dict[str, Callable[[Any, Transport | None], Opened]] = {
    "langchain_openai": _own_openai,
    "langchain_anthropic": _own_anthropic,
    "langchain_ollama": _of_ollama,
    "langchain_google_genai": _of_google,
}
"""By package, the function that returns a model's HTTP client and its closer. The last two packages share no client."""


async def no_page(response: Any) -> None:
    """Refuse a web page in place of an answer.

    Raises:
        StrangeAnswer: the response is a web page.
    """
    if response.status_code == 200 and "html" in response.headers.get("content-type", ""):
        raise StrangeAnswer("the server answers with a web page; is base_url the address of its API?")


async def _bounded(response: Any) -> None:
    """Refuse a web page in place of an answer, and limit the answer to `LONGEST_ANSWER` bytes.

    Raises:
        StrangeAnswer: the answer is a web page or too long; the provider's package reports a connection error.
    """
    await no_page(response)
    with suppress(ValueError):
        if int(response.headers.get("content-length", 0)) > LONGEST_ANSWER:
            raise StrangeAnswer(f"the answer is longer than {LONGEST_ANSWER} bytes")
    response.stream = _counted(type(response).__module__.partition(".")[0])(response.stream)


@cache
def _counted(http_package: str) -> Any:
    """Return the class that counts the bytes of an answer; it subclasses the stream of the HTTP package in use."""
    package: Any = import_module(http_package)

    class Counted(package.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: Any) -> None:
            self.stream, self.length = stream, 0

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self.stream:
                self.length += len(chunk)
                if self.length > LONGEST_ANSWER:
                    raise StrangeAnswer(f"the answer is longer than {LONGEST_ANSWER} bytes")
                yield chunk

        async def aclose(self) -> None:
            await self.stream.aclose()

    return Counted


@dataclass(frozen=True, slots=True)
class OpenKey:
    """A model with one of its keys: the variable ("" if it is the only key), the account, and the accepted forms."""

    variable: str
    settings: ModelSettings
    identity: Identity
    forms: Forms


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A model with each of its keys, the chat model that its clients hold, and its passport."""

    name: str
    chat: BaseChatModel
    settings: ModelSettings
    keys: tuple[OpenKey, ...]
    known: Known

    @classmethod
    def of(
        cls, name: str, chats: Mapping[str, BaseChatModel], settings: ModelSettings, recorded: ReplyForm | None
    ) -> OpenModel:
        """Open a model from its chat models; `recorded` is the reply form that the model used in an interrupted run."""
        chat = next(iter(chats.values()))
        known = known_to(chat, settings)  # all keys of a model share it
        keys = []
        for variable, one in chats.items():
            # several keys share the time in which a call is retried
            own = {"api_key_env": variable, "retry_seconds": settings.retry_seconds / len(chats)} if variable else {}
            mine = settings.model_copy(update=own)
            keys.append(OpenKey(variable, mine, identity_of(one, mine), Forms(one, mine, known, recorded)))
        return cls(name, chat, settings, tuple(keys), known)

    def pool(self, line: Callable[..., Line], fallback: Pool | None = None) -> Pool:
        """Return a bidder's pool of ways to the model; `line` makes the line to a key, `fallback` answers instead."""

        def way(key: OpenKey) -> Way:
            built_in = self.settings.use == BUILT_IN
            mine = None if built_in else line(self.name, key.settings, key.identity, known=self.known)
            return Way(key.settings, key.forms, mine, key.variable)

        return Pool(self.name, tuple(map(way, self.keys)), fallback)


def known_to(chat: BaseChatModel, settings: ModelSettings) -> Known:
    """Return the passport of a model at a server. Only this run keeps the passport of a model that is not cached."""
    if not is_cached(settings):
        return unknown()
    try:
        known = known_of(
            own_folder() / FOLDER, plain(identity_of(chat, settings).server), settings.use.partition(":")[2]
        )
    except ConfigError:  # there is no home folder
        known = unknown()
    limits, before = chat.profile or {}, known.passport
    known.note(
        context_tokens=before.context_tokens or limits.get("max_input_tokens"),
        most_output_tokens=before.most_output_tokens or limits.get("max_output_tokens"),
    )
    return known
