"""Audits of honest games: nothing crosses, whatever the game, the minds and the players; and how it says so."""

import json
from functools import partial
from random import random

import pytest
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage

from harbor import Agent, Auction, Bidder, Item, use
from harbor._audit.auditing import audited
from harbor._audit.secrets import SECRETS
from harbor._cli.shared.files import load, presets
from harbor._core.basics.errors import ConfigError
from harbor._games.english.rules import English
from support.cases import some
from support.commands import harbor, mistake
from support.plugins import remembering
from support.small import brief

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


class Talker(BaseChatAgent):
    """An agent that bids what it hears at first, and then withdraws; a random one bids any cents."""

    def __init__(self, name, cents=lambda: 0):
        super().__init__(name, "An agent.")
        self._cents = cents

    @property
    def produced_message_types(self):
        return (TextMessage,)

    async def on_messages(self, messages, cancellation_token):
        words = f"I bid $1,{500 + self._cents()}" if "at least $1,000 and" in messages[-1].to_text() else "I withdraw"
        return Response(chat_message=TextMessage(content=words, source=self.name))

    async def on_reset(self, cancellation_token):
        pass


TALKER = Agent(name="talker", description="talks", make=lambda _: Talker("talker"))
GAMBLER = Agent(name="gambler", description="gambles", make=lambda _: Talker("gambler", lambda: int(random() * 400)))


@pytest.fixture(autouse=True)
def agents(monkeypatch):
    with remembering(monkeypatch):
        use(TALKER)
        use(GAMBLER)
        yield


def with_agent(name):
    return Auction(items=LOTS, bidders=[Bidder("Ann", budget=4_000), Bidder("Eve", agent=name, budget=5_000)])


@pytest.mark.slow
@pytest.mark.parametrize("mind", some(MINDS, [*MINDS][1::2]))
def test_nothing_crosses_between_minds_of_any_kind(mind):
    found = audited(sale(LOTS[:1], **MINDS[mind]))
    assert found.leaks == []
    assert {row.secret for row in found.rows if row.seat} >= {"budget", "estimates", "persona", "thoughts", "bid"}
    assert any(row.secret == "memory" and row.seat for row in found.rows) == ("memory" in MINDS[mind])


@pytest.mark.slow
@pytest.mark.parametrize("preset", some(sorted(presets().keys() - {"learning"}), ("demo", "water", "second-price")))
def test_nothing_crosses_in_a_preset(preset):
    found = audited(brief(load(preset)))
    assert found.leaks == []
    assert {row.secret for row in found.rows} == set(SECRETS)


def test_who_is_told_the_personas_of_its_rivals_is_told_by_the_settings():
    found = audited(sale(LOTS[:1], theory_of_mind="true"), ("persona",))
    assert {(row.whose, row.seat): row.status for row in found.rows if row.seat} == {
        ("Ann", "Ben"): "disclosed",
        ("Ann", "Cho"): "equal",
        ("Ben", "Ann"): "disclosed",
        ("Ben", "Cho"): "equal",
    }


def test_a_secret_that_a_bidder_does_not_have_is_not_in_this_game():
    found = audited(sale(LOTS[:1]), ("memory", "persona"))
    absent = {(row.secret, row.whose) for row in found.rows if row.status == "not in this game"}
    assert absent == {("memory", "Ann"), ("memory", "Ben"), ("memory", "Cho"), ("persona", "Cho")}


def test_a_true_value_is_compared_up_to_where_it_is_announced():
    found = audited(sale(), ("true value",))
    assert {row.until for row in found.rows} == {"value_revealed"}


def test_a_true_value_that_is_never_announced_is_compared_to_the_end():
    rules = sale().rules.model_copy(update={"reveal": "price"})
    found = audited(sale().model_copy(update={"rules": rules}), ("true value",))
    row = next(row for row in found.rows if row.secret == "true value")
    assert (row.status, row.compared, row.until) == ("equal", row.events, "")


def test_sealed_bids_that_nobody_learns_of_are_compared_to_the_end():
    rules = {"game": "first-price", "runs": 2, "show": "nothing"}
    found = audited(Auction(rules=rules, bidders=[Bidder("Ann"), Bidder("Cho", rule="rational")]), ("bid",))
    assert {(row.status, row.until) for row in found.rows} == {("equal", "")}


def test_an_agent_that_is_named_plays_and_hears_no_secret():
    found = audited(with_agent("talker"), ("budget", "thoughts"))
    assert [(row.seat, row.status) for row in found.rows if row.whose == "Ann"] == [("Eve", "equal"), ("Eve", "equal")]


