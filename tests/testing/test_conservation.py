"""The law of units and money: a game that breaks it is found, and no game that there is does, whoever plays it."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor import use
from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.log.acts import (
    HOUSE,
    Acted,
    ActedSealed,
    Allocated,
    AllocatedSealed,
    Drawn,
    DrawnOpenly,
    Paid,
    PaidSealed,
)
from harbor._core.log.events import BidderLabelled, BidderSeated
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.finding import find, names
from harbor._games.outcomes import GETS, PAYS, outcomes
from harbor.personas._catalog.catalogue import with_items
from harbor.testing import check_game
from harbor.testing._conservation import broken_law
from harbor.testing._playing import names_of, table
from support.folders import ROOT
from support.plugins import remembering
from support.sealed import SEALED, Sealed

EXAMPLES = ("clock_auction.game:DUTCH", "bundle_auction.game:BUNDLES")
OWN = names("game")
RULES = {
    "show": ["nothing", "actions", "actions and values"],
    "runs": [1, 4],
    "entrance_fee_share": [0, 0.1],
    "reveal": ["price", "true value"],
    "lowerings": [0, 3],
    "days": [1, 6],
}
"""Values of settings that games have."""
POLICIES = ("random", "rational", "adversary")


@pytest.fixture(autouse=True)
def company(monkeypatch):
    """The games of the examples and of these tests, beside Harbor's own."""
    with remembering(monkeypatch):
        sys.path[:0] = [str(ROOT / "examples" / place) for place in ("plugin", "bundles")]
        for one in (*EXAMPLES, SEALED):
            use(one)
        yield
        del sys.path[:2]


def broken(promise, **changes):
    with pytest.raises(AssertionError, match=promise) as told:
        check_game(replace(SEALED, **changes))
    assert "\n" not in str(told.value)


def selling(change):
    """Build the sealed game with what it tells of a sale changed."""

    class Changed(Sealed):
        def settle(self, last, actions, chance):
            events = Sealed.settle(self, last, actions, chance)
            return [other for event in events for other in change(self, event)]

    return lambda settings, config: Changed(SEALED.build(settings, config).worths)


def paying(change):
    """Build the sealed game with its payments changed."""
    return selling(lambda rules, event: change(rules, event) if isinstance(event, Paid) else [event])


def giving(change):
    """Build the sealed game with what it gives changed."""
    return selling(lambda rules, event: change(rules, event) if isinstance(event, Allocated) else [event])


BREAKS = {
    "pays what nobody has": (
        paying(lambda _, paid: [replace(paid, amount=paid.amount + 101)]),
        r"'\w+' pays \$[\d.]+ for 'vase', and its asks allow \$100; take no more than it has",
    ),
    "pays in two parts what nobody has": (
        paying(lambda _, paid: [paid, replace(paid, amount=Decimal(100) - paid.amount / 2)]),
        r"'\w+' pays \$1[\d.]+ for 'vase', and its asks allow \$100",
    ),
    "lets a bidder pay that was not asked for it": (
        paying(lambda _, paid: [replace(paid, item="jar")]),
        "for 'jar', and its asks allow no dollars; .* or let the game say budgets=False",
    ),
    "sells a unit twice": (
        giving(lambda _, given: [given, given]),
        "2 units of 'vase' are given, and there are 1; give no unit twice, or let Game.supply say",
    ),
    "gives no units": (giving(lambda _, given: [replace(given, units=Decimal(0))]), "0 units of 'vase' are given"),
    "names a winner who is no bidder": (
        giving(lambda _, given: [replace(given, bidder="Zed")]),
        "who gets or pays something is no bidder: 'Zed'; name one that bids",
    ),
    "lets a stranger pay": (paying(lambda _, paid: [replace(paid, payer="Zed")]), "is no bidder: 'Zed'"),
    "pays a stranger": (paying(lambda _, paid: [replace(paid, payee="Zed")]), "is no bidder: 'Zed'"),
    "takes money back": (paying(lambda _, paid: [replace(paid, amount=-1 - paid.amount)]), r"pays -\$"),
    "lets pay beyond the budget only where all bid the most": (
        paying(lambda _, paid: [replace(paid, amount=paid.amount + (paid.amount == 100))]),
        r"pays \$101 for 'vase', and its asks allow \$100",
    ),
    "shows another act than there was": (
        paying(lambda _, paid: [paid, Acted(paid.payer, paid.item, Bid(Decimal("0.07")))]),
        "all are shown Acted.*0.07.*, and the act was Bid.*; show what there was, with its item and round",
    ),
    "shows an act of somebody that was not asked": (
        paying(lambda _, paid: [paid, Acted(paid.payer, "jar", Withdraw())]),
        "all are shown Acted.*'jar'.*, and the act was None",
    ),
    "draws by itself": (
        paying(lambda _, paid: [paid, Drawn("weather", ("sun", "rain"), "snow")]),
        "rules write draws themselves; draw with `chance`, and by nothing else",
    ),
    "pays a text": (
        paying(lambda _, paid: [replace(paid, amount="5")]),
        r"Paid\(.*'5'.* can't be written; give each field what its type says, and an amount as a Decimal",
    ),
    "pays parts of a cent": (
        paying(lambda _, paid: [replace(paid, amount=Decimal("0.001"))]),
        r"Paid\(.* can't be read back from a log \(amount: .*\); give .* dollars in whole cents",
    ),
    "lets somebody pay itself": (paying(lambda _, paid: [replace(paid, payee=paid.payer)]), "pays itself for 'vase'"),
}


