"""Bidders' thoughts beside the facts: as tables, and as the marks of pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from harbor._core.asking.asks import Bid
from harbor._core.basics.numbers import dollars
from harbor._core.log.acts import Acted, ActedSealed
from harbor._core.log.events import (
    BidderLabelled,
    BidderSeated,
    CatalogShown,
    Event,
    ItemLabelled,
    Listed,
    LotClosed,
    PrivateEvent,
    WorthTold,
)
from harbor._core.log.log_entries import number
from harbor._core.log.thoughts import (
    Belief,
    Believed,
    Expected,
    LimitSet,
    Mirrored,
    Planned,
    Predicted,
    Profiled,
    Recalled,
    Stated,
    Win,
)
from harbor._games.board import Mark, Number, Picture
from harbor._games.english.facts import SHOWN
from harbor._games.game import Game
from harbor._games.outcomes import Outcomes, sales
from harbor._view.shapes import Beside
from harbor.personas._catalog.traits import foremost, shares


class Facts:
    """The facts at a moment, folded from events: money, personas, profiles, and the last act of each bidder."""

    def __init__(self, game: Game | None) -> None:
        self.spell: Callable[[Decimal], str] = number if game is not None and game.unit == "number" else dollars
        self.bidders: tuple[str, ...] = ()
        self.personas: dict[str, Mapping[str, float]] = {}
        self.written_for: dict[str, str] = {}
        self.catalog: tuple[str, ...] = ()
        self.profiles: dict[tuple[str, str], Mapping[str, float]] = {}
        self.bids: dict[tuple[str, str], Decimal] = {}
        self.closed: dict[str, LotClosed] = {}
        self.did: dict[str, Decimal | None] = {}
        self.is_settled = False
        self.budgets: dict[str, Decimal] = {}
        self.came = Outcomes()
        self.values: dict[str, Decimal] = {}

    def note(self, event: Event) -> None:
        """Update the facts with one event."""
        self.came.note(event)
        match event:
            case Acted(bidder=bidder, item=item, act=Bid(amount=amount)):
                self.bids[bidder, item] = self.did[bidder] = amount
            case BidderSeated(bidder=bidder, budget=budget):
                self.budgets[bidder] = budget
            case Listed(bidders=bidders):
                self.bidders = bidders
            case WorthTold(item=item, true_value=value):
                self.values[item] = value
            case BidderLabelled(bidder=bidder, personas=personas):
                self.personas[bidder] = personas
            case ItemLabelled(item=item, persona=persona):
                self.written_for[item] = ", ".join((persona,) if isinstance(persona, str) else persona)
            case CatalogShown(personas=catalog):
                self.catalog = tuple(catalog)
            case Profiled(bidder=bidder, rival=rival, weights=weights):
                self.profiles[bidder, rival] = weights
            case ActedSealed(bidder=bidder, act=act) | Acted(bidder=bidder, act=act):
                self.did.setdefault(bidder, None)
                if isinstance(act, Bid):
                    self.did[bidder] = act.amount
            case LotClosed(item=item):
                self.closed.pop(item, None)
                self.closed[item], self.is_settled = event, True

    def begin_next(self) -> None:
        """Forget the acts of the part of the game that has ended."""
        self.did, self.is_settled = {}, False

    def truth(self, bidder: str, news: int) -> Belief:
        """Return the bidder's belief if its memory were perfect.

        Prompts no longer list old wins, so only the last `SHOWN` wins before the `news` newest ones, and these, count.
        """
        closed = list(self.closed)
        told = set(closed[max(0, len(closed) - news - SHOWN) :])
        spent, profits, wins = Decimal(0), dict.fromkeys(self.bidders, Decimal(0)), dict[str, tuple[Win, ...]]()
        for item, sale in sales(self.came).items():
            spent += sale.price if sale.winner == bidder else 0
            if item in self.values:
                profits[sale.winner] = profits.get(sale.winner, Decimal(0)) + self.values[item] - sale.price
            if item in told:
                wins[sale.winner] = (*wins.get(sale.winner, ()), Win(item, sale.price))
        return Belief(self.budgets.get(bidder, Decimal(0)) - spent, profits if self.values else {}, wins)


def beside(event: PrivateEvent, facts: Facts) -> list[Beside]:
    """Return the tables for a bidder's thought."""
    match event:
        case Believed():
            return [_table("Belief beside the truth", ("field", "said", "held", "true"), _belief(event, facts))]
        case Profiled() | Mirrored():
            return [_profile(event, facts)]
        case Predicted():
            return [_prediction(event, facts)]
        case Expected():
            return [_expectation(event, facts)]
        case Stated(said=said, recalled=right):
            filled = ((not right.get(key, True), (key, str(value))) for key, value in said.items())
            so = ", beside what was so: what is recalled wrongly differs" if right else ""
            return [_table(f"The answer by its keys{so}", ("key", "said"), filled)]
        case Recalled(memories=memories):
            recalled = ((False, (str(memory.kind), memory.text)) for memory in memories)
            return [_table("Memories recalled", ("kind", "memory"), recalled)]
        case Planned(priorities=priorities) if priorities:
            kinds = facts.written_for
            rows = ((False, (item, str(rank), kinds.get(item, ""))) for item, rank in priorities.items())
            return [_table("Priorities of the plan", ("item", "priority", "written for"), rows)]
        case _:
            return []


