"""Sealed-bid and private-value auctions and the beauty contest: their laws, cases by hand, what is shown, metrics."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor import Auction
from harbor._config.auction import AuctionConfig, Bidder, Simulated
from harbor._core.basics.errors import ConfigError
from harbor._core.log.acts import HOUSE, Acted, Allocated, AllocatedSealed, Paid, PaidSealed, Tried
from harbor._core.log.events import EVERYONE, BidderLabelled
from harbor._core.log.log import Log, of_type
from harbor._games.beauty.game import BEAUTY
from harbor._games.beauty.rules import GROUPS, Beauty, PrizeAwarded, contests
from harbor._games.beauty.settings import BeautyRules
from harbor._games.english_private.game import ENGLISH_PRIVATE
from harbor._games.english_private.rules import EnglishPrivate, EnglishPrivateRules, PriceRaised
from harbor._games.first_price.game import policy as first_price
from harbor._games.first_price.rules import FirstPrice, FirstPriceRules
from harbor._games.game import build
from harbor._games.policies import Rational
from harbor._games.second_price.game import SECOND_PRICE, SecondPrice, SecondPriceRules
from harbor._games.second_price.game import policy as second_price
from harbor._games.sessions import measures as metrics
from harbor._games.sessions.measures import Result, past_runs
from harbor._games.sessions.private_games import ItemAllotted
from harbor._games.sessions.session import RunLabelled, SessionOpened
from harbor._games.water.play import policy as water
from harbor._house.auctioneer import Sale, call, told_to
from harbor.games import Bid, Withdraw, stream
from support.turns import take_turn

RATIONAL = {
    SecondPrice: Rational(SECOND_PRICE), EnglishPrivate: Rational(ENGLISH_PRIVATE), Beauty: Rational(BEAUTY),
}  # fmt: skip
SETTINGS = {SecondPrice: SecondPriceRules, FirstPrice: FirstPriceRules, EnglishPrivate: EnglishPrivateRules}
QUICK = settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
NAMES = ("Ann", "Ben", "Cho", "Dee", "Eve")


def auction(kind, *values, assets=100, **options):
    """A session for Ann, Ben, ...: a value each, or a list of values, one a run."""
    lists = [tuple(map(dollar, value if isinstance(value, list) else [value])) for value in values]
    options = SETTINGS[kind](runs=len(lists[0]), **options)
    return kind(NAMES[: len(lists)], options, dict(zip(NAMES, lists, strict=False)), dollar(assets))


def beauty(players=3, bound=100, runs=1, **options):
    return Beauty(NAMES[:players], BeautyRules(runs=runs, **options), dollar(bound))


def dollar(amount):
    return Decimal(str(amount))


def sale_of(rules):
    acts = "open" if isinstance(rules, EnglishPrivate) else "sealed"
    sale = Sale(rules, rules.bidders, Log(), stream(0, "ties"), acts)
    for name in rules.bidders:
        sale.record(BidderLabelled(name, {}, "test"))
    sale.settle({})
    return sale


def act(bid):
    if bid is None:
        return Withdraw()
    return Withdraw("failed bids") if bid == "broken" else Bid(dollar(bid))


def run(rules, *rounds):
    """Hold a session: a round is a list of bids in seat order; None withdraws, "broken" never came to a legal bid."""
    sale = sale_of(rules)
    for bids in rounds:
        take_turn(sale, {ask.bidder: act(bid) for ask, bid in zip(sale.asks(), bids, strict=True)})
    return sale


def play(rules):
    """Hold a session between rational bidders."""
    sale = sale_of(rules)
    while asks := sale.asks():
        decide = RATIONAL[type(sale.rules)].decide
        take_turn(sale, {ask.bidder: decide(ask, sale.seen_by(ask.bidder)) for ask in asks})
    return sale


def picked(sale, kind):
    return of_type(sale.log.entries, kind)


def results_in(events):
    return [one for past in past_runs(events) for one in past.results]


def results(sale):
    return results_in(entry.event for entry in sale.log.entries)


def assets_after(sale):
    return [one.assets for one in results(sale)]


money = st.integers(0, 10_000).map(lambda cents: Decimal(cents) / 100)
bids = st.lists(st.one_of(st.none(), money), min_size=1, max_size=5)
values = st.lists(st.integers(1, 15_000).map(lambda cents: Decimal(cents) / 100), min_size=2, max_size=5)


@QUICK
@given(values, st.integers(0, 4), bids)
def test_no_bidder_gains_by_deviating_from_its_value(drawn, seat, others):
    """By search: against these bids of the others, no bid on a grid with every one of theirs leaves more assets."""
    rules = auction(SecondPrice, *drawn, assets=150)
    me = seat % len(drawn)
    offers = [others[place % len(others)] for place in range(len(drawn))]

    def left(bid):
        return assets_after(run(rules, [*offers[:me], bid, *offers[me + 1 :]]))[me]

    near = [bid + nudge for bid in offers if bid is not None for nudge in (Decimal("-0.01"), 0, Decimal("0.01"))]
    grid = [None, 0, 1, 75, 150, *(bid for bid in near if 0 <= bid <= 150)]
    assert all(left(bid) <= left(drawn[me]) for bid in grid)


@pytest.mark.parametrize(("offers", "assets"), [
    ([40, 40], [120, 100]),
    ([55, 50], [110, 100]),  # the source's example
    ([55, None], [160, 100]),
    ([None, None], [100, 100]),
], ids=["a tie goes to the first in seat order", "value less price", "a lone bid pays nothing", "no bid"])  # fmt: skip
def test_assets_after_are_cash_and_the_value_of_the_item_where_it_was_won(offers, assets):
    sale = run(auction(SecondPrice, 60, 10), offers)
    assert assets_after(sale) == assets
    assert picked(sale, ItemAllotted)[0].winners == (("Ann",) if offers[0] else ())


def test_a_broken_rule_costs_the_entrance_fee_at_the_end_and_a_withdrawal_does_not():
    settled = results(run(auction(SecondPrice, 60, 10, 20, entrance_fee_share=0.05), ["broken", None, 5]))
    assert [(event.fee, event.assets) for event in settled] == [(5, 95), (0, 100), (0, 120)]
    clock = run(auction(EnglishPrivate, 50, 50, 50), [5, "broken", 5], [10, None])
    assert [event.fee for event in results(clock)] == [0, 10, 0]


@settings(QUICK, max_examples=40)
@given(values, st.integers(0, 4), st.lists(st.integers(0, 110), min_size=5, max_size=5))
def test_no_bidder_of_the_english_clock_gains_by_dropping_out_before_or_after_its_value(drawn, seat, others):
    """By search: whatever limits the others have, no limit of one's own gains more than a step of the price."""
    rules, me = auction(EnglishPrivate, *drawn), seat % len(drawn)

    def left(limit):
        limits, sale = dict(zip(NAMES, [*others[:me], limit, *others[me + 1 :]], strict=True)), sale_of(rules)
        while asks := sale.asks():
            stay = {ask.bidder: ask.minimum <= limits[ask.bidder] for ask in asks}
            take_turn(sale, {ask.bidder: act(ask.minimum if stay[ask.bidder] else None) for ask in asks})
        return assets_after(sale)[me]

    truthful = left(drawn[me])
    assert all(left(limit) < truthful + rules.step for limit in range(0, 105, 5))


