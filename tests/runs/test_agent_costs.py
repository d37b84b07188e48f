"""Calls of models that agents of any make tell of: named, priced, kept, and paid for by the budget of the run."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage
from autogen_core import Component
from autogen_core.models import CreateResult, RequestUsage
from pydantic import BaseModel

from harbor import Auction, Bidder, Item, ModelSettings, resume
from harbor._core.basics.errors import LimitReached
from harbor._core.log.events import ModelCalled, SeatFailed
from harbor._core.log.log import of_type, read_log
from harbor._core.log.players import AGENT
from harbor._runs.raw_calls import read_calls
from harbor._runs.run import paid_for
from harbor.evaluation._metrics.calls import calls
from support.clerk import Clerk
from support.commands import harbor
from support.replayed_chat import OfflineChat

MODEL = "openai:gpt-4o-mini"
PRICES = {"mine": ModelSettings(input_price=3, output_price=10)}
DOLLARS = (1_000 * 3 + 100 * 10) / 1_000_000
"""What an answer of a `Teller` costs by those prices."""


class Teller(Clerk):
    """An agent that bids and tells of a call of a model with each answer."""

    def __init__(self, model: str | None = "mine") -> None:
        super().__init__()
        self.model = model

    async def on_messages(self, messages: Any, cancellation_token: Any) -> Response:
        self.asked += 1
        metadata, used = {"model": self.model} if self.model else {}, RequestUsage(1_000, 100)
        said = TextMessage(content="I bid $1,100.", source=self.name, models_usage=used, metadata=metadata)
        return Response(chat_message=said)


class ClientConfig(BaseModel):
    model: str
    base_url: str | None = None


class Client(OfflineChat, Component[ClientConfig]):
    """A client that is written down as AutoGen's own client of OpenAI is."""

    component_type = "model"
    component_config_schema = ClientConfig
    component_provider_override = "autogen_ext.models.openai.OpenAIChatCompletionClient"

    def __init__(self, **config: Any) -> None:
        self.config = ClientConfig(**config)

    def _to_config(self) -> ClientConfig:
        return self.config

    async def create(self, messages: Any, **_: Any) -> CreateResult:
        return CreateResult(finish_reason="stop", content="I withdraw.", usage=RequestUsage(1_000, 100), cached=False)


def sale(*others: Bidder, lots: str = "AB") -> Auction:
    return Auction(
        items=[Item(name=f"Lot {letter}", start=1_000, true_value=2_000) for letter in lots],
        bidders=[Bidder("Tal", agent=True), *(others or [Bidder("Ben", rule="minimum-raise", max_bids=1)])],
        models=PRICES,
    )


def told(log: Any) -> list[ModelCalled]:
    return [call for call in of_type(log, ModelCalled) if call.purpose == AGENT]


def told_by(agent: Any) -> list[ModelCalled]:
    """Hold a sale with an agent that does not fail, and give the calls that it tells of."""
    log = sale().run(agents={"Tal": agent}).log
    assert not of_type(log, SeatFailed)
    return told(log)


UNKNOWN = (None, "nobody:has-heard-of-it", "some words", "package.module:NAME")
COSTS = {"mine": DOLLARS, MODEL: (1_000 * 0.15 + 100 * 0.6) / 1_000_000, **dict.fromkeys(UNKNOWN)}


@pytest.mark.parametrize(("model", "cost"), COSTS.items())
def test_a_call_costs_what_the_user_or_the_price_table_says_and_else_an_unknown_amount(model, cost):
    agent = Teller(model)
    log = sale().run(agents={"Tal": agent}).log
    assert len(told(log)) == agent.asked > 1
    [(name, price, tokens)] = {(call.model, call.cost_dollars, call.input_tokens) for call in told(log)}
    assert (name, price, tokens) == (model or AGENT, cost and pytest.approx(cost), 1_000)
    if cost is None:
        assert calls(log).by_bidder["Tal"].cost_dollars is None
        assert calls(log).by_model[name].unpriced == len(told(log))


class Shy(Client):
    def _to_config(self) -> ClientConfig:
        raise RuntimeError("I do not tell")


class Team(AssistantAgent):
    """An assistant that somebody helps, who tells of calls as well."""

    async def on_messages(self, messages: Any, cancellation_token: Any) -> Response:
        said = await super().on_messages(messages, cancellation_token)
        helped = TextMessage(content="Withdraw.", source="somebody", models_usage=RequestUsage(7, 1))
        return Response(chat_message=said.chat_message, inner_messages=[helped])


def of_two() -> AssistantAgent:
    two = AssistantAgent("tal", model_client=Client(model="gpt-4o-mini"))
    two.other = Client(model="gpt-4o")  # type: ignore[attr-defined]
    return two


