"""A model that is open for one run: what its bidders share, and each one's client to it."""

from __future__ import annotations

from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from harbor._config.models import BUILT_IN, ModelSettings, ReplyForm
from harbor._models.calls.client import ModelClient
from harbor._models.calls.forms import Forms
from harbor._models.calls.line import Identity, Line, identity_of
from harbor._models.calls.waiting import Waiting
from harbor._models.governor.terms import Governor
from harbor._models.passports.passport import Known, Passport


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A chat model with its settings, the account that it is used from, the forms that it takes, and its passport."""

    name: str
    chat: BaseChatModel
    settings: ModelSettings
    identity: Identity
    forms: Forms
    known: Known

    @classmethod
    def of(cls, name: str, chat: BaseChatModel, settings: ModelSettings, recorded: ReplyForm | None) -> OpenModel:
        """Open a chat model; `recorded` is the form that it took in an interrupted run."""
        identity = identity_of(chat, settings)
        shared = identity.model if ":" in settings.use else ""  # what is found out about an object stays with the run
        known = Known(Passport(identity.server, settings.use.partition(":")[2]))
        return cls(name, chat, settings, identity, Forms(chat, settings, shared, recorded), known)

    def client(
        self,
        bidder: str,
        waiting: Waiting,
        age: tuple[int, ...],
        governor: Governor,
        kind: type[Line] = Line,
    ) -> ModelClient:
        """Give the client of a bidder, over a line of a kind."""
        line = kind(self.name, self.settings, self.identity, age, waiting, governor, self.known)
        built_in = self.settings.use == BUILT_IN
        return ModelClient(
            bidder, self.name, self.chat, self.settings, line=None if built_in else line, forms=self.forms
        )
