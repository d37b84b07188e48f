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
from harbor._core.log.acts import DrawnOpenly
from harbor._core.log.events import LotClosed, SaleClosed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._games.english.events import ItemSold, RoundClosed
from harbor._games.english.game import ENGLISH
from harbor._house.checking import DRAWN, SEALED, check
from harbor._runs.verification import logs_checked
from harbor.personas._catalog.catalogue import with_items
from harbor.testing._playing import public, table
from support import forging
from support.held_games import GAMES, POLICIES, auction, played

FORGERIES = 50

SETTINGS = {
    "english": st.fixed_dictionaries(
        {
            "increment_share": st.sampled_from(["0.001", "0.07", "0.1", "0.33"]).map(Decimal),
            "lowerings": st.integers(0, 3),
            "lowering_share": st.sampled_from(["0.1", "0.5", "0.9"]).map(Decimal),
            "reveal": st.sampled_from(["price", "true value"]),
        }
    ),
    "water": st.fixed_dictionaries({"days": st.integers(1, 9), "supply": st.sampled_from(["low", "medium", "high"])}),
    "beauty": st.fixed_dictionaries(
        {"fraction": st.sampled_from(["2/3", "1", "1/7"]), "group": st.sampled_from([None, "L", "M"])}
    ),
    "english-private": st.fixed_dictionaries({"step_share": st.sampled_from(["0.07", "0.3"]).map(Decimal)}),
}
SESSION = st.fixed_dictionaries(
    {
        "runs": st.integers(1, 3),
        "show": st.sampled_from(["nothing", "actions", "actions and values"]),
        "history": st.integers(0, 2),
        "equal_rivals": st.booleans(),
    }
)
VALUES = st.fixed_dictionaries(
    {
        "group": st.sampled_from(["L", "M"]),
        "draw": st.sampled_from(["each run", "once"]),
        "entrance_fee_share": st.sampled_from(["0", "0.1", "0.037"]).map(Decimal),
    }
)


@st.composite
def auctions(draw) -> Auction:
    """Any settings of any game, played by any policies."""
    game = draw(st.sampled_from(GAMES))
    given_ = {"reasks": draw(st.integers(0, 3)), **draw(SETTINGS.get(game, st.just({})))}
    if game not in ("english", "water"):
        given_ |= draw(SESSION)
    if game not in ("english", "water", "beauty"):
        given_ |= draw(VALUES)
    known = [name for name in POLICIES if name != "rational"] if given_.get("draw") == "once" else POLICIES
    players = draw(st.lists(st.sampled_from([*known, "random", "random"]), min_size=1, max_size=5))
    return auction(game, players, draw(st.integers(0, 10**6)), **given_)


@settings(max_examples=60)
@given(auctions())
def test_no_honest_log_is_refused_whatever_of_it_is_there(one):
    log = one.run().log
    for told, known in ((log, with_items(one)), (log, None), (public(log), None)):
        assert check(told, known).follows, check(told, known)


@settings(max_examples=25)
@given(auctions(), st.data())
def test_a_log_that_broke_off_anywhere_follows_so_far_and_says_that_it_ends(one, data):
    log = one.run().log
    for told, known in ((log, with_items(one)), (log, None), (public(log), None)):
        opened = next(n for n, entry in enumerate(told) if entry.event.audience == "everyone")
        end = data.draw(st.integers(opened + 1, len(told) - 1))
        verdict = check(told[:end], known)
        assert verdict.follows, verdict
        assert any(f"ends at line {told[end - 1].seq + 1}" in sentence for sentence in verdict.unchecked)


def equals(seed: int) -> Auction:
    """Bidders who all bid the same, so that the lot decides in every round of every item."""
    seats = [{"name": name, "rule": "minimum-raise"} for name in ("Ann", "Ben", "Cho", "Dee", "Eve")]
    return table(ENGLISH, seats, {}, seed=seed)


@pytest.mark.parametrize("seed", range(5))
def test_ties_are_drawn_again_from_the_seed_and_without_it_any_winner_of_a_tie_follows(seed):
    log = equals(seed).run().log
    assert check(log).follows
    assert check(public(log)).follows
    other = [replace_seed(entry) for entry in log]
    assert not check(other).follows


