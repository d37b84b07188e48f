"""A Harbor bidder as an AutoGen agent, for teams that are not Harbor's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Self

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, HandoffMessage, TextMessage
from autogen_core import CancellationToken, Component
from autogen_core.models import RequestUsage
from pydantic import BaseModel

from harbor._config.auction import Bidder
from harbor._config.models import GIVEN, ModelSettings
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import Event, ModelCalled, PrivateEvent
from harbor.graphs._apps.app_bidder import Spoken, Values, app_name, brought, speak, speakers
from harbor.graphs._apps.listener import AUCTIONEERS, ENGLISH, Listener
from harbor.graphs._apps.plain_english import AnyModel, client_of
from harbor.graphs._context.context import BidderContext
from harbor.graphs._wiring.bidder import GraphBidder
from harbor.personas._catalog.catalogue import catalogue_of


class BidderAgentConfig(BaseModel):
    """What `dump_component` writes of a `BidderAgent`."""

    bidder: dict[str, Any]
    model: str
    settings: dict[str, Any] = {}
    values: dict[str, Decimal] = {}
    name: str
    description: str
    auctioneers: tuple[str, ...] = AUCTIONEERS
    game: str = ENGLISH
    catalogue: str = "homes"
    seed: int = 0


class BidderAgent(BaseChatAgent, Component[BidderAgentConfig]):
    """A bidder in a team of yours: it hears the auctioneer, in plain English or as JSON, and bids in words.

    It believes the `auctioneers` alone, by the names of the agents that speak ("user" gives a team its task): what a
    rival says is not read, whatever it claims to be. Its budget, values, persona and objective are yours to give;
    nothing that is said changes them. "events" and "ask" in the metadata of a message, as JSON, are read as they are;
    a message without them costs one call of its model, which reads the English. AutoGen takes an agent's word for its
    name, so an agent of hostile code can pass for the auctioneer; an agent that only writes text can't.

    A handed-over turn (`Swarm`) is handed back. The answer's metadata has the item, the round and the answer
    in words.

    Args:
        bidder: who it is and how it thinks; its `model` is the model if none is given here.
        model: a name ("openai:gpt-5", "simulated"), settings, or a LangChain chat model.
        values: what items are worth to it in dollars, by the names that the auctioneer uses; it bids on no other.
        name: its name among agents, a Python identifier (None: made from the bidder's).
        description: tells teams with a selector what it is.
        auctioneers: the names of the speakers that it believes.
        game: the game that is played; in another than "english" it understands JSON alone.
        catalogue: where its persona is from.
        seed: of the built-in model's chance.

    Raises:
        ConfigError: it can't be played so.
    """

    component_type = "agent"
    component_config_schema = BidderAgentConfig
    component_provider_override = "harbor.BidderAgent"

    def __init__(
        self,
        bidder: Bidder | str,
        *,
        model: AnyModel = None,
        values: Values | None = None,
        name: str | None = None,
        description: str | None = None,
        auctioneers: Sequence[str] = AUCTIONEERS,
        game: str = ENGLISH,
        catalogue: str = "homes",
        seed: int = 0,
    ) -> None:
        self.bidder = bidder = Bidder(bidder) if isinstance(bidder, str) else bidder
        name = app_name(bidder.name, name)
        super().__init__(name, description or f"{bidder.name}, a bidder in an auction. Answers with a bid.")
        known = brought(bidder, values or {}, catalogue)
        auctioneers = speakers(bidder.name, auctioneers)
        self._model = client_of(bidder, model, seed)
        self._context = BidderContext(self._model, bidder, lambda: self._note, None, game, seed)
        kinds = catalogue_of(catalogue).personas if bidder.theory_of_mind != "none" else {}
        texts = {key: persona.text for key, persona in kinds.items()}
        self._listener = Listener(self._context, known, auctioneers, "budget" in bidder.model_fields_set, texts)
        self._player = GraphBidder(self._context)
        self._called: list[ModelCalled] = []
        self._config = BidderAgentConfig(
            bidder=bidder.model_dump(mode="json", exclude_unset=True),
            model=self._model.settings.use,
            settings=self._model.settings.model_dump(mode="json", exclude_unset=True, exclude={"use"}),
            values=known.values,
            name=name,
            description=self.description,
            auctioneers=auctioneers,
            game=game,
            catalogue=catalogue,
            seed=seed,
        )

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """Words, or words with which a turn is handed back."""
        return (TextMessage, HandoffMessage)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Hear the messages, and answer what the auctioneer asked last."""
        thinking = asyncio.ensure_future(self._answer(messages))
        cancellation_token.link_future(thinking)
        said = await thinking
        told = {} if said.ask is None else {"item": said.ask.item, "round": str(said.ask.round), "answer": said.words}
        message: dict[str, Any] = {"content": said.words, "source": self.name, "models_usage": self._usage()}
        if giver := _handed_by(messages, self.name):
            return Response(chat_message=HandoffMessage(target=giver, metadata=told, **message))
        return Response(chat_message=TextMessage(metadata=told, **message))

    async def _answer(self, messages: Sequence[BaseChatMessage]) -> Spoken:
        for message in messages:
            mine = isinstance(message, HandoffMessage) and message.target == self.name
            await self._listener.hear(message.source, message.to_text(), message.metadata, handed=mine)
        return await speak(self._listener, self._player)

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Forget what was heard and concluded."""
        self._listener.reset()
        self._player = GraphBidder(self._context)

    async def save_state(self) -> Mapping[str, Any]:
        """Give what was heard and concluded, as JSON."""
        return {"type": "BidderAgentState", "version": "1", **self._listener.dump()}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Take back what `save_state` gave.

        Raises:
            ValueError: it gave nothing of the kind.
        """
        self._listener.load(state)
        self._player = GraphBidder(self._context)

    def _to_config(self) -> BidderAgentConfig:
        if self._config.model == GIVEN:
            raise ConfigError(
                f"the model of bidder {self.bidder.name!r} is an object, which can't be written down; name it"
            )
        return self._config

    @classmethod
    def _from_config(cls, config: BidderAgentConfig) -> Self:
        return cls(
            Bidder(**config.bidder),
            model=ModelSettings(use=config.model, **config.settings),
            **config.model_dump(exclude={"bidder", "model", "settings"}),
        )

    def _note(self, event: Event) -> None:
        """Take what a thought concluded, and what its calls cost."""
        if isinstance(event, ModelCalled):
            self._called.append(event)
        elif isinstance(event, PrivateEvent):
            self._listener.conclude(event)

    def _usage(self) -> RequestUsage | None:
        """Count the tokens since the last answer; None if no model was called."""
        called, self._called = self._called, []
        tokens = (sum(call.input_tokens for call in called), sum(call.output_tokens for call in called))
        return RequestUsage(*tokens) if called else None


def _handed_by(messages: Sequence[BaseChatMessage], name: str) -> str:
    """Name who handed over the turn last; empty if nobody did."""
    givers = [one.source for one in messages if isinstance(one, HandoffMessage) and one.target == name]
    return givers[-1] if givers else ""
