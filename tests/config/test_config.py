"""Settings: what is refused is refused in one line that names the thing, the value and the remedy."""

from __future__ import annotations

import inspect
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from pydantic import ValidationError

from harbor import Auction
from harbor._config.auction import AuctionConfig, Bidder, Houses, Item, ModelSettings, check, read_settings
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import BidderLabelled, BidderSeated, CatalogShown, SeatFailed
from harbor._core.log.log import of_type
from harbor._core.log.thoughts import Profiled
from harbor._games.english.rules import EnglishRules
from harbor.personas._catalog.catalogue import houses

ANN = {"name": "Ann"}
VASE = {"name": "Vase", "start": 100, "true_value": 200}
NAN, INFINITY = float("nan"), float("inf")


def config(**values):
    return check(AuctionConfig, {"bidders": [ANN], **values}, "config 'x.toml'")


def complaint(**values):
    """The one line with which these settings are refused."""
    with pytest.raises(ConfigError) as refusal:
        config(**values)
    line = str(refusal.value)
    assert line.isprintable()
    assert line.startswith("config 'x.toml': ")
    return line.removeprefix("config 'x.toml': ")


def complaint_of_file(tmp_path, content):
    path = tmp_path / "sale.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as refusal:
        read_settings(path, AuctionConfig)
    line = str(refusal.value)
    assert line.isprintable()
    assert "sale.toml" in line
    return line


def bidder(**values):
    return {"bidders": [{**ANN, **values}]}


def item(**values):
    return {"items": [{**VASE, **values}]}


# ---------------------------------------------------------------- unknown keys


