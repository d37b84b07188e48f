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


def rules(**values):
    return {"rules": values}


OWN = {"id": "mine", "name": "My own", "text": "You look for a lighthouse."}


def own(**values):
    return {"personas": [{**OWN, **values}]}


THREE = ["downsizing", "urban-dwellers", "vacation-homes"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        # unknown and missing keys
        ({"sead": 1}, "unknown key 'sead'; did you mean 'seed'?"),
        (rules(lowering=1), "unknown key 'lowering'; did you mean 'lowerings'?"),
        ({"bidders": [ANN, {"name": "Ben", "bugdet": 5}]}, "did you mean 'budget'? (at bidders[1])"),
        (item(listting=""), "unknown key 'listting'; did you mean 'listing'?"),
        ({"items": {"cuont": 3}}, "unknown key 'cuont'; did you mean 'count'?"),
        ({"models": {"mini": {"simulated": {"latncy_seconds": 1}}}}, "'latency_seconds'? (at models.mini.simulated)"),
        ({"bidders": [{"nmae": "Ann"}]}, "unknown key 'nmae'; did you mean 'name'?"),
        ({"items": [{"name": "Vase", "start": 1}]}, "items[0]: true_value is missing; write true_value = ..."),
        ({"bidders": [ANN, {"budget": 5}]}, "bidders[1]: name is missing"),
        *((bidder(**{key: 1}), f"unknown key {key!r}") for key in ("self", "__class__", "model_config")),
        # shapes and numbers
        *(({key: wrong}, key) for key in ("items", "bidders", "rules", "models") for wrong in (5, "text", [5], True)),
        ({"bidders": {"name": "Ann"}}, "two brackets"),
        ({"bidders": ["Ann"]}, "must be a table of settings"),
        ({"bidders": []}, "bidders: must contain at least one"),
        ({"items": []}, "items: must contain at least one"),
        ({"items": {"count": 0}}, "items.count 0: must be 1 or more"),
        ({"items": {"count": 1.5}}, "items.count 1.5: must be a whole number"),
        ({"seed": -1}, "seed -1"),
        ({"seed": "x"}, "seed 'x': must be a whole number"),
        (rules(increment_share=1.5), "must be 1 or less"),
        (rules(lowering_share=1), "lowering_share 1"),
        *((rules(lowerings=wrong), f"rules.lowerings {wrong!r}") for wrong in (-1, 4, "many", 1.5, NAN, None)),
        (rules(reveal="all"), "reveal 'all': must be 'price' or 'true value'"),
        # names
        *((place(name=name), "trim it") for place in (bidder, item) for name in ("", " Ann", "Ann ", "Ann\u2028Lee")),
        *((bidder(name=name), "bidders[0].name") for name in (5, None, ["Ann"])),
        (bidder(name="a" * 81), "80"),
        # personas
        (bidder(persona=["downsizing"] * 2), "mixes 'downsizing' with itself; name two different personas"),
        (bidder(persona=THREE), "bidders[0].persona: mixes 3 personas; a bidder has at most two"),
        (bidder(persona=dict.fromkeys(THREE, 1)), "mixes 3 personas"),
        *((bidder(persona={"downsizing": weight, "urban-dwellers": 1.5}), "give positive weights")
          for weight in (0, -1, NAN, INFINITY, "half", True, 10**400)),
        *((bidder(persona=wrong), "is not a persona; give an id, two ids, or two ids with weights")
          for wrong in (5, True, [1, 2], [["downsizing"]])),
        *((own(text=wrong), "personas[0].text") for wrong in ("", "  \n", 5)),
        (own(text="\u00a0\u200b \u2028"), "must not be empty; write a text"),
        (own(id="My own"), "personas[0].id 'My own'"),
        (own(name="My\x1bown"), "control character"),
        ({"personas": [OWN, {**OWN, "text": "You look for a mill."}]}, "persona name 'mine' is there twice"),
        ({"personas": [OWN, {**OWN, "id": "another"}]},
         "persona 'mine' has the text of another one; write a different text"),
        *(({"profile_over": few}, "leaves nothing to infer; name two personas or more") for few in (THREE[:1], [])),
        ({"profile_over": ["downsizing", *THREE]}, "profile_over name 'downsizing' is there twice; rename or drop one"),
        # switches and players
        (bidder(theory_of_mind="third"), "theory_of_mind 'third': must be 'none', 'true', 'inferred' or 'second'"),
        (bidder(strategy=True), "bidders[0].strategy True: must be a word in quotes: 'off', 'on' or 'fused'"),
        (bidder(memory=False), "must be a word in quotes: 'none', 'list', 'retrieved', 'episodes' or 'full'"),
        (bidder(rule="truthful", agent=True), "one player, not rule and agent"),
        (bidder(agent=True, person=True), "one player, not agent and person"),
    ],
    ids=lambda value: ascii(value)[:60],
)  # fmt: skip
def test_a_setting_that_can_not_be_is_refused_in_one_line_with_its_place_and_the_remedy(values, said):
    assert said in complaint(**values)