def test_a_game_of_which_two_equal_runs_differ_is_refused():
    with pytest.raises(ConfigError, match="can't be audited: two equal games differ in"):
        audited(with_agent("gambler"), ("budget",))


def test_a_hosted_model_is_not_contacted_and_it_says_so():
    hosted = Auction(items=LOTS[:1], bidders=[Bidder("Ann", model="openai:gpt-4.1"), Bidder("Cho", rule="rational")])
    found = audited(hosted, ("budget",))
    assert found.leaks == []
    assert found.notes == ("Ann: the built-in model plays in place of 'openai:gpt-4.1'",)


# ---------------------------------------------------------------- the command


def test_the_command_audits_a_run_with_the_agents_that_it_names(tmp_path):
    with_agent("talker").run(out=tmp_path / "run")
    done = harbor("audit", tmp_path / "run", "--secret", "budget", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["notes"] == []


def test_no_agent_is_loaded_that_only_a_strangers_folder_names(tmp_path):
    with_agent("talker").run(out=tmp_path / "run")
    (tmp_path / "run" / "mark").unlink()
    done = harbor("audit", tmp_path / "run", "--secret", "budget", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["notes"] == ["Eve: the rule 'rational' plays in place of the agent 'talker'"]


def test_the_command_says_in_a_table_that_nothing_crosses():
    done = harbor("audit", "demo", "--items", "1", "--secret", "budget")
    assert done.returncode == 0
    assert "nothing crosses: 6 of 6 are equal" in done.stdout


def test_what_the_first_public_event_tells_of_is_not_compared_and_not_counted_as_equal():
    found = audited(Auction(rules={"game": "water", "days": 2}, bidders=[Bidder("Alex"), Bidder("Bob")]), ("value",))
    assert {(row.status, row.compared, row.until) for row in found.rows} == {("not compared", 0, "water_opened")}
    assert found.compared == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("demo", "--items", "1", "--secret", "memory"), "as no bidder has memory in this game"),
        (("own.toml", "--secret", "value"), "as the first public event tells of value"),
    ],
)
def test_an_audit_that_compares_nothing_says_so_and_ends_with_2(words, says, tmp_path):
    game = '[rules]\ngame = "water"\ndays = 2\n[[bidders]]\nname = "Alex"\n[[bidders]]\nname = "Bob"\n'
    (tmp_path / "own.toml").write_text(game, encoding="utf-8")
    assert says in mistake(harbor("audit", *words, cwd=tmp_path))


def test_the_command_names_what_it_audits_where_a_folder_is_called_as_a_preset(tmp_path):
    preset = harbor("audit", "demo", "--items", "1", "--secret", "budget", cwd=tmp_path)
    sale(LOTS[:1]).run(out=tmp_path / "demo")
    folder = harbor("audit", "demo", "--secret", "budget", cwd=tmp_path)
    assert "Secrets of the preset 'demo'" in preset.stdout
    assert "Secrets of the run in 'demo'" in folder.stdout


def test_the_command_says_what_each_secret_is_and_who_lacks_it():
    done = harbor("audit", "second-price", "--secret", "value", "--secret", "told", "--secret", "budget")
    assert "value: what the rules keep for a bidder by name" in done.stdout
    assert "told: what the rules tell a bidder alone" in done.stdout
    assert "nobody has, in this game: budget" in done.stdout
    assert "all 2 others" in done.stdout


def test_the_help_lists_the_secrets():
    words = " ".join(harbor("audit", "--help").stdout.replace("│", " ").split())
    assert ", ".join(SECRETS) in words


def test_the_command_ends_with_1_and_shows_the_difference_where_something_crosses(monkeypatch):
    asks = English.asks
    monkeypatch.setattr(English, "asks", lambda rules, state: [*map(partial(with_note, rules), asks(rules, state))])
    done = harbor("audit", "demo", "--items", "1", "--secret", "budget")
    assert done.returncode == 1
    assert "leak of budget of Ann to Ben, by ask" in done.stdout
    assert "Ann has 1000000.37" in done.stdout


def with_note(rules, ask):
    """Tell everybody what Ann has."""
    return ask._replace(note=f"Ann has {rules.budgets['Ann']}; ")


@pytest.mark.parametrize("words", [("nowhere.toml",), ("tests",), ("demo", "--secret", "bugdet"), ("nothing",)])
def test_what_cannot_be_read_is_one_line_and_2(words):
    done = harbor("audit", *words)
    assert done.returncode == 2
    assert done.stderr.startswith("harbor: error: ")
    assert done.stderr.count("\n") == 1