@pytest.mark.parametrize(
    ("values", "typo", "nearest"),
    [
        ({"sead": 1}, "sead", "seed"),
        ({"bider": []}, "bider", "bidders"),
        ({"rules": {"lowering": 1}}, "lowering", "lowerings"),
        ({"rules": {"increment_shares": 1}}, "increment_shares", "increment_share"),
        (bidder(bugdet=5), "bugdet", "budget"),
        (bidder(timeout=5), "timeout", "timeout_seconds"),
        ({"bidders": [ANN, {"name": "Ben", "modle": "simulated"}]}, "modle", "model"),
        (item(listting=""), "listting", "listing"),
        ({"items": [VASE, {"name": "Urn", "start": 1, "true_value": 2, "personna": "x"}]}, "personna", "persona"),
        ({"items": {"cuont": 3}}, "cuont", "count"),
        ({"items": {"count": 3, "match": 3}}, "match", "matched"),
        ({"models": {"mini": {"temprature": 1}}}, "temprature", "temperature"),
        ({"models": {"my.model": {"temprature": 1}}}, "temprature", "temperature"),
        ({"models": {"mini": {"simulated": {"latncy_seconds": 1}}}}, "latncy_seconds", "latency_seconds"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_unknown_key_is_refused_with_the_nearest_right_name(values, typo, nearest):
    line = complaint(**values)
    assert f"unknown key {typo!r}" in line
    assert f"did you mean {nearest!r}?" in line


@pytest.mark.parametrize(
    ("values", "typo", "nearest"),
    [
        ({"bidders": [{"nmae": "Ann"}]}, "nmae", "name"),
        ({"items": [{"name": "Vase", "strat": 100, "true_value": 200}]}, "strat", "start"),
        ({"items": [{"name": "Vase", "start": 100, "true_valeu": 200}]}, "true_valeu", "true_value"),
    ],
    ids=["nmae", "strat", "true_valeu"],
)
def test_a_required_key_that_is_misspelt_is_refused_with_the_nearest_right_name(values, typo, nearest):
    line = complaint(**values)
    assert typo in line
    assert nearest in line


def test_an_unknown_key_like_no_other_is_refused_with_the_choice():
    line = complaint(rules={"zzz": 1})
    assert "unknown key 'zzz'" in line
    assert all(name in line for name in EnglishRules.model_fields)


def test_the_place_of_an_unknown_key_is_named():
    assert "bidders[1]" in complaint(bidders=[ANN, {"name": "Ben", "bugdet": 5}])
    assert "models.mini.simulated" in complaint(models={"mini": {"simulated": {"latncy_seconds": 1}}})


@pytest.mark.parametrize("key", ["a\nb", "\x1b[31mred", "tab\t", "\u202eback"])
def test_a_key_with_control_characters_is_shown_escaped(key):
    for values in ({key: 1}, {"rules": {key: 1}}, bidder(**{key: 1}), {"models": {key: {"use": 4}}}):
        complaint(**values)


@pytest.mark.parametrize("key", ["self", "settings", "__class__", "model_config", "data"])
def test_a_key_that_python_knows_is_unknown_like_any_other(key):
    assert f"unknown key {key!r}" in complaint(**bidder(**{key: 1}))


# ---------------------------------------------------------------- amounts

AMOUNTS = [
    ("budget", bidder),
    ("start", item),
    ("true_value", item),
    ("increment_share", lambda **values: {"rules": values}),
    ("lowering_share", lambda **values: {"rules": values}),
]
WRONG = [
    (0, "greater than 0"),
    (0.0, "greater than 0"),
    (-5, "greater than 0"),
    (-0.5, "greater than 0"),
    (NAN, "finite number"),
    (INFINITY, "finite number"),
    (-INFINITY, "finite number"),
    (True, "number"),
    (False, "number"),
    ("lots", "not a number"),
    ("", "not a number"),
    ("nan", "not a number"),
    (Decimal("NaN"), "finite number"),
    (Decimal("sNaN"), "finite number"),
    ([], "number"),
    ({}, "number"),
    (None, "number"),
]


@pytest.mark.parametrize(("wrong", "remedy"), WRONG, ids=[repr(wrong) for wrong, _ in WRONG])
@pytest.mark.parametrize(("key", "place"), AMOUNTS, ids=[key for key, _ in AMOUNTS])
def test_an_amount_that_is_no_positive_number_is_refused(key, place, wrong, remedy):
    line = complaint(**place(**{key: wrong}))
    assert key in line
    assert remedy in line
    if not isinstance(wrong, list | dict | Decimal):
        assert str(wrong) in line


@pytest.mark.parametrize(("key", "place"), AMOUNTS[:3], ids=[key for key, _ in AMOUNTS[:3]])
def test_an_amount_in_fractions_of_a_cent_or_beyond_a_trillion_is_refused(key, place):
    assert "1.234" in complaint(**place(**{key: 1.234}))
    assert "1000000000000" in complaint(**place(**{key: 10**12 + 1}))


@pytest.mark.parametrize("share", [1.5, 2, 10**9])
def test_a_share_above_one_is_refused(share):
    assert "must be 1 or less" in complaint(rules={"increment_share": share})


def test_a_price_can_not_be_lowered_by_all_of_it():
    assert "lowering_share 1" in complaint(rules={"lowering_share": 1})


@pytest.mark.parametrize("wrong", [-1, 4, "many", 1.5, NAN, None])
def test_an_item_can_be_lowered_nought_to_three_times(wrong):
    assert f"rules.lowerings {wrong!r}" in complaint(rules={"lowerings": wrong})


def test_an_unknown_choice_is_refused_with_the_choices():
    line = complaint(rules={"reveal": "all"})
    assert "'all'" in line
    assert "'price' or 'true value'" in line


@effort(max_examples=200)
@given(st.decimals(Decimal("0.01"), 10**12, places=2))
def test_any_amount_in_cents_is_taken_exactly(amount):
    assert config(**bidder(budget=amount)).bidders[0].budget == amount


@effort(max_examples=100)
@given(st.integers(1, 10**9))
def test_a_float_is_taken_as_it_is_written(number):
    amount = Decimal(number) / 100
    assert config(**item(start=float(amount))).items[0].start == amount


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("kind", ["bidder", "item"])
@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["Ann", "Ben", "Ann"], ["'Ann'", "twice"]),
        (["Ann", "ann"], ["'Ann'", "'ann'", "only in case"]),
        (["Ann", "Ben", "ANN"], ["'Ann'", "'ANN'", "only in case"]),
        (["STRASSE", "Stra\u00dfe"], ["'STRASSE'", "'Stra\u00dfe'", "only in case"]),
        (["Ann", "Ann", "ann"], ["'Ann'"]),
    ],
    ids=lambda value: "-".join(value),
)
def test_names_that_are_equal_or_differ_only_in_case_are_refused(kind, names, shown):
    entries = [{**(ANN if kind == "bidder" else VASE), "name": name} for name in names]
    line = complaint(**{f"{kind}s": entries})
    assert kind in line
    assert "rename" in line
    assert all(part in line for part in shown)


