"""The suite for games finds what a game tells others, without being told the secrets: one broken game per kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

import pytest

from harbor.events import PrivateEvent, Signal, Worth
from harbor.games import Amount, Bid, Measures, Money, Shown, Withdraw, stream
from harbor.testing import check_game
from support import third_price as good
from support.cases import some
from support.plugins import remembering
from support.third_price import MOST, THIRD, Abrupt, Third, ThirdClosed, ThirdOpened, drawn

NEXT = {"Ann": "Ben", "Ben": "Cho", "Cho": "Ann"}
KNOWN = {}
"""What planted code knows of the values and should not."""


def with_methods(**methods):
    return type("Rules", (Third,), methods)


def with_rules(build=None, **methods):
    """The game, with these methods in its rules."""
    rules = with_methods(**methods)
    return replace(THIRD, build=build or (lambda settings, config: rules(drawn(settings, config))))


def built(rules, most=lambda values, config: MOST, *more, values=drawn, **changes):
    """The game, with rules of these values, of a bound that is found from them and the settings, and of more."""

    def build(settings, config):
        given = values(settings, config)
        return rules(given, int(most(given, config)), *(one(given, config) for one in more))

    return replace(THIRD, build=build, **changes)


def with_part(game, part, **changes):
    return replace(game, **{part: replace(getattr(game, part), **changes)})


def overheard(settings, config):
    KNOWN.update(drawn(settings, config))
    return Third(KNOWN.copy())


def top(values, _=None):
    return max(value for own in values.values() for value in own)


def dealt(settings, config):
    """Deal values from one deck: a draw of it is nobody's alone."""
    deck = list(range(1, MOST + 1))
    stream(config.seed, "deck").shuffle(deck)
    return {one.name: [Decimal(deck.pop()) for _ in range(settings.runs)] for one in config.bidders}


def first_of(rules, run):
    return next(iter(rules.values.values()))[run - 1]


def in_the_item(rules, run, winner, price):
    return ThirdClosed(f"run {run}, worth {first_of(rules, run)} to Ann", winner, price)


def where_somebody_is_out(rules, run, actions, rng):
    told = Third.settle(rules, run, actions, rng)
    if any(isinstance(action, Withdraw) for action in actions.values()):
        told[0] = in_the_item(rules, run, told[0].winner, told[0].price)
    return told


def to_the_next(rules, run):
    return [replace(event, bidder=NEXT[event.bidder]) for event in Third.tell(rules, run)]


def to_two(rules, run):
    return [*Third.tell(rules, run), *to_the_next(rules, run)]


def bounded(rules, name, run):
    return Third.ask(rules, name, run)._replace(space=Amount(Decimal(0), MOST + first_of(rules, run)))


def without_the_poor(rules, run):
    return [ask for ask in Third.asks(rules, run) if rules.values[ask.bidder][run - 1] > MOST / 3]


def with_the_top(name, seen):
    return {**good.facts(name, seen), "value": float(top(KNOWN))}


class Board:
    """A board that shows what planted code knows."""

    def note(self, event):
        pass

    def shown(self):
        return Shown(str(KNOWN))


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch):
    with remembering(monkeypatch):
        yield


TO_ALL = "all are told what only '(Ann|Ben|Cho)' should know"
TO_ANOTHER = "'Ben' alone is told what the rules keep for 'Ann'"
IN_AN_ASK = "'Ben' notices in its ask what only 'Ann' should know"
OVERHEARD = with_rules(overheard)
UNTOLD = "hangs on what it is not told"
LEAKS = {
    "a value in the item of a public event": (with_rules(closed=in_the_item), TO_ALL),
    "a value in a public event, once somebody is out": (with_rules(settle=where_somebody_is_out), TO_ALL),
    "the greatest value, computed before the opening": (built(Third, top), TO_ALL),
    "a value of a deck in a public event": (built(with_methods(closed=in_the_item), values=dealt), TO_ALL),
    "a value of a deck told to another": (
        built(with_methods(tell=to_the_next), values=dealt), "alone is told what the rules keep for",
    ),
    "who is asked": (with_rules(asks=without_the_poor), TO_ALL),
    "a value told to another as well": (with_rules(tell=to_two), TO_ANOTHER),
    "a value in the bounds of all": (with_rules(ask=bounded), IN_AN_ASK),
    "facts of a prompt": (with_part(OVERHEARD, "play", facts=with_the_top), f"the prompt of '.*' {UNTOLD}"),
    "a rational player": (replace(OVERHEARD, rational=lambda *_: Bid(top(KNOWN))), f"the answer of '.*' {UNTOLD}"),
    "a board": (replace(OVERHEARD, board=Board), f"the page of '.*' {UNTOLD}"),
}  # fmt: skip


