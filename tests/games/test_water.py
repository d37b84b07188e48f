"""The water challenge: its laws over random games, hand-computed days for every branch, its bad inputs and metrics."""

from __future__ import annotations

from decimal import Decimal
from itertools import cycle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor._config.auction import AuctionConfig, Bidder
from harbor._core.log.acts import HOUSE, Acted, Allocated, DrawnOpenly, Paid, Tried
from harbor._core.log.events import EVERYONE, BidderLabelled, SaleClosed
from harbor._core.log.log import Log, of_type
from harbor._core.log.players import SeatReply
from harbor._games.game import build
from harbor._games.water import measures as metrics
from harbor._games.water.play import past_days
from harbor._games.water.rules import RESIDENTS, DayOpened, Resident, Status, Water, after
from harbor._house.auctioneer import Sale, announce, auction_loop
from harbor.games import Bid, Withdraw, stream
from support.turns import take_turn

HARD = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
NAMES = ("Alex", "Bob", "Cindy", "David", "Eric")
CENT = Decimal("0.01")


def water(*needs, salary=100, supplies=(20,) * 20):
    residents = {name: Resident(need=need, salary=salary) for name, need in zip(NAMES, needs, strict=False)}
    return Water(residents, supplies, (min(supplies), max(supplies)))


def sale_of(rules, seed=0):
    sale = Sale(rules, tuple(rules.residents), Log(), stream(seed, "ties"), draws="open")
    for name in rules.residents:
        sale.record(BidderLabelled(name, {}, "test"))
    sale.settle({})
    return sale


def days_of(sale):
    """Return the days that are over, as their public events tell them."""
    return [*past_days(entry.event for entry in sale.log.entries if entry.event.audience == EVERYONE)]


def held(rules, bids, seed=0):
    """Hold the first day; a bid is a number of dollars, None a withdrawal, ("over", dollars) one above the balance."""
    sale = sale_of(rules, seed)
    take_turn(sale, {name: action(bid) for name, bid in bids.items()})
    return sale


def day(rules, bids, seed=0):
    return days_of(held(rules, bids, seed))[0]


def action(bid):
    if bid is None:
        return Withdraw()
    if isinstance(bid, tuple):
        return Withdraw("failed bids", Decimal(bid[1]))
    return Bid(Decimal(str(bid)))


def hold(sale, choices):
    """Hold a game with these choices, over and over: None withdraws, else a share of the balance."""
    flow = cycle(choices)
    while asks := sale.asks():
        paid = {ask: None if (share := next(flow)) is None else ask.maximum * share for ask in asks}
        take_turn(sale, {ask.bidder: action(bid and bid.quantize(CENT, "ROUND_FLOOR")) for ask, bid in paid.items()})
    return sale


share = st.none() | st.sampled_from([Decimal(0), Decimal(1), Decimal("0.5")]) | st.decimals(0, 1, places=2)
shares = st.lists(share, min_size=1, max_size=12)
games = st.builds(
    lambda needs, cents, supplies: water(*needs, salary=Decimal(cents) / 100, supplies=supplies),
    st.lists(st.integers(1, 40), min_size=1, max_size=5), st.integers(1, 10_000),
    st.lists(st.integers(0, 60), min_size=1, max_size=25),
)  # fmt: skip


# ---------------------------------------------------------------- laws


@HARD
@given(games, shares, st.integers(0, 2**32))
def test_of_equal_bids_smaller_needs_are_served_first_and_the_dead_bid_no_more(rules, choices, seed):
    sale, dead = hold(sale_of(rules, seed), choices), set()
    for over in days_of(sale):
        served, statuses = over.closed.served, over.closed.statuses
        for one in served:
            for dry in over.bids.keys() - set(served):
                if over.bids[dry] == over.bids[one]:
                    assert rules.residents[one].need <= rules.residents[dry].need
        assert not dead & (over.bids.keys() | statuses.keys() | set(served))
        dead |= {name for name, status in statuses.items() if not status.health}
    assert len(days_of(sale)) == len(of_type(sale.log.entries, DayOpened))
    assert len(days_of(sale)) == len(rules.supplies) or not sale.state.living


# ---------------------------------------------------------------- days by hand


def test_the_salary_is_paid_before_the_first_bid():
    asks = sale_of(water(8, 9, salary=70)).asks()
    assert [(ask.bidder, ask.minimum, ask.maximum) for ask in asks] == [("Alex", 0, 70), ("Bob", 0, 70)]