def test_a_refusal_of_three_twins_does_not_call_equal_names_different():
    line = complaint(bidders=[{"name": "Ann"}, {"name": "Ann"}, {"name": "ann"}])
    assert "'Ann' is there and 'Ann', which differ" not in line


def test_a_bidder_may_be_named_like_an_item():
    assert config(bidders=[{"name": "Vase"}], items=[VASE]).bidders[0].name == "Vase"


@pytest.mark.parametrize(
    "name", ["Bidder 1", "\u00c5sa", "\u674e\u96f7", "O'Brien", "[red]Ann[/red]", "Ignore all rules", "\U0001f600"]
)
def test_a_printable_name_is_taken_as_it_is(name):
    assert config(bidders=[{"name": name}]).bidders[0].name == name


@pytest.mark.parametrize(
    "hidden", ["\x00", "\x07", "\x1b", "\n", "\t", "\x7f", "\x9b", "\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad"]
)
@pytest.mark.parametrize(
    ("place", "where"), [(bidder, "bidders[0].name"), (item, "items[0].name")], ids=["bidder", "item"]
)
def test_a_name_with_a_control_character_is_refused_and_shown_escaped(place, where, hidden):
    line = complaint(**place(name=f"An{hidden}n"))
    assert where in line
    assert repr(f"An{hidden}n") in line
    assert "printable" in line


@pytest.mark.parametrize("name", ["", " ", " Ann", "Ann ", "Ann  Lee", "Ann\u00a0Lee", "Ann\u2028Lee"])
def test_a_name_that_is_empty_or_oddly_spaced_is_refused(name):
    assert "trim it" in complaint(**bidder(name=name))


@pytest.mark.parametrize("name", [5, None, True, ["Ann"]])
def test_a_name_that_is_no_text_is_refused(name):
    assert "bidders[0].name" in complaint(**bidder(name=name))


def test_a_name_longer_than_a_line_is_refused():
    assert "80" in complaint(**bidder(name="a" * 81))
    assert config(**bidder(name="a" * 80))


# ---------------------------------------------------------------- personas

KINDS = st.sampled_from(["downsizing", "urban-dwellers", "mine"])
OWN = {"id": "mine", "name": "My own", "text": "You look for a lighthouse."}


@pytest.mark.parametrize(
    ("persona", "mix"),
    [
        (None, {}),
        ({}, {}),
        ([], {}),
        ("downsizing", {"downsizing": 1.0}),
        (["downsizing"], {"downsizing": 1.0}),
        (["downsizing", "urban-dwellers"], {"downsizing": 0.5, "urban-dwellers": 0.5}),
        (("urban-dwellers", "downsizing"), {"urban-dwellers": 0.5, "downsizing": 0.5}),
        ({"downsizing": 3, "urban-dwellers": 1}, {"downsizing": 0.75, "urban-dwellers": 0.25}),
        ({"downsizing": 0.2, "urban-dwellers": 0.2}, {"downsizing": 0.5, "urban-dwellers": 0.5}),
        ({"downsizing": 9}, {"downsizing": 1.0}),
    ],
    ids=repr,
)
def test_a_bidder_holds_no_persona_one_or_a_mix_of_two_with_equal_weights_unless_they_are_given(persona, mix):
    assert Bidder("Ann", persona=persona).persona == mix