SHARES = (
    "The weights that were given go from -1 to 1. A share is (weight + 1) / the sum of (weight + 1) over all personas: "
    "a uniform guess gives each {uniform:.0%}."
)
Row = tuple[bool, tuple[str, ...]]
"""True if the row differs from the facts, and the cells of the row."""


def _table(title: str, columns: tuple[str, ...], rows: Iterator[Row]) -> Beside:
    """Make a table. Drop a column without any text."""
    found = list(rows)
    kept = [place for place in range(len(columns)) if not found or any(cells[place] for _, cells in found)]
    return {
        "title": title,
        "columns": [columns[place] for place in kept],
        "rows": [[cells[place] for place in kept] for _, cells in found],
        "off": [place for place, (differs, _) in enumerate(found) if differs],
    }


def _belief(event: Believed, facts: Facts) -> Iterator[Row]:
    """Compare the first statement, the belief held from then on, and the truth."""
    told = [_told(belief) for belief in (event.said, event.held, facts.truth(event.bidder, len(event.closed)))]
    said, _, true = told
    for name in {**true, **said}:
        cells = [one.get(name) for one in told]
        yield said.get(name) != true.get(name), (name, *("" if cell is None else dollars(cell) for cell in cells))


def _told(belief: Belief) -> dict[str, Decimal]:
    """Return the fields of a belief by their names."""
    profits = {f"profit of {name}": profit for name, profit in belief.profits.items()}
    wins = {f"{name} won {win.item} for": win.price for name, won in belief.wins.items() for win in won}
    return {"own budget left": belief.budget, **profits, **wins}


def _profile(event: Profiled | Mirrored, facts: Facts) -> Beside:
    """Compare a profile with the true persona, and a mirrored profile also with the rival's own profile."""
    mirror = isinstance(event, Mirrored)
    whose = event.bidder if mirror else event.rival
    truth, theirs = facts.personas.get(whose, {}), facts.profiles.get((event.rival, event.bidder), {}) if mirror else {}
    likely, best = shares(event.weights, event.weights), foremost(event.weights)
    expected = shares(theirs, theirs)

    def rows() -> Iterator[Row]:
        for persona, share in sorted(likely.items(), key=lambda one: -one[1]):
            true = truth.get(persona, 0.0)
            own = f"{expected[persona]:.0%}" if persona in expected else ""
            cells = (persona, f"{share:.0%}", own, f"{true:.0%}" if truth else "")
            yield bool(truth) and (persona == best) != (true > 0), cells

    title = f"What {event.rival} may take {event.bidder} for" if mirror else f"Profile of {event.rival}"
    columns = ("persona", "share", f"profile by {event.rival}", "truth")
    table = _table(f"{title}, beside the persona" if truth else title, columns, rows())
    return {**table, "note": SHARES.format(uniform=1 / max(1, len(likely)))}


def _prediction(event: Predicted, facts: Facts) -> Beside:
    """Compare a prediction for an item with the rivals' highest bids, once these are known.

    Only a bid above the limit differs. Interest is no probability of a bid, and a rival below its limit may have won.
    """
    known = event.item in facts.closed

    def rows() -> Iterator[Row]:
        for one in event.predictions:
            went = facts.bids.get((one.rival, event.item))
            came = "" if not known else "no bid" if went is None else facts.spell(went)
            wrong = known and went is not None and went > one.limit
            mutual = "" if one.expects_me is None else f"{one.expects_me:.0%}"
            yield wrong, (one.rival, f"{one.interest:.0%}", facts.spell(one.limit), mutual, came)

    title = f"Prediction for {event.item}{', beside what came: who bid above its limit differs' if known else ''}"
    return _table(title, ("rival", "interest", "limit", "expects me", "highest bid"), rows())


