"""Experiments as data: games paired by common random numbers, slots filled in turn, mistakes named in one line."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor._config.auction import AuctionConfig, check
from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.choices import chosen_arms
from harbor.evaluation._experiments.design import Experiment, Variation, model_slots, substitutes, with_models
from harbor.evaluation._experiments.draws import MatchedItems, matched_sale
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trials import Trial, trial_count, trials
from harbor.personas._catalog.catalogue import HOMES
from support.cases import EACH

ITEMS = [
    {"name": f"Item {name}", "start": cost, "true_value": 2 * cost} for name, cost in (("A", 30), ("B", 10), ("C", 20))
]
ARMS = [{"name": "plain"}, {"name": "mindful", "auction": {"bidders": {"Ann": {"theory_of_mind": "inferred"}}}}]
PERSONAS = ("downsizing", "investment-buyers", "vacation-homes", "urban-dwellers")
SLOTS = [{"name": name, "persona": slot} for name, slot in (("Ann", "@1"), ("Ben", "@2"), ("Cho", "@3"))]


def design(**changes: Any) -> dict[str, Any]:
    """Two arms under two conditions, in the shape of a TOML file."""
    models = ({"model": "@1"}, {"model": "@2"}, {"model": "@1"})
    bidders = [slot | model for slot, model in zip((*SLOTS[:2], {"name": "Cho"}), models, strict=True)]
    about = {"name": "own", "title": "An experiment", "question": "Which?", "source": "nobody", "repeats": 3}
    about |= {"models": ["simulated", "simulated"], "metrics": ["profit", "items_won"], "arms": ARMS}
    budgets = {name: {"bidders": {"*": {"budget": budget}}} for name, budget in (("poor", 40), ("rich", 100))}
    conditions = [{"name": name, "auction": auction} for name, auction in budgets.items()]
    return about | {"auction": {"items": ITEMS, "bidders": bidders}, "conditions": conditions} | changes


def made(**changes: Any) -> Experiment:
    return check(Experiment, design(**changes), "own.toml")


def seats(game: Trial) -> list[str]:
    return [bidder.name for bidder in game.config.bidders]


# ---------------------------------------------------------------- pairing


def same_items(variation: Variation) -> bool:
    return "items" not in variation.auction and variation.order is None


@pytest.mark.parametrize("name", EACH)
def test_games_of_a_repeat_share_seed_items_order_and_seats_unless_these_are_what_is_varied(name):
    found = experiment(name)
    cells = product(filter(same_items, found.arms), filter(same_items, found.conditions))
    fixed = {(arm.name, condition.name) for arm, condition in cells}
    for repeat in (1, 2, 5):
        paired = [game for game in trials(found, 5) if game.repeat == repeat]
        assert len({game.config.seed for game in paired}) == 1
        assert len({game.config.items for game in paired if (game.arm, game.condition) in fixed}) <= 1
        by_bidders = {frozenset(seats(game)): seats(game) for game in paired}
        assert all(seats(game) == by_bidders[frozenset(seats(game))] for game in paired)
        if isinstance(found.auction.get("items"), list):  # orders are of the same items
            assert len({frozenset(item.name for item in game.config.items) for game in paired}) <= 1


@given(st.integers(0, 2**32), st.sets(st.sampled_from(("planning", "memory", "learning")), min_size=1))
def test_whatever_an_arm_switches_nothing_else_differs_in_its_games(seed, switched):
    values = {"planning": "static", "memory": "list", "learning": True}
    changed = {"bidders": {"Ann": {key: values[key] for key in switched}}}
    found = trials(
        made(arms=[ARMS[0], {"name": "other", "auction": changed}], seed=seed, order="random", personas=PERSONAS)
    )
    for repeat, condition in product((1, 2, 3), ("poor", "rich")):
        plain, other = (game.config for game in found if (game.condition, game.repeat) == (condition, repeat))
        first, ann = (next(one for one in config.bidders if one.name == "Ann") for config in (plain, other))
        assert {key for key in values if getattr(ann, key) != getattr(first, key)} == switched
        assert ann.model_copy(update={key: getattr(first, key) for key in switched}) == first
        alike = {"name": "", "bidders": plain.bidders}
        assert other.model_copy(update=alike) == plain.model_copy(update=alike)
        assert [one.name for one in other.bidders] == [one.name for one in plain.bidders]


def test_random_orders_are_drawn_anew_and_arms_with_the_same_bidders_seat_them_alike_however_they_list_them():
    auction = design()["auction"]
    listed = [ARMS[0], {"name": "back", "auction": {"bidders": auction["bidders"][::-1]}}]
    auction["bidders"][0]["planning"] = "static"
    found = trials(made(arms=listed, repeats=12, order="random"))
    assert len({game.config.seed for game in found}) == 12
    assert len({(game.repeat, *seats(game)) for game in found}) == 12
    assert len({tuple(item.name for item in game.config.items) for game in found}) > 1


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(1, 3))
def test_over_a_round_of_repeats_every_persona_is_in_every_slot_and_every_bidder_in_every_seat_equally_often(
    seed, pool, rounds
):
    found = trials(made(seed=seed, personas=PERSONAS[:pool], repeats=pool * 3 * rounds))
    for arm in ("plain", "mindful"):
        own = [game for game in found if (game.arm, game.condition) == (arm, "rich")]
        seated = [{one.name: (place, *one.persona) for place, one in enumerate(game.config.bidders)} for game in own]
        assert all(game["Ann"][1] != game["Ben"][1] for game in seated)
        for name in ("Ann", "Ben"):
            held = Counter(game[name][1] for game in seated)
            assert (set(held.values()), len(held)) == ({3 * rounds}, pool)
        places = Counter((name, one[0]) for game in seated for name, one in game.items())
        assert (set(places.values()), len(places)) == ({pool * rounds}, 9)


def test_seats_do_not_move_in_step_with_personas_nor_is_it_always_the_same_bidder_who_follows():
    auction = {"items": ITEMS, "bidders": SLOTS}
    found = trials(made(auction=auction, personas=PERSONAS[:3], repeats=90, arms=ARMS[:1]))
    own = [game.config.bidders for game in found if game.condition == "rich"]
    assert len({(seat, *one.persona) for seated in own for seat, one in enumerate(seated) if one.name == "Ann"}) == 9
    followers = {after.name for seated in own for one, after in pairwise(seated) if one.name == "Ann"}
    assert followers == {"Ben", "Cho"}


def test_rotated_within_a_draw_the_personas_of_a_game_take_turns_and_nothing_else_changes():
    auction = {"items": {"count": 8, "matched": {"@1": 2, "@2": 2, "@3": 2}}, "bidders": SLOTS}
    alone = {"arms": ARMS[:1], "conditions": [{"name": "all"}], "rotate_personas": "within"}
    found = trials(made(auction=auction, repeats=9, order="random", **alone))
    for first in (0, 3, 6):
        draw = [game.config for game in found[first : first + 3]]
        assert len({game.seed for game in draw}) == len({game.items for game in draw}) == 1
        seated = [{one.name: (place, *one.persona) for place, one in enumerate(game.bidders)} for game in draw]
        assert len({frozenset(persona for _, persona in game.values()) for game in seated}) == 1
        for name in ("Ann", "Ben", "Cho"):
            assert [len(set(values)) for values in zip(*(game[name] for game in seated), strict=True)] == [3, 3]
    assert len({game.config.seed for game in found}) == 3
    assert len({(game.config.seed, game.draw) for game in found}) == 9, "games of a draw share no replies of a model"
    without_slots = {"items": ITEMS, "bidders": [{"name": "Ann"}, {"name": "Ben"}]}
    with pytest.raises(ConfigError, match="rotate_personas 'within' turns personas '@1', '@2'"):
        trials(made(auction=without_slots, **alone))


def test_houses_matched_to_slots_are_the_same_whoever_holds_the_persona():
    for repeat in (1, 4):
        of = {game.arm: game.config for game in trials(experiment("persona-profit")) if game.repeat == repeat}
        assert len({config.items for config in of.values()}) == 1
        master = next(iter(next(b for b in of["own"].bidders if b.name == "Master").persona))
        assert sum(item.persona == master for item in of["own"].items) == 2
        assert all(set(bidder.persona) == {master} for bidder in of["shared-by-all"].bidders)


def test_one_more_matched_house_takes_the_place_of_a_filler_and_changes_nothing_else():
    found = experiment("profiling")
    for repeat in (1, 2, 3):
        sale = {(one.arm, one.condition): one.config.items for one in trials(found, 3) if one.repeat == repeat}
        single, mixed = ([sale[arm, f"matched-{count}"] for count in range(5)] for arm in ("single", "mixed"))

        def alike(one, other):
            return sum(mine == theirs for mine, theirs in zip(one, other, strict=True))

        for fewer, more in (*pairwise(single), *pairwise(mixed)):
            assert alike(fewer, more) == len(more) - 2  # one for each rival
        assert [alike(single[count], mixed[count]) for count in (0, 1, 2, 4)] == [10, 10, 8, 6]
    alone = trials(chosen_arms(found, ["single"]), 2)
    held = {game.path: game.config.items for game in trials(found, 2)}
    assert all(game.config.items == held[game.path] for game in alone), "left out, other arms change nothing"


@given(st.integers(0, 2**32), st.integers(0, 4), st.integers(0, 4), st.integers(8, 16))
def test_exactly_so_many_houses_suit_a_persona_as_are_wanted(seed, some, others, count):
    wanted = MatchedItems(count=count, matched={"Ann": some, "Ben": others})
    sale = matched_sale(HOMES, wanted, seed, {"Ann": PERSONAS[:1], "Ben": PERSONAS[1:3]}, {PERSONAS[3]})
    suits = Counter(item.persona for item in sale)
    assert len({item.name for item in sale}) == count
    assert (suits[PERSONAS[0]], suits[PERSONAS[1]], suits[PERSONAS[2]]) == (some, (others + 1) // 2, others // 2)
    assert not suits[PERSONAS[3]]


@pytest.mark.parametrize("houses", [{"count": 6}, {"count": 6, "matched": 1}, {"count": 6, "matched": {"@1": 2}}])
def test_sampled_houses_are_listed_in_the_order_of_the_design_but_for_those_of_a_series(houses):
    auction = design()["auction"] | {"items": houses}
    for order in ("ascending", "descending"):
        for one in trials(made(auction=auction, order=order)):
            starts = [item.start for item in one.config.items]
            assert starts == sorted(starts, reverse=order == "descending")
    with pytest.raises(ConfigError, match="is not one of all items"):
        trials(made(auction=auction, order=["Item A"]))
    series = {"auction": auction | {"series": {"auctions": 2}}, "metrics": ["mean_rank"]}
    if "matched" not in houses:
        assert not isinstance(trials(made(**series))[0].config.items, tuple)
        with pytest.raises(ConfigError, match="order 'ascending': a series draws its items anew in each auction"):
            trials(made(**series, order="ascending"))


def test_a_cell_is_repeated_as_its_arm_and_condition_say_or_as_often_as_is_asked_for():
    poor, rich = design()["conditions"]
    found = made(arms=[ARMS[0] | {"repeats": 2}, ARMS[1]], conditions=[poor, rich | {"repeats": 5}])
    count = Counter((game.arm, game.condition) for game in trials(found))
    assert count == {("plain", "poor"): 2, ("plain", "rich"): 2, ("mindful", "poor"): 3, ("mindful", "rich"): 5}
    assert trial_count(found) == 12
    assert len(trials(found, 4)) == trial_count(found, 4) == 16
    with pytest.raises(ConfigError, match="repeats 0: ask for 1 to"):
        trials(found, 0)


# ---------------------------------------------------------------- models


def test_given_models_fill_the_first_slots_and_the_rest_are_said_to_stand_in():
    wants = {"@1": ("GPT-4", "a stand-in"), "@2": ("PaLM", "another")}
    found = made(stand_ins=[{"slot": slot, "wants": model, "uses": other} for slot, (model, other) in wants.items()])
    said = tuple(f"model slot {slot}, in place of {model}: {other}" for slot, (model, other) in wants.items())
    assert (model_slots(found), substitutes(found)) == (("@1", "@2"), said)
    given_one = with_models(found, ["openai:gpt-4o"])
    assert substitutes(given_one) == said[1:]
    played = {bidder.name: bidder.model for bidder in trials(given_one)[0].config.bidders}
    assert played == {"Ann": "openai:gpt-4o", "Cho": "openai:gpt-4o", "Ben": "simulated"}
    with pytest.raises(ConfigError, match="model 'c:c' is one too many: experiment 'own' has 2 slots"):
        with_models(found, ["a:a", "b:b", "c:c"])


def test_models_have_the_temperature_of_the_experiment_unless_their_settings_name_one():
    models = {"cool": {"use": "openai:x", "temperature": 0.1}, "own": {"use": "openai:y"}}
    auction = design()["auction"] | {"models": models}
    found = trials(made(auction=auction, models=["cool", "own"], temperature=0.7))[0].config.models
    assert {name: one.temperature for name, one in found.items()} == {"cool": 0.1, "own": 0.7}


# ---------------------------------------------------------------- mistakes


def comparison(of: dict[str, str], against: dict[str, str], metric: str = "profit") -> dict[str, Any]:
    return {"comparisons": [{"metric": metric, "of": of, "against": against}]}


def published(metric: str = "profit", **value: Any) -> dict[str, Any]:
    return {"published": [{"source": "s", "model": "m", "metric": metric, "values": [{"value": 1, **value}]}]}


def arm(**auction: Any) -> dict[str, Any]:
    return {"arms": [{"name": "plain"}, {"name": "other", "auction": auction}]}


def bidding(**ann: Any) -> dict[str, Any]:
    return {"auction": {"bidders": {"Ann": ann}}}


NAN = float("nan")
ONE = {"arm": "plain"}
ANN, SPENT, WON = ({"bidder": "Ann"} | more for more in ({}, {"metric": "spent"}, {"metric": "items_won"}))
OTHER = "experiment 'own', arm 'other', condition 'poor': "
MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"metrics": ["proft"]}, "unknown metric 'proft'; did you mean 'profit'?"),
    ({"correlations": [["bids", "one"]]}, "unknown metric 'one'"),
    ({"metrics": ["nowhere:IT"]}, "metric 'nowhere:IT': 'nowhere:IT' can't be imported (ModuleNotFoundError"),
    ({"repeats": 0}, "repeats 0"), ({"arms": []}, "arms: must contain at least one"), ({"order": "up"}, "order"),
    (arm(models={"m": {"requests_per_minute": NAN}}), "models.m.requests_per_minute nan: must be a finite number"),
    ({"arms": [{"name": "a"}, {"name": "a"}]}, "arm name 'a' is there twice"),
    ({"arms": [{"name": "../a"}]}, "names a folder; write words in lower case"),
    ({"arms": [{"name": "con"}]}, "names a folder, and 'con' is a device on some systems; name it otherwise"),
    ({"arms": [{"name": "a"}, {"name": "b"}]}, "arms 'a' and 'b' are equal; change one of them"),
    ({"conditions": [{"name": "a"}, {"name": "b"} | bidding(strategy="on")]}, "'a' and 'b' differ in bidding, too"),
    (
        {"arms": [{"name": "a"}, {"name": "b"} | bidding(strategy="on")]},
        "arms 'a' and 'b' differ in bidding, too: without it bidder 'Ann' goes by limit in the first and by call in",
    ),
    (comparison(ONE, ONE), "two equal sides"), (comparison(ANN, SPENT), "unknown metric 'spent'"),
    (comparison(ONE, {}), "only one side of the comparison of 'profit' names its arm"),
    (comparison({"arm": "plan"}, {"arm": "mindful"}), "unknown arm 'plan'; did you mean 'plain'?"),
    (comparison({"bidder": "An"}, {"bidder": "Ben"}), "unknown bidder 'An'; did you mean 'Ann'? (in arm 'plain'"),
    (comparison(ANN, ANN | {"metric": "profit"}), "two equal sides"),
    (comparison(ANN, WON), "the comparison of 'profit' is in count and dollars"),
    (arm(items={"count": 10, "matched": {"Ann": 5}}), f"{OTHER}more than 4 items demanded that suit persona"),
    (arm(items={"count": 39, "matched": {"Ann": 0}}), f"{OTHER}39 items that match nobody demanded"),
    (published(bidder="Bn"), "unknown bidder 'Bn'; did you mean 'Ben'?"),
    (published("trueskill"), "unknown metric 'trueskill'"),
    ({"models": ["simulated"]}, "slot '@2' has no model, as models names 1"),
    ({"personas": ["downsizing"]}, "slot '@2' has no persona, as the pool has 1"),
    ({"personas": ["downsizng", "urban-dwellers"]}, "unknown persona 'downsizng'; did you mean 'downsizing'?"),
    ({"order": ["Item A", "Item B"]}, "order ['Item A', 'Item B'] is not one of all items"),
    (arm(bidders={"Dan": {"strategy": "on"}}), f"{OTHER}unknown bidder 'Dan'"),
    (arm(bidders={"Ann": {"strateg": "on"}}), f"{OTHER}auction: unknown key 'strateg'; did you mean 'strategy'?"),
    (arm(bidders=["Ann", "Den"]), f"{OTHER}unknown bidder 'Den'; did you mean 'Ben'?"),
    (arm(bidders=7), OTHER), (arm(items={"count": 10, "matched": {"@1": -1}}), OTHER),
    (arm(rules={"game": "water"}), OTHER),
    (arm(items={"count": 10, "matched": {"Dan": 1}}), f"{OTHER}unknown persona 'Dan'"),
    (arm(items={"count": 2, "matched": {"Ann": 4}}), f"{OTHER}4 matched items are more than the 2 for sale"),
    (arm(bidders=[{"name": "everyone"}, {"name": "Ann"}]), "bidder 'everyone' would be taken for somebody else"),
    ({"armz": []}, "unknown key 'armz'; did you mean 'arms'?"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "complaint"), MISTAKES, ids=[complaint[:60] for _, complaint in MISTAKES])
def test_a_mistake_in_a_design_is_one_line_that_names_it(mistake, complaint):
    with pytest.raises(ConfigError) as refused:
        trials(made(**mistake))
    assert complaint in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_a_file_that_is_no_toml_or_is_not_there_is_refused_as_an_experiment(tmp_path):
    (tmp_path / "own.toml").write_text("name = 'own'\narms = [\n")
    with pytest.raises(ConfigError, match="is not TOML"):
        experiment(str(tmp_path / "own.toml"))
    with pytest.raises(ConfigError, match=r"^experiment 'none\.toml' can't be read"):
        experiment("none.toml")


KEYS = st.sampled_from(
    ("bidders", "items", "matched", "count", "rules", "game", "models", "name", "persona", "model", "Ann", "*", "@1")
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 50) | st.sampled_from(("", "x", "é\n", "@1", "@9", "Ann", "*")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, JSON, max_size=3), st.booleans())
def test_whatever_an_arm_or_the_common_settings_hold_it_is_games_or_one_line(auction, in_an_arm):
    try:
        found = trials(made(**(arm(**auction) if in_an_arm else {"auction": auction})), 1)
        assert all(isinstance(game.config, AuctionConfig) for game in found)
    except ConfigError as refused:
        assert len(str(refused).splitlines()) == 1  # noqa: PT017 - either is right