def broken(game, promise):
    with pytest.raises(AssertionError, match=promise) as said:
        check_game(game)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize("where", LEAKS)
def test_what_one_bidder_alone_is_told_is_found_wherever_another_can_see_it(where):
    broken(*LEAKS[where])


@dataclass(frozen=True)
class Capped(Third):
    """Nobody can bid more than it has."""

    budgets: object = None

    def ask(self, name, run):
        return Third.ask(self, name, run)._replace(space=Amount(Decimal(0), min(self.budgets[name], Decimal(MOST))))


@dataclass(frozen=True)
class ByLot(Third):
    """Of equal bids, a lot decides that nobody is told."""

    lots: object = None

    def settle(self, run, actions, rng):
        bids = {name: bid.amount for name in self.values if isinstance(bid := actions.get(name), Bid)}
        winner = max(bids, key=lambda name: (bids[name], self.lots[name]), default="")
        return [self.closed(run, winner, Decimal(0)), *self.tell(run + 1)] if run else super().settle(run, actions, rng)


@dataclass(frozen=True, slots=True)
class Brief(PrivateEvent):
    most: int


class Briefed(Third):
    """One bidder is told again what the opening tells."""

    def tell(self, run):
        return [*super().tell(run), *([Brief(next(iter(self.values)), self.most)] if run == 1 else [])]


@dataclass(frozen=True, slots=True)
class Receipt(PrivateEvent):
    amount: Money


class Reserved(Third):
    """Nobody can bid less than nearly all that the item is worth to it; each bid has a receipt."""

    def ask(self, name, run):
        return super().ask(name, run)._replace(space=Amount(self.values[name][run - 1] * Decimal("0.9"), Decimal(MOST)))

    def settle(self, run, actions, rng):
        receipts = [Receipt(name, bid.amount) for name, bid in actions.items() if isinstance(bid, Bid)]
        return [*sorted(receipts, key=repr), *super().settle(run, actions, rng)]


def few(settings, config):
    chance = stream(config.seed, "lots")
    return {one.name: [Decimal(chance.randint(1, 2)) for _ in range(settings.runs)] for one in config.bidders}


def lots(values, config):
    chance = stream(config.seed, "more lots")
    return {name: chance.random() for name in values}


@dataclass(frozen=True, slots=True)
class ThirdHint(PrivateEvent):
    value: Money
    discloses = True


def hinting(rules, run):
    told = Third.tell(rules, run)
    return [*told, *(ThirdHint(NEXT[one.bidder], one.value) for one in told)]


def up_to_its_own(rules, name, run):
    return Third.ask(rules, name, run)._replace(space=Amount(Decimal(0), rules.values[name][run - 1]))


def all_told(rules):
    return ThirdOpened((*rules.values, *map(str, rules.values.values())))


def budgets(_, config):
    return {one.name: one.budget for one in config.bidders}


KEPT = (
    "the game that is broken here", "what another is told on purpose", "a lot for ties, and no name where nobody wins",
    "what everyone is told before, as the needs of residents are",
)  # fmt: skip
"""What CI has of what is sound."""
RESIDENTS = replace(
    with_rules(opened=all_told, ask=up_to_its_own, tell=lambda *_: []), rational=lambda ask, _: Bid(ask.maximum)
)
SOUND = {
    "the game that is broken here": THIRD,
    "what another is told on purpose": replace(with_rules(tell=hinting), events=(*THIRD.events, ThirdHint)),
    "a deck": built(Third, values=dealt),
    "a budget that seldom binds": built(Capped, lambda *_: MOST, budgets, uses=("budget",)),
    "a lot for ties, and no name where nobody wins": built(ByLot, lambda *_: MOST, lots, values=few),
    "a least bid of one's own, and receipts": built(Reserved, events=(*THIRD.events, Receipt)),
    "a public draw that one bidder is told again": built(
        Briefed, lambda _, config: stream(config.seed, "most").randint(60, MOST), events=(*THIRD.events, Brief)
    ),
    "what everyone is told before, as the needs of residents are": with_part(
        RESIDENTS, "play", facts=lambda *_: {"bidders": [], "value": 1}
    ),
}


@pytest.mark.parametrize("what", some(SOUND, KEPT))
def test_what_is_sound_is_not_found(what):
    check_game(SOUND[what])


# ---------------------------------------------------------------- what else no one could see


