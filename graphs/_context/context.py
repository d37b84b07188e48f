"""What flows through a bidder's graph, and what its nodes can use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol, Self, TypedDict, TypeVar, cast

from langchain_core.language_models import BaseChatModel

from harbor._config.auction import Bidder, ModelSettings, Switches
from harbor._core.asks import Answer, Ask, Pause
from harbor._core.errors import ConfigError
from harbor._core.events import Event, Note
from harbor._models.client import Mouthpiece, Prompt
from harbor.graphs._context.prompting import Facts, fill
from harbor.graphs._context.replies import Reply, without_reasons
from harbor.memory._bidder.auction_view import Notebook
from harbor.memory._bidder.bidder_memory import Archive

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


def taking_in(kind: type[F]) -> Callable[[F | None, F | Iterable[Event]], F]:
    """Give the reducer of a memory's channel: a memory replaces it, events are folded into it."""

    def take_in(memory: F | None, news: F | Iterable[Event]) -> F:
        return news if isinstance(news, kind) else (memory or kind()).after(cast("Iterable[Event]", news))

    return take_in


class Thinking(TypedDict, total=False):
    """The state of a bidder's graph.

    `ask` is what the auctioneer wants; `notebook` takes a notebook or the events seen so far; `answer` comes out.
    """

    ask: Ask | Pause
    notebook: Annotated[Notebook, taking_in(Notebook)]
    answer: Answer | None


Update = dict[str, Any]
"""Channels of `Thinking` that a node changes; under "notebook" stand the events it concluded."""


@dataclass(frozen=True)
class Thought:
    """One run of one node: whose it is, the model to ask, and a place for its notes."""

    mind: Mind
    model: Mouthpiece
    note: Note

    @property
    def switches(self) -> Switches:
        """What this bidder's mind has."""
        return self.mind.switches

    @property
    def archive(self) -> Archive:
        """What this bidder remembers of earlier auctions.

        Raises:
            ConfigError: its mind was made without a store.
        """
        if self.mind.archive is None:
            raise ConfigError(f"bidder {self.model.bidder!r} has a memory and no store; give Mind an archive")
        return self.mind.archive

    def aside(self) -> Thought:
        """Begin a thought beside this one, so that its notes stand together however fast the model is."""
        return self.mind.thought()

    def prompt(self, name: str, notebook: Notebook, facts: Facts) -> Prompt:
        """Fill a prompt with who this bidder is and the facts of the call."""
        personas = [{"share": share, "text": text} for text, share in notebook.personas.items()]
        who: Facts = {"you": notebook.name, "personas": personas, "objective": notebook.objective}
        if not self.switches.chain_of_thought:
            who = {**who, "reasons": "none"}
        if name in CATALOG_PROMPTS or (notebook.profiles and name in ("plan", "replan")):
            who = {**who, "catalog": notebook.catalog}
        if name in MEMORY_PROMPTS and notebook.memories:
            facts = {**facts, "memories": [memory.text for memory in notebook.memories]}
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

    def conclude(self, *conclusions: Event) -> Update:
        """Hand over what a node concluded, and give it to the nodes after it."""
        for conclusion in conclusions:
            self.note(conclusion)
        return {"notebook": conclusions}


@dataclass(frozen=True)
class Mind:
    """What all nodes of a bidder share; `begin` opens a place for the notes of a thought.

    `archive` holds the memories of a bidder that has any; `game` is the one it sits in.
    """

    model: Mouthpiece
    switches: Switches
    begin: Callable[[], Note]
    archive: Archive | None = None
    game: str = "english"

    @classmethod
    def of(
        cls,
        bidder: Bidder,
        chat: BaseChatModel,
        note: Note = lambda _: None,
        archive: Archive | None = None,
        game: str = "english",
    ) -> Mind:
        """Make the mind of a bidder outside an auction, from any chat model; `note` takes what it concludes."""
        return cls(Mouthpiece(bidder.name, bidder.model, chat, ModelSettings()), bidder, lambda: note, archive, game)

    def thought(self) -> Thought:
        """Begin a thought."""
        note = self.begin()
        return Thought(self, replace(self.model, note=note), note)
