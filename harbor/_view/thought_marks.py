"""What bidders thought, as marks, in any game: limits among the bids, beliefs and profiles beside what was so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harbor._core.events import Event, LotClosed
from harbor._core.thoughts import Believed, Expected, LimitSet, Mirrored, Predicted, Profiled
from harbor._games.drawn import Mark, Number, Picture
from harbor._games.game import Game
from harbor._view.beside import Facts

BIDS = "bids"
"""The picture of a game in which limits are drawn, if it has one of this name."""
CLOSED = "items, days or runs closed"


def pictures_of_thoughts(game: Game) -> list[Picture]:
    """Give the pictures of thoughts, whose bids are written in the unit of the game."""
    return [
        Picture("beliefs", "Beliefs beside what was so", x=CLOSED, y="dollars"),
        Picture("expected", "Bids that were expected, and what came", x="item, day or run", y="bid", scale=game.unit),
        Picture("profiles", "Profiles beside true personas", x="persona", y="weight from -1 to 1", scale="number"),
    ]


class ThoughtMarks:
    """The marks of thoughts, as a fold over what a viewer may see.

    Args:
        game: that is shown.
    """

    def __init__(self, game: Game | None) -> None:
        self._facts = Facts(game)
        self._closed = 0
        self._expected: dict[tuple[str, str], Number] = {}
        self._mirrored: set[tuple[str, str]] = set()

    def marks(self, event: Event) -> Iterator[Mark]:
        """Take an event in, and give the marks that it adds."""
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
                yield from _bars(f"{bidder} of {rival}", bidder, "profile", weights)
                yield from self._true(f"{bidder} of {rival}", rival, weights)
                if (rival, bidder) in self._mirrored:
                    yield from self._mirror(rival, bidder)
            case Mirrored(bidder=bidder, rival=rival, weights=weights):
                self._mirrored.add((bidder, rival))
                yield from _bars(_mirror_of(bidder, rival), bidder, "mirrored", weights)
                yield from self._mirror(bidder, rival)
            case LotClosed():
                yield from self._came()

    def _believed(self, event: Believed) -> Iterator[Mark]:
        """Give what is held of budget and profits, what was so as far as the viewer knows."""
        bidder, held, true = event.bidder, event.held, self._facts.truth(event.bidder, len(event.closed))
        yield Mark("beliefs", bidder, "belief", "line", held.budget, self._closed, panel=f"{bidder}: budget")
        if self._facts.budgets.get(bidder):
            yield Mark("beliefs", bidder, "truth", "line", true.budget, self._closed, panel=f"{bidder}: budget")
        for role, profits in (("belief", held.profits), ("truth", true.profits)):
            for name, profit in profits.items():
                yield Mark("beliefs", name, role, "line", profit, self._closed, panel=f"{bidder}: profits")

    def _awaited(self, bidder: str, bids: Mapping[str, Number]) -> Iterator[Mark]:
        """Give what a bidder expects of its rivals in what comes next."""
        for rival, bid in bids.items():
            self._expected[bidder, rival] = bid
            yield Mark("expected", rival, "expected", "point", bid, self._closed + 1, panel=bidder)

    def _came(self) -> Iterator[Mark]:
        """Give what came of it, where the viewer sees that."""
        self._closed += 1
        for bidder, rival in self._expected:
            came = self._facts.did.get(rival)
            if came is not None:
                yield Mark("expected", rival, "bid", "point", came, self._closed, panel=bidder)
        self._expected.clear()
        self._facts.begin_next()

    def _true(self, panel: str, rival: str, weights: Mapping[str, float]) -> Iterator[Mark]:
        """Give the true weights of personas, where the viewer knows them."""
        for persona, weight in self._facts.personas.get(rival, {}).items():
            if persona in weights:
                yield Mark("profiles", "truth", "truth", "point", weight, persona, panel=panel)

    def _mirror(self, bidder: str, rival: str) -> Iterator[Mark]:
        """Give how a rival really profiles a bidder, beside how it thinks so, where the viewer knows it."""
        yield from _bars(_mirror_of(bidder, rival), rival, "profile", self._facts.profiles.get((rival, bidder), {}))


def _mirror_of(bidder: str, rival: str) -> str:
    return f"{bidder} as {rival} sees it, as {bidder} thinks"


def _bars(panel: str, series: str, role: str, weights: Mapping[str, float]) -> Iterator[Mark]:
    return (Mark("profiles", series, role, "bar", weight, persona, panel=panel) for persona, weight in weights.items())
