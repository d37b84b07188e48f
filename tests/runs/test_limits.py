"""A run within a limit in dollars: it is paused, nothing is paid twice, and more money brings it to its end."""

from __future__ import annotations

import asyncio
import json
import warnings
from dataclasses import asdict

import pytest
from crash.leaving import difference, left_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder, Item, ModelSettings, resume, run_series
from harbor._config.auction import AuctionConfig, Series
from harbor._core.basics.errors import ConfigError, LimitReached, LogError
from harbor._core.log.events import ModelCalled, SeatFailed
from harbor._core.log.log import of_type, read_log
from harbor._models.replies.replay import RawCall
from harbor._runs.raw_calls import read_calls
from harbor._runs.run import paid_for
from harbor.evaluation._metrics.summary import summarise
from support.commands import harbor
from support.folders import calls
from support.providers import provider

SALE = {
    "seed": 5,
    "items": [Item(name="Lot A", start=1_000, true_value=1_600), Item(name="Lot B", start=500, true_value=900)],
    "bidders": [Bidder("Ann", model="dear"), Bidder("Ben", model="dear")],
    "models": {"dear": ModelSettings(input_price=3, output_price=10)},
}
PRICED = {"mine": ModelSettings(use="openai:gpt", input_price=3.0, output_price=6.0)}
CALL = RawCall("Ann", "bid", "mine", "v", 1, "ok", 10, 5, 1.0, False, 0.0, 0.1, ["a" * 30, "b" * 60], "c" * 30, "")


def line(**changes):
    return json.dumps(asdict(CALL) | changes).encode()


NO_CALLS = [b"garbage", b"{}", b"[1]", b"\xff", b"\0" * 9, *(line(**it) for it in (
    {"cost_dollars": "x"}, {"prompt": 5}, {"prompt": [1]}, {"model": []}, {"input_tokens": None}, {"new": 1},
))]  # fmt: skip


@pytest.mark.parametrize("damaged", NO_CALLS)
def test_a_line_that_is_no_call_costs_as_much_as_the_dearest_of_its_run(damaged, tmp_path):
    (tmp_path / "0001").mkdir()
    (tmp_path / "0001" / "calls.jsonl").write_bytes(b"\n".join([line(), damaged, line(cost_dollars=4.0), b""]))
    assert paid_for(tmp_path, PRICED) == 1 + 4 + 4
    with pytest.raises(LogError, match=r"0001/calls.jsonl' line 2 is not a model call; restore the file$"):
        read_calls(tmp_path / "0001" / "calls.jsonl")


@pytest.mark.parametrize(("text", "dollars"), [
    (line(cost_dollars=4.0) + b"\n" + line() + b"\n" + line()[:40], 4 + 1 + 4),
    (line() + b"\n" + b"\0" * (3 * len(line())), 4 * CALL.cost_dollars),
    (b"garbage\n", 5_000 * (3 + 6) / 1_000_000),
], ids=["cut short", "zeros as long as three calls", "no call, so as a first call is taken to cost"])  # fmt: skip
def test_what_is_damaged_costs_as_many_calls_as_it_may_have_held(text, dollars, tmp_path):
    (tmp_path / "calls.jsonl").write_bytes(text)
    assert paid_for(tmp_path, PRICED) == pytest.approx(dollars)


def test_a_limit_is_kept_by_a_run_with_a_damaged_line_and_what_it_hid_is_not_spent_again(whole, tmp_path):
    folder, limit = tmp_path / "run", 0.5 * spent_in(whole)
    with pytest.raises(LimitReached):
        Auction(**SALE).run(out=folder, max_cost=limit)
    recorded = (folder / "calls.jsonl").read_bytes().splitlines(keepends=True)
    recorded[1] = b"\xff garbage\n"
    (folder / "calls.jsonl").write_bytes(b"".join(recorded))
    for _ in range(2):  # the second time from the files that are set aside
        before = spent_in(folder)
        assert before >= limit
        with pytest.raises(LimitReached), warnings.catch_warnings(action="ignore"):
            resume(folder, max_cost=limit)
        assert spent_in(folder) == pytest.approx(before)
        assert len((folder / "calls.jsonl").read_bytes().splitlines()) == len(recorded) - 1


