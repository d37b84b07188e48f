"""The conformance suite for catalogues: call it in a test of one that you write."""

from __future__ import annotations

from harbor._core.events import ItemLabelled
from harbor._core.log import of_type
from harbor._core.thoughts import Profiled
from harbor._games.purity import require
from harbor._runs.auction import Auction
from harbor.personas._catalog.catalogue import Catalogue
from harbor.personas._catalog.sampling import sample
from harbor.testing._playing import BIDDERS, legal, played, promised, whole

MOST_ITEMS = 3
SEEDS = 10


def check_catalogue(catalogue: Catalogue) -> None:
    """Check that a catalogue keeps its promises.

    Its ids, texts and listings are distinct. Each item says whom it suits by ids of its personas, or suits nobody, and
    each persona has an item that suits it. No item starts above its true value. Equal seeds give equal
    samples. It is sold in an auction in which the built-in model profiles rivals over its personas.

    Args:
        catalogue: the catalogue.

    Raises:
        AssertionError: it names the broken promise and the evidence.
    """
    whole(catalogue, "catalogue")
    what = f"the catalogue {catalogue.name!r}"
    with promised(what):
        _consistent(catalogue, what)
        _sampled(catalogue, what)
        _sold(catalogue, what)


def _consistent(catalogue: Catalogue, what: str) -> None:
    listings: dict[str, str] = {}
    for key, item in catalogue.items.items():
        known = all(persona in catalogue.personas for persona in item.suits)
        require(known, f"{what}: item {key!r} suits a persona that it does not have", item.persona)
        require(item.start <= item.true_value, f"{what}: item {key!r} starts above its true value", item)
        other = listings.setdefault(item.listing, key)
        require(other == key, f"{what}: items {other!r} and {key!r} have the same listing", item.listing)
    for persona in catalogue.personas:
        require(catalogue.suiting(persona), f"{what}: no item suits the persona {persona!r}")


def _sampled(catalogue: Catalogue, what: str) -> None:
    count = min(MOST_ITEMS, len(catalogue.items))
    for seed in range(SEEDS):
        drawn = sample(catalogue, count, seed)
        require(drawn == sample(catalogue, count, seed), f"{what}: equal seeds give two samples", drawn)


def _sold(catalogue: Catalogue, what: str) -> None:
    """Sell some of it to bidders of its personas, who profile each other."""
    mind = {"theory_of_mind": "inferred"} if len(catalogue.personas) > 1 else {}
    seats = [{"name": name, "persona": key, **mind} for name, key in zip(BIDDERS, catalogue.personas, strict=False)]
    count = min(MOST_ITEMS, len(catalogue.items))
    log = played(Auction(catalogue=catalogue.name, items={"count": count}, bidders=seats)).log
    legal(log, "the built-in model")
    require(len(of_type(log, ItemLabelled)) == count, f"{what}: not all of its items are for sale")
    require(not mind or of_type(log, Profiled), f"{what}: nobody is profiled over its personas")
