"""Checking a log against the rules of its game: no honest one is refused, and no forged one passes."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from decimal import Decimal
from itertools import islice, zip_longest
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor import Auction
from harbor._core.basics.errors import LogError
from harbor._games.english.game import ENGLISH
from harbor._house.checking import DRAWN, SEALED, check
from harbor._runs.verification import logs_checked
from harbor.events import DrawnOpenly, ItemSold, RoundClosed
from harbor.personas._catalog.catalogue import with_items
from harbor.testing._playing import public, table
from support import forging
from support.held_games import GAMES, POLICIES, auction, played

FORGERIES = 50

SESSION = {
    "runs": [1, 2, 3], "show": ["nothing", "actions", "actions and values"], "history": [0, 1, 2],
    "equal_rivals": [False, True],
}  # fmt: skip
GROUPS = {"group": ["L", "M"], "draw": ["each run", "once"], "entrance_fee_share": ["0", "0.1", "0.037"]}
SETTINGS = {
    "english": {"increment_share": ["0.001", "0.07", "0.1", "0.33"], "lowerings": range(4),
                "lowering_share": ["0.1", "0.5", "0.9"], "reveal": ["price", "true value"]},
    "water": {"days": range(1, 10), "supply": ["low", "medium", "high"]},
    "beauty": SESSION | {"fraction": ["2/3", "1", "1/7"], "group": [None, "L", "M"]},
    "english-private": SESSION | GROUPS | {"step_share": ["0.07", "0.3"]},
    "first-price": SESSION | GROUPS, "second-price": SESSION | GROUPS,
}  # fmt: skip
"""Of each game what is chosen among; a share is money, and exact."""


@st.composite
def auctions(draw) -> Auction:
    """Any settings of any game, played by any policies."""
    game = draw(st.sampled_from(GAMES))
    chosen = {name: draw(st.sampled_from(values)) for name, values in SETTINGS[game].items()}
    chosen |= {name: Decimal(share) for name, share in chosen.items() if name.endswith("_share")}
    known = [name for name in POLICIES if name != "rational"] if chosen.get("draw") == "once" else POLICIES
    players = draw(st.lists(st.sampled_from([*known, "random", "random"]), min_size=1, max_size=5))
    return auction(game, players, draw(st.integers(0, 10**6)), reasks=draw(st.integers(0, 3)), **chosen)


@settings(max_examples=60)
@given(auctions(), st.data())
def test_no_honest_log_is_refused_whatever_of_it_is_there_and_one_that_broke_off_says_where_it_ends(one, data):
    log = one.run().log
    for told, known in ((log, with_items(one)), (log, None), (public(log), None)):
        assert check(told, known).follows, check(told, known)
        opened = next(n for n, entry in enumerate(told) if entry.event.audience == "everyone")
        end = data.draw(st.integers(opened + 1, len(told) - 1))
        verdict = check(told[:end], known)
        assert verdict.follows, verdict
        assert any(f"ends at line {told[end - 1].seq + 1}" in sentence for sentence in verdict.unchecked)


def equals(seed: int, names: tuple[str, ...] = ("Ann", "Ben", "Cho", "Dee", "Eve")) -> Auction:
    """Bidders who all bid the same, so that the lot decides in every round of every item."""
    return table(ENGLISH, [{"name": name, "rule": "minimum-raise"} for name in names], {}, seed=seed)


@pytest.mark.parametrize("seed", range(3))
def test_ties_are_drawn_again_from_the_seed_and_without_it_any_winner_of_a_tie_follows(seed):
    log = equals(seed).run().log
    assert check(log).follows
    assert check(public(log)).follows
    opened, *others = log
    assert not check([opened._replace(event=replace(opened.event, seed=opened.event.seed + 1)), *others]).follows


@pytest.mark.parametrize("seed", range(3))
def test_a_draw_that_a_public_log_does_not_tell_is_one_of_those_that_there_may_have_been(seed, monkeypatch):
    log = [one for one in public(equals(seed).run().log) if not isinstance(one.event, DrawnOpenly)]
    monkeypatch.setattr("harbor._house.checking.game_of", lambda _: replace(ENGLISH, draws="sealed"))
    verdict = check(log)
    assert verdict.follows
    assert not {SEALED, DRAWN} & {*verdict.unchecked}
    assert check(log[:-3]).follows
    for closed in (one for one in log if isinstance(one.event, RoundClosed)):
        for change in ({"leader": "Zed"}, {"price": closed.event.price + 1}):
            other = closed._replace(event=replace(closed.event, **change))
            assert check([other if one is closed else one for one in log]).line == closed.seq + 1


# ---------------------------------------------------------------- forged logs


@pytest.fixture(scope="module", params=GAMES)
def held(request, tmp_path_factory) -> Path:
    """The folder of a run of a game."""
    out = tmp_path_factory.mktemp(request.param) / "run"
    auction(request.param, ["random", "rational", "random"], seed=3).run(out=out)
    return out


def verdict_on(folder: Path):
    [one] = logs_checked(folder)
    return one.verdict


def as_public(lines):
    return [{**lines[0], "seed": None}, *forging.public(lines)]


def equally_valid(lines: list, done: str) -> bool:
    """Whether a forgery leaves a log that is just as valid: a losing bid is another, or the end is missing."""
    return lines[-1]["type"] != "sale_closed" or "_closed: " in done or "_allotted: " in done


@pytest.mark.parametrize("is_public", [False, True], ids=["whole", "public"])
def test_random_forgeries_of_every_game_are_found(held, is_public, tmp_path):
    lines, rng, passed = forging.lines_of(held / "events.jsonl"), Random(1 + is_public), []
    (tmp_path / "config.json").write_bytes((held / "config.json").read_bytes())
    if is_public:
        lines = as_public(lines)
        forging.write(tmp_path / "events.jsonl", lines)
        assert (verdict_on(tmp_path).follows, verdict_on(tmp_path).level) == (True, "public")
    for _ in range(FORGERIES):
        done, new = forging.forged(lines, rng)
        forging.write(tmp_path / "events.jsonl", new)
        verdict = verdict_on(tmp_path)
        if verdict.follows:
            assert is_public or equally_valid(new, done), done
            passed.append(done)
        else:
            assert verdict.line
            assert verdict.expected != verdict.found
    # what nothing else tells: settings in the opening, losing bids, true values, an attempt that was not the last
    assert len(passed) <= (FORGERIES // 6 if is_public else 3), passed


@pytest.fixture(scope="module")
def english(tmp_path_factory) -> tuple[Path, list]:
    out = tmp_path_factory.mktemp("english") / "run"
    equals(4, ("Ann", "Ben", "Cho")).run(out=out)
    return out, forging.lines_of(out / "events.jsonl")


def first(lines, kind):
    return forging.of_type(lines, kind)[0]


def _twice(kind):
    """Insert a line of this kind again."""
    return lambda lines: lines.insert(lines.index(first(lines, kind)) + 1, deepcopy(first(lines, kind)))


THOUGHT = {"seq": 0, "at": 0.0, "audience": "bidder:Zed", "type": "tried", "bidder": "Zed", "item": "First House"}
THOUGHT |= {"round": 1, "attempt": 1, "reason": "none"}
FORGED = {
    "a price of one dollar": lambda lines: first(lines, "item_sold").update(price=1),
    "an item sold twice": _twice("item_sold"),
    "two openings": _twice("sale_opened"),
    "a winner nobody knows": lambda lines: first(lines, "item_sold").update(winner="Nobody"),
    "a winner who did not bid the most": lambda lines: first(lines, "round_closed").update(leader="Cho", price=1),
    "no time": lambda lines: first(lines, "sale_opened").update(at=None),
    "an item nobody knows": lambda lines: first(lines, "item_sold").update(item="Ghost"),
    "a bidder nobody knows": lambda lines: first(lines, "acted").update(bidder="Zed"),
    "another bidder seated": lambda lines: first(lines, "bidder_seated").update(bidder="Zed", audience="bidder:Zed"),
    "a private event made public": lambda lines: first(lines, "bidder_seated").update(audience="everyone"),
    "a larger budget": lambda lines: first(lines, "bidder_seated").update(budget=10**9),
    "another true value": lambda lines: first(lines, "item_labelled").update(true_value=1),
    "another seed": lambda lines: lines[0].update(seed=99),
    "labelled twice": lambda lines: lines.insert(2, deepcopy(lines[1])),
    "a thought of nobody": lambda lines: lines.insert(-1, dict(THOUGHT)),
    "a bid above every budget": lambda lines: first(lines, "acted")["act"].update(amount=10**9),
    "a bid of huge size": lambda lines: first(lines, "acted")["act"].update(amount="1E+999999"),
    "an act that no space allows": lambda lines: first(lines, "acted").update(act={"action": "accept"}),
    "an act that is none": lambda lines: first(lines, "acted").update(act={"action": "dance"}),
    "a draw that was another": lambda lines: first(lines, "drawn_openly").update(chosen="Cho"),
    "a draw among others": lambda lines: first(lines, "drawn_openly").update(among=["Ann", "Cho"]),
    "an item allocated to another": lambda lines: first(lines, "allocated").update(bidder="Cho"),
    "two units of an item": lambda lines: first(lines, "allocated").update(units=2),
    "a price that goes to a bidder": lambda lines: first(lines, "paid").update(payee="Ben"),
    "other rules": lambda lines: lines[0]["rules"].update(reasks=1),
    "an end in the middle": lambda lines: lines.insert(20, deepcopy(lines[-1])),
    "words after the end": lambda lines: lines.append(deepcopy(lines[-2])),
}


@pytest.mark.parametrize("attack", FORGED)
def test_a_forged_log_is_found_without_any_key_and_its_first_forged_line_is_named(attack, english, tmp_path):
    def told(line):
        return {name: value for name, value in line.items() if name not in ("seq", "digest")}

    run, lines = english
    new = deepcopy(lines)
    FORGED[attack](new)
    (tmp_path / "config.json").write_bytes((run / "config.json").read_bytes())
    forging.write(tmp_path / "events.jsonl", new)
    verdict = verdict_on(tmp_path)
    assert not verdict.follows
    places = enumerate(zip_longest(lines, new, fillvalue={}), start=1)
    assert verdict.line == next(place for place, (was, line) in places if told(was) != told(line))
    if attack == "a price of one dollar":
        price = first(lines, "item_sold")["price"]
        said = (verdict.event, verdict.expected, verdict.found)
        assert said == ("item_sold", f'{{"price": {price}}}', '{"price": 1}')


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_an_invented_end_after_the_first_ask_is_found_also_where_acts_are_missing(closed, whole, english, tmp_path):
    run, lines = english
    asked = lines.index(first(lines, "bidders_asked"))
    invented = forging.of_type(deepcopy(lines), "item_opened", "item_sold", "lot_closed")
    for line in forging.of_type(invented, "item_sold"):
        line.update(winner="Cho", price=1)
    new = [*lines[: asked + 1], *([lines[-1]] if closed else []), *invented]
    if whole:
        (tmp_path / "config.json").write_bytes((run / "config.json").read_bytes())
    else:
        new = as_public(new)
    forging.write(tmp_path / "events.jsonl", new)
    assert not verdict_on(tmp_path).follows


def test_an_opening_that_differs_is_no_turn_that_broke_off(english, tmp_path):
    lines = deepcopy(english[1])
    first(lines, "item_opened")["item"] = "Ghost"
    told = as_public(lines)
    opened = told.index(next(line for line in told if line["type"] == "item_opened"))
    forging.write(tmp_path / "events.jsonl", told[: opened + 1])
    assert verdict_on(tmp_path).event == "item_opened"


@pytest.mark.parametrize("game", ["first-price", "second-price", "beauty"])
def test_the_result_of_a_run_that_shows_one_act_alone_is_no_turn_that_broke_off(game, tmp_path):
    auction(game, ["random", "rational", "random"], seed=3, show="actions", runs=2).run(out=tmp_path / "run")
    lines = forging.lines_of(tmp_path / "run" / "events.jsonl")
    closed = next(line for line in lines if "winners" in line)
    for shown in forging.of_type(lines, "acted")[1:3]:
        lines.remove(shown)
    new = lines[: lines.index(closed) + 1]
    for told in (new, as_public(new)):
        forging.write(tmp_path / "run" / "events.jsonl", told)
        assert not verdict_on(tmp_path / "run").follows


# ---------------------------------------------------------------- later versions, and games that say nothing


def test_a_log_of_a_later_version_is_read_as_far_as_it_is_known_and_says_what_was_passed_over(english, tmp_path):
    lines = deepcopy(english[1])
    lines[0]["schema"] = 9
    first(lines, "item_sold")["mood"] = "glad"
    lines.insert(30, {"seq": 0, "at": 1.0, "audience": "everyone", "type": "bell_rung", "times": 3})
    forging.write(tmp_path / "events.jsonl", lines)
    verdict = verdict_on(tmp_path)
    assert verdict.follows
    said = "\n".join(verdict.unchecked)
    parts = ("schema 9", "'mood' of 'item_sold'", "'bell_rung'", "no settings beside it")
    assert [part in said for part in parts] == [True] * 4
    (tmp_path / "config.json").write_text('{"of": "a later version"}')
    assert "the settings beside it are none that this Harbor can read" in verdict_on(tmp_path).unchecked
    first(lines, "item_sold")["price"] = 3
    forging.write(tmp_path / "events.jsonl", lines)
    assert not verdict_on(tmp_path).follows


def test_a_game_that_tells_no_rules_from_public_events_is_checked_by_its_settings(monkeypatch):
    one = auction("english", ["random"], seed=2)
    log = one.run().log
    monkeypatch.setattr("harbor._house.checking.game_of", lambda _: replace(ENGLISH, from_public=None))
    assert check(log, with_items(one)).follows
    sold = next(entry for entry in log if isinstance(entry.event, ItemSold))
    forged = sold._replace(event=replace(sold.event, price=Decimal(1)))
    assert not check([forged if entry is sold else entry for entry in log], with_items(one)).follows
    assert check(public(log)).level == "heading"


def test_a_log_without_a_sale_is_nothing_to_check():
    with pytest.raises(LogError, match="before the sale opens"):
        check(list(islice(played("english"), 3)))
