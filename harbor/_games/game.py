"""A game is one value, and so is a scripted policy; an auction's settings name both, and here both are built.

All that belongs to a game is in its value, from its settings to how the built-in model plays it.
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
"""What a prompt tells, as JSON: texts, numbers, lists and tables."""
Unit = Literal["dollars", "number"]
Values = dict[str, Any]
"""A reply to a prompt, as JSON."""
FromPublic = Callable[[Any, Seen], Mechanism[Any]]
"""Makes the rules from the public settings of the game and from events."""
Level = Callable[[int, Ask, Seen, Random], Answer]
"""What a player answers who thinks so many steps ahead. At 0 it plays at random; at each further step it answers best
to players of the step below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """How a game puts a thought of Harbor's own in its own words.

    `facts` are all that its `prompt` tells, from what the bidder has observed (and what the thought is about). `answer`
    is how the built-in model replies, from these facts alone. `reply` is the shape of the reply and `check` says what
    is wrong with one, where these are not the usual ones. `when` says whether the thought is worth a call now. `turns`
    are the earlier calls of a dialogue.
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
    """How bidders with models see and play a game.

    `facts` tells what a player (by name) knows after the events it has seen; `system` and `prompt` are the texts around
    these facts, whose one blank is ${facts}. `policy` is how the built-in model answers `prompt`, from the facts alone;
    `plan` is its plan in a sentence, and `forecast` what it expects a rival to bid next, which a game with an `outlook`
    of rivals needs. `yardstick` tells with what the type of a rival compares its bid: its `mean` and `scatter`, by
    default one's own estimate of the item. `thoughts` are those that the game puts in words of its own, by node, and
    `tells` names what these tell: notes, by node, and settings of a bidder, such as the objective. `reply` is the shape
    of an answer, where all calls ask for the same. `stays` names the facts that stay the same, so that they come before
    those of a call, and `explains` those that `system` explains in all calls of a bidder though only some tell them.
    `standing` is what Harbor's own prompts tell besides, in thoughts that the game has no words of its own for. A
    policy that reads no personas but the types of the game has `heeds_personas` false, so that whoever gives it others
    is told.
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
        """Say what is missing where it has an outlook, and which prompt can't be filled."""
        if self.outlook is not no_outlook and self.forecast is None:
            return "lacks play.forecast: what the built-in model expects a rival to bid next; give it one"
        return unfillable(self.system) or unfillable(self.prompt)


@dataclass(frozen=True, slots=True)
class Measures:
    """How a game is summarised: the name of its parts, its standings, the result of each part, figures of the whole.

    Standings are rows in the order of rank; rows are dataclasses, and the first field of a standing is `bidder`.
    `public`: public events tell all that they need, so a public log has them too. A game that brings none is summarised
    by `TRADE`: by what bidders got, paid and earned.
    """

    parts: str = part("what its parts are called, such as 'days'")
    standings: Callable[[Sequence[Entry]], Sequence[Any]] = part("the rows of its standings")
    items: Callable[[Sequence[Entry]], Sequence[Any]] = part("the rows of the results of its parts")
    figures: Callable[[Sequence[Entry]], dict[str, float]] = lambda _: {}
    public: bool = False


TRADE = Measures("items", outcomes.standings, outcomes.items)


def ones(event: Event) -> Mapping[str, int]:  # noqa: ARG001
    """Say that there is one unit of each item."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game, as an extension.

    `build` makes the rules from the settings of the game and of the whole auction; chance is drawn there, from streams
    of the seed. `opening` is the event that begins a log of it, and `events` are all that its rules write, Harbor's
    `Allocated`, `Paid` and `Signal` too: they tell what measures it. `play` is how bidders with models see and play it
    (None: no model can).
    `types` are those that rivals can be told apart by (empty: the personas of the catalogue, which listings suit).
    `level` is how players of some level of thought play, for rivals that are neither rational nor alike.
    `unit` says what is bid: dollars, or a number that is not money. `uses` names the settings of the auction and of its
    bidders that the rules read; others are refused. `acts` and `draws` say whether everyone learns at once what bidders
    do, and what nature draws. `from_public` makes the rules of what a log tells, which may be public events alone, for
    checking it where the settings are not there; without it such a log is not checked. `supply` says how many units of
    which items an event brings; of all others there is one. `budgets`: nobody pays for an item more than it could be
    asked for. `board` makes what is shown of it at a moment, as a fold over events; by default that is what was said
    last, and who does what.
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
        """How bidders with models see and play it.

        Raises:
            ConfigError: it does not say so.
        """
        if self.play is None:
            raise ConfigError(f"the game {self.name!r} has no prompts for bidders with models; give it a Play")
        return self.play

    def unheeded(self, personas: Mapping[str, Mapping[str, float]]) -> str:
        """Say of which bidders the built-in model does not read the personas, given as weights; empty: of none."""
        types = {one.id for one in self.types}
        bidders = [name for name, mix in personas.items() if not types.issuperset(mix)]
        if not bidders or self.play is None or self.play.heeds_personas:
            return ""
        names = ", ".join(bidders)
        return f"the built-in model reads no personas in the game {self.name!r}: {names} would act the same without one"

    def complaint(self) -> str:
        """Say what does not fit together."""
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
    """Give the game that a log names.

    Raises:
        LogError: it names none, or one whose package is missing.
    """
    for opened in of_type(entries, LogOpened):
        for one in opened.parts:
            if one.kind == "game":
                game: Game = of_part(one)
                return game
    raise LogError("the log names no game; run the auction again")


BEYOND = 1.1
"""How many times what it may spend a bid is that is too high by mistake."""


def bid_of(amount: float, reasons: str) -> Values:
    """Reply with a bid, in whole cents."""
    return {"reasons": f"{reasons}.", "action": "bid", "amount": int(round(amount * 100, 6)) / 100}


def sealed(amount: float, most: float, reasons: str, settings: Simulated, chance: Random) -> Values:
    """Reply with a sealed bid of at most what may be spent, or above it as often as the settings say."""
    return bid_of(BEYOND * most if chance.random() < settings.over_budget_rate else min(amount, most), reasons)


class Table(NamedTuple):
    """Where a policy is to play: for which bidder, in an auction of which seed, in which game."""

    bidder: Bidder
    seed: int
    game: Game


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedPolicy:
    """A scripted policy, as an extension.

    `make` takes where it is to play. `uses` names the settings of a bidder that it reads, and `needs` those that the
    game must read for it to play, such as "overestimate" for estimates. `games` names the games that it can play
    (empty: any).
    """

    name: str = part("its name, in lower case")
    description: str = part("what it does, in one line")
    make: Callable[[Table], Policy] = part("what makes the policy of a bidder")
    uses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    api: int = API

    def complaint(self) -> str:
        """Say what it uses that there is not."""
        return unread((*self.uses, *self.needs), Bidder)


def build(config: AuctionConfig) -> Mechanism[Any]:
    """Build the rules of an auction whose items are already sampled."""
    game: Game = find("game", config.rules.game)
    return of_strangers(f"the game {game.name!r}: build", lambda: game.build(config.rules, config))


def policy_of(bidder: Bidder, config: AuctionConfig) -> Policy | None:
    """Make the policy that plays a bidder with a `rule` (None: without).

    Raises:
        ConfigError: there is no such policy, or it can't play the game.
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