@QUICK
@given(values)
def test_the_price_ends_within_a_step_of_the_second_highest_value(drawn):
    sale, second = play(auction(EnglishPrivate, *drawn, assets=150)), sorted(drawn)[-2]
    step, won = sale.rules.step, [event for event in results(sale) if event.won]
    bids = [event for event in picked(sale, Acted) if isinstance(event.act, Bid)]
    assert len(won) == bool(bids) == (max(drawn) >= step)
    assert all(second - step < event.paid <= second + step for event in won)
    assert all(event.act.amount <= drawn[NAMES.index(event.bidder)] for event in bids)


@pytest.mark.parametrize(("drawn", "options", "rounds", "ended"), [
    ((17, 12, 4), {}, [[5, 5, None], [10, 10], [15, None]], [(15, 10), (10, 0), (None, 0)]),
    ((17, 4), {}, [[5, None]], [(5, 5), (None, 0)]),
    ((12, 12, 12), {}, [[5, 5, 5], [None, 10, 10], [None, None]], [(5, 0), (10, 10), (10, 0)]),
    ((4, 3), {}, [[None, None]], [(None, 0), (None, 0)]),
    ((900, 900), {"step_share": 0.5}, [[50, 50], [100, 100]], [(100, 100), (100, 0)]),
], ids=["the last one pays what the second last accepted", "one alone pays the first price",
        "of the last who leave together the first pays what they accepted", "nobody accepts the first price",
        "the price does not rise above the assets"])  # fmt: skip