def test_an_unknown_key_like_no_other_is_refused_with_the_choice():
    line = complaint(rules={"zzz": 1})
    assert all(name in line for name in ("unknown key 'zzz'", *EnglishRules.model_fields))


@pytest.mark.parametrize("key", ["a\nb", "\x1b[31mred", "\u202eback"])
def test_a_key_with_control_characters_is_shown_escaped(key):
    for values in ({key: 1}, {"rules": {key: 1}}, bidder(**{key: 1}), {"models": {key: {"use": 4}}}):
        complaint(**values)


# ---------------------------------------------------------------- amounts

DOLLARS = {"budget": bidder, "start": item, "true_value": item}
AMOUNTS = DOLLARS | {"increment_share": rules, "lowering_share": rules}
WRONG = {
    "greater than 0": (0, 0.0, -0.5),
    "finite number": (NAN, INFINITY, -INFINITY, Decimal("NaN"), Decimal("sNaN")),
    "number": (True, None, [], {}),
    "not a number": ("lots", "", "nan"),
}


@pytest.mark.parametrize(("key", "place"), AMOUNTS.items())
def test_an_amount_that_is_no_positive_number_is_refused(key, place):
    for remedy, wrong in [(remedy, one) for remedy, several in WRONG.items() for one in several]:
        line = complaint(**place(**{key: wrong}))
        assert key in line
        assert remedy in line
        if not isinstance(wrong, list | dict | Decimal):
            assert str(wrong) in line


@pytest.mark.parametrize(("key", "place"), DOLLARS.items())
def test_an_amount_in_fractions_of_a_cent_or_beyond_a_trillion_is_refused(key, place):
    assert "1.234" in complaint(**place(**{key: 1.234}))
    assert "1000000000000" in complaint(**place(**{key: 10**12 + 1}))


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


def named(kind, names):
    """Settings with bidders or items of these names."""
    return {f"{kind}s": [{**(VASE if kind == "item" else {}), "name": name} for name in names]}


@pytest.mark.parametrize("kind", ["bidder", "item"])
@pytest.mark.parametrize(("names", "said"), [
    (["Ann", "Ben", "Ann", "ann"], " names 'Ann' and 'ann' differ only in case; rename one"),
    (["Ann", "Ben", "Ann"], " name 'Ann' is there twice; rename or drop one"),
    *(([one, other], f" names {one!r} and {other!r} differ only in case; rename one")
     for one, other in (("STRASSE", "Stra\u00dfe"), ("\u041d\u0418\u041d\u0410", "\u043d\u0438\u043d\u0430"))),
    *(([one, other], f" names {one!r} and {other!r} look alike, and are {one!a} and {other!a}; rename one")
     for one, other in (("Ren\xe9", "Rene\u0301"), ("Ann", "\u0410nn"), ("Oto", "\u039fto"),
     ("COP", "\u0441\u043e\u0440"), )),
], ids=ascii)  # fmt: skip
def test_names_that_are_equal_differ_only_in_case_or_look_alike_are_refused_and_told_apart(kind, names, said):
    assert complaint(**named(kind, names)) == kind + said


