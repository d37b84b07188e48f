"""An entry of a log as a sentence that a person reads, whoever may see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

from harbor._core.event_texts import field_texts, number, plain_sentence
from harbor._core.events import (
    BidderLabelled,
    BiddersAsked,
    BidderSeated,
    CatalogShown,
    Event,
    ItemLabelled,
    LogOpened,
    ModelCalled,
    Paused,
    PrivateEvent,
    PublicEvent,
    SaleClosed,
)
from harbor._core.money import dollars
from harbor._core.players import AGENT
from harbor._games.game import Game
from harbor._games.sessions.session import RunLabelled
from harbor._house.auctioneer import announce
from harbor.evaluation._rating.transcript import statements

QUOTED = tuple(f'{end}"' for end in ".!?")
"""How a line ends that needs no stop."""
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
"""What a model is asked for, by the thought that asks; any other thought is called by its name."""
Spell = Callable[[Decimal], str]


def words_of(event: Event, game: Game | None) -> str:
    """Say what an event of a game is."""
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
    """Give how a game writes what is bid: as dollars, or as a number."""
    return number if game is not None and game.unit == "number" else dollars


def thought_of(purpose: str, game: Game | None) -> str:
    """Name what a call is for: a bid, whose prompt is named after the game, or a thought, named after its node."""
    if purpose == AGENT:
        return "answer"
    if game is not None and purpose == game.name.replace("-", "_"):
        return "bid"
    return purpose.removeprefix("contest_").replace("_", " ")


def fields_of(event: Event, spell: Spell = dollars) -> Iterator[tuple[str, str]]:
    """Give the fields of an event that have something in them; those of a call stand in its decision."""
    if isinstance(event, ModelCalled):
        return iter(())
    without = "budget" if isinstance(event, BidderSeated) and not event.budget else ""  # the game has none
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
    """Name personas, with their weights where there are several."""
    if len(personas) == 1:
        return next(iter(personas))
    return " + ".join(f"{name} {weight:g}" for name, weight in personas.items())
