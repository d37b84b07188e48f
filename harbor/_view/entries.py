"""The entries of a log as sentences for people, and the decisions, each with its calls and private events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from harbor._core.basics.numbers import dollars
from harbor._core.log.acts import Tried
from harbor._core.log.events import (
    Answered,
    BidderLabelled,
    BiddersAsked,
    BidderSeated,
    CatalogShown,
    Event,
    ItemLabelled,
    LogOpened,
    LotClosed,
    ModelCalled,
    Paused,
    PrivateEvent,
    PublicEvent,
    SaleClosed,
    SeatFailed,
    ThoughtFailed,
)
from harbor._core.log.log import TURN_OPENS
from harbor._core.log.log_entries import field_texts, name_of_kind, number, plain_sentence
from harbor._core.log.players import AGENT
from harbor._core.log.thoughts import Decided, Expected, Predicted, Recalled, Remembered, Stated
from harbor._games.game import Game
from harbor._games.sessions.session import RunLabelled
from harbor._house.auctioneer import announce
from harbor._view.conclusions import Facts, beside
from harbor._view.shapes import Beside
from harbor.evaluation._rating.transcript import statements

QUOTED = tuple(f'{end}"' for end in ".!?")
"""Line ends that need no full stop."""
OUTCOMES = {
    "ok": "it answers",
    "unreadable": "its answer can't be read",
    "refused": "it refuses",
    "failed": "the call fails",
}
TASKS = {
    "answer": "for an answer",
    "believe": "for beliefs",
    "bid": "for a bid",
    "learn": "for what to learn",
    "limit": "for a limit",
    "listen": "for the meaning of what was said",
    "mirror": "for a profile as a rival may have it",
    "plan": "for a plan",
    "predict": "for a forecast of the rivals",
    "profile": "for a profile of a rival",
    "replan": "for a new plan",
    "rivals": "for profiles and forecasts of the rivals",
    "strategize": "for a strategy",
}
"""The words for a call's request, by the thought. Any other thought is called by its name."""
Spell = Callable[[Decimal], str]


def words_of(event: Event, game: Game | None) -> str:
    """Describe an event of a game in words."""
    spell = spell_of(game)
    if isinstance(event, PublicEvent):
        return _public(event) or plain_sentence(event, spell)
    if isinstance(event, CatalogShown):
        return f"{event.bidder} is told of {len(event.personas)} kinds of buyers."
    if isinstance(event, PrivateEvent):
        said = [f"{event.bidder} {line}{'' if line.endswith(QUOTED) else '.'}" for line in statements(event, spell)]
        seated = f"{event.bidder} takes a seat." if isinstance(event, BidderSeated) else ""
        return " ".join(said) or seated or plain_sentence(event, spell)
    return _analysts(event, game) or plain_sentence(event, spell)


def spell_of(game: Game | None) -> Spell:
    """Return the function that formats the game's bids: as dollars, or as numbers."""
    return number if game is not None and game.unit == "number" else dollars


def thought_of(purpose: str, game: Game | None) -> str:
    """Name the purpose of a call: "bid" if its prompt has the game's name, or else the thought of its node."""
    if purpose == AGENT:
        return "answer"
    if game is not None and purpose == game.name.replace("-", "_"):
        return "bid"
    return purpose.removeprefix("contest_").replace("_", " ")


def fields_of(event: Event, spell: Spell = dollars) -> Iterator[tuple[str, str]]:
    """Return the non-empty fields of an event. A call has none, as its decision shows them."""
    if isinstance(event, ModelCalled):
        return iter(())
    without = "budget" if isinstance(event, BidderSeated) and not event.budget else ""  # this game has no budgets
    return ((name, text) for name, text in field_texts(event, spell) if text and name != without)


def _public(event: PublicEvent) -> str:
    match event:
        case BiddersAsked(bidders=bidders, round=round, attempt=attempt, item=item):
            again = f", attempt {attempt}" if attempt > 1 else ""
            return f"{item}, round {round}{again}: {', '.join(bidders)} asked."
        case Paused(closed=closed, over=over):
            after = f" after {', '.join(closed)}" if closed else " before it begins"
            return "The bidders think" + (" at the end." if over else f"{after}.")
        case SaleClosed():
            return "The game is over."
        case _:
            return " ".join(event.sentences()) or announce(event)


def _analysts(event: Event, game: Game | None) -> str:
    match event:
        case LogOpened(run=run, harbor=version):
            return f"The log of {run} opens, written by Harbor {version}."
        case ItemLabelled(item=item, true_value=value, persona=persona):
            kinds = ", ".join((persona,) if isinstance(persona, str) else persona)
            return f"{item} is worth {dollars(value)}" + (f"; it was written for {kinds}." if kinds else ".")
        case BidderLabelled(bidder=bidder, player=player, personas=personas):
            return f"{bidder} is played by {player}" + (f", as {persona_text(personas)}." if personas else ".")
        case ModelCalled(bidder=bidder, purpose=purpose, model=model, attempt=attempt, outcome=outcome):
            again = f", attempt {attempt}" if attempt > 1 else ""
            thought = thought_of(purpose, game)
            task = TASKS.get(thought, f'for the thought "{thought}"')
            return f"{bidder} asks the model {model} {task}{again}: {OUTCOMES[outcome]}."
        case RunLabelled(item=item, actions=actions, assets=assets):
            spell = spell_of(game)
            acts = [f"{name} does {spell(action)}" for name, action in actions.items()]
            ends = [f"{name} has {dollars(left)}" for name, left in assets.items()]
            return f"In the equilibrium of {item}: {', '.join(acts + ends)}."
        case _:
            return ""