@pytest.mark.parametrize("names", [
    ("Ren\xe9", "Rene"),
    ("\u0410\u043d\u043d\u0430", "Anna"),
    ("[red]Ann[/red]", "O'Brien", "\U0001f600"),
    ("a" * 80,),
], ids=ascii)  # fmt: skip
def test_names_that_differ_in_shape_are_two_and_are_taken_as_they_are(names):
    assert [one.name for one in config(**named("bidder", names), items=[VASE | {"name": names[0]}]).bidders] == [*names]


@pytest.mark.parametrize(
    "hidden", ["\x00", "\x1b", "\n", "\t", "\x7f", "\x9b", "\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad"], ids=ascii
)
@pytest.mark.parametrize(("place", "where"), [(bidder, "bidders[0].name"), (item, "items[0].name")], ids="BI")
def test_a_name_with_a_control_character_is_refused_and_shown_escaped(place, where, hidden):
    line = complaint(**place(name=f"An{hidden}n"))
    assert all(part in line for part in (where, repr(f"An{hidden}n"), "printable"))


@pytest.mark.parametrize(
    "name", ["Auctioneer", "everyone", "Analyst", "the house", "bidder:Ben", "\u0410uctioneer"], ids=ascii
)
def test_no_bidder_has_a_name_of_somebody_else(name):
    assert complaint(bidders=[{"name": name}]) == f"bidder {name!r} would be taken for somebody else; name it otherwise"


# ---------------------------------------------------------------- personas

KINDS = st.sampled_from(["downsizing", "urban-dwellers", "mine"])


@pytest.mark.parametrize(("persona", "mix"), [
    (None, {}),
    ({}, {}),
    ([], {}),
    ("downsizing", {"downsizing": 1.0}),
    (("urban-dwellers", "downsizing"), {"urban-dwellers": 0.5, "downsizing": 0.5}),
    ({"downsizing": 3, "urban-dwellers": 1}, {"downsizing": 0.75, "urban-dwellers": 0.25}),
    ({"downsizing": 9}, {"downsizing": 1.0}),
], ids=repr)  # fmt: skip
def test_a_bidder_holds_no_persona_one_or_a_mix_of_two_with_equal_weights_unless_they_are_given(persona, mix):
    assert Bidder("Ann", persona=persona).persona == mix


@given(st.dictionaries(KINDS, st.floats(0, allow_infinity=False, exclude_min=True), min_size=1, max_size=2))
def test_the_weights_of_a_mix_always_add_up_to_one(weights):
    mix = Bidder("Ann", persona=weights).persona
    assert set(mix) == set(weights)
    assert sum(mix.values()) == pytest.approx(1)


@given(st.dictionaries(KINDS, st.floats(0.01, 100), max_size=2))
def test_settings_and_a_mix_come_back_as_they_were_when_they_are_read_again(weights):
    once = config(**bidder(persona=weights, budget=10.5, overestimate=0.05), seed=3)
    again = check(AuctionConfig, json.loads(once.model_dump_json()), "again")
    assert again.bidders[0].persona == pytest.approx(once.bidders[0].persona)
    others = {"bidders": {"__all__": {"persona"}}}
    assert again.model_dump(exclude=others) == once.model_dump(exclude=others)


@pytest.mark.parametrize("player", [{"rule": "truthful"}, {"agent": True}], ids=str)
def test_who_is_no_mind_of_harbors_may_say_that_it_has_neither(player):
    assert config(**bidder(**player, theory_of_mind="none", strategy="off"))