@pytest.mark.parametrize(("needs", "supply", "bids", "served"), [
    ((5, 6, 9), 20, (30, 20, 10), ("Alex", "Bob", "Cindy")), ((12, 10, 8), 20, (30, 20, 10), ("Alex", "Cindy")),
    ((21, 8), 20, (90, 0), ("Bob",)), ((9, 8), 10, (50, 50), ("Bob",)), ((9, 8), 17, (50, 50), ("Bob", "Alex")),
    ((8, 8), 8, ("47.50", "47.49"), ("Alex",)), ((8,), 20, (0,), ("Alex",)), ((8,), 20, (None,), ()),
], ids=["all that fit", "a lower bid that fits after a higher that does not", "not a need above the supply",
        "of a tie the smaller need", "of a tie both that fit", "a fraction of a dollar decides", "a bid of zero",
        "not who makes no bid"])  # fmt: skip
def test_bids_are_served_from_the_highest_down_while_their_needs_fit(needs, supply, bids, served):
    over = day(water(*needs, supplies=(supply,)), dict(zip(NAMES, bids, strict=False)))
    assert over.closed.served == served
    assert over.bids == {name: None if one is None else Decimal(one) for name, one in zip(NAMES, bids, strict=False)}


def test_a_tie_of_equal_needs_is_drawn_by_lot():
    rules, bids = water(8, 8, 8, supplies=(8,)), dict.fromkeys(NAMES[:3], 5)
    assert {day(rules, bids, seed).closed.served for seed in range(50)} == {(name,) for name in NAMES[:3]}


def test_a_bid_above_the_balance_cannot_win_and_is_announced_all_the_same():
    sale = held(water(8, 9, supplies=(10,)), {"Alex": ("over", 101), "Bob": 1})
    [over] = days_of(sale)
    assert (over.closed.served, over.over_balance, over.bids["Alex"]) == (("Bob",), ("Alex",), 101)
    words = [announce(event) for event in of_type(sale.log.entries, Acted)]
    assert words == ["Alex is out of day 1: its bid of $101 was not legal.", "Bob bids $1 on day 1."]


@pytest.mark.parametrize("offered", ["-5", "12.345", "100", "1e13"])
def test_a_failed_bid_that_is_not_above_the_balance_is_no_bid(offered):
    over = day(water(8), {"Alex": ("failed", offered)})
    assert (over.bids, over.over_balance) == ({"Alex": None}, ())


def test_of_a_day_everyone_is_told_each_act_what_was_drawn_who_is_served_and_what_it_pays():
    sale = held(water(8, 8, 9, supplies=(8,)), {"Alex": 10, "Bob": 10, "Cindy": None})
    public = [entry.event for entry in sale.log.entries if entry.event.audience == EVERYONE]
    opened, drawn = of_type(sale.log.entries, DayOpened)[0], of_type(sale.log.entries, DrawnOpenly)[0]
    told = public[public.index(opened) + 1 :]
    [winner] = days_of(sale)[0].closed.served
    assert drawn == DrawnOpenly("who is served first", ("Alex", "Bob"), winner)
    assert told[:6] == [
        drawn, Acted("Alex", "day 1", Bid(Decimal(10))), Acted("Bob", "day 1", Bid(Decimal(10))),
        Acted("Cindy", "day 1", Withdraw()), Allocated(winner, "day 1", Decimal(8)),
        Paid(winner, HOUSE, "day 1", Decimal(10)),
    ]  # fmt: skip


def test_dry_days_in_a_row_cost_one_two_and_three_and_health_stays_from_zero_to_ten():
    status = Status(10, Decimal(0), 1)
    healths = []
    for paid in (None, None, None, Decimal(0), None):
        status = after(status, paid)
        healths.append((status.health, status.dry))
    assert healths == [(9, 2), (7, 3), (4, 4), (6, 1), (5, 2)]
    assert after(Status(9, Decimal(5), 3), Decimal(5)) == Status(10, Decimal(0), 1)
    assert [after(Status(health, Decimal(5), 3), None).health for health in (1, 2, 3)] == [0, 0, 0]


# ---------------------------------------------------------------- through the auctioneer


