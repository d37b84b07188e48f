"""A game is one value, and so is a scripted policy. An auction's settings name both, and this module builds both.

The value holds everything that belongs to a game, from its settings to the play of the built-in model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from random import Random
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from harbor._config.auction import AuctionConfig, Bidder, Persona, Simulated
from harbor._config.rules import RuleSettings
from harbor._core.asking.asks import Answer, Ask
from harbor._core.basics.errors import ConfigError, LogError
from harbor._core.basics.redaction import of_strangers
from harbor._core.log.events import Event, LogOpened, PublicEvent
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry, named
from harbor._core.log.players import Policy
from harbor._core.plugins.extensions import API, part, unread
from harbor._core.plugins.finding import asked, find, of_part
from harbor._core.prompts.prompts import Turn, unfillable
from harbor._games import outcomes
from harbor._games.bidder_view import Outlook as Outlook
from harbor._games.bidder_view import Seen as Seen
from harbor._games.bidder_view import View, Yardstick, by_estimate, no_outlook
from harbor._games.board import Board, PlainBoard
from harbor._games.mechanism import Mechanism, Shown
from harbor._games.types_of_play import OF_WORTH

Facts = Mapping[str, Any]
"""The facts of a prompt, as JSON: texts, numbers, lists and tables."""
Unit = Literal["dollars", "number"]
Values = dict[str, Any]
"""A reply to a prompt, as JSON."""
FromPublic = Callable[[Any, Seen], Mechanism[Any]]
"""Builds the rules from the public settings of the game and from events."""
Level = Callable[[int, Ask, Seen, Random], Answer]
"""Returns the answer of a level-k player. Level 0 plays at random; each higher level is the best response to the level
below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """A game's own version of one of Harbor's thoughts.

    `facts` returns all facts of its `prompt`, from the bidder's view (and the subject of the thought). `answer`
    returns the reply of the built-in model, from these facts alone. `reply` is the model of the reply, and `check`
    returns the error in one, if these are not the usual ones. `when` says whether the thought is worth a call now.
    `turns` returns the earlier calls of a dialogue.
    """

    prompt: Traversable
    facts: Callable[..., Facts]
    answer: Callable[[Facts, Simulated, Random], Values]
    reply: type[BaseModel] | None = None
    check: Callable[[Any, View], str] | None = None
    when: Callable[[View], bool] | None = None
    turns: Callable[[View], Sequence[Turn] | None] = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """The prompts of a game for bidders with models, and the play of the built-in model.

    `facts` returns the knowledge of a player (by name) after the events that it has seen. `system` and `prompt` are
    the texts around these facts; their one blank is ${facts}. `policy` returns the answer of the built-in model to
    `prompt`, from the facts alone. `plan` is its plan in a sentence. `forecast` returns the bid that it expects next
    from a rival; a game with an `outlook` needs it. `yardstick` returns the `mean` and `scatter` of the amount with
    which the type of a rival compares its bid; by default that is one's own estimate of the item. `thoughts` are the
    game's own versions of thoughts, by node. `tells` names the contents of these: notes, by node, and settings of a
    bidder, such as the objective. `reply` is the model of an answer if all calls ask for the same. `stays` names the
    facts that do not change; they come first in a prompt. `explains` names the facts that `system` explains in all
    calls of a bidder, though only some calls tell them. `standing` returns further facts for thoughts without an own
    version. `heeds_personas` is false if the policy reads no personas but the types of the game; Harbor then warns of
    other personas.
    """

    facts: Callable[[str, Seen], Facts] = part("what a player knows, as facts for its prompts")
    system: Traversable = part("the file of the prompt that says who the player is and what each fact means")
    prompt: Traversable = part("the file of the prompt that asks for an action")
    policy: Callable[[Facts, Simulated, Random], Values] = part("how the built-in model answers the prompt")
    plan: str = part("the plan of the built-in model, in a sentence")
    outlook: Callable[[str, Seen], Outlook] = no_outlook
    yardstick: Yardstick = by_estimate
    forecast: Callable[[str, Facts, Simulated], float] | None = None
    thoughts: Mapping[str, Thought] = field(default_factory=dict)
    tells: tuple[str, ...] = ()
    reply: type[BaseModel] | None = None
    stays: tuple[str, ...] = ()
    explains: Callable[[View], Iterable[str]] = lambda _: ()
    standing: Callable[[View], Facts] = lambda _: {}
    heeds_personas: bool = True

    def complaint(self) -> str:
        """Return the error: a missing `forecast` or a prompt that can't be filled; empty if there is none."""
        if self.outlook is not no_outlook and self.forecast is None:
            return "lacks play.forecast: what the built-in model expects a rival to bid next; give it one"
        return unfillable(self.system) or unfillable(self.prompt)