@pytest.mark.parametrize(("values", "said"), [
    (bidder(persona=["downsizing", "urban"]), "unknown persona 'urban'; did you mean 'urban-dwellers'?"),
    (bidder(persona="mien") | {"personas": [OWN]}, "unknown persona 'mien'; did you mean 'mine'?"),
    ({"profile_over": ["downsizing", "urban"]}, "unknown persona 'urban'; did you mean 'urban-dwellers'?"),
    (own(id="downsizing"), "persona 'downsizing' is in the catalogue already"),
    (bidder(persona="downsizer") | {"items": {"count": 2, "matched": 1}}, "did you mean 'downsizing'?"),
], ids=["second of a mix", "own", "catalog", "id taken", "with matched houses"])  # fmt: skip
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


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(("content", "said"), [
    (b"seed = 1\nbidders = = 3\nname = 2\n", "line 2"),
    *((content, "is not TOML") for content in (b"\xff\xfe\x00", b"{'json': 1}", b'x = "\x1b"', b"x = 1979-99-99")),
    (b"", "bidders is missing; write [[bidders]] once for each"),
    *((b'bidders = [{name = "Ann", budget = %b}]' % wrong, "bidders[0].budget") for wrong in (b"nan", b"-inf")),
], ids=lambda value: ascii(value)[:60])  # fmt: skip
def test_a_file_that_is_no_toml_or_no_config_is_refused_in_one_line(content, said, tmp_path):
    assert said in complaint_of_file(tmp_path, content)


def test_a_missing_config_and_a_folder_are_refused_by_their_path(tmp_path):
    for path in (tmp_path / "nowhere.toml", tmp_path):
        with pytest.raises(ConfigError, match=rf"{path.name}' can't be read.*give a TOML file"):
            read_settings(path, AuctionConfig)


def test_a_toml_file_gives_the_same_settings_as_python(tmp_path):
    (tmp_path / "sale.toml").write_text(
        'seed = 7\n[[bidders]]\nname = "Ann"\nbudget = 47.5\n'
        '[[items]]\nname = "Vase"\nstart = 100\ntrue_value = 200\n[rules]\nincrement_share = 0.05\n'
        '[models.mini]\nuse = "simulated"\n'
    )
    assert read_settings(tmp_path / "sale.toml", AuctionConfig) == AuctionConfig(
        seed=7,
        bidders=(Bidder(name="Ann", budget=Decimal("47.5")),),
        items=(Item(name="Vase", start=Decimal(100), true_value=Decimal(200)),),
        rules=EnglishRules(increment_share=Decimal("0.05")),
        models={"mini": ModelSettings(use="simulated")},
    )


# ---------------------------------------------------------------- defaults


@pytest.mark.parametrize("settings", [Bidder("Ann"), EnglishRules(), AuctionConfig(bidders=(Bidder("Ann"),))], ids=repr)
def test_settings_are_frozen(settings):
    for name in type(settings).model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(settings, name, None)


def test_the_defaults_are_those_of_the_papers():
    ann, rules = Bidder("Ann"), EnglishRules()
    assert (ann.budget, ann.overestimate, ann.max_bids, ann.planning) == (1_000_000, Decimal("0.1"), 4, "adaptive")
    assert (ann.theory_of_mind, ann.strategy, ann.persona) == ("none", "off", {})
    assert (rules.increment_share, rules.lowerings, rules.lowering_share) == (Decimal("0.1"), 0, Decimal("0.5"))
    assert (rules.reveal, rules.reasks) == ("true value", 3)
    assert ModelSettings().temperature is None


def test_a_sample_of_houses_is_as_large_by_default_wherever_it_is_drawn():
    drawn = inspect.signature(houses).parameters
    usual = AuctionConfig(bidders=(Bidder("Ann"),))
    assert (drawn["count"].default, drawn["seed"].default) == (Houses().count, usual.seed)


# ---------------------------------------------------------------- from Python


def test_a_mistake_in_python_is_one_line_that_places_it_from_the_outside():
    with pytest.raises(ConfigError, match=r"^Bidder: unknown key 'budgte'; did you mean 'budget'\?$"):
        Bidder("Ann", budgte=3)
    with pytest.raises(ConfigError, match=r"^AuctionConfig: bidders\[1\]\.budget -5: "):
        AuctionConfig(bidders=[{"name": "Ann"}, {"name": "Ben", "budget": -5}])