@pytest.mark.parametrize(("agent", "found"), [
    (AssistantAgent("tal", model_client=Client(model="gpt-4o-mini")), {(1_000, MODEL)}),
    (AssistantAgent("tal", model_client=Client(model="gpt-4o-mini", base_url="http://here")), {(1_000, "gpt-4o-mini")}),
    (AssistantAgent("tal", model_client=Shy(model="gpt-4o-mini")), {(1_000, AGENT)}), (of_two(), {(1_000, AGENT)}),
    (Team("tal", model_client=Client(model="gpt-4o-mini")), {(7, AGENT), (1_000, MODEL)}),
], ids=["OpenAI's", "somewhere else", "can not be written down", "one of two", "somebody else's"])  # fmt: skip
def test_calls_of_an_assistant_of_autogens_have_the_model_that_its_own_client_names_if_it_is_the_only_one(agent, found):
    calls = told_by(agent)
    assert {(call.input_tokens, call.model) for call in calls} == found
    assert all((call.cost_dollars is None) == (call.model != MODEL) for call in calls)


def test_a_limit_pauses_a_run_of_agents_and_what_earlier_sessions_paid_counts(tmp_path):
    folder, agent, whole, limit = tmp_path / "run", Teller(), Teller(), 2.5 * DOLLARS
    sale(lots="ABCD").run(agents={"Tal": whole})
    with pytest.raises(LimitReached, match=r"the limit of \$0.0100 is reached"):
        sale(lots="ABCD").run(agents={"Tal": agent}, out=folder, max_cost=limit)
    assert agent.asked == 3 < whole.asked
    with pytest.raises(LimitReached):
        resume(folder, agents={"Tal": agent}, max_cost=limit)
    assert agent.asked == 3
    log = resume(folder, agents={"Tal": agent}, max_cost=100 * DOLLARS).log
    assert agent.asked == whole.asked
    assert [call.event for call in read_calls(folder / "calls.jsonl")] == told(log)
    assert paid_for(folder, PRICES) == pytest.approx(whole.asked * DOLLARS)
    done = harbor("verify", "--deep", folder)
    assert done.returncode == 0, done.stderr


def test_an_answer_that_was_paid_for_counts_also_if_the_run_paused_before_it_was_logged(tmp_path):
    auction, folder = sale(Bidder("Zoe", model="mine")), tmp_path / "run"
    auction.run(agents={"Tal": Teller()}, out=tmp_path / "whole")
    made = read_calls(tmp_path / "whole" / "calls.jsonl")
    first = next(place for place, call in enumerate(made) if call.purpose == AGENT)
    limit = sum(call.cost_dollars or 0 for call in made[: first + 1])  # it is reached before Zoe's bid
    with pytest.raises(LimitReached):
        auction.run(agents={"Tal": Teller()}, out=folder, max_cost=limit)
    kept = read_calls(folder / "calls.jsonl")
    assert [call.purpose for call in kept].count(AGENT) == 1
    assert told(read_log(folder / "events.jsonl").entries) == []
    assert paid_for(folder, PRICES) == pytest.approx(sum(call.cost_dollars or 0 for call in kept))


def test_a_limit_says_whose_calls_of_which_model_do_not_count_towards_it():
    unpriced = "bidder 'Tal' tells of calls of model 'agent', whose price is unknown"
    with pytest.warns(UserWarning, match=unpriced) as said:
        sale().run(agents={"Tal": Teller(None)}, max_cost=1)
    assert len(said) == 1
    with warnings.catch_warnings(action="error"):
        sale().run(agents={"Tal": Teller(None)})
        sale().run(agents={"Tal": Teller()}, max_cost=1)


def test_an_agent_that_fails_or_runs_out_of_time_holds_up_nobody_who_waits_for_money():
    class Broken(Teller):
        async def on_messages(self, messages: Any, cancellation_token: Any) -> Response:
            raise RuntimeError("no")

    log = sale(Bidder("Zoe", model="mine"), Bidder("Yan", model="mine")).run(agents={"Tal": Broken()}, max_cost=10).log
    assert {failed.bidder for failed in of_type(log, SeatFailed)} == {"Tal"}


def test_calls_that_are_told_of_through_a_door_count_also_beside_an_answer_that_can_not_be_read():
    turns = []

    def agent(turn):
        turns.append(turn)
        amount = None if turn["attempt"] == 1 else turn["space"]["minimum"]
        usage = [{"model": MODEL, "input_tokens": 1_000, "output_tokens": 100}, {"input_tokens": 5}]
        return {"action": "bid", "amount": amount, "usage": usage}

    found = told_by(agent)
    assert len(found) == 2 * len(turns) > 2
    assert 2 in {turn["attempt"] for turn in turns}
    assert {(call.model, call.cost_dollars is None) for call in found} == {(MODEL, False), (AGENT, True)}