def test_the_price_rises_by_a_step_while_two_are_in_and_the_last_one_wins(drawn, options, rounds, ended):
    sale = run(auction(EnglishPrivate, *drawn, **options), *rounds)
    step = sale.rules.step
    assert [event.price for event in picked(sale, PriceRaised)] == [step * (n + 2) for n in range(len(rounds[1:]))]
    assert [(event.action, event.paid) for event in results(sale)] == ended
    assert [event.won for event in results(sale)] == [paid > 0 for _, paid in ended]


def test_who_gets_no_cent_of_the_prize_in_equilibrium_has_no_ratio():
    bidders = [{"name": name, "rule": "rational"} for name in ("Ann", "Ben", "Cho")]
    rows = Auction(rules={"game": "beauty", "prize": 0.02, "runs": 1}, bidders=bidders).run().standings
    assert [(row.payoff, row.payoff_ratio) for row in rows] == [(0.5, 1), (0.5, 1), (0, None)]
    assert [row.bidder for row in rows] == ["Ann", "Ben", "Cho"]


def seen(sale, bidder, kind):
    return [event for event in sale.seen_by(bidder) if isinstance(event, kind)]


BIDS = {"Ann": 41, "Ben": 37}


@pytest.mark.parametrize(("kind", "show", "history", "actions", "drawn"), [
    (SecondPrice, "nothing", 3, {}, {}), (FirstPrice, "actions", 0, {}, {}), (SecondPrice, "actions", 3, BIDS, {}),
    (FirstPrice, "actions and values", 3, BIDS, {"Ann": 60, "Ben": 55}),
    (SecondPrice, "actions and values", 0, {}, {}),
])  # fmt: skip
def test_a_sealed_bid_becomes_public_as_far_as_the_session_shows_it(kind, show, history, actions, drawn):
    sale = run(auction(kind, 60, 55, show=show, history=history), [41, 37])
    closed = seen(sale, "Ben", ItemAllotted)[0]
    assert {event.bidder: event.act.amount for event in seen(sale, "Ben", Acted)} == actions
    assert closed.values == drawn
    assert (closed.price is None) is (closed.winners == ()) is (actions == {})
    others = [event for event in sale.seen_by("Ben") if getattr(event, "bidder", "Ben") != "Ben"]
    assert {type(event) for event in others} == ({Acted, Allocated} if actions else set())
    if not actions:
        assert not any("41" in repr(event) for event in sale.seen_by("Ben"))


def test_nothing_of_a_sealed_bid_is_seen_before_its_run_is_over():
    sale = sale_of(auction(FirstPrice, 60, 55))
    before = len(sale.seen_by("Ben"))
    sale.act(sale.asks(), {"Ann": Bid(dollar(41)), "Ben": Withdraw("failed bids", dollar(3737))})
    assert [type(event).__name__ for event in sale.seen_by("Ben")[before:]] == ["ActedSealed"]
    sale.settle({"Ann": Bid(dollar(41)), "Ben": Withdraw("failed bids", dollar(3737))})
    assert seen(sale, "Ann", Acted) == [Acted("Ann", "run 1", Bid(dollar(41))), Acted("Ben", "run 1", Withdraw())]
    assert not any("3737" in repr(event) for event in sale.seen_by("Ann"))


def opened(rules):
    return picked(sale_of(rules), SessionOpened)[0]


def test_how_rational_players_are_is_told_to_everyone_in_the_opening():
    for setting, words in (("rational_rivals", "perfectly rational"), ("equal_rivals", "equally rational")):
        for told in (False, True):
            opening = opened(beauty(**{setting: told}))
            assert getattr(opening, setting) is (words in opening.words) is told


def built(game, names=NAMES, seed=0, **rules):
    config = AuctionConfig(bidders=[Bidder(name) for name in names], rules={"game": game, **rules}, seed=seed)
    return build(config)


@pytest.mark.parametrize("game", ["second-price", "first-price", "english-private"])
def test_equal_seeds_draw_equal_values_which_stay_the_same_in_all_runs_if_so_set_and_told(game):
    assert built(game, seed=1).values == built(game, seed=1).values != built(game, seed=2).values
    anew, once = (built(game, draw=draw, runs=4) for draw in ("each run", "once"))
    assert [len(set(values)) for values in anew.values.values()] == [4] * len(NAMES)
    assert [len(set(values)) for values in once.values.values()] == [1] * len(NAMES)
    assert len({values[0] for values in once.values.values()}) == len(NAMES)
    told = "Everyone's money and value stay the same in all runs."
    assert [told in rules.opened().words for rules in (anew, once)] == [False, True]
    assert told not in built(game, draw="once", runs=1).opened().words


