"""A thought node is one value: the occasions of a thought, the question to the model, and the use of the reply.

Loading a node imports no framework, so settings can be checked against the nodes of a bidder at once. Mistakes in the
code of a thought end a run in one line.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel

from harbor._config.auction import MemorySettings, MindSettings, Simulated
from harbor._config.thinking import OF_PROMPTS
from harbor._core.asking.asks import Ask, Pause
from harbor._core.basics.errors import CodeError, HarborError, RunFolderError
from harbor._core.basics.redaction import placed
from harbor._core.files.safe_files import ALLOW_MORE, OUT_OF_HANDLES
from harbor._core.log.events import PrivateEvent
from harbor._core.plugins.extensions import API, part, unread
from harbor._core.prompts.prompts import unfillable
from harbor._games.bidder_view import Fold, Folds
from harbor._games.game import Facts as Facts
from harbor._games.game import Values as Values

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, Update

Occasion = Literal["opening", "call", "closed", "end"]
OCCASIONS: tuple[Occasion, ...] = get_args(Occasion)
PROMPTS = files("harbor.graphs._prompts")
"""Folder of the prompts of Harbor's own nodes."""
NOTHING_MORE: Facts = MappingProxyType({})
DECLARED = {
    "prompt": "the file of its prompt",
    "facts": "what its prompt tells, from what the bidder has seen",
    "reply": "the shape of the reply, a pydantic model",
    "answer": "how the built-in model replies, from the facts of the prompt",
    "conclude": "what makes its event from the reply",
    "fold": "what later prompts are told of its event, after what they were told before",
    "tells": "a sentence that explains this fact to later prompts",
}
"""Fields that a node without a `run` of its own must have, with their meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtNode:
    """A thought of a bidder, such as a plan or a profile of a rival, as an extension.

    A bidder has the thought on `occasions`: at the "opening" of the auction, at a "call" for a bid, when an item has
    "closed", and at the "end". The thought waits for the nodes in `needs` (names or steps) that run on the same
    occasion. `step` is the node's name in the graph, by default `name`; a bidder has only one node of each step.
    `answers` is true for the node that answers a call; it comes last.

    A node is in the graph of a bidder if `on` returns true for the bidder's settings; `adapt` then returns the version
    of the node for this bidder. A version without occasions only keeps a note of another node's conclusion. `uses`
    names the settings of the bidder that `on`, `adapt` or the node read. `when` says whether the thought is worth a
    call to the model now. A node that asks a model without a `prompt` of its own is only in games whose `Play.thoughts`
    has a prompt for its name.

    A node is either declared by its fields, or has its own function `run`. A declared node asks a model with its
    `prompt`, whose only blank is ${facts}, and gets a `reply` of this Pydantic model. `check` says what is wrong with a
    reply; the model is then asked again. `answer` returns the reply of the built-in model, from the facts of the prompt
    alone. `conclude` makes the private `event` (or several events) from the reply.

    `fold` makes the bidder's note, which is what the bidder remembers, from the previous note (None at first) and the
    event. Later prompts tell the note as a fact with the name `fact`, by default the name of the node; `shows` returns
    the note as prompts tell it (None: they do not tell it now). `tells` is the sentence that explains this fact in
    prompts (None: prompts do not tell the note; only `facts` can use it). Nodes with the same `keeps` share one note.

    >>> async def run(state, context): return {}
    >>> ThoughtNode(name="mood", description="notes a mood", occasions=("opening",), event=Planned, run=run).place
    'mood'
    """

    name: str = part("its name, in lower case")
    description: str = part("what it does, in one line")
    occasions: tuple[Occasion, ...] = part(f"when it is had, some of {', '.join(map(repr, OCCASIONS))}")
    event: type[PrivateEvent] = part("the private event that it concludes")
    step: str = ""
    needs: tuple[str, ...] = ()
    on: Callable[[MindSettings, MemorySettings], bool] = lambda *_: True
    adapt: Callable[[ThoughtNode, MindSettings], ThoughtNode] = lambda node, _: node
    uses: tuple[str, ...] = ()
    when: Callable[[Any, Ask | Pause], bool] = lambda *_: True
    answers: bool = False
    prompt: Traversable | None = None
    facts: Callable[..., Facts] | None = None
    reply: type[BaseModel] | None = None
    answer: Callable[[Facts, Simulated, Random], Values] | None = None
    check: Callable[[Any, Any], str] | None = None
    conclude: Callable[[Any, Any], PrivateEvent | Sequence[PrivateEvent]] | None = None
    fold: Callable[[Any, Any], Any] | None = None
    tells: str | None = ""
    shows: Callable[[Any, Any], Any] = lambda note, _: note
    keeps: str = ""
    fact: str = ""
    run: Callable[[Any, NodeContext], Awaitable[Update]] | None = None
    api: int = API

    @property
    def place(self) -> str:
        """The name of the node in the graph."""
        return self.step or self.name

    @property
    def task(self) -> str:
        """The name of the node's model calls in logs.

        It is also the name of the node's prompt, unless the game has a prompt of its own for the node.
        """
        return self.name.replace("-", "_")

    @property
    def is_harbors(self) -> bool:
        """True if the node is Harbor's own or has a `run`; a mistake in its code fails the bidder, but not the run."""
        return self.run is not None or self.has_harbors_prompt

    @property
    def has_harbors_prompt(self) -> bool:
        """True if the node's prompt is one of Harbor's own files."""
        return self.prompt is not None and PROMPTS / self.prompt.name == self.prompt

    @property
    def asks(self) -> bool:
        """True if the node asks a model."""
        return self.answers or self.reply is not None

    @property
    def note(self) -> str:
        """The name of the node's note."""
        return self.keeps or self.name

    @property
    def told_as(self) -> str:
        """The name of the fact that tells the node's note in prompts."""
        return self.fact or self.note

    @property
    def events(self) -> tuple[type[PrivateEvent], ...]:
        """The kinds of events that the node adds to logs."""
        return (self.event,)

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings of a bidder that affect the node."""
        return (*self.uses, *(("chain_of_thought", *OF_PROMPTS) if self.prompt or self.answers else ()))

    def complaint(self) -> str:
        """Say what is wrong with the node; empty if nothing is wrong."""
        checks = (self._of_kind, self._of_pieces, self._of_prompt, self._of_note)
        return unread(self.uses, MindSettings) or next(filter(None, (check() for check in checks)), "")

    def _of_kind(self) -> str:
        if "_" in self.name:
            return "must have a name with hyphens instead of underscores; rename it"
        for occasion in self.occasions:
            if occasion not in OCCASIONS:
                known = ", ".join(map(repr, OCCASIONS))
                return f"has the unknown occasion {occasion!r}; choose some of {known}"
        for name, kind in (("event", PrivateEvent), ("reply", BaseModel)):
            given = getattr(self, name)
            if given is not None and not (isinstance(given, type) and issubclass(given, kind)):
                return f"has {name} {given!r}; give a class that is a {kind.__name__}"
        return ""

    def _of_pieces(self) -> str:
        """Name the missing field: a declared node needs all in `DECLARED`, one with a `run` those of its prompt."""
        wanted = list(DECLARED) if self.run is None else ["reply", "answer"] if self.prompt else []
        wanted = [name for name in wanted if name != "tells" or self.tells is not None]
        missing = next((name for name in wanted if not getattr(self, name)), "")
        return f"lacks {missing}: {DECLARED[missing]}; give it one" if missing else ""

    def _of_prompt(self) -> str:
        return "" if self.prompt is None else unfillable(self.prompt)

    def _of_note(self) -> str:
        if self.fold is not None and self.tells is not None and f"`{self.told_as}`" not in self.tells:
            return f"has tells {self.tells!r}, which does not say what `{self.told_as}` is; name it so, in backticks"
        return ""


@contextmanager
def mistakes_told(bidder: str, node: ThoughtNode, game: str) -> Iterator[None]:
    """End the run at an error in the code of a user's node without `run`.

    At an error in any other node, only the seat fails.

    Raises:
        CodeError: one line with the bidder, the node and the place of the error, and with the game if a fact is
            missing.
    """
    try:
        yield
    except HarborError:
        raise
    except Exception as error:
        if node.is_harbors or (isinstance(error, OSError) and error.errno in OUT_OF_HANDLES):
            raise
        if isinstance(error, LookupError | AttributeError):
            raise CodeError(f"bidder {bidder!r}: {lacks(node, game, error)}") from error
        who = f"bidder {bidder!r}: the node {node.name!r}"
        raise CodeError(f"{who} has a mistake in its code ({placed(error)}); mend it") from error


@contextmanager
def enough_files(bidder: str) -> Iterator[None]:
    """End the run if no more files can be opened: the bidder's play without them would not count.

    Raises:
        RunFolderError: the message says which limit to raise.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in OUT_OF_HANDLES:
            raise
        raise RunFolderError(f"bidder {bidder!r} can't think: {ALLOW_MORE}, then resume the run") from error


def lacks(node: ThoughtNode, game: str, error: Exception) -> str:
    """Say which fact a node missed in which game; a view has only the facts of its game."""
    return (
        f"the node {node.name!r} found no such fact in the game {game!r} ({placed(error)}); mend it, or drop it there"
    )


def folds_of(bidder: str, nodes: Iterable[ThoughtNode], game: str) -> Folds:
    """Return the folds of a bidder's nodes, by the kind of event that each one folds."""

    def guarded(node: ThoughtNode, fold: Fold) -> Fold:
        def noted(before: Any, event: Any) -> Any:
            with mistakes_told(bidder, node, game):
                return fold(before, event)

        return noted

    return {node.event: (node.note, guarded(node, node.fold)) for node in nodes if node.fold is not None}
