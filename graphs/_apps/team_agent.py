"""A Harbor bidder as an AutoGen agent, for your own teams."""

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
    """The settings of a `BidderAgent` that `dump_component` writes and `load_component` reads."""

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
    """A Harbor bidder as an agent in your own AutoGen team: it reads an auctioneer's messages and bids in words.

    The bidder reads only messages from the agents named in `auctioneers` ("user" is the name under which a team gets
    its task); it does not read messages from rivals. You set the bidder's budget, values, persona and objective, and no
    message can change them. If the metadata of a message have "events" or "ask", these are read as JSON in place of the
    words. A message without them is read as English, which costs one model call. AutoGen does not verify the names of
    agents: hostile code in the team can pass for the auctioneer, but an agent that only writes text can't. If another
    agent of a `Swarm` hands its turn to the bidder, the bidder hands the turn back with its answer. The metadata of an
    answer have the item, the round and the answer in words.

    >>> BidderAgent("Ann B.", model="simulated", values={"Vase": 300}, name="ann").name
    'ann'

    Args:
        bidder: the bidder's settings, or its name.
        model: the model that plays the bidder: a name ("openai:gpt-5", "simulated"), settings, or a LangChain chat
            model (None: the model that the bidder's settings name).
        values: the value of each item to the bidder in dollars, by the names that the auctioneer uses; the bidder does
            not bid on other items.
        name: the agent's name in the team, a Python identifier (None: made from the bidder's name).
        description: the agent's description, which a team that selects its speakers reads (None: a usual one).
        auctioneers: names of the agents whose messages the bidder reads and believes.
        game: name of the game; in other games than "english" the bidder understands only JSON.
        catalogue: name of the catalogue that has the bidder's persona.
        seed: random seed of the built-in model.

    Raises:
        ConfigError: the settings can't be played.
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
        """The kinds of messages that the bidder writes: text, and text that hands a turn back."""
        return (TextMessage, HandoffMessage)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Read the new messages, and answer the auctioneer's last question."""
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
        """Forget all messages and conclusions."""
        self._listener.reset()
        self._player = GraphBidder(self._context)

    async def save_state(self) -> Mapping[str, Any]:
        """Return all that the bidder has heard and concluded, as JSON for `load_state`."""
        return {"type": "BidderAgentState", "version": "1", **self._listener.dump()}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `save_state` returned.

        Raises:
            ValueError: the state does not have the form that `save_state` returns.
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
        """Keep the conclusion of a thought, or the cost of a call."""
        if isinstance(event, ModelCalled):
            self._called.append(event)
        elif isinstance(event, PrivateEvent):
            self._listener.conclude(event)

    def _usage(self) -> RequestUsage | None:
        """Return the tokens used since the last answer; None if no model was called."""
        called, self._called = self._called, []
        tokens = (sum(call.input_tokens for call in called), sum(call.output_tokens for call in called))
        return RequestUsage(*tokens) if called else None


def _handed_by(messages: Sequence[BaseChatMessage], name: str) -> str:
    """Return the name of the last agent that handed its turn to the agent `name`; empty if none did."""
    givers = [one.source for one in messages if isinstance(one, HandoffMessage) and one.target == name]
    return givers[-1] if givers else ""
