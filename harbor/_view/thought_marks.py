"""What bidders thought, as marks, in any game: limits among the bids, beliefs and profiles beside what was so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harbor._core.events import Event, LotClosed
from harbor._core.thoughts import Believed, Expected, LimitSet, Predicted, Profiled
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
                yield from self._profiled(f"{bidder} of {rival}", bidder, rival, weights)
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

    def _profiled(self, panel: str, bidder: str, rival: str, weights: Mapping[str, float]) -> Iterator[Mark]:
        """Give a profile, and the true weights of personas in it, where the viewer knows them."""
        true = self._facts.personas.get(rival, {})
        for persona, weight in weights.items():
            yield Mark("profiles", bidder, "profile", "bar", weight, persona, panel=panel)
            if persona in true:
                yield Mark("profiles", "truth", "truth", "point", true[persona], persona, panel=panel)
