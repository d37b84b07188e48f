"""Chance: it draws what its source would, tells each draw among more than one, and takes those that a log tells."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor._core.basics.errors import ConfigError
from harbor._core.log.acts import Drawn, DrawnOpenly
from harbor._games.mechanism import Chance, Undrawn

QUICK = settings(max_examples=60)
KINDS = st.sampled_from([Drawn, DrawnOpenly])
METHODS = {
    "random": lambda rng: rng.random(), "randint": lambda rng: rng.randint(-5, 5),
    "choice": lambda rng: rng.choice("abcde"), "choices": lambda rng: rng.choices("abcde", [5, 4, 3, 2, 1], k=4),
    "sample": lambda rng: rng.sample(range(99), 6), "shuffle": lambda rng: rng.shuffle(deck := list(range(20))) or deck,
    "gauss": lambda rng: [rng.gauss(50, 10) for _ in range(3)], "normalvariate": lambda rng: rng.normalvariate(50, 10),
    "betavariate": lambda rng: rng.betavariate(2, 3), "getrandbits": lambda rng: rng.getrandbits(70),
    "randbytes": lambda rng: rng.randbytes(9),
}  # fmt: skip
names = st.lists(st.text(max_size=8), min_size=1, max_size=6, unique=True)


def telling(drawn):
    """A log that tells these draws, in order, and then none."""
    told = iter(drawn)
    return lambda: next(told, None)


# ---------------------------------------------------------------- drawn anew


@QUICK
@given(st.lists(names, min_size=1, max_size=5), st.integers(0, 2**64), KINDS)
def test_a_pick_is_what_the_source_would_choose_and_is_told_where_there_was_a_choice_and_taken_again(draws, seed, kind):
    noted, source = [], Random(seed)
    chance = Chance(Random(seed), noted.append, kind=kind)
    picked = [chance.pick("who leads", among) for among in draws]
    assert picked == [source.choice(among) for among in draws]
    lots = zip(draws, picked, strict=True)
    assert noted == [kind("who leads", tuple(among), chosen) for among, chosen in lots if len(among) > 1]
    again = []
    chance = Chance(None, again.append, telling(noted), kind)
    assert [chance.pick("who leads", among) for among in draws] == picked
    assert again == noted


@pytest.mark.parametrize("method", METHODS)
@QUICK
@given(seed=st.integers(0, 2**64), kind=KINDS)
def test_every_method_of_random_draws_what_the_source_would_and_tells_each_draw_and_takes_it_again(method, seed, kind):
    noted, again, source = [], [], Random(seed)
    chance = Chance(Random(seed), noted.append, kind=kind)
    drawn = METHODS[method](chance)
    assert drawn == METHODS[method](source)
    assert chance.getstate()[1] == source.getstate()[1]  # behind it stands what `gauss` keeps for the next call
    assert {type(one) for one in noted} == {kind}
    for one in noted:
        least, _, most = one.among[0].partition(" to ")
        assert int(least) <= float(one.chosen) <= int(most)
    assert METHODS[method](Chance(None, again.append, telling(noted), kind)) == drawn
    assert again == noted


# ---------------------------------------------------------------- taken from a log


@pytest.mark.parametrize("draw", [lambda rng: rng.sample("a", 1), lambda rng: rng.randint(3, 3)])
def test_a_number_among_one_is_not_told_and_not_asked_for(draw):
    noted = []
    drawn = draw(Chance(Random(1), noted.append))
    assert noted == []
    assert draw(Chance(None, told=lambda: pytest.fail("it asked for a draw"))) == drawn


@pytest.mark.parametrize("again", [lambda rng: rng.seed(1), lambda rng: rng.setstate(rng.getstate())])
def test_rules_do_not_begin_chance_anew(again):
    with pytest.raises(TypeError, match="rules can't seed chance or set its state; draw what is needed"):
        again(Chance(Random(1)))


@pytest.mark.parametrize("source", [Random(1), None])
def test_nothing_is_drawn_among_nothing(source):
    with pytest.raises(ConfigError, match="'a prize' is drawn among nothing; give at least one thing"):
        Chance(source).pick("a prize", [])


IMPOSSIBLE = {
    "no draw": None,
    "a name that could not be drawn": Drawn("who leads", ("Ann", "Ben"), "Cho"),
    "a name that the forged draw alone has": Drawn("who leads", ("Ann", "Cho"), "Cho"),
    "no name": Drawn("who leads", ("Ann", "Ben"), ""),
}


@pytest.mark.parametrize("told", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_told_pick_that_can_not_be_is_refused(told):
    with pytest.raises(Undrawn, match="one of Ann, Ben is drawn for 'who leads', and the log tells"):
        Chance(None, told=lambda: told).pick("who leads", ["Ann", "Ben"])


def test_a_told_pick_is_told_again_with_what_the_rules_draw_among_so_that_forged_lots_differ():
    noted, forged = [], Drawn("who leads", ("Ann", "Ben", "Cho"), "Ann")
    Chance(None, noted.append, lambda: forged).pick("who leads", ["Ann", "Ben"])
    assert noted == [Drawn("who leads", ("Ann", "Ben"), "Ann")] != [forged]


@pytest.mark.parametrize("chosen", ["", "Ann", "nan", "inf", "-inf", "-0.1", "1.01", "1e400", "0x1"])
@pytest.mark.parametrize("draw", [lambda chance: chance.random(), lambda chance: chance.getrandbits(1)])
def test_a_told_number_that_can_not_be_is_refused(draw, chosen):
    with pytest.raises(Undrawn, match="a number from 0 to 1 is drawn, and the log tells"):
        draw(Chance(None, told=lambda: Drawn("a share", ("0 to 1",), chosen)))


@pytest.mark.parametrize("told", [None, Drawn("a share", ("0 to 1",), "1.0")], ids=["none", "one, and a share is less"])
def test_a_number_is_not_drawn_where_the_log_tells_none_that_the_source_draws(told):
    with pytest.raises(Undrawn):
        Chance(None, told=lambda: told).random()
