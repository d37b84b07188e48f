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
from harbor._core.log import acts
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, Allocated, AllocatedSealed, Drawn, Paid, PaidSealed
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
    "show": ["nothing", "actions", "actions and values"], "runs": [1, 4], "entrance_fee_share": [0, 0.1],
    "reveal": ["price", "true value"], "lowerings": [0, 3], "days": [1, 6],
}  # fmt: skip
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


def giving(change):
    """Build the sealed game with what it gives changed, of one event or several."""
    return selling(lambda _, event: change(event) if isinstance(event, Allocated) else [event])


def paying(*changes, **fields):
    """Build the sealed game with its payments changed, and more told after them."""
    return selling(
        lambda _, event: (
            [replace(event, **{key: value(event) for key, value in fields.items()}), *(one(event) for one in changes)]
            if isinstance(event, Paid)
            else [event]
        )
    )


def hidden_from_it(_, event):
    """Tell of a payment another than who pays."""
    if not isinstance(event, Paid):
        return [event]
    return [PaidSealed(("Ann" if event.payer != "Ann" else "Ben",), event.payer, HOUSE, event.item, event.amount)]


def told_to_it_alone(_, event):
    match event:
        case Allocated(bidder=bidder, item=item):
            return [AllocatedSealed((bidder,), bidder, item)] * 2
        case Paid(payer=payer, item=item, amount=amount):
            return [PaidSealed((payer,), payer, HOUSE, item, amount)]
    return [event]


DEAR = paying(amount=lambda paid: paid.amount + 101)
TWICE = giving(lambda given: [given, given])
SEALED_EVENTS = {"events": (*SEALED.events, AllocatedSealed, PaidSealed)}
BREAKS = {
    "pays what nobody has": (DEAR, r"'\w+' pays \$[\d.]+ for 'vase', and its asks allow \$100; take no more"),
    "pays in two parts what nobody has": (
        paying(lambda paid: replace(paid, amount=Decimal(100) - paid.amount / 2)),
        r"'\w+' pays \$1[\d.]+ for 'vase', and its asks allow \$100",
    ),
    "lets a bidder pay that was not asked for it": (
        paying(item=lambda _: "jar"), "for 'jar', and its asks allow no dollars; .* or let the game say budgets=False",
    ),
    "sells a unit twice": (TWICE, "2 units of 'vase' are given, and there are 1; give no unit twice"),
    "gives no units": (giving(lambda given: [replace(given, units=Decimal(0))]), "0 units of 'vase' are given"),
    "names a winner who is no bidder": (giving(lambda given: [replace(given, bidder="Zed")]), "is no bidder: 'Zed'"),
    "pays a stranger": (paying(payee=lambda _: "Zed"), "who gets or pays something is no bidder: 'Zed'; name one"),
    "takes money back": (paying(amount=lambda paid: -1 - paid.amount), r"pays -\$"),
    "lets pay beyond the budget only where all bid the most": (
        paying(amount=lambda paid: paid.amount + (paid.amount == 100)),
        r"pays \$101 for 'vase', and its asks allow \$100",
    ),
    "shows another act than there was": (
        paying(lambda paid: Acted(paid.payer, paid.item, Bid(Decimal("0.07")))),
        "all are shown Acted.*0.07.*, and the act was Bid.*; show what there was, with its item and round",
    ),
    "shows an act of somebody that was not asked": (
        paying(lambda paid: Acted(paid.payer, "jar", Withdraw())),
        "all are shown Acted.*'jar'.*, and the act was None",
    ),
    "draws by itself": (
        paying(lambda _: Drawn("weather", ("sun", "rain"), "snow")),
        "rules write draws themselves; draw with `chance`, and by nothing else",
    ),
    "pays a text": (
        paying(amount=lambda _: "5"), r"Paid\(.*'5'.* can't be written; give each field what its type says",
    ),
    "pays parts of a cent": (
        paying(amount=lambda _: Decimal("0.001")),
        r"Paid\(.* can't be read back from a log \(amount: .*\); give .* dollars in whole cents",
    ),
    "lets somebody pay itself": (paying(payee=lambda paid: paid.payer), "pays itself for 'vase'"),
    "tells a trade to others than its own": (selling(hidden_from_it), "gets or pays something and is not told"),
    "sells twice in secret": (selling(told_to_it_alone), "2 units of 'vase' are given"),
}  # fmt: skip


@pytest.mark.parametrize("what", BREAKS)
def test_a_game_is_found_that(what):
    build, promise = BREAKS[what]
    broken(promise, build=build, **(SEALED_EVENTS if "secret" in what or "others" in what else {}))


def test_a_game_that_does_not_list_what_it_gives_and_takes_is_told_to():
    broken(r"not among its `events`; add them: \['Allocated', 'Paid', 'Signal'\]", events=SEALED.events[:1])


def law(*events, **changes):
    """Say how a log of the sealed game breaks the law."""
    told = [BidderLabelled("Ann", {}, "rule"), *events]
    return broken_law(
        replace(SEALED, **changes), Sealed({}), [Entry(number, 0.0, event) for number, event in enumerate(told)]
    )


def test_what_was_done_twice_or_drawn_in_secret_may_be_shown_later():
    bids = [Bid(Decimal(amount)) for amount in (9, 7)]
    assert law(*(kind("Ann", "vase", bid) for kind in (ActedSealed, Acted) for bid in bids)) == ""
    assert law(ActedSealed("Ann", "vase", Withdraw("fault")), Acted("Ann", "vase", Withdraw())) == ""
    drawn = Drawn("weather", ("sun", "rain"), "rain")
    assert law(drawn, acts.DrawnOpenly("weather", ("sun", "rain"), "rain")) == ""
    assert "which was not drawn; show what `chance` gave" in law(
        drawn, acts.DrawnOpenly("weather", ("sun", "rain"), "sun")
    )


@pytest.mark.parametrize(("received", "left"), [(0, r"\$20"), (15, r"\$5"), (20, "")])
def test_nobody_pays_more_in_all_than_its_budget_and_what_it_received(received, left):
    fine = Paid("Ann", HOUSE, "vase", Decimal(60), fee=True)
    told = [BidderSeated("Ann", Decimal(100), {}, ""), Paid(HOUSE, "Ann", "vase", Decimal(received)), fine, fine]
    found = law(*told)
    assert re.search(f"pays \\$60 for 'vase', which is {left} more than its budget", found) if left else found == ""
    assert law(*told, budgets=False) == ""


def test_a_game_may_have_more_units_and_no_budgets_if_it_says_so():
    check_game(replace(SEALED, build=TWICE, supply=lambda _: {"vase": 2}))
    check_game(replace(SEALED, build=DEAR, budgets=False))


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
