"""Who may sit in a seat, as it is given or named: anything that takes turns, one for each seat where it has to be."""

from __future__ import annotations

import sys
from importlib import import_module
from textwrap import dedent

import pytest
from langgraph.graph import StateGraph

from harbor import Agent, Auction, Bidder, Item, of_type, use
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import Answered, BidderLabelled, SaleClosed
from harbor._core.plugins.finding import command, find, follow
from support.clerk import Clerk
from support.plugins import installed

MINE = """
    from langchain_core.runnables import RunnableLambda
    from harbor import Agent
    from support.clerk import Clerk

    def bid(turn):
        return {"action": "bid", "amount": turn["space"]["minimum"]} if turn["round"] < 3 else "I withdraw."

    async def late(turn):
        return bid(turn)

    class Caller:
        def __call__(self, turn):
            return bid(turn)

    CALLER, RUNNABLE, CLERK, NUMBER = Caller(), RunnableLambda(bid), Clerk(), 3
    MADE = Agent(name="made", description="a function of each bidder's own", make=lambda bidder: lambda turn: bid(turn))
    SEVERAL = Agent(name="several", description="a clerk of each bidder's own", make=lambda bidder: Clerk())
    CLASS = Agent(name="classy", description="a class", make=lambda bidder: Caller)
"""


@pytest.fixture
def mine(tmp_path):
    """A module of the user's with agents of all makes."""
    (tmp_path / "mine.py").write_text(dedent(MINE))
    with installed(tmp_path):
        yield


BIDS = ["I bid $1,000.", "I bid $1,100.", "I withdraw."]
"""What the functions of that module say."""


def made(make) -> Agent:
    return Agent(name="mine", description="mine", make=make)


def sale(agent: object = True) -> Auction:
    return Auction(
        items=[Item(name="Vase", start=1_000, true_value=2_000)],
        bidders=[Bidder("Tal", agent=agent), Bidder("Ann", rule="minimum-raise", max_bids=2)],
    )


def bids(log) -> list[str]:
    assert of_type(log, SaleClosed)
    return [said.words for said in of_type(log, Answered)]


@pytest.mark.parametrize("name", ["late", "CALLER", "RUNNABLE", "MADE"])
def test_what_takes_turns_is_named_by_its_module_and_plays(name, mine):
    log = sale(f"mine:{name}").run().log
    assert bids(log) == BIDS
    assert of_type(log, BidderLabelled)[0].player == f"agent (mine:{name})"


def test_what_is_named_before_its_use_is_known_plays_too(mine):
    follow("mine:bid")
    assert bids(sale("mine:bid").run().log)[0] == "I bid $1,000."
    assert command() == "harbor --plugin mine:bid"


def test_an_agent_makes_one_for_each_seat(mine):
    use("mine:SEVERAL")
    assert find("agent", "several").make("Tal") is not find("agent", "several").make("Ann")
    assert bids(sale("several").run().log)


NOT_SET = "agent of bidder 'Tal': .*variable 'NOT_SET_AT_ALL' is not set; set it"


@pytest.mark.parametrize(("agent", "complaint"), [
    ("mine:CLERK", "'mine:CLERK' is one AutoGen agent, which seats and games would share; name an Agent"),
    ("mine:NUMBER", "agent 'mine:NUMBER' is a int; give a function of one turn, a LangChain Runnable, an"),
    ("mine:CLASS", "agent 'mine:CLASS' of bidder 'Tal' is the class Caller; give what it makes"),
    ("mine", "unknown agent 'mine'; none is installed; write 'module:NAME' for one in mod"),
    ({"command": ["no-such-program"]}, "agent of bidder 'Tal': no program 'no-such-program'; install it, or give"),
    ({"command": [sys.executable], "env": ["NOT_SET_AT_ALL"]}, NOT_SET),
    ({"url": "http://localhost:1", "api_key_env": "NOT_SET_AT_ALL"}, NOT_SET),
])  # fmt: skip
def test_what_can_not_sit_is_refused_before_anything_is_played(agent, complaint, mine, tmp_path):
    with pytest.raises(ConfigError, match=complaint):
        sale(agent).run(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_agent_of_any_make_can_be_given(mine):
    own = import_module("mine")
    for given in (own.MADE, own.RUNNABLE):
        assert bids(sale().run(agents={"Tal": given}).log) == BIDS
    one, each = (bids(sale().run(agents={"Tal": given}).log) for given in (Clerk(), own.SEVERAL))
    assert one == each


def withdraw(turn):
    return "I withdraw."


@pytest.mark.parametrize(("given", "complaint"), [
    ({"Tal": Clerk}, "what is given for 'Tal' is the class Clerk; give what it makes"),
    ({"Tal": StateGraph(dict)}, "is a StateGraph; give what its compile"),
    ({"Ann": withdraw}, r"gives 'Ann' an agent; write Bidder\('Ann', agent=True\) to have it"),
    ({"Tal": withdraw, "Zed": withdraw}, r"gives 'Zed', which no bidder uses; give one of \['Tal'\]"),
    ({}, "name it with --agent Tal=WHAT, have a client take the seat with harbor mcp, or give it to run"),
    ({"Tal": {"command": ["node"]}}, r"for 'Tal' is a setting; write Bidder\('Tal', agent=...\) with it"),
    ({"Tal": made(lambda _: 1 / 0)}, "'mine' of bidder 'Tal': its make failed"),
])  # fmt: skip
def test_what_can_not_sit_is_refused_by_name(given, complaint):
    with pytest.raises(ConfigError, match=complaint):
        sale().run(agents=given)
