"""Experiments as data: games paired by common random numbers, slots filled in turn, mistakes named in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
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
    {"name": f"Item {letter}", "start": start, "true_value": 2 * start}
    for letter, start in zip("ABC", (30, 10, 20), strict=True)
]
ARMS = [{"name": "plain"}, {"name": "mindful", "auction": {"bidders": {"Ann": {"theory_of_mind": "inferred"}}}}]
PERSONAS = ("downsizing", "investment-buyers", "vacation-homes", "urban-dwellers")


def design(**changes: Any) -> dict[str, Any]:
    """Two arms under two conditions, in the shape of a TOML file."""
    auction = {
        "items": ITEMS,
        "bidders": [
            {"name": "Ann", "persona": "@1", "model": "@1"},
            {"name": "Ben", "persona": "@2", "model": "@2"},
            {"name": "Cho", "model": "@1"},
        ],
    }
    plain = {
        "name": "own",
        "title": "An experiment",
        "question": "Which?",
        "source": "nobody",
        "repeats": 3,
        "auction": auction,
        "models": ["simulated", "simulated"],
        "metrics": ["profit", "items_won"],
        "arms": ARMS,
        "conditions": [
            {"name": "poor", "auction": {"bidders": {"*": {"budget": 40}}}},
            {"name": "rich", "auction": {"bidders": {"*": {"budget": 100}}}},
        ],
    }
    return plain | changes


def made(**changes: Any) -> Experiment:
    return check(Experiment, design(**changes), "own.toml")


def seats(game: Trial) -> list[str]:
    return [bidder.name for bidder in game.config.bidders]


def changes(variation: Variation, key: str) -> bool:
    return key in variation.auction or (key == "items" and variation.order is not None)


# ---------------------------------------------------------------- pairing


@pytest.mark.parametrize("name", EACH)
def test_games_of_a_repeat_share_seed_items_order_and_seats_unless_these_are_what_is_varied(name):
    found = experiment(name)
    fixed = {
        (arm.name, condition.name)
        for arm in found.arms
        for condition in found.conditions
        if not changes(arm, "items") and not changes(condition, "items")
    }
    for repeat in (1, 2, 5):
        paired = [game for game in trials(found, 5) if game.repeat == repeat]
        assert len({game.config.seed for game in paired}) == 1
        assert len({game.config.items for game in paired if (game.arm, game.condition) in fixed}) <= 1
        by_bidders = {frozenset(seats(game)): seats(game) for game in paired}
        assert all(seats(game) == by_bidders[frozenset(seats(game))] for game in paired)


@pytest.mark.parametrize("name", EACH)
def test_orders_and_supplies_are_varied_over_the_same_items_and_seeds(name):
    for repeat in (1, 2):
        paired = [game for game in trials(experiment(name), 2) if game.repeat == repeat]
        listed = [game.config.items for game in paired if isinstance(experiment(name).auction.get("items"), list)]
        assert len({frozenset(item.name for item in items) for items in listed}) <= 1


@given(st.integers(0, 2**32), st.sets(st.sampled_from(("planning", "memory", "learning")), min_size=1))
def test_whatever_an_arm_switches_nothing_else_differs_in_its_games(seed, switched):
    values = {"planning": "static", "memory": "list", "learning": True}
    arms = [
        {"name": "plain"},
        {"name": "other", "auction": {"bidders": {"Ann": {key: values[key] for key in switched}}}},
    ]
    found = trials(made(arms=arms, seed=seed, order="random", personas=PERSONAS))
    for repeat in (1, 2, 3):
        for condition in ("poor", "rich"):
            plain, other = (game.config for game in found if (game.condition, game.repeat) == (condition, repeat))
            back = {bidder.name: bidder for bidder in plain.bidders}
            ann = next(bidder for bidder in other.bidders if bidder.name == "Ann")
            assert {key for key in values if getattr(ann, key) != getattr(back["Ann"], key)} == switched
            assert ann.model_copy(update={key: getattr(back["Ann"], key) for key in switched}) == back["Ann"]
            alike = {"name": "", "bidders": plain.bidders}
            assert other.model_copy(update=alike) == plain.model_copy(update=alike)
            assert [bidder.name for bidder in other.bidders] == [bidder.name for bidder in plain.bidders]


def test_repeats_differ_in_their_seeds_and_random_orders_are_drawn_anew():
    found = [game for game in trials(made(order="random", repeats=12)) if game.path.startswith("plain/poor")]
    assert len({game.config.seed for game in found}) == 12
    assert len({tuple(item.name for item in game.config.items) for game in found}) > 1


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(1, 3))
def test_over_a_round_of_repeats_every_persona_is_in_every_slot_and_every_bidder_in_every_seat_equally_often(
    seed, pool, rounds
):
    repeats = pool * 3 * rounds
    found = trials(made(seed=seed, personas=PERSONAS[:pool], repeats=repeats))
    for arm in ("plain", "mindful"):
        own = [game for game in found if (game.arm, game.condition) == (arm, "rich")]
        for name in ("Ann", "Ben"):
            held = Counter(
                next(iter(bidder.persona)) for game in own for bidder in game.config.bidders if bidder.name == name
            )
            assert set(held.values()) == {3 * rounds}
            assert len(held) == pool
        places = Counter((name, place) for game in own for place, name in enumerate(seats(game)))
        assert set(places.values()) == {pool * rounds}
        assert len(places) == 9


def test_seats_do_not_move_in_step_with_personas_nor_is_it_always_the_same_bidder_who_follows():
    bidders = [{"name": name, "persona": slot} for name, slot in (("Ann", "@1"), ("Ben", "@2"), ("Cho", "@3"))]
    found = trials(made(auction={"items": ITEMS, "bidders": bidders}, personas=PERSONAS[:3], repeats=90, arms=ARMS[:1]))
    own = [game.config.bidders for game in found if game.condition == "rich"]
    of_ann = [(seat, *one.persona) for seated in own for seat, one in enumerate(seated) if one.name == "Ann"]
    assert len(Counter(of_ann)) == 9
    followers = Counter(after.name for seated in own for one, after in pairwise(seated) if one.name == "Ann")
    assert set(followers) == {"Ben", "Cho"}


def test_arms_with_the_same_bidders_seat_them_alike_however_they_list_them():
    auction = design()["auction"]
    listed = [{"name": "plain"}, {"name": "back", "auction": {"bidders": auction["bidders"][::-1]}}]
    auction["bidders"][0]["planning"] = "static"
    for repeat in range(1, 8):
        found = [game for game in trials(made(arms=listed, repeats=7), 7) if game.repeat == repeat]
        assert len({tuple(seats(game)) for game in found}) == 1


def test_two_bidders_never_have_the_persona_of_one_slot_in_a_repeat():
    for game in trials(made(personas=PERSONAS, repeats=8)):
        ann, ben = (next(b for b in game.config.bidders if b.name == name).persona for name in ("Ann", "Ben"))
        assert set(ann).isdisjoint(ben)


def test_rotated_within_a_draw_the_personas_of_a_game_take_turns_and_nothing_else_changes():
    bidders = [{"name": name, "persona": slot} for name, slot in (("Ann", "@1"), ("Ben", "@2"), ("Cho", "@3"))]
    auction = {"items": {"count": 8, "matched": {"@1": 2, "@2": 2, "@3": 2}}, "bidders": bidders}
    alone = {"arms": ARMS[:1], "conditions": [{"name": "all"}]}
    found = trials(made(auction=auction, repeats=9, rotate_personas="within", order="random", **alone))
    for first in (0, 3, 6):
        draw = [game.config for game in found[first : first + 3]]
        assert len({game.seed for game in draw}) == len({game.items for game in draw}) == 1
        held = [{one.name: next(iter(one.persona)) for one in game.bidders} for game in draw]
        assert {frozenset(game.values()) for game in held} == {frozenset(held[0].values())}
        for name in ("Ann", "Ben", "Cho"):
            assert len({game[name] for game in held}) == 3
            assert len({[one.name for one in game.bidders].index(name) for game in draw}) == 3
    assert len({game.config.seed for game in found}) == 3
    assert len({(game.config.seed, game.draw) for game in found}) == 9, "games of a draw share no replies of a model"


def test_without_slots_there_is_nothing_to_rotate_within_a_draw():
    auction = {"items": ITEMS, "bidders": [{"name": "Ann"}, {"name": "Ben"}]}
    with pytest.raises(ConfigError, match="rotate_personas 'within' turns personas '@1', '@2'"):
        trials(made(auction=auction, arms=ARMS[:1], rotate_personas="within"))


def test_houses_matched_to_slots_are_the_same_whoever_holds_the_persona():
    for repeat in (1, 4):
        of = {game.arm: game.config for game in trials(experiment("persona-profit")) if game.repeat == repeat}
        assert len({config.items for config in of.values()}) == 1
        master = next(iter(next(b for b in of["own"].bidders if b.name == "Master").persona))
        assert sum(item.persona == master for item in of["own"].items) == 2
        assert all(set(bidder.persona) == {master} for bidder in of["shared-by-all"].bidders)


def test_houses_matched_to_a_bidder_of_two_personas_suit_them_in_turn():
    for game in trials(experiment("profiling"), 1):
        count = int(game.condition.removeprefix("matched-"))
        for rival in (bidder for bidder in game.config.bidders if bidder.persona):
            suited = Counter(item.persona for item in game.config.items if item.persona in rival.persona)
            assert sum(suited.values()) == count
            assert len(game.config.items) == 10
            if len(rival.persona) == 2:
                assert max(suited.values(), default=0) - min(suited[one] for one in rival.persona) <= 1


def test_one_more_matched_house_takes_the_place_of_a_filler_and_changes_nothing_else():
    found = experiment("profiling")
    for repeat in (1, 2, 3):
        sale = {(one.arm, one.condition): one.config.items for one in trials(found, 3) if one.repeat == repeat}
        for arm in ("single", "mixed"):
            steps = [sale[arm, f"matched-{count}"] for count in range(5)]
            for fewer, more in pairwise(steps):
                changed = [(one, other) for one, other in zip(fewer, more, strict=True) if one != other]
                assert len(changed) == 2  # one for each rival
        assert sale["single", "matched-0"] == sale["mixed", "matched-0"]
        for count, same in ((1, 10), (2, 8), (4, 6)):
            pairs = zip(sale["single", f"matched-{count}"], sale["mixed", f"matched-{count}"], strict=True)
            assert sum(one == other for one, other in pairs) == same


def test_the_houses_of_an_arm_are_the_same_when_the_others_are_left_out():
    whole, alone = experiment("profiling"), chosen_arms(experiment("profiling"), ["single"])
    held = {game.path: game.config.items for game in trials(whole, 2)}
    assert all(game.config.items == held[game.path] for game in trials(alone, 2))


@given(st.integers(0, 2**32), st.integers(0, 4), st.integers(0, 4), st.integers(8, 16))
def test_exactly_so_many_houses_suit_a_persona_as_are_wanted(seed, some, others, count):
    wanted = MatchedItems(count=count, matched={"Ann": some, "Ben": others})
    sale = matched_sale(HOMES, wanted, seed, {"Ann": PERSONAS[:1], "Ben": PERSONAS[1:3]}, {PERSONAS[3]})
    suits = Counter(item.persona for item in sale)
    assert len({item.name for item in sale}) == count
    assert (suits[PERSONAS[0]], suits[PERSONAS[1]], suits[PERSONAS[2]]) == (some, (others + 1) // 2, others // 2)
    assert not suits[PERSONAS[3]]


@pytest.mark.parametrize("houses", [{"count": 6}, {"count": 6, "matched": 1}, {"count": 6, "matched": {"@1": 2}}])
def test_sampled_houses_are_listed_in_the_order_of_the_design(houses):
    auction = design()["auction"] | {"items": houses}
    for order in ("ascending", "descending"):
        for one in trials(made(auction=auction, order=order)):
            starts = [item.start for item in one.config.items]
            assert starts == sorted(starts, reverse=order == "descending")
    with pytest.raises(ConfigError, match="is not one of all items"):
        trials(made(auction=auction, order=["Item A"]))


def test_a_series_draws_its_houses_itself_so_that_they_have_no_order():
    auction = design()["auction"] | {"items": {"count": 6}, "series": {"auctions": 2}}
    assert not isinstance(trials(made(auction=auction, metrics=["mean_rank"]))[0].config.items, tuple)
    with pytest.raises(ConfigError, match="order 'ascending': a series draws its items anew in each auction"):
        trials(made(auction=auction, metrics=["mean_rank"], order="ascending"))


def test_a_list_of_names_keeps_those_bidders_and_no_others():
    crowd = {game.condition: set(seats(game)) for game in trials(experiment("profiling-capacity"), 1)}
    assert crowd["rivals-2"] == {"Master", "Rival 1", "Rival 2"}
    assert len(crowd["rivals-6"]) == 7


def test_a_cell_is_repeated_as_its_arm_and_condition_say_or_as_often_as_is_asked_for():
    arms = [
        {"name": "plain", "repeats": 2},
        {"name": "mindful", "auction": {"bidders": {"Ann": {"theory_of_mind": "inferred"}}}},
    ]
    conditions = [design()["conditions"][0], design()["conditions"][1] | {"repeats": 5}]
    found = made(arms=arms, conditions=conditions)
    count = Counter((game.arm, game.condition) for game in trials(found))
    assert count == {("plain", "poor"): 2, ("plain", "rich"): 2, ("mindful", "poor"): 3, ("mindful", "rich"): 5}
    assert trial_count(found) == 12
    assert len(trials(found, 4)) == trial_count(found, 4) == 16


# ---------------------------------------------------------------- models


def test_given_models_fill_the_first_slots_and_the_rest_are_said_to_stand_in():
    stand_ins = [
        {"slot": "@1", "wants": "GPT-4", "uses": "a stand-in"},
        {"slot": "@2", "wants": "PaLM", "uses": "another"},
    ]
    found = made(stand_ins=stand_ins)
    assert model_slots(found) == ("@1", "@2")
    assert substitutes(found) == (
        "model slot @1, in place of GPT-4: a stand-in",
        "model slot @2, in place of PaLM: another",
    )
    given_one = with_models(found, ["openai:gpt-4o"])
    assert substitutes(given_one) == ("model slot @2, in place of PaLM: another",)
    played = {bidder.name: bidder.model for bidder in trials(given_one)[0].config.bidders}
    assert played == {"Ann": "openai:gpt-4o", "Cho": "openai:gpt-4o", "Ben": "simulated"}
    with pytest.raises(ConfigError, match="model 'c:c' is one too many: experiment 'own' has 2 slots"):
        with_models(found, ["a:a", "b:b", "c:c"])


def test_models_have_the_temperature_of_the_experiment_unless_their_settings_name_one():
    auction = design()["auction"] | {
        "models": {"cool": {"use": "openai:x", "temperature": 0.1}, "own": {"use": "openai:y"}}
    }
    found = trials(made(auction=auction, models=["cool", "own"], temperature=0.7))[0].config.models
    assert {name: one.temperature for name, one in found.items()} == {"cool": 0.1, "own": 0.7}


# ---------------------------------------------------------------- mistakes


def comparison(of: dict[str, str], against: dict[str, str], metric: str = "profit") -> dict[str, Any]:
    return {"comparisons": [{"metric": metric, "of": of, "against": against}]}


def published(metric: str = "profit", **value: Any) -> dict[str, Any]:
    return {"published": [{"source": "s", "model": "m", "metric": metric, "values": [{"value": 1, **value}]}]}


def arm(**auction: Any) -> dict[str, Any]:
    return {"arms": [{"name": "plain"}, {"name": "other", "auction": auction}]}


OTHER = "experiment 'own', arm 'other', condition 'poor': "
MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"metrics": ["proft"]}, "unknown metric 'proft'; did you mean 'profit'?"),
    ({"correlations": [["bids", "one"]]}, "unknown metric 'one'"),
    ({"repeats": 0}, "repeats 0"),
    (
        {"arms": [{"name": "a", "auction": {"models": {"m": {"requests_per_minute": float("nan")}}}}]},
        "models.m.requests_per_minute nan: must be a finite number",
    ),
    ({"auction": {"bidders": [{"name": "Ann", "budget": float("inf")}]}}, "bidders.1.budget inf: must be a finite"),
    ({"arms": []}, "arms: must contain at least one"),
    ({"arms": [{"name": "a"}, {"name": "a"}]}, "arm name 'a' is there twice"),
    ({"arms": [{"name": "../a"}]}, "names a folder; write words in lower case"),
    ({"arms": [{"name": "con"}]}, "names a folder, and 'con' is a device on some systems; name it otherwise"),
    ({"arms": [{"name": "a"}, {"name": "b"}]}, "arms 'a' and 'b' are equal; change one of them"),
    ({"conditions": [{"name": "a"}, {"name": "b"}]}, "conditions 'a' and 'b' are equal"),
    (
        {"conditions": [{"name": "a"}, {"name": "b", "auction": {"bidders": {"Ann": {"strategy": "on"}}}}]},
        "conditions 'a' and 'b' differ in bidding, too",
    ),
    (
        {"arms": [{"name": "a"}, {"name": "b", "auction": {"bidders": {"Ann": {"strategy": "on"}}}}]},
        "arms 'a' and 'b' differ in bidding, too: without it bidder 'Ann' goes by limit in the first and by call in",
    ),
    (comparison({"arm": "plain"}, {"arm": "plain"}), "two equal sides"),
    (comparison({"arm": "plain"}, {}), "only one side of the comparison of 'profit' names its arm"),
    (comparison({"arm": "plan"}, {"arm": "mindful"}), "unknown arm 'plan'; did you mean 'plain'?"),
    (comparison({"condition": "rch"}, {"condition": "poor"}), "unknown condition 'rch'; did you mean 'rich'?"),
    (comparison({"bidder": "An"}, {"bidder": "Ben"}), "unknown bidder 'An'; did you mean 'Ann'? (in arm 'plain'"),
    (comparison({"bidder": "Ann"}, {"bidder": "Ben"}, "rank"), "unknown metric 'rank'"),
    (comparison({"bidder": "Ann"}, {"bidder": "Ann", "metric": "spent"}), "unknown metric 'spent'"),
    (comparison({"bidder": "Ann"}, {"bidder": "Ann", "metric": "profit"}), "two equal sides"),
    (
        comparison({"bidder": "Ann"}, {"bidder": "Ann", "metric": "items_won"}),
        "the comparison of 'profit' is in count and dollars",
    ),
    (arm(items={"count": 10, "matched": {"Ann": 5}}), f"{OTHER}more than 4 items demanded that suit persona"),
    (arm(items={"count": 39, "matched": {"Ann": 0}}), f"{OTHER}39 items that match nobody demanded"),
    (published(bidder="Bn"), "unknown bidder 'Bn'; did you mean 'Ben'?"),
    (published(arm="plian"), "unknown arm 'plian'; did you mean 'plain'?"),
    (published("trueskill"), "unknown metric 'trueskill'"),
    ({"models": ["simulated"]}, "slot '@2' has no model, as models names 1"),
    ({"personas": ["downsizing"]}, "slot '@2' has no persona, as the pool has 1"),
    ({"personas": ["downsizng", "urban-dwellers"]}, "unknown persona 'downsizng'; did you mean 'downsizing'?"),
    ({"order": ["Item A", "Item B"]}, "order ['Item A', 'Item B'] is not one of all items"),
    ({"order": ["Item A", "Item B", "Item B"]}, "is not one of all items"),
    ({"order": "up"}, "order"),
    (arm(bidders={"Dan": {"strategy": "on"}}), f"{OTHER}unknown bidder 'Dan'"),
    (arm(bidders={"Ann": {"strateg": "on"}}), f"{OTHER}auction: unknown key 'strateg'; did you mean 'strategy'?"),
    (arm(bidders=["Ann", "Den"]), f"{OTHER}unknown bidder 'Den'; did you mean 'Ben'?"),
    (arm(bidders={"Ann": "strategy"}), OTHER),
    (arm(bidders=7), OTHER),
    (arm(items={"count": 10, "matched": {"@1": -1}}), OTHER),
    (arm(items={"count": 10, "matched": {"Dan": 1}}), f"{OTHER}unknown persona 'Dan'"),
    (arm(items={"count": 2, "matched": {"Ann": 4}}), f"{OTHER}4 matched items are more than the 2 for sale"),
    (arm(rules={"game": "chess"}), f"{OTHER}auction: unknown game 'chess'"),
    (arm(rules={"game": "water"}), OTHER),
    (arm(bidders=[{"name": "everyone"}, {"name": "Ann"}]), "bidder 'everyone' would be taken for somebody else"),
    ({"armz": []}, "unknown key 'armz'; did you mean 'arms'?"),
]


@pytest.mark.parametrize(("mistake", "complaint"), MISTAKES, ids=[complaint[:60] for _, complaint in MISTAKES])
def test_a_mistake_in_a_design_is_one_line_that_names_it(mistake, complaint):
    with pytest.raises(ConfigError) as refused:
        trials(made(**mistake))
    assert complaint in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_no_repeats_at_all_are_refused():
    with pytest.raises(ConfigError, match="repeats 0: ask for 1 to"):
        trials(made(), 0)


def test_a_file_that_is_no_toml_is_refused_with_its_line(tmp_path):
    (tmp_path / "own.toml").write_text("name = 'own'\narms = [\n")
    with pytest.raises(ConfigError, match="is not TOML"):
        experiment(str(tmp_path / "own.toml"))


KEYS = st.sampled_from(
    ("bidders", "items", "matched", "count", "rules", "game", "models", "name", "persona", "model", "Ann", "*", "@1")
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 50) | st.sampled_from(("", "x", "é\n", "@1", "@9", "Ann", "*")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, JSON, max_size=3))
def test_whatever_an_arm_holds_it_is_games_or_one_line(auction):
    held_or_refused(lambda: trials(made(**arm(**auction)), 1))


@given(st.dictionaries(KEYS, JSON, max_size=3))
def test_whatever_the_common_settings_hold_it_is_games_or_one_line(auction):
    held_or_refused(lambda: trials(made(auction=auction), 1))


def held_or_refused(resolve: Callable[[], list[Trial]]) -> None:
    try:
        assert all(isinstance(game.config, AuctionConfig) for game in resolve())
    except ConfigError as refused:
        assert len(str(refused).splitlines()) == 1  # noqa: PT017 - either is right
