"""Agents of other makes, each as an example of a few lines: all of them play the same game, by the same policy."""

from __future__ import annotations

import shutil
from itertools import islice
from subprocess import PIPE, Popen, run

import pytest

from harbor import Auction, Bidder, houses
from harbor._core.files.layout import EVENTS
from harbor._core.log.acts import Tried
from harbor._core.log.events import ModelCalled, SeatFailed
from harbor._core.log.log import of_type, read_log
from harbor._runs.inputs import Result
from harbor.testing import check_seat
from support.adapters import DOORS, NODE, TOKENS, hosted, needs
from support.commands import HARBOR

FUNCTION = "plain_function:bid"
PACKAGES = {
    FUNCTION: (),
    "langchain_agent:agent": ("langchain_openai",),
    "pydantic_ai_agent:bid": ("pydantic_ai",),
    "openai_agents_agent:bid": ("agents",),
    "agent_framework_agent:bid": ("agent_framework", "agent_framework_openai"),
}
HOSTED = [pytest.param(agent, marks=pytest.mark.slow) for agent in PACKAGES if agent != FUNCTION]
"""The agents whose models are hosted: their packages take seconds to import."""


@pytest.fixture(scope="module")
def here():
    """Be where the examples are, with a model that is hosted on this machine."""
    with pytest.MonkeyPatch.context() as patch, hosted(patch) as server:
        patch.chdir(DOORS)
        patch.syspath_prepend(DOORS)
        yield server


def auction(agent):
    return Auction(items=houses(4, seed=3), bidders=[Bidder("Ann", rule="minimum-raise"), Bidder("Tal", agent=agent)])


def failures(run):
    return [*of_type(run.log, SeatFailed), *of_type(run.log, Tried)]


@pytest.fixture(scope="module")
def expected(here):
    run = auction(FUNCTION).run()
    assert {row.bidder for row in run.standings if row.items_won} == {"Ann", "Tal"}
    return run


@pytest.mark.parametrize("agent", HOSTED)
def test_an_agent_of_any_make_plays_as_a_plain_function_with_its_policy_also_a_second_game(agent, here, expected):
    needs(*PACKAGES[agent])
    runs = [auction(agent).run() for _ in range(2)]
    assert not any(map(failures, runs))
    assert runs[0].standings == runs[1].standings == expected.standings


@pytest.mark.slow
@pytest.mark.parametrize("agent", PACKAGES)
def test_an_example_keeps_the_promises_of_the_protocol(agent, here):
    needs(*PACKAGES[agent])
    check_seat(agent)


@pytest.mark.parametrize("agent", HOSTED)
def test_every_token_that_the_provider_counts_is_in_the_log_with_its_price(agent, here):
    needs(*PACKAGES[agent])
    before = len(here.requests)
    run = auction(agent).run()
    calls = of_type(run.log, ModelCalled)
    assert sum(call.input_tokens for call in calls) == TOKENS["input_tokens"] * (len(here.requests) - before) > 0
    assert {call.model.partition("-2024")[0] for call in calls} == {"openai:gpt-4o-mini"}
    assert all(call.cost_dollars for call in calls)


def test_a_program_in_node_plays_as_a_plain_function_with_its_policy(expected):
    if shutil.which("node") is None:
        pytest.skip("node is not installed here")
    run = auction({"command": ["node", "bidder.mjs"]}).run()
    assert not failures(run)
    assert run.standings == expected.standings


@pytest.mark.slow
def test_a_client_in_node_plays_over_mcp_as_a_plain_function_with_its_policy(expected, tmp_path):
    if not (NODE / "node_modules").exists():
        pytest.skip("the SDK for Node is not installed here; run make check-doors")
    shutil.copy(DOORS / "mcp_bidder.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(NODE / "node_modules")
    (tmp_path / "auction.json").write_text(auction(True).model_dump_json())
    with Popen(
        [*HARBOR, "mcp", "auction.json", "--http", "0", "--out", "run"], cwd=tmp_path, stderr=PIPE, text=True
    ) as server:
        told = dict(line.removeprefix("harbor: ").strip().split(": ", 1) for line in islice(server.stderr, 3))
        run(["node", "mcp_bidder.mjs", told["for bidders"], told["seat of Tal"]], cwd=tmp_path, check=True)
    assert not failures(result := Result(read_log(tmp_path / "run" / EVENTS).entries, tmp_path))
    assert result.standings == expected.standings
