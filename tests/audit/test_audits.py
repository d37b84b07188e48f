"""Audits of honest games: nothing crosses, whatever the game, the minds and the players; and how it says so."""

import json
from dataclasses import replace
from random import Random, random

import pytest

from harbor import Agent, Auction, Bidder, Item, use
from harbor._audit.auditing import METHODS, audited, draw_changes
from harbor._audit.secrets import SECRETS
from harbor._cli.shared.files import load, presets
from harbor._core.basics.errors import ConfigError
from harbor._games.english.rules import English
from harbor._runs.inputs import RunInputs
from harbor._runs.resolve import resolve
from harbor.testing._playing import seated, table
from support.cases import some
from support.commands import harbor, mistake
from support.plugins import remembering
from support.small import brief
from support.speaker import Speaker
from support.third_price import THIRD, Third

LOTS = [Item(name=name, start=1_000, true_value=2_000) for name in ("Lot A", "Lot B")]
MINDS = {  # settings that have nothing to do with one another share a game: each of it is held twenty times
    "inferred, and in words": {"theory_of_mind": "inferred", "strategy": "on", "reply": "text"},
    "second order, in a dialogue": {"theory_of_mind": "second", "strategy": "fused", "context": "dialogue"},
    "placebo, corrected by itself": {"theory_of_mind": "inferred", "placebo": "shuffled", "correct_beliefs": "model"},
    "remembering everything, with a limit": {"memory": "full", "learning": True, "bidding": "limit"},
    "remembering a list, or what is near": {"learning": True, "memory": ("list", "retrieved")},
}


def sale(items=LOTS, **minds):
    """A sale to two minds and a script; of a pair of values each mind has one."""
    ann, ben = ({key: one[at] if isinstance(one, tuple) else one for key, one in minds.items()} for at in (0, 1))
    bidders = [
        Bidder("Ann", persona="urban-dwellers", budget=4_000, **ann),
        Bidder("Ben", persona="rural-home-seekers", budget=5_000, **ben),
        Bidder("Cho", rule="minimum-raise", budget=6_000),
    ]
    return Auction(items=items, bidders=bidders)


def gamble(turn):
    """Bid what nobody can tell before."""
    amount = 1_500 + int(random() * 400)
    return {"action": "bid", "amount": amount} if turn["space"]["minimum"] <= 1_000 else {"action": "withdraw"}


@pytest.fixture(autouse=True)
def agents(monkeypatch):
    with remembering(monkeypatch):
        use(Agent(name="talker", description="talks", make=Speaker))
        use(Agent(name="gambler", description="gambles", make=lambda bidder: Speaker(bidder, gamble)))
        yield


def with_agent(name):
    return Auction(items=LOTS, bidders=[Bidder("Ann", budget=4_000), Bidder("Eve", agent=name, budget=5_000)])


@pytest.mark.slow
@pytest.mark.parametrize("mind", some(MINDS, [*MINDS][1::2]))
def test_nothing_crosses_between_minds_of_any_kind(mind):
    found = audited(sale(LOTS[:1], **MINDS[mind]))
    assert found.leaks == []
    compared = {(row.secret, row.whose) for row in found.rows if row.status == "equal"}
    assert compared >= {(secret, whose) for secret in ("budget", "estimates", "bid") for whose in ("Ann", "Ben")}
    assert {row.secret for row in found.rows if row.seat} >= {"budget", "estimates", "persona", "thoughts", "bid"}
    assert any(row.secret == "memory" and row.seat for row in found.rows) == ("memory" in MINDS[mind])


@pytest.mark.slow
@pytest.mark.parametrize("preset", some(sorted(presets().keys() - {"learning"}), ("water", "second-price")))
def test_nothing_crosses_in_a_preset(preset):
    found = audited(brief(load(preset)))
    assert found.leaks == []
    assert {row.secret for row in found.rows} == set(SECRETS)


def test_what_rivals_are_told_by_the_settings_is_disclosed_and_what_a_bidder_lacks_is_not_in_this_game():
    found = audited(sale(LOTS[:1], theory_of_mind="true"), ("persona", "memory"))
    assert {(row.whose, row.seat, row.status) for row in found.rows if row.seat} == {
        ("Ann", "Ben", "disclosed"), ("Ann", "Cho", "equal"), ("Ben", "Ann", "disclosed"), ("Ben", "Cho", "equal"),
    }  # fmt: skip
    absent = {(row.secret, row.whose) for row in found.rows if row.status == "not in this game"}
    assert absent == {("memory", "Ann"), ("memory", "Ben"), ("memory", "Cho"), ("persona", "Cho")}


def test_a_true_value_is_compared_up_to_where_it_is_announced_or_to_the_end():
    assert {row.until for row in audited(sale(), ("true value",)).rows} == {"value_revealed"}
    rules = sale().rules.model_copy(update={"reveal": "price"})
    row, *_ = audited(sale().model_copy(update={"rules": rules}), ("true value",)).rows
    assert (row.status, row.compared, row.until) == ("equal", row.events, "")


@pytest.mark.parametrize(("rules", "names", "secret", "compared"), [
    ({"game": "first-price", "runs": 2, "show": "nothing"}, ("Ann", "Cho"), "bid", ("equal", "")),
    ({"game": "water", "days": 2}, ("Alex", "Bob"), "value", ("not compared", "water_opened")),
])  # fmt: skip
def test_bids_that_nobody_learns_of_are_compared_to_the_end_and_not_what_the_first_event_tells(
    rules, names, secret, compared
):
    found = audited(Auction(rules=rules, bidders=[Bidder(name) for name in names]), (secret,))
    assert {(row.status, row.until) for row in found.rows} == {compared}
    assert bool(found.compared) == (compared[0] == "equal")