@pytest.mark.parametrize("seed", range(5))
def test_a_draw_that_a_public_log_does_not_tell_is_one_of_those_that_there_may_have_been(seed):
    log = [one for one in public(equals(seed).run().log) if not isinstance(one.event, DrawnOpenly)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harbor._house.checking.game_of", lambda _: replace(ENGLISH, draws="sealed"))
        verdict = check(log)
        assert verdict.follows
        assert not {SEALED, DRAWN} & {*verdict.unchecked}
        assert check(log[:-3]).follows
        for closed in (one for one in log if isinstance(one.event, RoundClosed)):
            for change in ({"leader": "Zed"}, {"price": closed.event.price + 1}):
                other = closed._replace(event=replace(closed.event, **change))
                assert check([other if one is closed else one for one in log]).line == closed.seq + 1


def replace_seed(entry: Entry) -> Entry:
    return entry._replace(event=replace(entry.event, seed=entry.event.seed + 1)) if entry.seq == 0 else entry


# ---------------------------------------------------------------- forged logs


@pytest.fixture(scope="module", params=GAMES)
def held(request, tmp_path_factory) -> Path:
    """The folder of a run of a game."""
    out = tmp_path_factory.mktemp(request.param) / "run"
    auction(request.param, ["random", "rational", "random"], seed=3).run(out=out)
    return out


@pytest.fixture
def folder(held, tmp_path) -> Path:
    """A copy to forge."""
    for name in ("events.jsonl", "config.json"):
        (tmp_path / name).write_bytes((held / name).read_bytes())
    return tmp_path


def verdict_on(folder: Path):
    [one] = logs_checked(folder)
    return one.verdict


def equally_valid(lines: list, done: str) -> bool:
    """Whether a forgery leaves a log that is just as valid: a losing bid is another, or the end is missing."""
    return lines[-1]["type"] != "sale_closed" or "_closed: " in done or "_allotted: " in done


def test_fifty_random_forgeries_of_every_game_are_found(folder):
    lines, rng, passed = forging.lines_of(folder / "events.jsonl"), Random(1), []
    for _ in range(FORGERIES):
        done, new = forging.forged(lines, rng)
        forging.write(folder / "events.jsonl", new)
        verdict = verdict_on(folder)
        if verdict.follows:
            assert equally_valid(new, done), done
            passed.append(done)
        else:
            assert verdict.line
            assert verdict.expected != verdict.found
    assert len(passed) <= 3, passed


def test_random_forgeries_of_a_public_log_are_found_too(folder):
    lines = forging.lines_of(folder / "events.jsonl")
    opened = {**lines[0], "seed": None}
    told = [opened, *forging.public(lines)]
    forging.write(folder / "events.jsonl", told)
    verdict = verdict_on(folder)
    assert (verdict.follows, verdict.level) == (True, "public")
    rng, passed = Random(2), []
    for _ in range(FORGERIES):
        done, new = forging.forged(told, rng)
        forging.write(folder / "events.jsonl", new)
        if verdict_on(folder).follows:
            passed.append(done)
    # what nothing else tells: settings in the opening, losing bids, true values, an attempt that was not the last
    assert len(passed) <= FORGERIES // 6, passed


@pytest.fixture(scope="module")
def english(tmp_path_factory) -> tuple[Path, list]:
    out = tmp_path_factory.mktemp("english") / "run"
    seats = [{"name": name, "rule": "minimum-raise"} for name in ("Ann", "Ben", "Cho")]
    table(ENGLISH, seats, {}, seed=4).run(out=out)
    return out, forging.lines_of(out / "events.jsonl")


def first(lines, kind):
    return forging.of_type(lines, kind)[0]


def _prices_of_one_dollar(lines):
    for line in forging.of_type(lines, "item_sold"):
        line["price"] = 1


def _sold_twice(lines):
    sold = first(lines, "item_sold")
    lines.insert(lines.index(sold) + 1, deepcopy(sold))


def _two_openings(lines):
    opened = first(lines, "sale_opened")
    lines.insert(lines.index(opened), deepcopy(opened))


def _labelled_twice(lines):
    lines.insert(2, deepcopy(lines[1]))


def _an_unknown_bidder_thinks(lines):
    told = {"seq": 0, "at": 0.0, "audience": "bidder:Zed", "type": "tried", "bidder": "Zed"}
    lines.insert(-1, told | {"item": "First House", "round": 1, "attempt": 1, "reason": "none"})


FORGED = {
    "prices of one dollar": _prices_of_one_dollar,
    "a negative price": lambda lines: first(lines, "item_sold").update(price=-5),
    "an item sold twice": _sold_twice,
    "two openings": _two_openings,
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
    "labelled twice": _labelled_twice,
    "a thought of nobody": _an_unknown_bidder_thinks,
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
def test_a_forged_log_is_found_without_any_key(attack, english, tmp_path):
    run, lines = english
    new = deepcopy(lines)
    FORGED[attack](new)
    (tmp_path / "config.json").write_bytes((run / "config.json").read_bytes())
    forging.write(tmp_path / "events.jsonl", new)
    verdict = verdict_on(tmp_path)
    assert not verdict.follows
    places = enumerate(zip_longest(lines, new, fillvalue={}), start=1)
    assert verdict.line == next(place for place, (was, line) in places if told(was) != told(line))


def told(line):
    return {name: value for name, value in line.items() if name not in ("seq", "digest")}


def test_the_first_line_that_differs_is_named_with_what_follows_and_what_is_there(english, tmp_path):
    lines = deepcopy(english[1])
    _prices_of_one_dollar(lines)
    sold = first(lines, "item_sold")
    price = first(english[1], "item_sold")["price"]
    forging.write(tmp_path / "events.jsonl", lines)
    verdict = verdict_on(tmp_path)
    assert (verdict.line, verdict.event) == (sold["seq"] + 1, "item_sold")
    assert (verdict.expected, verdict.found) == (f'{{"price": {price}}}', '{"price": 1}')


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_an_invented_end_after_the_first_ask_is_found_also_where_acts_are_missing(closed, whole, english, tmp_path):
    run, lines = english
    asked = lines.index(first(lines, "bidders_asked"))
    invented = [
        {**line, "winner": "Cho", "price": 1} if line["type"] == "item_sold" else line
        for line in forging.of_type(lines, "item_opened", "item_sold", "lot_closed")
    ]
    new = [*lines[: asked + 1], *([lines[-1]] if closed else []), *invented]
    if whole:
        (tmp_path / "config.json").write_bytes((run / "config.json").read_bytes())
    else:
        new = [{**new[0], "seed": None}, *forging.public(new)]
    forging.write(tmp_path / "events.jsonl", new)
    assert not verdict_on(tmp_path).follows


def test_an_opening_that_differs_is_no_turn_that_broke_off(english, tmp_path):
    lines = deepcopy(english[1])
    first(lines, "item_opened")["item"] = "Ghost"
    told = [{**lines[0], "seed": None}, *forging.public(lines)]
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
    for told in (new, [{**new[0], "seed": None}, *forging.public(new)]):
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
    for part in ("schema 9", "'mood' of 'item_sold'", "'bell_rung'", "no settings beside it"):
        assert part in said
    first(lines, "item_sold")["price"] = 3
    forging.write(tmp_path / "events.jsonl", lines)
    assert not verdict_on(tmp_path).follows


def test_settings_that_cannot_be_read_are_not_used_and_that_is_said(english, tmp_path):
    (tmp_path / "events.jsonl").write_bytes((english[0] / "events.jsonl").read_bytes())
    (tmp_path / "config.json").write_text('{"of": "a later version"}')
    verdict = verdict_on(tmp_path)
    assert verdict.follows
    assert "the settings beside it are none that this Harbor can read" in verdict.unchecked


def silent(game):
    return replace(game, from_public=None)


def test_a_game_that_tells_no_rules_from_public_events_is_checked_by_its_settings_and_without_them_it_says_so():
    one = auction("english", ["random"], seed=2)
    log = one.run().log
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harbor._house.checking.game_of", lambda _: silent(ENGLISH))
        assert check(log, with_items(one)).follows
        sold = next(entry for entry in log if isinstance(entry.event, ItemSold))
        forged = [one._replace(event=replace(one.event, price=Decimal(1))) if one is sold else one for one in log]
        assert not check(forged, with_items(one)).follows
        for told in (log, public(log)):
            verdict = check(told)
            assert verdict.level == "heading"
            assert "'english' does not make them of public events" in verdict.unchecked[0]


@pytest.mark.parametrize("game", ["first-price", "second-price", "beauty"])
def test_what_follows_from_acts_that_a_public_log_never_discloses_is_said_to_be_taken_as_told(game):
    one = auction(game, ["random", "rational", "random"], seed=3, show="nothing", runs=2)
    verdict = check(public(one.run().log))
    assert verdict.follows
    assert verdict.level == "public"


def test_a_log_without_a_sale_is_nothing_to_check():
    log = list(islice(played("english"), 3))
    with pytest.raises(LogError, match="before the sale opens"):
        check(log)
    assert not of_type(log, LotClosed)
    assert not of_type(log, SaleClosed)
