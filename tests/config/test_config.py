"""Settings: what is refused is refused in one line that names the thing, the value and the remedy."""

from __future__ import annotations

import inspect
import json
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from pydantic import ValidationError

from harbor import AgentCommand, AgentServer, Auction, Bidder
from harbor._config.auction import AuctionConfig, Houses, Item, ModelSettings, check, read_settings
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


@pytest.mark.parametrize(("values", "said"), [
    # unknown and missing keys
    ({"sead": 1}, "unknown key 'sead'; did you mean 'seed'?"),
    *((rules(zzz=1), name) for name in ("unknown key 'zzz'", *EnglishRules.model_fields)),
    ({"bidders": [ANN, {"name": "Ben", "bugdet": 5}]}, "did you mean 'budget'? (at bidders[1])"),
    ({"models": {"mini": {"simulated": {"latncy_seconds": 1}}}}, "'latency_seconds'? (at models.mini.simulated)"),
    ({"items": [{"name": "Vase", "start": 1}]}, "items[0]: true_value is missing; write true_value = ..."),
    *((bidder(**{key: 1}), f"unknown key {key!r}") for key in ("nmae", "self", "__class__", "model_config")),
    # shapes and numbers
    *(({key: wrong}, key) for key in ("items", "bidders", "rules", "models") for wrong in (5, "text", [5], True)),
    ({"bidders": {"name": "Ann"}}, "two brackets"),
    ({"bidders": ["Ann"]}, "must be a table of settings"),
    *(({key: []}, f"{key}: must contain at least one") for key in ("bidders", "items")),
    ({"items": {"count": 0}}, "items.count 0: must be 1 or more"),
    *(({"items": {"count": wrong}}, f"items.count {wrong!r}: must be a whole number") for wrong in (1.5, "x")),
    ({"seed": -1}, "seed -1"),
    (rules(increment_share=1.5), "must be 1 or less"),
    *((rules(lowerings=wrong), f"rules.lowerings {wrong!r}") for wrong in (-1, 4, "many", 1.5, NAN, None)),
    # names
    *((place(name=name), "trim it") for place in (bidder, item) for name in ("", " Ann", "Ann ", "Ann\u2028Lee")),
    *((bidder(name=name), "bidders[0].name") for name in (5, None, ["Ann"])),
    (bidder(name="a" * 81), "80"),
    # personas
    (bidder(persona=["downsizing"] * 2), "mixes 'downsizing' with itself; name two different personas"),
    *((bidder(persona=three), "bidders[0].persona: mixes 3 personas; a bidder has at most two")
      for three in (THREE, dict.fromkeys(THREE, 1))),
    *((bidder(persona={"downsizing": weight, "urban-dwellers": 1.5}), "give positive weights")
      for weight in (0, -1, NAN, INFINITY, "half", True, 10**400)),
    *((bidder(persona=wrong), "is not a persona; give an id, two ids, or two ids with weights")
      for wrong in (5, True, [1, 2], [["downsizing"]])),
    *((own(text=wrong), "personas[0].text") for wrong in ("", "  \n", 5, "\u00a0\u200b \u2028")),
    (own(id="My own"), "personas[0].id 'My own'"),
    (own(name="My\x1bown"), "control character"),
    ({"personas": [OWN, {**OWN, "text": "You look for a mill."}]}, "persona name 'mine' is there twice"),
    ({"personas": [OWN, {**OWN, "id": "another"}]},
     "persona 'mine' has the text of another one; write a different text"),
    *(({"profile_over": few}, "leaves nothing to infer; name two personas or more") for few in (THREE[:1], [])),
    ({"profile_over": ["downsizing", *THREE]}, "profile_over name 'downsizing' is there twice; rename or drop one"),
    # switches and players
    (bidder(theory_of_mind="third"), "theory_of_mind 'third': must be 'none', 'true', 'inferred' or 'second'"),
    *((bidder(strategy=wrong), "must be a word in quotes: 'off', 'on' or 'fused'") for wrong in (True, False)),
    (bidder(agent=True, person=True), "one player, not agent and person"),
], ids=lambda value: ascii(value)[:60])  # fmt: skip
def test_a_setting_that_can_not_be_is_refused_in_one_line_with_its_place_and_the_remedy(values, said):
    assert said in complaint(**values)


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


