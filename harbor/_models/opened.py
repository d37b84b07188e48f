"""A model that is open for one run: what its bidders share, and each one's ways to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from harbor._config.models import BUILT_IN, ModelSettings, ReplyForm
from harbor._models.calls.forms import Forms
from harbor._models.calls.line import Identity, Line, identity_of
from harbor._models.calls.ways import Pool, Way
from harbor._models.passports.passport import Known, Passport


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
        keys: list[OpenKey] = []
        for variable, chat in chats.items():
            # of several keys each has its share of the time in which a call is tried again
            own = {"api_key_env": variable, "retry_seconds": settings.retry_seconds / len(chats)} if variable else {}
            mine = settings.model_copy(update=own)
            identity = identity_of(chat, mine)
            # what is found out about an object stays with the run; about a model, all its keys know
            shared = (keys[0].identity if keys else identity).model if ":" in settings.use else ""
            keys.append(OpenKey(variable, mine, identity, Forms(chat, mine, shared, recorded)))
        known = Known(Passport(keys[0].identity.server, settings.use.partition(":")[2]))
        return cls(name, next(iter(chats.values())), settings, tuple(keys), known)

    def pool(self, line: Callable[..., Line], fallback: Pool | None = None) -> Pool:
        """Give the ways of a bidder to the model: `line` makes its line to a key, `fallback` answers in its place."""

        def way(key: OpenKey) -> Way:
            built_in = self.settings.use == BUILT_IN
            mine = None if built_in else line(self.name, key.settings, key.identity, known=self.known)
            return Way(key.settings, key.forms, mine, key.variable)

        return Pool(self.name, tuple(map(way, self.keys)), fallback)