def persona_text(personas: dict[str, float]) -> str:
    """Return the names of personas, with weights if there are several."""
    if len(personas) == 1:
        return next(iter(personas))
    return " + ".join(f"{name} {weight:g}" for name, weight in personas.items())


_NAMES: dict[type[Event], str] = {Answered: "answer", Recalled: "recall", Remembered: "remember"}
FAILED = (Tried, ThoughtFailed, SeatFailed)
THOUGHTS = "harbor._core.log.thoughts"
FORCED = "cannot afford"
"""The reason of an exit without an ask. No bidder decided it."""


@dataclass(slots=True)
class Decision:
    """The thoughts and decision of a bidder at one moment. `ended_by` is the type of event that its calls led to."""

    bidder: str
    what: str
    item: str
    round: int
    calls: list[tuple[ModelCalled, int | None]] = field(default_factory=list)
    beside: list[Beside] = field(default_factory=list)
    ended_by: type[Event] | None = None


class Decisions:
    """The decisions in a log.

    Calls and their result are adjacent within a turn, because a bidder's thoughts are logged one after another.

    Attributes:
        made: all decisions so far. A decision's number is its index.
        changed: the numbers of decisions that have changed since the caller last emptied it.
    """

    def __init__(self, game: Game | None) -> None:
        self.made: list[Decision] = []
        self.changed: dict[int, None] = {}
        self._game, self._facts = game, Facts(game)
        self._open: dict[str, int] = {}
        self._item, self._round = "", 0
        self._awaited: list[tuple[int, Predicted | Expected]] = []

    def note(self, event: Event, call: int | None = None) -> int | None:
        """Note an event and the place of its recorded call. Return the number of its decision, or None."""
        number = None
        if isinstance(event, TURN_OPENS):
            self._open.clear()
            self._item, self._round = _about(event)
        elif isinstance(event, ModelCalled):
            number = self._called(event, call)
        elif isinstance(event, FAILED):
            number = self._open.get(event.bidder)
        elif isinstance(event, PrivateEvent) and (type(event).__module__ == THOUGHTS or isinstance(event, Answered)):
            number = self._ended(event)
        elif isinstance(event, PublicEvent) and getattr(event, "reason", "") != FORCED:
            # a bidder's public act results from its thoughts in that turn
            number = self._open.get(getattr(event, "bidder", ""))
        self._facts.note(event)
        if number is not None:
            self.changed[number] = None
        if isinstance(event, LotClosed):
            self._settle(event)
        return number

    def _called(self, event: ModelCalled, call: int | None) -> int:
        what, own = thought_of(event.purpose, self._game), event.purpose == AGENT
        number = self._open.get(event.bidder)
        known = self.made[number] if number is not None else None
        if number is None or known is None or not (own or (known.ended_by is None and known.what == what)):
            number = self._begin(event.bidder, what)
        self.made[number].calls.append((event, call))
        return number

    def _ended(self, event: PrivateEvent) -> int:
        number = self._open.get(event.bidder)
        goes_with = (Decided,) if isinstance(event, Stated) else ()
        if number is None or self.made[number].ended_by not in (None, type(event), *goes_with):
            number = self._begin(event.bidder, _NAMES.get(type(event), name_of_kind(event)))
        decision = self.made[number]
        decision.ended_by = type(event)
        decision.item = getattr(event, "item", decision.item)
        decision.beside += beside(event, self._facts)
        if isinstance(event, Predicted | Expected):
            self._awaited.append((number, event))
        return number

    def _begin(self, bidder: str, what: str) -> int:
        self.made.append(Decision(bidder, what, self._item, self._round))
        self._open[bidder] = len(self.made) - 1
        return len(self.made) - 1

    def _settle(self, closed: LotClosed) -> None:
        """Compare predictions with the actual bids, which are now known."""
        still: list[tuple[int, Predicted | Expected]] = []
        for place, event in self._awaited:
            if isinstance(event, Predicted) and event.item != closed.item:
                still.append((place, event))
                continue
            self.made[place].beside = beside(event, self._facts)
            self.changed[place] = None
        self._awaited = still
        self._facts.begin_next()


def _about(event: BiddersAsked | Paused) -> tuple[str, int]:
    """Return the item and the round of a turn. At a pause, return the parts that have just closed."""
    return (event.item, event.round) if isinstance(event, BiddersAsked) else (", ".join(event.closed), 0)