@pytest.mark.parametrize(
    "names",
    [("Ren\xe9", "Rene"), ("\u0410\u043d\u043d\u0430", "Anna"), ("[red]Ann[/red]", "\U0001f600"), ("a" * 80,)],
    ids=ascii,
)
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
    with pytest.raises(ConfigError, match=f"^[^\n]*{re.escape(said)}[^\n]*$"):
        check(Auction, {"bidders": [ANN], **values}, "config 'x.toml'").run(out=tmp_path / "run")
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
    (None, "sale.toml' can't be read"),
], ids=lambda value: ascii(value)[:60])  # fmt: skip
def test_what_is_no_file_no_toml_or_no_config_is_refused_in_one_line(content, said, tmp_path):
    path = tmp_path / "sale.toml"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"sale\.toml") as refusal:
        read_settings(path, AuctionConfig)
    assert str(refusal.value).isprintable()
    assert said in str(refusal.value)


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
    with pytest.raises(ValidationError, match="frozen"):
        setattr(settings, next(iter(type(settings).model_fields)), None)


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


# ---------------------------------------------------------------- agents

PROGRAM = {"command": ["node", "bidder.mjs"], "env": ["NODE_KEY"]}
SERVER = {"url": "http://localhost:1/turn", "api_key_env": "MY_KEY"}


@pytest.mark.parametrize(("written", "meant"), [
    (True, True),
    ("mine:bid", "mine:bid"),
    (PROGRAM, AgentCommand(**PROGRAM)),
    (SERVER, AgentServer(**SERVER)),
])  # fmt: skip
def test_an_agent_is_given_or_named_or_a_program_or_a_server(written, meant):
    bidder = Bidder("Tal", agent=written)
    assert bidder.agent == meant
    assert not bidder.uses_model
    assert Bidder(**bidder.model_dump(mode="json")) == bidder


@pytest.mark.parametrize(("written", "complaint"), [
    ("", "agent '': must not be empty"),
    (["node"], 'agent: is no agent; write "module:NAME", { command = '),
    ({}, "agent: is neither a program nor a server; write command = "),
    ({"address": "http://here"}, "unknown key 'address'; choose one of: api_key_env, command, env, url"),
    ({"command": []}, "agent.command: must contain at least one"),
    ({"command": [" "]}, "agent.command: names no program; write a program and its arguments"),
    ({"command": "node 'b.mjs"}, "is one text; write the program and each argument apart: .'node'"),
    ({"command": ["node", "--key=sk-abcdefgh12345678"]}, "agent.command: has a key in it, .* name that in env"),
    ({"command": ["node"], "env": ["A-B"]}, "agent.env.0. .A-B.: must match the pattern"),
    ({"url": "ftp://here"}, "agent.url 'ftp://here': is no address of a server"),
    ({"url": "http://me:sesame@here/"}, "agent.url .*: has a key or a password in it, .* put the key in api_key_e"),
    ({"url": "http://here/?api_key=abcdefgh"}, "agent.url .*: has a key or a password in it"),
    ({"url": "http://here", "command": ["node"]}, "agent: is a program and a server; keep command or url"),
])  # fmt: skip
def test_a_setting_of_an_agent_that_can_not_be_is_refused_in_one_line(written, complaint):
    with pytest.raises(ConfigError, match=complaint) as refused:
        Bidder("Tal", agent=written)
    assert "\n" not in str(refused.value)
    assert not re.search("sesame|abcdefgh", str(refused.value))