@dataclass(frozen=True, slots=True)
class Measures:
    """The summary of a game: the name of its parts, its standings, the result of each part, figures of the whole.

    Standings are rows in the order of rank. Rows are dataclasses, and the first field of a standing is `bidder`.
    `public` says that public events suffice, so a public log has the summary too. A game without measures gets
    `TRADE`: items, payments and profits.

    >>> Measures(parts="days", standings=lambda log: [], items=lambda log: []).public
    False
    """

    parts: str = part("what its parts are called, such as 'days'")
    standings: Callable[[Sequence[Entry]], Sequence[Any]] = part("the rows of its standings")
    items: Callable[[Sequence[Entry]], Sequence[Any]] = part("the rows of the results of its parts")
    figures: Callable[[Sequence[Entry]], dict[str, float]] = lambda _: {}
    public: bool = False


TRADE = Measures("items", outcomes.standings, outcomes.items)


def ones(event: Event) -> Mapping[str, int]:  # noqa: ARG001
    """Return no supply: there is one unit of each item."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game, as an extension.

    `build` makes the rules from the settings of the game and of the whole auction, and draws its random values from
    streams of the seed. `opening` is the event that begins a log of the game. `events` are all events that its rules
    write, also Harbor's `Allocated`, `Paid` and `Signal`; measures read them. `play` serves bidders with models (None:
    no model can play). `rational` returns the answer of a rational player, `level` that of a level-k player. `types`
    are the types of rivals (empty: the personas of the catalogue, which listings suit).
    `unit` is the unit of a bid: dollars, or a number that is not money. `uses` names the settings of the auction and
    its bidders that the rules read; Harbor refuses others. `acts` and `draws` say whether everyone learns at once of
    the acts of bidders and of random draws. `from_public` makes the rules from a log, which may hold public events
    alone; without it, a log without settings is not checked. `supply` returns the units by item that an event brings;
    every other item has one. `budgets` says that no bidder pays more than its budget and its asks allow. `board`
    makes the board of the game, a fold over events; the default shows the last words and the act of each bidder.
    """

    name: str = part("its name, in lower case")
    description: str = part("what it is, in one line")
    settings: type[RuleSettings] = part("the class of its settings")
    build: Callable[[Any, AuctionConfig], Mechanism[Any]] = part("what makes its rules from the settings")
    opening: type[PublicEvent] = part("the event that opens it")
    events: tuple[type[Event], ...] = part("its events, for whoever reads its logs")
    play: Play | None = None
    rational: Callable[[Ask, Seen], Answer] = part("what a rational player answers")
    level: Level | None = None
    types: tuple[Persona, ...] = OF_WORTH
    measures: Measures = TRADE
    unit: Unit = "dollars"
    uses: tuple[str, ...] = ()
    from_public: FromPublic | None = None
    acts: Shown = "sealed"
    draws: Shown = "sealed"
    supply: Callable[[Event], Mapping[str, int]] = ones
    budgets: bool = True
    board: Callable[[], Board] = PlainBoard
    api: int = API

    @property
    def played(self) -> Play:
        """The `Play` of the game.

        Raises:
            ConfigError: the game has none.
        """
        if self.play is None:
            raise ConfigError(f"the game {self.name!r} has no prompts for bidders with models; give it a Play")
        return self.play

    def unheeded(self, personas: Mapping[str, Mapping[str, float]]) -> str:
        """Return a warning that names the bidders whose personas the built-in model does not read; empty: none.

        Args:
            personas: weights by persona, by bidder.
        """
        types = {one.id for one in self.types}
        bidders = [name for name, mix in personas.items() if not types.issuperset(mix)]
        if not bidders or self.play is None or self.play.heeds_personas:
            return ""
        names = ", ".join(bidders)
        return f"the built-in model reads no personas in the game {self.name!r}: {names} would act the same without one"

    def complaint(self) -> str:
        """Return the first error in the parts of the game; empty if there is none."""
        board: object = self.board
        if not callable(board):
            return f"has {board!r} as its board; give a function that makes one, such as its class"
        if wrong := unread(self.uses, AuctionConfig, Bidder):
            return wrong
        nested: dict[str, tuple[object, type[Any]]] = {
            "play": (self.play, Play),
            "measures": (self.measures, Measures),
        }
        for name, (given, kind) in nested.items():
            if given is not None and not isinstance(given, kind):
                return f"has a {type(given).__name__} as its {name}; give it a {kind.__name__}"
        settings: type = self.settings
        if not issubclass(settings, RuleSettings):
            return f"has no settings in {self.settings!r}; give a class that inherits from RuleSettings"
        if self.settings.model_fields["game"].default != self.name:
            return f"lacks settings.game: its name; write in {self.settings.__name__}: game: str = {self.name!r}"
        try:
            known = named(self.events)
        except LogError as error:
            return f"can't be written to a log: {error}"
        if self.opening not in known.values():
            return f"lacks events: {self.opening.__name__}, which opens it; give it all its events"
        return ""


