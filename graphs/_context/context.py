"""What flows through a bidder's graph, and what its nodes can use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Annotated, Any, TypedDict, TypeVar, cast

from langchain_core.language_models import BaseChatModel

from harbor._config.auction import Bidder, MindSettings
from harbor._config.models import ModelSettings, ReplyForm
from harbor._config.protocol import ProtocolSettings
from harbor._core.asks import Answer, Ask, Pause
from harbor._core.decisions import without_reasons
from harbor._core.dialogue import Turn
from harbor._core.errors import CodeError, ConfigError, HarborError, RunFolderError, placed
from harbor._core.events import Event, EventSink
from harbor._core.finding import find
from harbor._core.handles import ALLOW_MORE, OUT_OF_HANDLES
from harbor._models.calls.client import ModelClient
from harbor._models.calls.prompt import Prompt
from harbor._models.calls.reading import Words
from harbor._models.simulated.model import use_of
from harbor.graphs._context.node import NOTHING_MORE, SYSTEM, Facts, ThoughtNode, View
from harbor.graphs._context.prompting import fill
from harbor.graphs._context.replies import Reply
from harbor.graphs._context.wording import Wording
from harbor.memory._bidder.auction_view import AuctionView
from harbor.memory._bidder.bidder_memory import BidderMemory

V = TypeVar("V", bound=View)


def form_of(protocol: ProtocolSettings) -> ReplyForm | None:
    """Give the one form that a bidder wants replies in; None: as the settings of its model say."""
    return None if protocol.reply == "model" else protocol.reply


Folds = Mapping[type[Event], ThoughtNode]
"""The nodes that note something, by their event."""
NO_FOLDS: Folds = MappingProxyType({})


@contextmanager
def mistakes_told(bidder: str, node: ThoughtNode) -> Iterator[None]:
    """Break the run off at a mistake in the code of a declared node; of Harbor's own nodes only the seat fails.

    Raises:
        CodeError: one line that names the bidder, the node and the place of the mistake.
    """
    try:
        yield
    except HarborError:
        raise
    except Exception as error:
        if node.run is not None or (isinstance(error, OSError) and error.errno in OUT_OF_HANDLES):
            raise
        who = f"bidder {bidder!r}: the node {node.name!r}"
        raise CodeError(f"{who} has a mistake in its code ({placed(error)}); mend it") from error


@contextmanager
def enough_files(bidder: str) -> Iterator[None]:
    """Break the run off where no more files can be opened: what a bidder would do without them is no play of its.

    Raises:
        RunFolderError: it says what to allow.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in OUT_OF_HANDLES:
            raise
        raise RunFolderError(f"bidder {bidder!r} can't think: {ALLOW_MORE}, then resume the run") from error


def observed(view: V, news: Iterable[Event], folds: Folds = NO_FOLDS) -> V:
    """Give the view after these events, with what the bidder's own nodes note of them."""
    news = tuple(news)
    noted = dict(view.notes)
    for event in news:
        if (node := folds.get(type(event))) is not None and node.fold is not None:
            with mistakes_told(view.name, node):
                noted[node.name] = node.fold(noted.get(node.name), event)
    view = view.after(news)
    return view if noted == view.notes else replace(view, notes=noted)  # type: ignore[type-var]


def fold_reducer(first: V, folds: Folds = NO_FOLDS) -> Callable[[V | None, V | Iterable[Event]], V]:
    """Give the reducer of a view's channel: a view replaces it, events are folded into it, or into the `first` one."""

    def fold(view: V | None, news: V | Iterable[Event]) -> V:
        if isinstance(news, type(first)):
            return news
        return observed(view or first, cast("Iterable[Event]", news), folds)

    return fold


class ThoughtState(TypedDict, total=False):
    """The state of a bidder's graph.

    `ask` is what the auctioneer wants; `view` takes a view or the events seen so far; `answer` comes out.
    """

    ask: Ask | Pause
    view: Annotated[AuctionView, fold_reducer(AuctionView())]
    answer: Answer | None


Update = dict[str, Any]
"""Channels of the state that a node changes; "view" takes the events that it concluded."""