def _expectation(event: Expected, facts: Facts) -> Beside:
    """Compare the expected bids of rivals with their actual bids, once these are known."""

    def rows() -> Iterator[Row]:
        for rival, bid in event.bids.items():
            known = facts.is_settled and rival in facts.did
            came = facts.did.get(rival)
            text = "" if not known else "nothing" if came is None else facts.spell(came)
            yield known and came != bid, (rival, facts.spell(bid), text)

    return _table("Expected, beside what came", ("rival", "expected", "came"), rows())


BIDS = "bids"
"""Name of the game's picture in which limits are drawn, if the game has such a picture."""
CLOSED = "items, days or runs closed"


def pictures_of_thoughts(game: Game) -> list[Picture]:
    """Return the pictures of thoughts, with bids in the game's unit."""
    return [
        Picture("beliefs", "Beliefs beside what was so", x=CLOSED, y="dollars"),
        Picture("expected", "Bids that were expected, and what came", x="item, day or run", y="bid", scale=game.unit),
        Picture("profiles", "Profiles beside true personas", x="persona", y="weight from -1 to 1", scale="number"),
    ]


class ThoughtMarks:
    """The marks of thoughts, folded from the events that a viewer may see.

    Args:
        game: the game on the page.
    """

    def __init__(self, game: Game | None) -> None:
        self._facts = Facts(game)
        self._closed = 0
        self._expected: dict[tuple[str, str], Number] = {}

    def marks(self, event: Event) -> Iterator[Mark]:
        """Note an event and yield the marks that it adds."""
        self._facts.note(event)
        match event:
            case LimitSet(bidder=bidder, round=round, limit=limit):
                yield Mark(BIDS, bidder, "limit", "step", limit, round)
            case Believed():
                yield from self._believed(event)
            case Predicted(bidder=bidder, predictions=predictions):
                yield from self._awaited(bidder, {one.rival: one.limit for one in predictions})
            case Expected(bidder=bidder, bids=bids):
                yield from self._awaited(bidder, bids)
            case Profiled(bidder=bidder, rival=rival, weights=weights):
                yield from self._profiled(f"{bidder} of {rival}", bidder, rival, weights)
            case LotClosed():
                yield from self._came()

    def _believed(self, event: Believed) -> Iterator[Mark]:
        """Yield the believed budget and profits, and the true ones as far as the viewer knows them."""
        bidder, held, true = event.bidder, event.held, self._facts.truth(event.bidder, len(event.closed))
        yield Mark("beliefs", bidder, "belief", "line", held.budget, self._closed, panel=f"{bidder}: budget")
        if self._facts.budgets.get(bidder):
            yield Mark("beliefs", bidder, "truth", "line", true.budget, self._closed, panel=f"{bidder}: budget")
        for role, profits in (("belief", held.profits), ("truth", true.profits)):
            for name, profit in profits.items():
                yield Mark("beliefs", name, role, "line", profit, self._closed, panel=f"{bidder}: profits")

    def _awaited(self, bidder: str, bids: Mapping[str, Number]) -> Iterator[Mark]:
        """Yield a bidder's expected bids of its rivals in the next part."""
        for rival, bid in bids.items():
            self._expected[bidder, rival] = bid
            yield Mark("expected", rival, "expected", "point", bid, self._closed + 1, panel=bidder)

    def _came(self) -> Iterator[Mark]:
        """Yield the actual bids, where the viewer sees them."""
        self._closed += 1
        for bidder, rival in self._expected:
            came = self._facts.did.get(rival)
            if came is not None:
                yield Mark("expected", rival, "bid", "point", came, self._closed, panel=bidder)
        self._expected.clear()
        self._facts.begin_next()

    def _profiled(self, panel: str, bidder: str, rival: str, weights: Mapping[str, float]) -> Iterator[Mark]:
        """Yield a profile, and the true weights of its personas where the viewer knows them."""
        true = self._facts.personas.get(rival, {})
        for persona, weight in weights.items():
            yield Mark("profiles", bidder, "profile", "bar", weight, persona, panel=panel)
            if persona in true:
                yield Mark("profiles", "truth", "truth", "point", true[persona], persona, panel=panel)
