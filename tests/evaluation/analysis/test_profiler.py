"""Who a rival is, by its bids: the statistical profiler, trained on other personas, and the inverse planner."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from functools import cache
from statistics import fmean

import pytest

from harbor import Auction, Bidder
from harbor._config.auction import Item
from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.basics.numbers import stream
from harbor._core.log import events
from harbor._core.log.acts import Acted, Signal
from harbor._core.log.events import BidderLabelled, BidderSeated, CatalogShown, Event, ItemLabelled, Lot, PublicEvent
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Profiled
from harbor._games.english.events import ItemOpened, ItemSold, RoundClosed, SaleOpened
from harbor.evaluation._analysis.inverse_planner import METRICS, Evidence, inferences, inferred
from harbor.evaluation._analysis.profiler import FEATURES, features, train
from harbor.evaluation._metrics.measurement import measure
from harbor.evaluation._metrics.profiling import divergence, hit, judged, last
from harbor.personas._catalog import traits
from harbor.personas._catalog.catalogue import HOMES, personas
from support.sold import sold

EVERY = tuple(personas())
KNOWN, HELD_OUT = EVERY[::2], EVERY[1::2]
Log = tuple[Entry, ...]


def catalog(ids: tuple[str, ...]) -> dict[str, str]:
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


@pytest.mark.studies
def test_trained_on_other_personas_and_houses_it_beats_a_uniform_guess():
    known, unseen = sales(KNOWN, 4), sales(HELD_OUT, 3)
    houses = [
        {entry.event.item for log in held for entry in log if isinstance(entry.event, ItemLabelled)}
        for held in (known, unseen)
    ]
    assert ({*KNOWN} & {*HELD_OUT}, houses[0] & houses[1]) == (set(), set())
    profiler, texts = train(known, catalog(KNOWN)), catalog(HELD_OUT)
    labels = [(log, entry.event) for log in unseen for entry in log if isinstance(entry.event, BidderLabelled)]
    found = [
        divergence(traits.truth(label.personas, texts), traits.profile(profiler.profile(log, label.bidder, texts)))
        for log, label in labels
    ]
    assert len(found) == 9
    assert fmean(found) < math.log(len(HELD_OUT))


def test_a_profile_is_a_share_of_each_persona_and_equal_for_equal_logs_and_for_what_everybody_sees():
    [log], texts = sales(HELD_OUT, 1), catalog(HELD_OUT)
    public = [entry for entry in log if isinstance(entry.event, PublicEvent)]
    one, other = (train(sales(KNOWN, 1), catalog(KNOWN)) for _ in range(2))
    found = one.profile(log, "X", texts)
    assert tuple(found) == HELD_OUT
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
    for bidder, catalog, said in (
        ("Dan", KINDS, r"there is no bidder 'Dan'; give one of \['Ann', 'Ben', 'Cho'\]"),
        ("Ann", {}, "there is no persona in the catalog; give .* a catalog of texts by id"),
    ):
        with pytest.raises(ValueError, match=said):
            profiler.profile(TWO_SALES, bidder, catalog)
    for mix in ({}, {"beach": 1.0}, {"urban": 0.5, "rural": 0.5}):
        labels = entries(BidderLabelled("Ann", mix, "simulated"))
        with pytest.raises(ValueError, match="no bidder of these logs has one persona of the catalog and lacks"):
            train([[*labels, *TWO_SALES]], KINDS)


# ---------------------------------------------------------------- the inverse planner

LOTS = {"Loft": LOFT, "Farm": FARM}


def opening(budget: int = 10_000) -> tuple[Event, ...]:
    """Two lots worth about 1,000 each, of which Ann watches Ben buy."""
    lots = tuple(Lot(name, Decimal(500), text) for name, text in LOTS.items())
    return (
        BidderSeated("Ann", Decimal(budget), {}, "profit"),
        Signal("Ann", dict.fromkeys(LOTS, Decimal(1_000)), noisy=True),
        CatalogShown("Ann", KINDS),
        SaleOpened(("Ann", "Ben"), lots, "price"),
    )


def sold_to_ann(item: str, *, ben: int, declined: int, reason: str = "declined") -> tuple[Event, ...]:
    """Ben bids so much and declines so much."""
    is_broke, bid, ann = reason == "cannot afford", Decimal(ben), Decimal(declined - 50)
    out = events.BidderWithdrew(item, 3, "Ben", reason) if is_broke else Acted("Ben", item, Withdraw(reason), 3)
    return (
        ItemOpened(item, Decimal(500), Decimal(50)), Acted("Ben", item, Bid(bid)), RoundClosed(item, 1, "Ben", bid),
        Acted("Ann", item, Bid(ann), 2), RoundClosed(item, 2, "Ann", ann), out, ItemSold(item, "Ann", ann),
    )  # fmt: skip


def ends(*happened: Event, budget: int = 10_000):
    return inferences(entries(*opening(budget), *happened), "Ann")[-1]


def both(loft: int, farm: int):
    """Return the inference from two sales at which Ben bids so much, and declines 50 more."""
    bids = (("Loft", loft), ("Farm", farm))
    return ends(*(event for item, bid in bids for event in sold_to_ann(item, ben=bid, declined=bid + 50)))


# ---------------------------------------------------------------- a likelihood by hand

WITHIN_ONE, BELOW_ZERO, BELOW_MINUS_ONE = 0.3413447, 0.5, 0.1586553
"""From a table of the normal distribution: between 0 and 1 standard deviation, below 0, and below -1."""


def test_the_likelihood_of_a_limit_scatters_by_a_share_of_the_value_and_one_in_twenty_is_odd():
    """Of an item worth $1,000 a spread of 0.06 is $60, whatever the limit; an odd limit lies anywhere up to $1,500."""
    for highest, declined, limit, planned, odd in (
        (600, 660, 600, WITHIN_ONE, 60 / 1500), (690, 810, 750, 2 * WITHIN_ONE, 120 / 1500),
        (1500, 1560, 1500, WITHIN_ONE, 0), (0, 60, 0, WITHIN_ONE, 60 / 1500),
        (0, 540, 600, BELOW_MINUS_ONE, 540 / 1500), (600, float("inf"), 600, BELOW_ZERO, 900 / 1500),
    ):  # fmt: skip
        found = Evidence(1_000, highest, declined).likelihood(limit, 0.06)
        assert found == pytest.approx(0.95 * planned + 0.05 * odd, abs=1e-6), (highest, declined)
    assert Evidence(1_000, 2_000, float("inf")).likelihood(600, 0.06) == 1e-9  # beyond all reach


# ---------------------------------------------------------------- worked sales


def test_who_goes_far_for_a_loft_and_not_for_a_farm_is_urban_and_who_stops_early_everywhere_is_the_more_prudent():
    urban = both(loft=950, farm=650).personas
    assert urban["urban"] > 0.95
    assert sum(urban.values()) == pytest.approx(1)
    assert both(loft=800, farm=800).personas["urban"] == pytest.approx(0.5, abs=0.1)
    assert both(650, 650).prudence < both(950, 950).prudence - 0.1
    silent = ends(ItemOpened("Loft", Decimal(500), Decimal(50)), ItemSold("Loft", "Ann", Decimal(500)))
    odd = both(loft=900_000, farm=900_000)  # which nothing explains
    assert silent.personas == {"urban": pytest.approx(0.5), "rural": pytest.approx(0.5)}
    assert sum(odd.personas.values()) == pytest.approx(1)


def test_a_rival_without_the_money_for_a_bid_had_the_smaller_budget():
    broke = sold_to_ann("Loft", ben=600, declined=650, reason="cannot afford")
    assert ends(*broke, budget=800).budget < 1
    assert ends(*sold_to_ann("Loft", ben=950, declined=1_000), budget=800).budget > 1.2


def test_for_whom_or_over_what_there_is_not_nothing_can_be_inferred():
    for bidder, catalog, said in (("Dan", KINDS, "no bidder 'Dan'"), ("Ann", {}, "there is no persona to infer")):
        with pytest.raises(ValueError, match=said):
            inferences(entries(*opening()), bidder, catalog)


# ---------------------------------------------------------------- sales of the built-in model


@cache
def sale(seed: int) -> tuple[Entry, ...]:
    """Ten houses, two rivals with a persona each, and a bidder that profiles them."""
    chance = stream(seed, "inverse planner")
    first, second = chance.sample([*personas()], 2)
    items = [Item.model_validate(house) for house in chance.sample([*HOMES.items.values()], 10)]
    rivals = [Bidder("Ben", persona=first), Bidder("Cho", persona=second)]
    return Auction(seed=seed, items=items, bidders=[Bidder("Ann", theory_of_mind="inferred"), *rivals]).run().log


def test_it_reads_nothing_that_the_profiling_bidder_may_not_see_and_nothing_before_it_is_told():
    def is_seen(event: Event) -> bool:
        own = isinstance(event, BidderSeated | Signal | CatalogShown)
        return isinstance(event, events.PublicEvent) or (own and event.bidder == "Ann")

    log = sale(100)
    redacted, whole = [entry for entry in log if is_seen(entry.event)], inferences(log, "Ann")
    assert len(redacted) < len(log)
    assert inferences(redacted, "Ann") == whole
    first = next(place for place, entry in enumerate(log) if isinstance(entry.event, events.LotClosed))
    early = inferences(log[: first + 1], "Ann")
    assert early
    assert early == [one for one in whole if one.item == early[0].item]


def test_other_labels_and_other_secrets_of_rivals_change_nothing():
    def changed(event: Event) -> Event:
        match event:
            case events.BidderLabelled():
                return replace(event, personas={"downsizing": 1.0})
            case events.ItemLabelled():
                return replace(event, true_value=event.true_value * 3, persona="downsizing")
            case BidderSeated(bidder="Ben" | "Cho"):
                return replace(event, budget=event.budget * 7, personas={"A miller.": 1.0})
            case Signal(bidder="Ben" | "Cho"):
                return replace(event, values={})
            case Profiled():
                return replace(event, weights={})
            case _:
                return event

    log = sale(100)
    other = [entry._replace(event=changed(entry.event)) for entry in log]
    assert inferences(other, "Ann") == inferences(log, "Ann")


def test_it_stands_beside_the_profiles_of_the_model_for_the_same_rivals_after_the_same_items():
    log = sale(100)
    assert {one[:3] for one in inferred(log)} == {one[:3] for one in judged(log)}
    found, own = (measure([one.name.removesuffix(end) for one in METRICS], log) for end in ("", "_inverse"))
    assert None not in {one.value for one in found}
    final = [[(one.bidder, one.about) for one in each if "final" in one.metric] for each in (found, own)]
    assert final[0] == final[1]


def test_where_nobody_is_shown_a_catalog_the_reference_is_missing_with_the_reason():
    (found,) = measure(["final_profiling_error_inverse"], entries(*opening()[:2], opening()[3]))
    assert found.missing == "nobody has profiled a rival whose persona is known"


@pytest.mark.studies
def test_out_of_sample_it_is_nearer_to_the_truth_than_the_built_in_model_and_names_the_persona():
    reference, model = ([one for seed in range(100, 115) for one in last(of(sale(seed)))] for of in (inferred, judged))
    error, other = (fmean(divergence(one.truth, one.profile) for one in each) for each in (reference, model))
    assert error < 0.6
    assert error < other / 2
    assert fmean(hit(one.truth, one.profile) for one in reference) >= 0.9
