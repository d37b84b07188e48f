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
    """A game's own version of a thought, which is a call in which a bidder's model reasons, for example about a plan.

    `prompt` is the file of the prompt. `facts` returns all facts in the prompt, from the bidder's view; if the thought
    is about a subject, such as a rival, `facts` takes this subject as well. `answer` returns the reply of the built-in
    model, from these facts alone. `reply` is the Pydantic model of the reply. `check` returns the error in a reply.
    `when` says whether the thought is worth a call now. If `reply`, `check` or `when` is None, Harbor's own version of
    the thought provides it. `turns` returns the earlier calls of a dialogue, or None if there is no dialogue.
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
    """The way in which models play a game as bidders: their prompts, and the answers of the built-in model.

    `facts` takes a player's name and the events that the player has seen, and returns the facts that the player's
    prompts tell. `system` and `prompt` are the files of the texts around these facts; the only blank in a text is
    ${facts}. `policy` returns the answer of the built-in model to `prompt`, from the facts alone. `plan` is the plan of
    the built-in model in a sentence. `outlook` returns an `Outlook`: the rivals whose next action is worth a forecast,
    and whether the player will act again. `forecast` returns the bid that the built-in model expects next from a rival;
    a game with an `outlook` needs it. `yardstick` estimates the amount with which a rival compares its bid, as the
    facts `mean` and `scatter`; by default, `mean` is the player's own estimate of the item, and `scatter` is a fifth of
    it.

    `thoughts` are the game's own versions of thoughts, by the name of the thought's node in the bidder's graph. `tells`
    lists what the game's own prompts tell: conclusions of thoughts, by the name of the node, which Harbor then does not
    add, and settings of a bidder, such as the objective. `reply` is the Pydantic model of an answer if all asks have
    the same one; if it is None, each ask determines its model. `stays` names the facts that do not change during the
    game; they come first in a prompt. `explains` returns the names of the facts that `system` explains in all prompts
    of a bidder, although only some prompts contain these facts. `standing` returns further facts for the thoughts that
    are not in `thoughts`. `heeds_personas` is false if `policy` reads no personas except the game's own types of
    players; Harbor then warns if a bidder has another persona.
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
        """Return the error in words: a missing `forecast`, or a prompt that can't be filled; empty if there is none."""
        if self.outlook is not no_outlook and self.forecast is None:
            return "lacks play.forecast: what the built-in model expects a rival to bid next; give it one"
        return unfillable(self.system) or unfillable(self.prompt)


@dataclass(frozen=True, slots=True)
class Measures:
    """The functions that summarise a log of a game.

    `parts` is the word for the parts of the game, such as "days". `standings` returns one row per bidder, the best
    first, and `items` returns one row per part. Rows are dataclasses; the first field of a row of `standings` is
    `bidder`. `figures` returns numbers about the whole game, by name. `public` is true if these functions need only
    public events, so that a public copy of a log can be summarised too. A game that brings no measures of its own is
    summarised by items, payments and profits.

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

    `settings` is the class of the game's settings. `build` makes the rules from these settings and the settings of the
    whole auction; it draws random values with `stream`, from the seed of the auction. `opening` is the type of the
    event that opens the game. `events` are all types of events that the rules write, including Harbor's `Allocated`,
    `Paid` and `Signal`, which measures read. `play` has the prompts for bidders that are played by models; if it is
    None, no model can play the game. `rational` returns the answer of a rational player. `level` returns the answer of
    a player of level 0, 1, 2 and so on: level 0 plays at random, and each higher level answers best to the level below.
    If `level` is None, the policies of these levels can't play the game. `types` are the types of players among which
    bidders infer the type of a rival; if they are empty, these are the personas of the catalogue. `measures` summarise
    a log.

    `unit` is the unit of a bid: dollars, or a number that is not money. `uses` names the settings of the auction and of
    its bidders that the rules read; Harbor refuses other settings. `acts` is "open" if everyone learns at once of the
    acts of bidders, else "sealed"; `draws` says the same of random draws. `from_public` makes the rules from the public
    settings and the events of a log, which may be public events alone; if it is None, a log without the settings of the
    auction is not checked by the rules. `supply` returns, by item, the number of units that an event puts on sale; an
    item that no event names has one unit. `budgets` is true if the rules never let a bidder pay more than its budget
    and its asks allow. `board` makes the display of the game; the default shows the auctioneer's last words and the act
    of each bidder.
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
        """The game's `play`, which is not None.

        Raises:
            ConfigError: `play` is None, so that no model can play the game.
        """
        if self.play is None:
            raise ConfigError(f"the game {self.name!r} has no prompts for bidders with models; give it a Play")
        return self.play

    def unheeded(self, personas: Mapping[str, Mapping[str, float]]) -> str:
        """Return a warning that names the bidders whose personas the built-in model ignores; empty if there are none.

        Args:
            personas: for each bidder that the built-in model plays, the weights of its personas.
        """
        types = {one.id for one in self.types}
        bidders = [name for name, mix in personas.items() if not types.issuperset(mix)]
        if not bidders or self.play is None or self.play.heeds_personas:
            return ""
        names = ", ".join(bidders)
        return f"the built-in model reads no personas in the game {self.name!r}: {names} would act the same without one"

    def complaint(self) -> str:
        """Return the first error in the attributes of the game, in words; empty if there is none."""
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
        LogError: the log names no game, or a game whose package is missing.
    """
    for opened in of_type(entries, LogOpened):
        for one in opened.parts:
            if one.kind == "game":
                game: Game = of_part(one)
                return game
    raise LogError("the log names no game; run the auction again")


BEYOND = 1.1
"""The size of a bid that is too high by mistake, as a multiple of the dollars that may be spent."""


def bid_of(amount: float, reasons: str) -> Values:
    """Return a reply with a bid in dollars, cut to whole cents."""
    return {"reasons": f"{reasons}.", "action": "bid", "amount": int(round(amount * 100, 6)) / 100}


def sealed(amount: float, most: float, reasons: str, settings: Simulated, chance: Random) -> Values:
    """Return a reply with a sealed bid of at most `most` dollars, or above it at the settings' rate."""
    return bid_of(BEYOND * most if chance.random() < settings.over_budget_rate else min(amount, most), reasons)


class Table(NamedTuple):
    """The circumstances in which a scripted policy plays: its bidder, the seed of the auction, and the game."""

    bidder: Bidder
    seed: int
    game: Game


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedPolicy:
    """A policy that plays a bidder without a model, as an extension; the bidder's setting `rule` names it.

    `make` takes a `Table` and returns the `Policy` of one bidder. `uses` names the settings of the bidder that the
    policy reads. `needs` names the settings that the rules of a game must read, so that the policy can play the game:
    for example, without "overestimate" bidders have no estimates. `games` names the games that the policy can play; if
    it is empty, the policy can play all games.

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
        """Return an error that names an entry of `uses` or `needs` which is no setting of a bidder; else empty."""
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
