"""A model that is open for one run: what its bidders share, and each one's ways to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from harbor._config.models import BUILT_IN, ModelSettings, ReplyForm
from harbor._core.errors import ConfigError
from harbor._models.calls.forms import Forms
from harbor._models.calls.identity import Identity, identity_of
from harbor._models.calls.line import Line
from harbor._models.calls.ways import Pool, Way
from harbor._models.passports.passport import Known, unknown
from harbor._models.passports.passport_folder import FOLDER, known_of
from harbor._models.replies.cache import is_cached, plain
from harbor._models.replies.reply_folder import own_folder


@dataclass(frozen=True, slots=True)
class OpenKey:
    """A model with one of its keys: the variable ("": it has no others), the account, and the forms that it takes."""

    variable: str
    settings: ModelSettings
    identity: Identity
    forms: Forms


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A model by each of its keys, with a chat model that its clients hold, and its passport."""

    name: str
    chat: BaseChatModel
    settings: ModelSettings
    keys: tuple[OpenKey, ...]
    known: Known

    @classmethod
    def of(
        cls, name: str, chats: Mapping[str, BaseChatModel], settings: ModelSettings, recorded: ReplyForm | None
    ) -> OpenModel:
        """Open a model by its chat models; `recorded` is the form that it took in an interrupted run."""
        chat = next(iter(chats.values()))
        known = known_to(chat, settings)  # all keys of a model share it
        keys = []
        for variable, one in chats.items():
            # of several keys each has its share of the time in which a call is tried again
            own = {"api_key_env": variable, "retry_seconds": settings.retry_seconds / len(chats)} if variable else {}
            mine = settings.model_copy(update=own)
            keys.append(OpenKey(variable, mine, identity_of(one, mine), Forms(one, mine, known, recorded)))
        return cls(name, chat, settings, tuple(keys), known)

    def pool(self, line: Callable[..., Line], fallback: Pool | None = None) -> Pool:
        """Give the ways of a bidder to the model: `line` makes its line to a key, `fallback` answers in its place."""

        def way(key: OpenKey) -> Way:
            built_in = self.settings.use == BUILT_IN
            mine = None if built_in else line(self.name, key.settings, key.identity, known=self.known)
            return Way(key.settings, key.forms, mine, key.variable)

        return Pool(self.name, tuple(map(way, self.keys)), fallback)


def known_to(chat: BaseChatModel, settings: ModelSettings) -> Known:
    """Give what is known of a model at a server; what is found out about an object stays with the run."""
    if not is_cached(settings):
        return unknown()
    try:
        known = known_of(
            own_folder() / FOLDER, plain(identity_of(chat, settings).server), settings.use.partition(":")[2]
        )
    except ConfigError:  # there is no home
        known = unknown()
    limits, before = chat.profile or {}, known.passport
    known.note(
        context_tokens=before.context_tokens or limits.get("max_input_tokens"),
        most_output_tokens=before.most_output_tokens or limits.get("max_output_tokens"),
    )
    return known