def test_deviations_are_shares_of_the_bound_whatever_is_shown():
    entries = run(beauty(bound=50, runs=2, show="nothing"), [10, 50, 0], [5, None, 0]).log.entries
    assert metrics.Played.of(entries).deviations() == {"Ann": [0.2, 0.1], "Ben": [1.0], "Cho": [0.0, 0.0]}
    assert [(one.name, one.winners, one.target) for one in contests(entries)] == [
        ("run 1", ("Ann",), pytest.approx(40 / 3)), ("run 2", ("Cho",), pytest.approx(5 / 3)),
    ]  # fmt: skip


def test_where_any_common_number_is_an_equilibrium_no_deviation_is_claimed_and_the_payoff_stands():
    sale = run(beauty(4, fraction=1), [50, 50, 50, 50])
    label = picked(sale, RunLabelled)[0]
    assert (label.actions, label.assets) == ({}, dict.fromkeys(NAMES[:4], 25))
    assert metrics.Played.of(sale.log.entries).deviations() == {}
    assert [(row.payoff_ratio, row.deviation) for row in metrics.standings(sale.log.entries)] == [(1.0, None)] * 4


def test_earnings_are_value_less_price_less_fee_and_points_the_runs_won():
    rules = auction(SecondPrice, [60, 60, 60], [50, 50, 50])
    sale = run(rules, [60, 50], [55, 70], [None, 10])
    assert metrics.Played.of(sale.log.entries).earnings() == {"Ann": [10, 0, 0], "Ben": [0, -5, 50]}
    rows = {row.bidder: (row.runs_won, row.points, row.earned) for row in metrics.standings(sale.log.entries)}
    assert rows == {"Ann": (1, 1.0, dollar(10)), "Ben": (2, 2.0, dollar(45))}
    sale = run(auction(SecondPrice, 60, 50), ["broken", 20])
    assert metrics.Played.of(sale.log.entries).earnings() == {"Ann": [-10], "Ben": [50]}


@pytest.mark.parametrize("game", ["second-price", "first-price"])
def test_the_built_in_model_bids_above_its_assets_as_often_as_it_is_told(game):
    models = {"simulated": {"simulated": {"over_budget_rate": 1}}}
    people = [Bidder("Ann", model="simulated"), Bidder("Ben", rule="rational")]
    log = Auction(rules={"game": game, "runs": 2, "reasks": 0}, bidders=people, models=models).run().log
    assert {failed.bidder for failed in of_type(log, Tried)} == {"Ann"}
    assert len(of_type(log, Tried)) == 2


@pytest.mark.parametrize("policy", [second_price, first_price, water])
def test_a_type_that_bids_0_times_its_yardstick_bids_nothing(policy):
    facts = {"personas": [{"weight": 1.0, "text": "It bids 0 times that."}], "players": ["Ann", "Ben"]}
    facts |= {"value": 50, "maximum": 90, "you": "Ann", "residents": [{"name": "Ann"}]}
    assert policy(facts, Simulated(), Random(1))["amount"] == 0


@QUICK
@given(st.sampled_from([SecondPrice, EnglishPrivate]), values)
def test_equilibrium_play_deviates_by_exactly_zero(kind, drawn):
    entries = play(auction(kind, *drawn, assets=120)).log.entries
    assert {(row.payoff, row.payoff_ratio, row.deviation) for row in metrics.standings(entries)} == {(1.0, 1.0, 0.0)}
    entries = play(beauty(len(drawn), runs=2)).log.entries
    assert {(row.payoff_ratio, row.deviation) for row in metrics.standings(entries)} == {(1.0, 0.0)}


@QUICK
@given(bids, st.fractions(Fraction(1, 9), 1, max_denominator=9), st.integers(1, 100_000))
def test_the_whole_prize_and_one_point_are_shared_to_the_cent_by_those_closest(picks, fraction, cents):
    sale = run(beauty(len(picks), fraction=fraction, prize=Decimal(cents) / 100), picks)
    found, numbers = results(sale), [pick for pick in picks if pick is not None]
    prizes = [one.assets for one in found if one.won]
    assert sum(one.assets for one in found) == sum(prizes) == (Decimal(cents) / 100 if numbers else 0)
    assert not prizes or max(prizes) - min(prizes) <= Decimal("0.01")
    rows = metrics.standings(sale.log.entries)
    assert sum(row.points for row in rows) == pytest.approx(1 if numbers else 0)
    assert {row.bidder: row.earned for row in rows} == {one.bidder: one.assets for one in found}