def shown(*events):
    """Say how a log of the sealed game breaks the law."""
    told = [BidderLabelled("Ann", {}, "rule"), *events]
    return broken_law(SEALED, Sealed({}), [Entry(number, 0.0, event) for number, event in enumerate(told)])


def test_what_was_done_twice_or_drawn_in_secret_may_be_shown_later():
    bids = [ActedSealed("Ann", "vase", Bid(Decimal(amount))) for amount in (9, 7)]
    assert shown(*bids, Acted("Ann", "vase", Bid(Decimal(9))), Acted("Ann", "vase", Bid(Decimal(7)))) == ""
    assert shown(ActedSealed("Ann", "vase", Withdraw("fault")), Acted("Ann", "vase", Withdraw())) == ""
    drawn = "weather", ("sun", "rain")
    assert shown(Drawn(*drawn, "rain"), DrawnOpenly(*drawn, "rain")) == ""
    assert "which was not drawn; show what `chance` gave" in shown(Drawn(*drawn, "rain"), DrawnOpenly(*drawn, "sun"))


@pytest.mark.parametrize("what", BREAKS)
def test_a_game_is_found_that(what):
    build, promise = BREAKS[what]
    broken(promise, build=build)


@pytest.mark.parametrize(("received", "left"), [(0, r"\$20"), (15, r"\$5"), (20, "")])
def test_nobody_pays_more_in_all_than_its_budget_and_what_it_received(received, left):
    fine = Paid("Ann", HOUSE, "vase", Decimal(60), fee=True)
    gift = Paid(HOUSE, "Ann", "vase", Decimal(received))
    told = [BidderLabelled("Ann", {}, "rule"), BidderSeated("Ann", Decimal(100), {}, ""), gift, fine, fine]
    log = [Entry(number, 0.0, event) for number, event in enumerate(told)]
    found = broken_law(SEALED, Sealed({}), log)
    assert re.search(f"pays \\$60 for 'vase', which is {left} more than its budget", found) if left else found == ""
    assert broken_law(replace(SEALED, budgets=False), Sealed({}), log) == ""


def test_a_game_is_found_that_tells_a_trade_to_others_than_its_own():
    def hidden(_, event):
        if not isinstance(event, Paid):
            return [event]
        other = "Ann" if event.payer != "Ann" else "Ben"
        return [PaidSealed((other,), event.payer, HOUSE, event.item, event.amount)]

    broken(
        "gets or pays something and is not told; let its seats name it",
        build=selling(hidden),
        events=(*SEALED.events, PaidSealed),
    )


def test_a_game_that_does_not_list_what_it_gives_and_takes_is_told_to():
    broken(r"not among its `events`; add them: \['Allocated', 'Paid', 'Signal'\]", events=SEALED.events[:1])


def test_a_game_may_have_more_units_and_no_budgets_if_it_says_so():
    check_game(replace(SEALED, build=BREAKS["sells a unit twice"][0], supply=lambda _: {"vase": 2}))
    check_game(replace(SEALED, build=BREAKS["pays what nobody has"][0], budgets=False))


def test_what_some_seats_alone_are_told_is_held_to_the_law_too():
    def hidden(rules, event):
        match event:
            case Allocated(bidder=bidder, item=item):
                return [AllocatedSealed((bidder,), bidder, item)] * 2
            case Paid(payer=payer, item=item, amount=amount):
                return [PaidSealed((payer,), payer, HOUSE, item, amount)]
        return [event]

    listed = (*SEALED.events, AllocatedSealed, PaidSealed)
    broken("2 units of 'vase' are given", build=selling(hidden), events=listed)


@settings(max_examples=100)
@given(st.data())
def test_no_game_makes_or_loses_money_or_units_whoever_plays_it(data):
    name = data.draw(st.sampled_from([*OWN, *EXAMPLES, SEALED.name]))
    game = find("game", name)
    rules = {
        key: data.draw(st.sampled_from(values)) for key, values in RULES.items() if key in game.settings.model_fields
    }
    seats = [{"name": one, "rule": data.draw(st.sampled_from(POLICIES))} for one in names_of(game)]
    auction = table(game, seats, rules, seed=data.draw(st.integers(0, 2**32 - 1)))
    log, resolved = auction.run().log, with_items(auction)
    assert broken_law(game, game.build(resolved.rules, resolved), log) == ""
    told = outcomes(log)
    everyone = [told.house, *told.accounts.values()]
    assert sum(one.spent for one in everyone) == sum(one.received for one in everyone)
    assert {type(one.event) for one in log} & {*GETS, *PAYS} <= set(game.events)
