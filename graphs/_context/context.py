"""The state of a bidder's graph, and the context in which its nodes run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, TypedDict

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel

from harbor._config.auction import Bidder, MindSettings
from harbor._config.models import ModelSettings, ReplyForm
from harbor._config.thinking import ProtocolSettings
from harbor._core.asking.asks import Answer, Ask, Pause
from harbor._core.asking.decisions import without_reasons
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import Event, EventSink
from harbor._core.plugins.finding import find
from harbor._games.bidder_view import View
from harbor._games.game import Game, Thought
from harbor._games.replies import Reply
from harbor._models.calls.client import ModelClient
from harbor._models.calls.prompt import Prompt
from harbor._models.calls.reply_shapes import Words
from harbor._models.simulated.model import use_of
from harbor.graphs._context.deciding import reply_of, stays, task_of, words_of
from harbor.graphs._context.node import ThoughtNode
from harbor.graphs._context.prompting import Wording, fill
from harbor.memory._bidder.bidder_memory import BidderMemory


def form_of(protocol: ProtocolSettings) -> ReplyForm | None:
    """Return the form of reply that a bidder's settings ask for; None if the settings of its model decide."""
    return None if protocol.reply == "model" else protocol.reply


def folded(view: View | None, news: View | Iterable[Event]) -> View:
    """Return the new view in a bidder's state: `news` is either a whole view, or events to be added to the old view."""
    return news if isinstance(news, View) else (view or View()).after(news)


class ThoughtState(TypedDict, total=False):
    """The state of a bidder's graph.

    `ask` is the auctioneer's ask, or a pause. `view` is the bidder's view; writing events to it adds them to the view.
    `answer` is the answer to the ask.
    """

    ask: Ask | Pause
    view: Annotated[View, folded]
    answer: Answer | None


Update = dict[str, Any]
"""Channels of the state that a node changes; "view" takes the events that it concluded."""