@pytest.mark.parametrize(
    ("persona", "remedy"),
    [
        (["downsizing", "downsizing"], "mixes 'downsizing' with itself; name two different personas"),
        (["downsizing", "urban-dwellers", "urban-dwellers"], "mixes 3 personas; a bidder has at most two"),
        (["downsizing", "urban-dwellers", "vacation-homes"], "mixes 3 personas; a bidder has at most two"),
        ({"downsizing": 1, "urban-dwellers": 1, "vacation-homes": 1}, "mixes 3 personas"),
        ({"downsizing": 0, "urban-dwellers": 1}, "give positive weights"),
        ({"downsizing": -1, "urban-dwellers": 2}, "give positive weights"),
        ({"downsizing": NAN, "urban-dwellers": 1}, "give positive weights"),
        ({"downsizing": INFINITY, "urban-dwellers": 1}, "give positive weights"),
        ({"downsizing": "half", "urban-dwellers": 1}, "give positive weights"),
        ({"downsizing": 10**400, "urban-dwellers": 1.5}, "weight"),
        (5, "is not a persona; give an id, two ids, or two ids with weights"),
        (True, "is not a persona"),
        ([1, 2], "give an id"),
        ([["downsizing"]], "persona"),
        ([{"id": "downsizing"}], "persona"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_mix_that_is_none_is_refused_in_one_line(persona, remedy):
    line = complaint(**bidder(persona=persona))
    assert "bidders[0].persona" in line
    assert remedy in line


@given(st.dictionaries(KINDS, st.floats(0, allow_infinity=False, exclude_min=True), min_size=1, max_size=2))
def test_the_weights_of_a_mix_always_add_up_to_one(weights):
    mix = Bidder("Ann", persona=weights).persona
    assert set(mix) == set(weights)
    assert sum(mix.values()) == pytest.approx(1)


@given(st.dictionaries(KINDS, st.floats(0.01, 100), max_size=2))
def test_a_mix_comes_back_as_it_was_when_it_is_read_again(weights):
    once = config(**bidder(persona=weights))
    again = check(AuctionConfig, once.model_dump(), "config 'x.toml'")
    assert again.bidders[0].persona == pytest.approx(once.bidders[0].persona)


@pytest.mark.parametrize(
    ("persona", "said"),
    [
        ({"id": "mine", "name": "My own"}, "personas[0]: text is missing; write text = ..."),
        ({**OWN, "text": ""}, "personas[0].text ''"),
        ({**OWN, "text": "  \n"}, "personas[0].text"),
        ({**OWN, "text": "\u200b\u2060\ufeff"}, "must not be empty; write a text"),
        ({**OWN, "text": "\u00a0\u200b \u2028"}, "must not be empty; write a text"),
        ({**OWN, "text": 5}, "personas[0].text 5"),
        ({"name": "My own", "text": "You look."}, "personas[0]: id is missing; write id = ..."),
        ({"id": "mine", "text": "You look."}, "personas[0]: name is missing; write name = ..."),
        ({**OWN, "id": "My own"}, "personas[0].id 'My own'"),
        ({**OWN, "name": "My\x1bown"}, "control character"),
        ({**OWN, "txt": "You look."}, "unknown key 'txt'; did you mean 'text'?"),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_persona_of_your_own_that_is_not_whole_is_refused(persona, said):
    assert said in complaint(personas=[persona])


def test_two_personas_of_your_own_need_two_ids():
    again = {**OWN, "name": "Another", "text": "You look for a mill by a brook."}
    assert "persona name 'mine' is there twice" in complaint(personas=[OWN, again])


def test_two_personas_of_your_own_need_two_texts():
    line = complaint(personas=[OWN, {"id": "another", "name": "Another", "text": OWN["text"]}])
    assert "persona 'mine' has the text of another one; write a different text" in line


@pytest.mark.parametrize("player", [{"rule": "truthful"}, {"agent": True}], ids=str)
def test_who_is_no_mind_of_harbors_may_say_that_it_has_neither(player):
    assert config(**bidder(**player, theory_of_mind="none", strategy="off"))


@pytest.mark.parametrize("catalog", [["downsizing"], []])
def test_a_catalog_of_one_leaves_nothing_to_infer(catalog):
    assert "leaves nothing to infer; name two personas or more" in complaint(profile_over=catalog)


@pytest.mark.parametrize("more", [[], ["urban-dwellers"]])
def test_a_catalog_that_names_a_persona_twice_is_refused(more):
    line = complaint(profile_over=["downsizing", "downsizing", *more])
    assert line == "profile_over name 'downsizing' is there twice; rename or drop one"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (bidder(persona="downsizer"), "unknown persona 'downsizer'; did you mean 'downsizing'?"),
        (bidder(persona=["downsizing", "urban"]), "unknown persona 'urban'; did you mean 'urban-dwellers'?"),
        (bidder(persona="mien") | {"personas": [OWN]}, "unknown persona 'mien'; did you mean 'mine'?"),
        ({"profile_over": ["downsizing", "urban"]}, "unknown persona 'urban'; did you mean 'urban-dwellers'?"),
        ({"personas": [{**OWN, "id": "downsizing"}]}, "persona 'downsizing' is in the catalogue already"),
        (
            bidder(persona="downsizer") | {"items": {"count": 2, "matched": 1}},
            "unknown persona 'downsizer'; did you mean 'downsizing'?",
        ),
    ],
    ids=["one", "second of a mix", "own", "catalog", "id taken", "with matched houses"],
)
def test_an_unknown_persona_is_refused_before_anything_is_written(values, said, tmp_path):
    with pytest.raises(ConfigError) as refusal:
        check(Auction, {"bidders": [ANN], **values}, "config 'x.toml'").run(out=tmp_path / "run")
    assert said in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_persona_of_your_own_from_toml_bids_by_its_text_and_can_be_profiled(tmp_path):
    (tmp_path / "sale.toml").write_text(
        'profile_over = ["mine", "downsizing", "urban-dwellers"]\n'
        '[[personas]]\nid = "mine"\nname = "My own"\ntext = "You look for a lighthouse by the sea."\n'
        '[[items]]\nname = "Lighthouse"\nstart = 100\ntrue_value = 200\nlisting = "A lighthouse by the sea."\n'
        '[[bidders]]\nname = "Ann"\npersona = {mine = 3, downsizing = 1}\n'
        '[[bidders]]\nname = "Ben"\ntheory_of_mind = "inferred"\nstrategy = "on"\n'
    )
    log = read_settings(tmp_path / "sale.toml", Auction).run().log
    assert of_type(log, BidderLabelled)[0].personas == {"mine": 0.75, "downsizing": 0.25}
    assert of_type(log, BidderSeated)[0].personas["You look for a lighthouse by the sea."] == 0.75
    (shown,) = of_type(log, CatalogShown)
    assert [*shown.personas] == ["mine", "downsizing", "urban-dwellers"]
    (profiled,) = of_type(log, Profiled)
    assert max(profiled.weights, key=lambda persona: profiled.weights[persona]) == "mine"
    assert of_type(log, SeatFailed) == []


@pytest.mark.parametrize(
    ("key", "value", "choices"),
    [
        ("theory_of_mind", "third", "'none', 'true', 'inferred' or 'second'"),
        ("theory_of_mind", True, "must be a word in quotes: 'none', 'true', 'inferred' or 'second'"),
        ("strategy", "yes", "'off', 'on' or 'fused'"),
        ("strategy", True, "must be a word in quotes: 'off', 'on' or 'fused'"),
        ("memory", False, "must be a word in quotes: 'none', 'list', 'retrieved', 'episodes' or 'full'"),
    ],
)
def test_an_unknown_switch_is_refused_with_the_choices(key, value, choices):
    line = complaint(**bidder(**{key: value}))
    assert f"bidders[0].{key} {value!r}" in line
    assert choices in line


def test_a_mind_has_neither_a_theory_of_mind_nor_a_strategy_by_default():
    assert (Bidder("Ann").theory_of_mind, Bidder("Ann").strategy, Bidder("Ann").persona) == ("none", "off", {})


# ---------------------------------------------------------------- what is missing or of the wrong shape


def test_a_missing_setting_is_named():
    with pytest.raises(ConfigError, match=r"bidders is missing; write \[\[bidders\]\] once for each"):
        check(AuctionConfig, {}, "config 'x.toml'")
    assert "items[0]: true_value is missing; write true_value = ..." in complaint(items=[{"name": "Vase", "start": 1}])


def test_a_bidder_without_a_name_is_refused():
    line = complaint(bidders=[ANN, {"budget": 5}])
    assert "bidders[1]: name" in line
    assert "missing" in line


def test_an_auction_needs_a_bidder_and_an_item():
    assert "bidders" in complaint(bidders=[])
    assert "items" in complaint(items=[])


@pytest.mark.parametrize("key", ["items", "bidders", "rules", "models"])
@pytest.mark.parametrize("wrong", [5, "text", [5], True])
def test_a_value_of_the_wrong_shape_is_refused_by_its_key(key, wrong):
    assert key in complaint(**{key: wrong})


@pytest.mark.parametrize("count", [0, -1, "many", 1.5])
def test_a_sample_of_houses_needs_a_count_of_one_or_more(count):
    assert f"items.count {count!r}" in complaint(items={"count": count})


@pytest.mark.parametrize("kind", ["bidders", "items"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ren\xe9", "Rene\u0301"),
        ("Ann", "\u0410nn"),
        ("Vase", "\uff36ase"),
        ("Oto", "\u039fto"),
        ("COP", "\u0441\u043e\u0440"),
    ],
)
def test_names_that_look_alike_are_refused_and_told_apart(one, other, kind):
    given = [{**VASE, "name": name} if kind == "items" else {"name": name} for name in (one, other)]
    words = f"{kind[:-1]} names {one!r} and {other!r} look alike, and are {one!a} and {other!a}; rename one"
    assert complaint(**{kind: given}) == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u041a\u0430\u0442\u044f", "\u043a\u0430\u0442\u044f"),
        ("\u041d\u0418\u041d\u0410", "\u043d\u0438\u043d\u0430"),
        ("\u039d\u03af\u03ba\u03bf\u03c2", "\u03bd\u03af\u03ba\u03bf\u03c2"),
        ("Zoe", "ZOE"),
    ],
)
def test_names_that_differ_only_in_case_are_one_in_any_script(one, other):
    said = complaint(bidders=[{"name": one}, {"name": other}])
    assert said == f"bidder names {one!r} and {other!r} differ only in case; rename one"


@pytest.mark.parametrize("names", [("Ren\xe9", "Rene"), ("\u0410\u043d\u043d\u0430", "Anna"), ("\u738b", "\u7389")])
def test_names_that_differ_in_shape_are_two(names):
    assert [one.name for one in config(bidders=[{"name": name} for name in names]).bidders] == list(names)


@pytest.mark.parametrize(
    "name", ["Auctioneer", "everyone", "Analyst", "the house", "bidder:Ben", "\u0410uctioneer", "EVERY\u039fNE"]
)
def test_no_bidder_has_a_name_of_somebody_else(name):
    assert complaint(bidders=[{"name": name}]) == f"bidder {name!r} would be taken for somebody else; name it otherwise"


def test_a_seed_is_a_whole_number_from_zero():
    assert "seed -1" in complaint(seed=-1)
    assert "seed 'x'" in complaint(seed="x")


def test_a_bidder_is_played_by_one_player_only():
    assert "one player, not rule and agent" in complaint(**bidder(rule="truthful", agent=True))


@effort(max_examples=200)
@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
        max_leaves=5,
    ),
    st.sampled_from(["name", "seed", "items", "bidders", "rules", "models"]),
)
def test_whatever_stands_at_a_key_is_taken_or_refused_in_one_line(value, key):
    try:
        config(**{key: value})
    except ConfigError as error:
        line = str(error)
    else:
        line = ""
    assert line == "" or line.isprintable()


