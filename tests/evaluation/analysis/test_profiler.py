"""The statistical profiler: trained on some personas and houses, it judges others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from functools import cache

import pytest

from harbor import Auction, Bidder
from harbor._config.auction import Item
from harbor._core.asking.asks import Bid
from harbor._core.basics.numbers import stream
from harbor._core.log.acts import Acted
from harbor._core.log.events import BidderLabelled, Event, ItemLabelled, Lot, PublicEvent
from harbor._core.log.log_entries import Entry
from harbor._games.english.events import SaleOpened
from harbor.evaluation._analysis.profiler import FEATURES, features, train
from harbor.evaluation._metrics.profiling import divergence
from harbor.personas._catalog import traits
from harbor.personas._catalog.catalogue import HOMES, personas
from support.sold import sold

EVERY = [*personas()]
KNOWN, HELD_OUT = EVERY[::2], EVERY[1::2]
Log = tuple[Entry, ...]


def catalog(ids: Sequence[str]) -> dict[str, str]:
    return {persona: personas()[persona].text for persona in ids}


@cache
def sales(ids: tuple[str, ...], count: int) -> tuple[Log, ...]:
    """Hold sales of ten houses of these personas between bidders that have them."""
    held = []
    for seed in range(count):
        chance = stream(seed, *ids)
        suited = [item for item in HOMES.items.values() if item.persona in ids]
        items = [Item.model_validate(item) for item in chance.sample(suited, 10)]
        cast = chance.sample(ids, 3)
        bidders = [Bidder(name, persona=persona, planning="none") for name, persona in zip("XYZ", cast, strict=True)]
        held.append(Auction(seed=seed, items=items, bidders=bidders).run().log)
    return tuple(held)


def training() -> tuple[Log, ...]:
    return sales(tuple(KNOWN), 4)


def judged() -> tuple[Log, ...]:
    return sales(tuple(HELD_OUT), 3)


@pytest.mark.studies
def test_trained_on_other_personas_and_houses_it_beats_a_uniform_guess():
    houses = [
        {entry.event.item for log in held for entry in log if isinstance(entry.event, ItemLabelled)}
        for held in (training(), judged())
    ]
    assert ({*KNOWN} & {*HELD_OUT}, houses[0] & houses[1]) == (set(), set())
    profiler, texts = train(training(), catalog(KNOWN)), catalog(HELD_OUT)
    labels = [(log, entry.event) for log in judged() for entry in log if isinstance(entry.event, BidderLabelled)]
    found = [
        divergence(traits.truth(label.personas, texts), traits.profile(profiler.profile(log, label.bidder, texts)))
        for log, label in labels
    ]
    assert len(found) == 9
    assert sum(found) / len(found) < math.log(len(HELD_OUT))


def test_a_profile_is_a_share_of_each_persona_and_equal_for_equal_logs_and_for_what_everybody_sees():
    log, texts = judged()[0], catalog(HELD_OUT)
    public = [entry for entry in log if isinstance(entry.event, PublicEvent)]
    one, other = (train(training(), catalog(KNOWN)) for _ in range(2))
    found = one.profile(log, "X", texts)
    assert list(found) == HELD_OUT
    assert sum(found.values()) == pytest.approx(1)
    assert all(0 < share < 1 for share in found.values())
    assert found == other.profile(log, "X", texts) == one.profile(public, "X", texts)


def test_a_sale_may_show_the_catalog_itself():
    bidders = [Bidder("Ann", planning="none", theory_of_mind="inferred"), Bidder("Ben", persona="downsizing")]
    log = Auction(items=list(HOMES.items.values())[:4], bidders=bidders).run().log
    own, given = (train(*of).profile(log, "Ben", catalog(EVERY)) for of in (([log],), ([log], catalog(EVERY))))
    assert own == given


# ---------------------------------------------------------------- worked features

LOFT, FARM = "A loft above the tram, with a gym and a bakery.", "A farm with a barn, a paddock and an orchard."
KINDS = {"urban": LOFT, "rural": FARM}


def entries(*happened: Event) -> list[Entry]:
    return [Entry(number, 0.0, event) for number, event in enumerate(happened)]


def bid(item: str, bidder: str, amount: int) -> Acted:
    return Acted(bidder, item, Bid(Decimal(amount)))


TWO_SALES = entries(
    SaleOpened(("Ann", "Ben", "Cho"), (Lot("Loft", Decimal(100), LOFT), Lot("Farm", Decimal(200), FARM)), "price"),
    bid("Loft", "Ann", 100), bid("Loft", "Ben", 110), bid("Loft", "Ann", 150), *sold("Loft", "Ann", Decimal(150)),
    bid("Farm", "Ann", 200), bid("Farm", "Ben", 260), *sold("Farm", "Ben", Decimal(260)),
)  # fmt: skip


def test_features_are_the_measures_of_suiting_items_less_the_mean_of_all():
    # Ann on the loft: 2 of 3 bids, 1.5 times the start, lost by nothing, won; on the farm: 1 of 3, 1.0, 0.3, lost.
    # Each kind suits its own listing alone, so the difference to the mean is half of that between the two.
    found = features(TWO_SALES, "Ann", KINDS)
    assert FEATURES == ("share of bids", "height over start", "height lost by", "items won")
    assert found["urban"] == pytest.approx([1 / 6, 0.25, -0.15, 0.5])
    assert found["rural"] == pytest.approx([-1 / 6, -0.25, 0.15, -0.5])


LABELS = entries(BidderLabelled("Ann", {"urban": 1.0}, "simulated"), BidderLabelled("Ben", {"rural": 1.0}, "simulated"))


def test_a_bidder_that_never_bid_has_features_and_equal_shares():
    found = features(TWO_SALES, "Cho", KINDS)
    assert found["urban"] == pytest.approx([0, 0, (1.5 - 1.3) / 2, 0])
    assert train([[*LABELS, *TWO_SALES]], KINDS).profile(TWO_SALES, "Cho", KINDS) == {"urban": 0.5, "rural": 0.5}


def test_whom_or_what_there_is_not_can_not_be_profiled_and_nothing_is_learned_where_nobody_lacks_a_persona():
    profiler = train([[*LABELS, *TWO_SALES]], KINDS)
    with pytest.raises(ValueError, match=r"there is no bidder 'Dan'; give one of \['Ann', 'Ben', 'Cho'\]"):
        profiler.profile(TWO_SALES, "Dan", KINDS)
    with pytest.raises(ValueError, match=r"there is no persona in the catalog; give .* a catalog of texts by id"):
        profiler.profile(TWO_SALES, "Ann", {})
    for mix in ({}, {"beach": 1.0}, {"urban": 0.5, "rural": 0.5}):
        labels = entries(BidderLabelled("Ann", mix, "simulated"))
        with pytest.raises(
            ValueError, match="no bidder of these logs has one persona of the catalog and lacks another"
        ):
            train([[*labels, *TWO_SALES]], KINDS)