@dataclass(frozen=True)
class NodeContext:
    """The context of one run of one node: its bidder, the model to ask, and a sink for the events that it concludes."""

    bidder: BidderContext
    node: ThoughtNode
    model: ModelClient
    sink: EventSink

    @property
    def switches(self) -> MindSettings:
        """The settings that say which nodes this bidder has, and how they work."""
        return self.bidder.switches

    @property
    def memory(self) -> BidderMemory:
        """The bidder's memory of earlier auctions.

        Raises:
            ConfigError: the bidder was made without a store.
        """
        if self.bidder.memory is None:
            raise ConfigError(f"bidder {self.model.bidder!r} has a memory and no store; compile the app with store=...")
        return self.bidder.memory

    def fork(self) -> NodeContext:
        """Begin a run of the same node beside this one; in the log, the events of each run stay together."""
        return self.bidder.context(self.node)

    @cached_property
    def words(self) -> Thought:
        """The prompt of this thought in the game, with its facts.

        Raises:
            ConfigError: neither the game nor the node has a prompt.
        """
        words = words_of(self.node, self.bidder.table)
        if words is None:
            raise ConfigError(f"node {self.node.name!r} has no prompt; give it one")
        return words

    @property
    def task(self) -> str:
        """The name of the node's prompt and model calls."""
        return task_of(self.node, self.bidder.table)

    def prompt(self, view: View, *about: Any, parts: Sequence[str] = (), **more: Any) -> Prompt:
        """Fill the prompt of the node with the bidder's identity, the state of the game, and the facts of the thought.

        Args:
            view: the bidder's view.
            about: the subject of the thought, such as a rival; nothing if the thought is about the whole game.
            parts: names of further parts of the prompt's text that are sent.
            more: further facts, which the node computes itself.
        """
        play, words, wording = self.bidder.table.played, self.words, self.bidder.wording
        facts = dict(words.facts(view, *about, **more))
        notes = {node.told_as: (node, shown) for node, shown in self._notes(view) if node.told_as not in facts}
        tells = [node.tells or "" for node, _ in notes.values()]
        if any("`catalog`" in sentence for sentence in tells):
            facts["catalog"] = view.catalog
        who = self.identity(view)
        if "answer_keys" in facts and not who["give_reasons"]:
            del who["give_reasons"]  # the protocol's own form says whether it asks for a reason
        filled = fill(
            words.prompt,
            who,
            facts,
            play.system,
            self.task,
            list(self.bidder.explanations.values()) or tells,
            {name: facts.pop(name) for name in stays(self.bidder.table, self.switches) if name in facts},
            wording,
            words.turns(view),
            noted={name: shown for name, (_, shown) in notes.items()},
            explained=play.explains(view) if wording.one_beginning else (),
            parts=(*parts, *self._parts(view, facts)),
        )
        return replace(filled, offered=self.bidder.offered)

    def _parts(self, view: View, facts: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the parts of texts that no fact brings: the keys of an answer, and a persona that is style alone."""
        style = ("persona_style",) if view.personas and self.switches.persona_value == "style" else ()
        return (*style, *(key.replace(" ", "_") for key in facts.get("answer_keys", ())))

    def _notes(self, view: View) -> Iterator[tuple[ThoughtNode, Any]]:
        """Yield the notes to show now, in their nodes' form; a note of calls is shown only at calls of other nodes."""
        for name, note in view.notes.items():
            if name in self.bidder.table.played.tells or note is None:
                continue
            node: ThoughtNode = find("node", name)
            elsewhere = node.occasions == ("call",) and (not isinstance(view.now, Ask) or node.name == self.node.name)
            if node.tells and not elsewhere and (shown := node.shows(note, view)) is not None:
                yield node, shown

    def identity(self, view: View) -> dict[str, Any]:
        """Return the facts that stay the same in every game: the bidder's identity, and its form of answer."""
        personas = [{"weight": weight, "text": text} for text, weight in view.personas.items()]
        who: dict[str, Any] = {"give_reasons": self.switches.chain_of_thought, "you": view.name}
        who |= {"personas": personas} if personas else {}
        if personas and not isinstance(self.switches.persona_value, str):
            who["persona_value"] = self.switches.persona_value
        who |= {"relative_objective": True} if self.switches.relative_objective else {}
        return who | ({"objective": view.objective} if "objective" in self.bidder.table.played.tells else {})

    async def ask(
        self,
        prompt: Prompt,
        kind: type[Reply],
        check: Callable[[Reply], str] = lambda _: "",
        repairs: int | None = None,
        words: Words = lambda _: None,
    ) -> Reply:
        """Ask the model, and return its reply; if the bidder has no chain of thought, the reply may lack reasons."""
        return await self.model.ask(prompt, self.bidder.shape(kind), check, repairs, words)

    async def reply(self, view: View, *about: Any, **more: Any) -> Any:
        """Ask the model with the node's prompt, and return the reply; `about` and `more` are as in `prompt`.

        If the node's `check` finds a fault in the reply, the model is asked again.
        """
        kind, check = self.words.reply or self.node.reply, self.words.check or self.node.check
        if kind is None:
            raise ConfigError(f"node {self.node.name!r} {self.node.complaint()}")
        prompt = self.prompt(view, *about, **more)
        return await self.ask(prompt, kind, check=lambda reply: check(reply, view) if check else "")

    def emit(self, *conclusions: Event) -> Update:
        """Write the conclusions of a node to the log, and return them for the nodes after it."""
        for conclusion in conclusions:
            self.sink(conclusion)
        return {"view": conclusions}


@dataclass(frozen=True)
class BidderContext:
    """The context that all nodes of a bidder share.

    `model` asks the bidder's model, and `switches` are the settings of the bidder's thoughts. `begin` opens a sink for
    the events of one run of a node. `memory` is None if the bidder has no memory. `game` is the name of the game, and
    `seed` its seed. `nodes` are the bidder's nodes, by their names in its graph. `judged` says whether anything reads
    the last profiles that the bidder makes: metrics do if a rival has a persona, and the bidder's memory does.
    """

    model: ModelClient
    switches: MindSettings
    begin: Callable[[], EventSink]
    memory: BidderMemory | None = None
    game: str = "english"
    seed: int = 0
    nodes: Mapping[str, ThoughtNode] = field(default_factory=dict)
    judged: bool = True

    @classmethod
    def of(
        cls,
        bidder: Bidder,
        chat: BaseChatModel,
        sink: EventSink = lambda _: None,
        memory: BidderMemory | None = None,
        game: str = "english",
    ) -> BidderContext:
        """Return the context of a bidder outside an auction, from any chat model; `sink` takes its conclusions."""
        model = ModelClient(bidder.name, bidder.model, chat, ModelSettings(use=use_of(chat)), reply=form_of(bidder))
        return cls(model, bidder, lambda: sink, memory, game)

    @cached_property
    def table(self) -> Game:
        """The game of the bidder."""
        game: Game = find("game", self.game)
        return game

    @cached_property
    def wording(self) -> Wording:
        """The wording of the bidder's prompts."""
        return Wording.of(self.switches)

    @cached_property
    def explanations(self) -> Mapping[str, str]:
        """The explanations of all the bidder's notes, if all its prompts begin with the same text; else nothing."""
        if not self.wording.one_beginning:
            return {}
        told = (node for node in self.nodes.values() if node.fold and node.tells)
        return {node.note: node.tells or "" for node in told if node.note not in self.table.played.tells}

    @cached_property
    def offered(self) -> tuple[type[BaseModel], ...]:
        """The shapes of all replies that the bidder may be asked for, if all its prompts begin with the same text.

        Else nothing.
        """
        if not self.wording.one_beginning:
            return ()
        kinds = [reply_of(node, self.table) for node in self.nodes.values() if node.asks and node.occasions]
        return tuple(dict.fromkeys(self.shape(kind) for kind in kinds if kind is not None))

    def shape(self, kind: type[Reply]) -> type[Reply]:
        """Return the shape of a reply; without a chain of thought its reasons may be left out."""
        return kind if self.switches.chain_of_thought else without_reasons(kind)

    def context(self, node: ThoughtNode) -> NodeContext:
        """Begin one run of a node."""
        sink = self.begin()
        return NodeContext(self, node, replace(self.model, sink=sink), sink)