@pytest.mark.parametrize(("picks", "aim", "assets"), [
    ([30, 20, 40], 20, (0, 100, 0)), ([15, 15, 90], 80 / 3, (50, 50, 0)), ([0, 0, 0], 0, (33.34, 33.33, 33.33)),
    ([30, None, "broken"], 20, (100, 0, 0)), ([None, None, None], None, (0, 0, 0)),
])  # fmt: skip
def test_the_target_is_two_thirds_of_the_mean_of_those_who_picked(picks, aim, assets):
    sale = run(beauty(), picks)
    assert assets_after(sale) == [dollar(one) for one in assets]
    closed = picked(sale, PrizeAwarded)[0]
    assert (closed.target is None) is (aim is None)
    assert float(closed.target or 0) == pytest.approx(aim or 0)
    assert closed.winners == tuple(name for name, one in zip(NAMES, assets, strict=False) if one)


def test_assets_cap_the_bid_of_a_higher_value_and_it_is_said_so():
    sale = run(auction(SecondPrice, 120, 10), [100, 10])
    ask = sale_of(sale.rules).asks()[0]
    assert ask.maximum == 100
    assert "it is worth $120 to you, more than your assets, which cap your bid" in call(ask)
    facts = [SECOND_PRICE.play.facts(name, sale_of(sale.rules).seen_by(name)) for name in NAMES[:2]]
    assert [one["value_is_above_assets"] for one in facts] == [True, False]
    assert picked(sale, RunLabelled)[0].actions == {"Ann": 100, "Ben": 10}


def test_only_the_price_itself_can_be_bid():
    space = sale_of(auction(EnglishPrivate, 60, 60)).asks()[0].space
    assert [space.refusal(Bid(dollar(amount))) == "" for amount in (4, 5, 6)] == [False, True, False]


def test_bids_of_an_open_auction_are_shown_and_values_only_where_the_session_shows_them():
    for show, drawn in (("nothing", {}), ("actions and values", {"Ann": 17, "Ben": 4})):
        sale = run(auction(EnglishPrivate, 17, 4, show=show), [5, None])
        [past] = past_runs(entry.event for entry in sale.log.entries if entry.event.audience == EVERYONE)
        assert (past.shown, past.closed.values) == ({"Ann": 5, "Ben": None}, drawn)


def test_a_bidder_learns_its_own_outcome_alone_also_in_words_where_nothing_is_shown():
    sale = run(auction(SecondPrice, 60, 55, 50, show="nothing"), [41, 37, "broken"])
    outcomes = ((41, True, 37, 0, 123, 60), (37, False, 0, 0, 100, 55), (None, False, 0, 10, 90, 50))
    for name, outcome in zip(NAMES, outcomes, strict=False):
        assert results_in(sale.seen_by(name)) == [Result(name, "run 1", *outcome)]
    assert seen(sale, "Ann", AllocatedSealed) == [AllocatedSealed(("Ann",), "Ann", "run 1")]
    assert seen(sale, "Ann", PaidSealed) == [PaidSealed(("Ann",), "Ann", HOUSE, "run 1", dollar(37))]
    assert seen(sale, "Ben", AllocatedSealed) == seen(sale, "Ben", PaidSealed) == []

    def heard(sale, name):
        return " ".join(line for event in sale.seen_by(name) for line in told_to(name, event))

    assert "You get run 1. You pay $37 for run 1." in heard(sale, "Ann")
    assert "You pay" not in heard(sale, "Ben")
    assert "You pay a fee of $10 for a broken rule in run 1." in heard(sale, "Cho")
    contest = run(beauty(show="nothing"), [15, 15, 90])
    assert "You are paid $50 for run 1." in heard(contest, "Ann")
    assert [one.bidder for one in results_in(contest.seen_by("Cho"))] == ["Cho"]
    assert seen(contest, "Cho", PrizeAwarded) == [PrizeAwarded("run 1", (), None)]
    assert not {Acted, Allocated, AllocatedSealed, Paid, PaidSealed} & {type(event) for event in contest.seen_by("Cho")}