UNUSED = r"in its `uses` and change nothing; leave them out: \['budget', 'overestimate', 'objective'\]"
ZED = with_rules(closed=lambda _, run, __, price: ThirdClosed(f"run {run}", "Zed", price))


@pytest.mark.parametrize(("game", "promise"), [
    (ZED, r"who wins 'run 1' is no bidder: \['Zed'\]"),
    (replace(THIRD, uses=("budget", "overestimate", "objective")), UNUSED),
    (with_part(THIRD, "measures", public=True), "its measures are not `public`"),
    (built(Abrupt), r"fails with AssertionError: assert all\(.*\), at __init__.py:\d+$"),
], ids=["winner", "uses", "measures", "assert"])  # fmt: skip
def test_what_else_no_one_could_see_is_named(game, promise):
    broken(game, promise)


def test_a_prompt_that_names_a_fact_that_is_not_there_is_named(tmp_path):
    system = THIRD.play.system.read_text().replace("- `you` is", "- `reserve` is the reserve price.\n- `you` is")
    (tmp_path / "system.md").write_text(system)
    reserved = with_part(THIRD, "play", system=tmp_path / "system.md")
    broken(reserved, r"name facts in backticks that are in no prompt; leave them out: \['reserve'\]")


# ---------------------------------------------------------------- what items are truly worth


@dataclass(frozen=True)
class Guessed(Third):
    """What an item is worth is common, and each bidder is told a guess of it."""

    worth: Decimal = Decimal(0)

    def tell(self, run):
        if run > self.runs:
            return []
        guesses = [Signal(name, {f"run {run}": own[run - 1]}, noisy=True) for name, own in self.values.items()]
        return [Worth({f"run {run}": self.worth}), *guesses]


def guessed(rules=Guessed, drawn_last=True):
    """The game with guesses; the worth is drawn after them, or is their mean."""

    def worth(values, config):
        mean = sum(own[0] for own in values.values()) // 3
        return Decimal(stream(config.seed, "worth").randint(1, MOST) if drawn_last else mean)

    return built(
        *(rules, lambda *_: MOST, worth),
        events=(ThirdOpened, Signal, Worth, ThirdClosed),
        rational=lambda ask, seen: Bid(guess_told(ask.bidder, seen)["value"]),
        play=replace(THIRD.play, facts=guess_told),
        measures=Measures("runs", lambda log: good.standings(log), lambda log: []),
    )


def guess_told(name, seen):
    told = [event for event in seen if isinstance(event, Signal)][-1]
    opened = next(event for event in seen if isinstance(event, ThirdOpened))
    return {"bidders": list(opened.bidders), "value": next(iter(told.values.values()))}


class BoundByWorth(Guessed):
    def ask(self, name, run):
        return Third.ask(self, name, run)._replace(space=Amount(Decimal(0), MOST + self.worth))


class DrawnWorth(Guessed):
    """The worth is drawn as the game is played, and kept in the state, which bounds the next ask."""

    def start(self):
        return Third.start(self), Decimal(0)

    def asks(self, state):
        bounded = Amount(Decimal(0), MOST + state[1])
        return [ask._replace(space=bounded) for ask in Third.asks(self, state[0])]

    def settle(self, state, actions, chance):
        events = Third.settle(self, state[0], actions, chance)
        drawn_now = Decimal(chance.pick("the worth", range(1, 90)))
        return [
            replace(event, values=dict.fromkeys(event.values, drawn_now)) if isinstance(event, Worth) else event
            for event in events
        ]

    def apply(self, state, event):
        worth = next(iter(event.values.values())) if isinstance(event, Worth) else state[1]
        return Third.apply(self, state[0], event), worth


WORTH = "hangs on the worth of items, which only the analyst is told: .*; tell it with a Signal, or leave it out"


@pytest.mark.parametrize("rules", [BoundByWorth, DrawnWorth])
@pytest.mark.parametrize("drawn_last", [True, False])
def test_an_ask_that_hangs_on_the_worth_of_an_item_is_found(rules, drawn_last):
    """Also where the worth follows from the guesses, as the rules keep it in a field of its own."""
    broken(guessed(rules, drawn_last), WORTH)


def test_a_prompt_that_hangs_on_the_worth_of_an_item_is_found_and_guesses_are_none():
    check_game(guessed())
    known = {}

    class Known(Guessed):
        def opened(self):
            known["worth"] = self.worth
            return Guessed.opened(self)

    def facts(name, seen):
        return {**guess_told(name, seen), "value": float(known["worth"])}

    broken(with_part(guessed(Known), "play", facts=facts), "the prompt of '.*' hangs on")