@dataclass(frozen=True)
class NodeContext:
    """One run of one node: its bidder, the model to ask, and a sink for the events it concludes."""

    bidder: BidderContext
    node: ThoughtNode
    model: ModelClient
    sink: EventSink

    @property
    def switches(self) -> MindSettings:
        """Which nodes this bidder has, and how they work."""
        return self.bidder.switches

    @property
    def memory(self) -> BidderMemory:
        """What this bidder remembers of earlier auctions.

        Raises:
            ConfigError: it was made without a store.
        """
        if self.bidder.memory is None:
            raise ConfigError(f"bidder {self.model.bidder!r} has a memory and no store; compile the app with store=...")
        return self.bidder.memory

    def fork(self) -> NodeContext:
        """Begin a run beside this one; its events stay together however fast the model is."""
        return self.bidder.context(self.node)

    def prompt(
        self,
        view: AuctionView,
        facts: Facts,
        *,
        catalog: bool = False,
        memories: bool = False,
        earlier: Sequence[Turn] | None = None,
    ) -> Prompt:
        """Fill the prompt of the node with who this bidder is and the facts of the call.

        Args:
            view: what the bidder has seen.
            facts: of the call.
            catalog: whether to show the texts of the catalog, which are the same for every seat.
            memories: whether to show what was recalled.
            earlier: the turns before this call, in a dialogue.
        """
        who = {**self.identity(view), "objective": view.objective}
        if memories and view.memories:
            facts = {"memories": [memory.text for memory in view.memories], **facts}
        shared = {"catalog": view.catalog} if catalog else NOTHING_MORE
        return self.fill(view, who, facts, shared=shared, earlier=earlier)

    def fill(
        self,
        view: View,
        who: Facts,
        facts: Facts,
        system: Traversable = SYSTEM,
        body: Traversable | None = None,
        task: str = "",
        shared: Facts = NOTHING_MORE,
        earlier: Sequence[Turn] | None = None,
    ) -> Prompt:
        """Fill the node's prompt, or the `body` of another task, and tell what the bidder's own nodes noted."""
        tells = [find("node", name).tells for name in view.notes]
        body = body or self.node.prompt
        if body is None:
            raise ConfigError(f"node {self.node.name!r} has no prompt; give it one")
        wording = self.bidder.wording
        return fill(body, who, facts, system, task or self.node.task, tells, shared, wording, earlier, noted=view.notes)

    def identity(self, view: View) -> dict[str, Any]:
        """Give the facts that stay the same in every game: who this is, and how it answers."""
        personas = [{"weight": weight, "text": text} for text, weight in view.personas.items()]
        who: dict[str, Any] = {"give_reasons": self.switches.chain_of_thought, "you": view.name}
        who |= {"personas": personas} if personas else {}
        return who | ({"relative_objective": True} if self.switches.relative_objective else {})

    async def ask(
        self,
        prompt: Prompt,
        kind: type[Reply],
        check: Callable[[Reply], str] = lambda _: "",
        repairs: int | None = None,
        words: Words = lambda _: None,
    ) -> Reply:
        """Ask the model; without a chain of thought it may leave the reasons of its reply out."""
        shape = kind if self.switches.chain_of_thought else without_reasons(kind)
        return await self.model.ask(prompt, shape, check, repairs, words)

    def emit(self, *conclusions: Event) -> Update:
        """Hand over what a node concluded, and give it to the nodes after it."""
        for conclusion in conclusions:
            self.sink(conclusion)
        return {"view": conclusions}


@dataclass(frozen=True)
class BidderContext:
    """What all nodes of a bidder share; `begin` opens a sink for the events of one run of a node.

    `memory` is None for a bidder that remembers nothing; `game` is the one it plays, and `seed` is that of the game.
    """

    model: ModelClient
    switches: MindSettings
    begin: Callable[[], EventSink]
    memory: BidderMemory | None = None
    game: str = "english"
    seed: int = 0

    @classmethod
    def of(
        cls,
        bidder: Bidder,
        chat: BaseChatModel,
        sink: EventSink = lambda _: None,
        memory: BidderMemory | None = None,
        game: str = "english",
    ) -> BidderContext:
        """Make the context of a bidder outside an auction, from any chat model; `sink` takes what it concludes."""
        model = ModelClient(bidder.name, bidder.model, chat, ModelSettings(use=use_of(chat)), reply=form_of(bidder))
        return cls(model, bidder, lambda: sink, memory, game)

    @cached_property
    def wording(self) -> Wording:
        """How its prompts are worded."""
        return Wording.of(self.switches)

    def context(self, node: ThoughtNode) -> NodeContext:
        """Begin one run of a node."""
        sink = self.begin()
        return NodeContext(self, node, replace(self.model, sink=sink), sink)