def test_the_opening_tells_the_fee_where_one_is_charged():
    charged, free = "an entrance fee of $10 is charged", "No fee is charged"
    assert charged in opened(auction(SecondPrice, 60, 50)).words
    assert free in opened(auction(SecondPrice, 60, 50, entrance_fee_share=0)).words
    assert free in opened(beauty()).words


@pytest.mark.parametrize(("group", "mean", "deviation"), [("L", 50, 10), ("M", 500, 100), ("H", 5000, 1000)])
def test_groups_draw_values_and_bounds_and_set_the_assets(group, mean, deviation):
    assets = 2 * mean
    rules = built("second-price", group=group, runs=2000)
    drawn = [float(value) for own in rules.values.values() for value in own]
    assert rules.assets == assets
    assert sum(drawn) / len(drawn) == pytest.approx(mean, abs=deviation / 20)
    assert (sum((value - mean) ** 2 for value in drawn) / len(drawn)) ** 0.5 == pytest.approx(deviation, rel=0.03)
    bounds = {built("beauty", group=group, seed=seed).bound for seed in range(200)}
    assert GROUPS[group] == (assets / 10, assets)
    assert all(assets / 10 <= bound < assets for bound in bounds)
    assert len(bounds) > 50


def test_given_values_hold_for_each_run_or_for_all():
    rules = built("second-price", ("Ann", "Ben"), runs=2, values={"Ann": [60], "Ben": [10, 20]})
    assert rules.values == {"Ann": (60, 60), "Ben": (10, 20)}


FIVES = {"Ann": [5], "Ben": [5]}


@pytest.mark.parametrize(("game", "options", "line"), [
    ("beauty", {"fraction": "1/0"}, "is not a fraction; write one, such as '2/3' or 0.5"),
    ("beauty", {"rational_rivals": True, "equal_rivals": True},
     "rational_rivals and equal_rivals tell players two things of their rivals; drop one"),
    ("second-price", {"values": FIVES, "draw": "once"}, "draw 'once' draws no values if values are given"),
    ("second-price", {"values": {"Ann": [5]}}, "rules.values has 0 values for 'Ben'; give 1, or one for each"),
    ("first-price", {"values": {**FIVES, "Bem": [5]}}, "rules.values: unknown bidder 'Bem'; did you mean 'Ben'?"),
    ("second-price", {"values": FIVES, "group": "M"}, "group 'M' draws no values if values are given"),
    ("beauty", {"bound": 50, "group": "M"}, "group 'M' draws the bound, so bound 50 is not used; drop one"),
    ("water", {"supplies": [5] * 20, "supply": "low"}, "supplies fix each day, so supply [10, 20] is not used"),
    ("water", {"residents": {"Zed": {"need": 1, "salary": 1}}},
     "bidder 'Ann' is not a resident; give rules.residents.Ann"),
    ("water", {"supply": [9, 4]}, "rules.supply: runs from 9 down to 4; put the lower bound first"),
    ("water", {"supply": "scarce"}, "rules.supply 'scarce': is not a supply; choose low, medium or high"),
    ("water", {"supplies": [1, 2]}, "supplies has 2 days, but days is 20; make them equal"),
    ("water", {"dais": 3}, "unknown key 'dais'; did you mean 'days'? (at rules)"),
    ("chess", {}, "unknown game 'chess'; choose one of: beauty, english"),
])  # fmt: skip
def test_a_setting_that_makes_no_game_is_refused_by_name(game, options, line):
    with pytest.raises(ConfigError) as refused:
        built(game, ("Ann", "Ben"), **options)
    assert line in str(refused.value)


def test_a_fraction_is_kept_exact_and_written_back():
    for fraction, kept in {"2/3": Fraction(2, 3), 0.5: Fraction(1, 2), "0.1": Fraction(1, 10)}.items():
        rules = BeautyRules(fraction=fraction)
        assert rules.fraction == kept
        assert BeautyRules.model_validate_json(rules.model_dump_json()) == rules


def test_the_share_of_broken_rules_counts_runs_and_not_attempts():
    sale = sale_of(beauty(runs=4))
    for attempt in (1, 2):
        sale.record(Tried("Ann", "run 1", 1, attempt, "odd"))
    for _ in range(4):
        take_turn(sale, {ask.bidder: Bid(Decimal(1)) for ask in sale.asks()})
    assert metrics.Played.of(sale.log.entries).broken_shares() == {"Ann": 0.25, "Ben": 0.0, "Cho": 0.0}
