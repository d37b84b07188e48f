"""What flows through a bidder's graph, and what its nodes can use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol, Self, TypedDict, TypeVar, cast

from langchain_core.language_models import BaseChatModel

from harbor._config.auction import Bidder, MindSettings, ModelSettings
from harbor._core.asks import Answer, Ask, Pause
from harbor._core.errors import ConfigError
from harbor._core.events import Event, EventSink
from harbor._models.client import ModelClient, Prompt
from harbor.graphs._context.prompting import Facts, fill
from harbor.graphs._context.replies import Reply, without_reasons
from harbor.memory._bidder.auction_view import AuctionView
from harbor.memory._bidder.bidder_memory import BidderMemory

CATALOG_PROMPTS = ("profile", "mirror", "predict")
"""Prompts that begin with the texts of the catalog, where a provider's prefix cache finds them again.

Plans do so where they can tell rivals apart.
"""

MEMORY_PROMPTS = ("plan", "replan", "predict", "strategize", "bid", "fused")
"""Prompts that what was recalled goes into."""


class Fold(Protocol):
    """A working memory that is a fold over events: a notebook or a journal."""

    def after(self, events: Iterable[Event]) -> Self:
        """Give the memory after these events."""
        ...


F = TypeVar("F", bound=Fold)


def fold_reducer(kind: type[F]) -> Callable[[F | None, F | Iterable[Event]], F]:
    """Give the reducer of a memory's channel: a memory replaces it, events are folded into it."""

    def fold(memory: F | None, news: F | Iterable[Event]) -> F:
        return news if isinstance(news, kind) else (memory or kind()).after(cast("Iterable[Event]", news))

    return fold


class BidderState(TypedDict, total=False):
    """The state of a bidder's graph.

    `ask` is what the auctioneer wants; `notebook` takes a notebook or the events seen so far; `answer` comes out.
    """

    ask: Ask | Pause
    view: Annotated[AuctionView, fold_reducer(AuctionView)]
    answer: Answer | None


Update = dict[str, Any]
"""Channels of `BidderState` that a node changes; under "notebook" stand the events it concluded."""


@dataclass(frozen=True)
class NodeContext:
    """One run of one node: whose it is, the model to ask, and a place for its notes."""

    bidder: BidderContext
    model: ModelClient
    sink: EventSink

    @property
    def switches(self) -> MindSettings:
        """What this bidder's mind has."""
        return self.bidder.switches

    @property
    def memory(self) -> BidderMemory:
        """What this bidder remembers of earlier auctions.

        Raises:
            ConfigError: its mind was made without a store.
        """
        if self.bidder.memory is None:
            raise ConfigError(f"bidder {self.model.bidder!r} has a memory and no store; give Mind an archive")
        return self.bidder.memory

    def fork(self) -> NodeContext:
        """Begin a thought beside this one, so that its notes stand together however fast the model is."""
        return self.bidder.context()

    def prompt(self, name: str, view: AuctionView, facts: Facts) -> Prompt:
        """Fill a prompt with who this bidder is and the facts of the call."""
        personas = [{"share": share, "text": text} for text, share in view.personas.items()]
        who: Facts = {"you": view.name, "personas": personas, "objective": view.objective}
        if not self.switches.chain_of_thought:
            who = {**who, "reasons": "none"}
        if name in CATALOG_PROMPTS or (view.profiles and name in ("plan", "replan")):
            who = {**who, "catalog": view.catalog}
        if name in MEMORY_PROMPTS and view.memories:
            facts = {**facts, "memories": [memory.text for memory in view.memories]}
        return fill(name, who, facts)

    async def ask(
        self,
        prompt: Prompt,
        kind: type[Reply],
        check: Callable[[Reply], str] = lambda _: "",
        repairs: int | None = None,
    ) -> Reply:
        """Ask the model; without a chain of thought it may leave the reasons of its reply out."""
        shape = kind if self.switches.chain_of_thought else without_reasons(kind)
        return await self.model.ask(prompt, shape, check, repairs)

    def emit(self, *conclusions: Event) -> Update:
        """Hand over what a node concluded, and give it to the nodes after it."""
        for conclusion in conclusions:
            self.sink(conclusion)
        return {"view": conclusions}


@dataclass(frozen=True)
class BidderContext:
    """What all nodes of a bidder share; `begin` opens a place for the notes of a thought.

    `archive` holds the memories of a bidder that has any; `game` is the one it sits in.
    """

    model: ModelClient
    switches: MindSettings
    begin: Callable[[], EventSink]
    memory: BidderMemory | None = None
    game: str = "english"

    @classmethod
    def of(
        cls,
        bidder: Bidder,
        chat: BaseChatModel,
        sink: EventSink = lambda _: None,
        memory: BidderMemory | None = None,
        game: str = "english",
    ) -> BidderContext:
        """Make the mind of a bidder outside an auction, from any chat model; `note` takes what it concludes."""
        return cls(ModelClient(bidder.name, bidder.model, chat, ModelSettings()), bidder, lambda: sink, memory, game)

    def context(self) -> NodeContext:
        """Begin a thought."""
        sink = self.begin()
        return NodeContext(self, replace(self.model, sink=sink), sink)