def spent_in(folder):
    return paid_for(folder, SALE["models"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    Auction(**SALE).run(out=folder)
    return folder


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(shares=st.lists(st.floats(0.01, 1.1), min_size=1, max_size=3))
def test_a_run_that_is_paused_at_any_limits_and_resumed_is_the_run_without_one_and_pays_nothing_twice(
    whole, tmp_path_factory, shares
):
    folder, total = tmp_path_factory.mktemp("limited") / "run", spent_in(whole)
    dearest = max(call["cost_dollars"] for call in calls(whole))
    for number, share in enumerate(sorted(shares)):
        limit = share * total
        try:
            Auction(**SALE).run(out=folder, max_cost=limit) if number == 0 else resume(folder, max_cost=limit)
        except LimitReached:
            assert limit <= spent_in(folder) < limit + dearest
    resume(folder, max_cost=None)
    assert difference(left_in(whole), left_in(folder)) == ""
    assert spent_in(folder) == pytest.approx(total)


def test_a_limit_in_memory_is_kept_too_and_one_that_is_not_reached_changes_nothing(whole):
    with pytest.raises(LimitReached):
        asyncio.run(Auction(**SALE).arun(max_cost=0.01))
    found = Auction(**SALE).run(max_cost=100.0)
    assert found.standings == Auction(**SALE).run().standings


def test_the_auctions_of_a_series_share_one_limit(whole, tmp_path):
    series = AuctionConfig(**SALE, series=Series(auctions=2))
    run_series(series, out=tmp_path / "whole")
    total = spent_in(tmp_path / "whole")
    with pytest.raises(LimitReached):
        run_series(series, out=tmp_path / "run", max_cost=0.7 * total)
    assert 0.7 * total <= spent_in(tmp_path / "run") < total
    assert (tmp_path / "run" / "2").exists()
    found = resume(tmp_path / "run", max_cost=2 * total)
    assert difference(left_in(tmp_path / "whole"), left_in(tmp_path / "run")) == ""
    assert found.metrics().calls.total.cost_dollars == pytest.approx(total)


def test_a_limit_that_is_no_amount_or_on_a_model_without_a_price_is_refused_before_anything_is_written(tmp_path):
    for limit in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="dollars can't be kept"):
            Auction(**SALE).run(out=tmp_path / "run", max_cost=limit)
    unknown = SALE | {"models": {"dear": ModelSettings(use="openai:nobody-knows")}}
    with pytest.raises(ConfigError, match=r"price of model 'dear' is unknown.*--set models.dear.input_price=DOLLARS"):
        Auction(**unknown).run(out=tmp_path / "run", max_cost=1.0)
    assert not (tmp_path / "run").exists()


def test_the_command_pauses_at_its_limit_with_a_code_of_its_own_and_says_how_to_go_on(tmp_path):
    (tmp_path / "sale.json").write_text(AuctionConfig(**SALE).model_dump_json(exclude_defaults=True))
    done = harbor("auction", "sale.json", "--out", "run", "--max-cost", "0.005", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (75, "")
    assert done.stderr.startswith("harbor: paused: the limit of $0.0050 is reached")
    assert done.stderr.endswith("; resume with: harbor resume run --max-cost DOLLARS\n")
    ended = harbor("resume", "run", "--max-cost", "5", "--json", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    total = json.loads(ended.stdout)["calls"]["total"]
    assert total["cost_dollars"] == pytest.approx(spent_in(tmp_path / "run"), abs=1e-6)
    tokens = summarise(read_log(tmp_path / "run" / "events.jsonl").entries).calls.total.input_tokens
    shown = harbor("replay", "run", "--full", cwd=tmp_path).stdout.partition("Model calls")[2]
    assert [word for word in ("bidder", "purpose", "model", "total", f"{tokens:,}") if word not in shown] == []
    assert "Model calls" not in harbor("replay", "run", cwd=tmp_path).stdout


@pytest.mark.slow
def test_a_call_that_waits_for_money_takes_none_of_its_bidders_time():
    with provider(seed=5, latency=0.5) as server:
        model = {"use": "openai:gpt-4o-mini", "base_url": server.openai_url, "input_price": 3, "output_price": 15}
        bidders = [Bidder(name, model="m", timeout_seconds=1.2) for name in ("Ann", "Ben", "Cho", "Dee")]
        models = {"m": ModelSettings(**model, timeout_seconds=30.0)}
        sale = Auction(items=[Item(name="Lot", start=1_000, true_value=2_300)], bidders=bidders, models=models, seed=5)
        cost = sum(call.cost_dollars for call in of_type(sale.run().log, ModelCalled))
        short = sale.run(max_cost=cost + 0.0001)
    assert not of_type(short.log, SeatFailed)