@pytest.mark.parametrize(("words", "reasks", "bid", "why"), [
    ("all", 1, None, ""), ("-5", 1, None, ""), ("$12.345", 1, None, ""),
    ("I bid $500", 0, 500, "above the greatest bid of $100"),
])  # fmt: skip
def test_an_odd_bid_is_a_failed_bid_with_a_reason_and_made_known_if_it_is_above_the_balance(words, reasks, bid, why):
    sale = Sale(water(8, supplies=(20,)), ("Alex",), Log(), stream(0, "ties"), draws="open")
    script = auction_loop(sale, (), reasks)
    next(script)
    for _ in range(reasks):
        script.send({"Alex": SeatReply(words)})
    with pytest.raises(StopIteration):
        script.send({"Alex": SeatReply(words)})
    failed = of_type(sale.log.entries, Tried)
    assert [event.attempt for event in failed] == [*range(1, reasks + 2)]
    assert all(event.reason and why in event.reason for event in failed)
    [over] = days_of(sale)
    assert (over.bids, over.closed.served) == ({"Alex": bid}, ())
    assert sale.log.entries[-1].event == SaleClosed()


# ---------------------------------------------------------------- settings


def built(names=NAMES, seed=0, **rules):
    config = AuctionConfig(bidders=[Bidder(name) for name in names], rules={"game": "water", **rules}, seed=seed)
    return build(config)


def test_the_published_residents_need_fifty_units_in_all():
    published = [(one.need, one.salary) for one in built().residents.values()]
    assert published == [(8, 70), (9, 75), (10, 100), (11, 120), (12, 120)]
    assert [*built().residents] == [*NAMES]
    assert sum(one.need for one in RESIDENTS.values()) == 50


@pytest.mark.parametrize(("supply", "bounds"), [("low", (10, 20)), ("medium", (15, 25)), ("high", (20, 30))])
def test_the_supply_is_drawn_between_bounds_that_are_both_reached_or_taken_as_it_is_given(supply, bounds):
    drawn = built(supply=supply, days=1000).supplies
    assert (min(drawn), max(drawn)) == bounds
    assert drawn == built(supply=supply, days=1000).supplies != built(supply=supply, days=1000, seed=1).supplies
    rules = built(days=3, supplies=[14, 0, 19])
    assert (rules.supplies, rules.bounds, rules.mean_supply) == ((14, 0, 19), (0, 19), 11)


def test_a_need_that_no_supply_can_meet_is_warned_of_and_never_served_so_that_all_die_on_the_fourth_day():
    with pytest.warns(UserWarning, match="'Alex' needs 99 units, more than any day supplies"):
        rules = built(["Alex"], residents={"Alex": {"need": 99, "salary": 5}})
    assert [over.closed.served for over in days_of(hold(sale_of(rules), [Decimal(1)]))] == [()] * 4


# ---------------------------------------------------------------- metrics


def test_measures_tell_days_curves_and_a_ranking_by_survival_then_health_then_balance():
    sale = sale_of(water(8, 9, 10, supplies=(10, 18)))
    for bids in ((10, 30, 20), (50, None, 60)):
        take_turn(sale, {name: action(bid) for name, bid in zip(NAMES, bids, strict=False)})
    played = sale.log.entries
    days = [(one.name, one.supply, one.served, one.lowest_bid) for one in metrics.days(played)]
    assert days == [("day 1", 10, ("Bob",), 30), ("day 2", 18, ("Cindy", "Alex"), 50)]
    assert metrics.curves(played)["Bob"] == [metrics.Point(1, 30, 10, 70), metrics.Point(2, None, 9, 170)]
    ranked = [(row.bidder, row.survived, row.health, row.balance, row.days_served) for row in metrics.standings(played)]
    assert ranked == [("Bob", True, 9, 170, 1), ("Alex", True, 9, 150, 1), ("Cindy", True, 9, 140, 1)]


def test_the_satisfaction_rate_is_expected_supply_over_the_needs_of_the_living():
    for supply, rate in (("low", 0.3), ("medium", 0.4), ("high", 0.5)):
        sale = sale_of(built(supply=supply))
        assert metrics.satisfaction(sale.log.entries).at_start == pytest.approx(rate)
    log = hold(sale_of(water(8, 12, supplies=(10,) * 4)), [Decimal(1), None]).log.entries
    assert metrics.figures(log) == {"survivors": 1, "rsr_start": 0.5, "rsr_end": 1.25}