def game_of(entries: Sequence[Entry]) -> Game:
    """Return the game that a log names.

    Raises:
        LogError: the log names no game, or one whose package is missing.
    """
    for opened in of_type(entries, LogOpened):
        for one in opened.parts:
            if one.kind == "game":
                game: Game = of_part(one)
                return game
    raise LogError("the log names no game; run the auction again")


BEYOND = 1.1
"""A bid that is too high by mistake, as a multiple of the dollars that may be spent."""


def bid_of(amount: float, reasons: str) -> Values:
    """Return a reply with a bid in dollars, cut to whole cents."""
    return {"reasons": f"{reasons}.", "action": "bid", "amount": int(round(amount * 100, 6)) / 100}


def sealed(amount: float, most: float, reasons: str, settings: Simulated, chance: Random) -> Values:
    """Return a reply with a sealed bid of at most `most` dollars, or above it at the settings' rate."""
    return bid_of(BEYOND * most if chance.random() < settings.over_budget_rate else min(amount, most), reasons)


class Table(NamedTuple):
    """The place of a policy: its bidder, the seed of the auction, and the game."""

    bidder: Bidder
    seed: int
    game: Game


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedPolicy:
    """A scripted policy, as an extension.

    `make` takes the `Table` and returns a policy. `uses` names the settings of a bidder that the policy reads. `needs`
    names the settings that the game must read, such as "overestimate" for estimates. `games` names the games that the
    policy can play (empty: any).

    >>> ScriptedPolicy(name="honest", description="bids its estimate", make=lambda table: Truthful()).games
    ()
    """

    name: str = part("its name, in lower case")
    description: str = part("what it does, in one line")
    make: Callable[[Table], Policy] = part("what makes the policy of a bidder")
    uses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    api: int = API

    def complaint(self) -> str:
        """Return an error that names the unknown settings in `uses` and `needs`; empty if there are none."""
        return unread((*self.uses, *self.needs), Bidder)


def build(config: AuctionConfig) -> Mechanism[Any]:
    """Build the rules of an auction whose items are already sampled."""
    game: Game = find("game", config.rules.game)
    return of_strangers(f"the game {game.name!r}: build", lambda: game.build(config.rules, config))


def policy_of(bidder: Bidder, config: AuctionConfig) -> Policy | None:
    """Make the policy of a bidder from its `rule`; None if it has no rule.

    Raises:
        ConfigError: there is no such policy, it can't play the game, or its `make` returns no `Policy`.
    """
    if bidder.rule is None:
        return None
    game: Game = find("game", config.rules.game)
    try:
        policy: ScriptedPolicy = asked("policy", bidder.rule)
    except ConfigError as error:
        raise ConfigError(f"bidder {bidder.name!r}: {error}") from error
    who = f"bidder {bidder.name!r} of the game {game.name!r} can't be played by the rule {bidder.rule!r}"
    if policy.games and game.name not in policy.games:
        raise ConfigError(f"{who}, which plays {', '.join(policy.games)}; give it rule = 'rational'")
    for setting in policy.needs:
        if setting not in game.uses:
            raise ConfigError(f"{who}, which needs a game that reads {setting}; give it rule = 'rational'")
    made: object = of_strangers(f"{who}: its make", lambda: policy.make(Table(bidder, config.seed, game)))
    if not isinstance(made, Policy):
        raise ConfigError(f"{who}, whose make gives a {type(made).__name__}; make a Policy of harbor.games")
    return made