# ---------------------------------------------------------------- files


def test_a_config_that_is_not_toml_is_refused_by_its_path_and_line(tmp_path):
    line = complaint_of_file(tmp_path, b"seed = 1\nbidders = = 3\nname = 2\n")
    assert "is not TOML" in line
    assert "line 2" in line


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00", b"{'json': 1}", b"a = 1\na = 2", b'x = "\x1b"', b"\x00", b"x = 1979-99-99", b"just words"],
)
def test_bytes_that_are_not_toml_are_refused(tmp_path, content):
    assert "is not TOML" in complaint_of_file(tmp_path, content)


def test_deeply_nested_toml_is_refused(tmp_path):
    complaint_of_file(tmp_path, b"x = " + b"[" * 100_000)


def test_a_missing_config_is_refused_by_its_path(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.toml.* can't be read.*give a TOML file"):
        read_settings(tmp_path / "nowhere.toml", AuctionConfig)


def test_a_folder_is_not_a_config(tmp_path):
    with pytest.raises(ConfigError, match="can't be read"):
        read_settings(tmp_path, AuctionConfig)


def test_an_empty_config_lacks_bidders(tmp_path):
    assert "bidders is missing" in complaint_of_file(tmp_path, b"")


def test_toml_knows_infinity_and_nan_and_they_are_no_budgets(tmp_path):
    for amount in (b"nan", b"inf", b"-inf", b"0", b"-1", b"true"):
        line = complaint_of_file(tmp_path, b'[[bidders]]\nname = "Ann"\nbudget = ' + amount)
        assert "bidders[0].budget" in line


def test_a_toml_file_gives_the_same_settings_as_python(tmp_path):
    (tmp_path / "sale.toml").write_text(
        'seed = 7\n[[bidders]]\nname = "Ann"\nbudget = 47.5\n'
        '[[items]]\nname = "Vase"\nstart = 100\ntrue_value = 200\n[rules]\nincrement_share = 0.05\n'
        '[models.mini]\nuse = "simulated"\n'
    )
    assert read_settings(tmp_path / "sale.toml", AuctionConfig) == AuctionConfig(
        seed=7,
        bidders=(Bidder("Ann", budget=Decimal("47.5")),),
        items=(Item(name="Vase", start=Decimal(100), true_value=Decimal(200)),),
        rules=EnglishRules(increment_share=Decimal("0.05")),
        models={"mini": ModelSettings(use="simulated")},
    )


# ---------------------------------------------------------------- defaults


def test_a_bidder_is_named_by_position_or_by_keyword():
    assert Bidder("Ann") == Bidder(name="Ann")


@pytest.mark.parametrize(
    "settings", [Bidder("Ann"), EnglishRules(), Houses(), AuctionConfig(bidders=(Bidder("Ann"),))], ids=repr
)
def test_settings_are_frozen(settings):
    for name in type(settings).model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(settings, name, None)


def test_the_defaults_are_those_of_the_papers():
    ann = Bidder("Ann")
    assert (ann.budget, ann.overestimate, ann.max_bids, ann.planning) == (1_000_000, Decimal("0.1"), 4, "adaptive")
    rules = EnglishRules()
    assert (rules.increment_share, rules.lowerings, rules.lowering_share) == (Decimal("0.1"), 0, Decimal("0.5"))
    assert (rules.reveal, rules.reasks) == ("true value", 3)
    assert ModelSettings().temperature is None


def test_a_sample_of_houses_is_as_large_by_default_wherever_it_is_drawn():
    assert inspect.signature(houses).parameters["count"].default == Houses().count
    assert inspect.signature(houses).parameters["seed"].default == AuctionConfig(bidders=(Bidder("Ann"),)).seed


# ---------------------------------------------------------------- from Python


def test_a_mistake_in_python_is_one_clear_line_too():
    with pytest.raises(ConfigError, match=r"^Bidder: unknown key 'budgte'; did you mean 'budget'\?$"):
        Bidder("Ann", budgte=3)


def test_a_mistake_deep_inside_is_placed_from_the_outside():
    with pytest.raises(ConfigError, match=r"^AuctionConfig: bidders\[1\]\.budget -5: "):
        AuctionConfig(bidders=[{"name": "Ann"}, {"name": "Ben", "budget": -5}])


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"bidders": {"name": "Ann"}}, "two brackets"),
        ({"bidders": ["Ann"]}, "must be a table of settings"),
        ({"bidders": []}, "must contain at least one"),
        ({"items": {"count": 0}}, "items.count 0: must be 1 or more"),
        ({"seed": "x"}, "seed 'x': must be a whole number"),
    ],
)
def test_a_slip_of_toml_is_answered_in_plain_words(written, said):
    assert said in complaint(**written)


def test_settings_read_back_from_their_own_json_are_the_same():
    config = AuctionConfig(bidders=[Bidder("Ann", budget=10.5, overestimate=0.05)], seed=3)
    assert check(AuctionConfig, json.loads(config.model_dump_json()), "again") == config