def test_an_agent_that_is_named_plays_and_hears_no_secret_and_a_game_that_two_runs_of_differ_is_refused():
    found = audited(with_agent("talker"), ("budget", "thoughts"))
    assert [(row.seat, row.status) for row in found.rows if row.whose == "Ann"] == [("Eve", "equal"), ("Eve", "equal")]
    with pytest.raises(ConfigError, match="can't be audited: two equal games differ in"):
        audited(with_agent("gambler"), ("budget",))


def test_a_hosted_model_is_not_contacted_and_it_says_so():
    hosted = Auction(items=LOTS[:1], bidders=[Bidder("Ann", model="openai:gpt-4.1"), Bidder("Cho", rule="rational")])
    found = audited(hosted, ("budget",))
    assert found.leaks == []
    assert found.notes == ("Ann: the built-in model plays in place of 'openai:gpt-4.1'",)


@pytest.mark.parametrize(("own", "notes"), [
    (True, []), (False, ["Eve: the rule 'rational' plays in place of the agent 'talker'"]),
])  # fmt: skip
def test_the_command_audits_a_run_with_the_agents_that_it_names_unless_it_is_a_strangers_folder(own, notes, tmp_path):
    with_agent("talker").run(out=tmp_path / "run")
    if not own:
        (tmp_path / "run" / "mark").unlink()
    done = harbor("audit", tmp_path / "run", "--secret", "budget", "--json")
    assert (done.returncode, json.loads(done.stdout)["notes"]) == (0, notes)


@pytest.mark.parametrize(("words", "says"), [
    (("demo", "--items", "1", "--secret", "memory"), "as no bidder has memory in this game"),
    (("own.toml", "--secret", "value"), "as the first public event tells of value"),
])  # fmt: skip
def test_an_audit_that_compares_nothing_says_so_and_ends_with_2(words, says, tmp_path):
    game = '[rules]\ngame = "water"\ndays = 2\n[[bidders]]\nname = "Alex"\n[[bidders]]\nname = "Bob"\n'
    (tmp_path / "own.toml").write_text(game, encoding="utf-8")
    assert says in mistake(harbor("audit", *words, cwd=tmp_path))


def test_the_command_says_what_it_audits_that_nothing_crosses_and_who_lacks_a_secret(tmp_path):
    preset = harbor("audit", "demo", "--items", "1", "--secret", "budget", cwd=tmp_path)
    sale(LOTS[:1]).run(out=tmp_path / "demo")
    folder = harbor("audit", "demo", "--secret", "budget", cwd=tmp_path)
    several = harbor("audit", "second-price", "--secret", "value", "--secret", "told", "--secret", "budget")
    assert [one.returncode for one in (preset, folder, several)] == [0, 0, 0]
    for done, words in (
        (preset, "Secrets of the preset 'demo'"), (preset, "nothing crosses: 6 of 6 are equal"),
        (folder, "Secrets of the run in 'demo'"), (several, "value: what the rules keep for a bidder by name"),
        (several, "nobody has, in this game: budget"), (several, "all 2 others"),
    ):  # fmt: skip
        assert words in done.stdout


def test_the_command_ends_with_1_and_shows_the_difference_where_something_crosses(monkeypatch):
    asks = English.asks

    def telling(rules, state):
        return [ask._replace(note=f"Ann has {rules.budgets['Ann']}; ") for ask in asks(rules, state)]

    monkeypatch.setattr(English, "asks", telling)
    done = harbor("audit", "demo", "--items", "1", "--secret", "budget")
    assert done.returncode == 1
    assert "leak of budget of Ann to Ben, by ask" in done.stdout
    assert "Ann has 1000000.37" in done.stdout


@pytest.mark.parametrize("words", [("nowhere.toml",), ("tests",), ("demo", "--secret", "bugdet"), ("nothing",)])
def test_what_cannot_be_read_is_one_line_and_2(words):
    assert mistake(harbor("audit", *words))


# ---------------------------------------------------------------- one draw of those with which a game is built


DRAWN = {
    "randint": lambda rng: rng.randint(1, 3),
    "random": lambda rng: rng.random(),
    "gauss": lambda rng: rng.gauss(0, 1),
    "choice": lambda rng: rng.choice("abc"),
    "sample": lambda rng: rng.sample(range(9), 3),
    "shuffle": lambda rng: rng.shuffle(cards := list(range(9))) or cards,
}


def values_of_each_change(draw):
    """The values as they are, and those of each change with its owner."""

    def build(_, config):
        rng = Random(config.seed)
        return Third({one.name: [draw(rng)] for one in config.bidders})

    use(replace(THIRD, build=build))
    auction = resolve(table(THIRD, seated(("Ann", "Ben", "Cho"), {"rule": "random"}), {}), RunInputs())
    changes = [(one.owner, one.resolved(auction).rules.values) for one in draw_changes(auction.config)]
    return auction.rules.values, changes


@pytest.mark.parametrize("method", DRAWN)
def test_each_draw_is_changed_alone_and_belongs_to_the_bidder_that_its_result_is_kept_for(method):
    values, changes = values_of_each_change(DRAWN[method])
    assert [owner for owner, _ in changes] == ["Ann", "Ben", "Cho"]
    for owner, other in changes:
        assert {name for name in values if other[name] != values[name]} == {owner}


def test_what_can_come_out_in_one_way_alone_changes_nothing_and_streams_are_left_as_they_were():
    before = {name: getattr(Random, name) for name in METHODS}
    values, changes = values_of_each_change(lambda rng: rng.choice("a"))
    assert changes == [("", values)] * 3
    assert {name: getattr(Random, name) for name in METHODS} == before
    assert "random" not in vars(Random)
