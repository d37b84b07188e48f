"""The required figures of Harbor, measured. `make bench` prints them. Nothing here fails for being slow.

The yardstick of the standard sale is a predecessor's run of the same sale under the same policy: every bidder raises by
the minimum while the bid is under 0.9 of its estimate.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from importlib.resources import files
from random import Random

import psutil
import pytest

from harbor import Auction
from harbor._config.auction import Bidder, Houses, ModelSettings, Simulated, read_settings
from harbor._core.log.events import Lot
from harbor._core.log.log import Log, of_type
from harbor._core.log.thoughts import Decided
from harbor._games.english.rules import English, ValuedLot
from harbor._games.policies import MinimumRaise
from harbor._house.auctioneer import Sale
from support.turns import take_turn

LATENCY_SECONDS = 0.1
YARDSTICK = {"calls": 394, "chain": 270, "input tokens": 425_000, "wall clock (s)": 27.2}
PERSONAS = ("urban-dwellers", "rural-home-seekers", "eco-conscious-buyers")
COSTS: dict[int, float] = {}
STANDARD = read_settings(files("harbor._config.presets") / "standard.toml", Auction)


def standard(seed: int = 0, bidders: int = 3, latency: float = 0.0) -> Auction:
    """The standard sale under the yardstick's policy."""
    model = ModelSettings(simulated=Simulated(policy="minimum", latency_seconds=latency))
    seats = [Bidder(f"Bidder {number}", budget=20_000) for number in range(1, bidders + 1)]
    return Auction(seed=seed, items=STANDARD.items, bidders=seats, models={"simulated": model})


def bare_auction(seed: int) -> Log:
    """Hold a sale by the rules alone: no room, the log in memory, three rule bidders of K = 4."""
    names = [bidder.name for bidder in STANDARD.bidders]
    items = tuple(ValuedLot(Lot(item.name, item.start), item.true_value) for item in STANDARD.items)
    sale = Sale(English(items, dict.fromkeys(names, STANDARD.bidders[0].budget)), names, Log(), Random(seed), "open")
    rule = MinimumRaise(4)
    sale.settle({})
    while asks := sale.asks():
        take_turn(sale, {ask.bidder: rule.decide(ask, sale.seen_by(ask.bidder)) for ask in asks}, asks)
    return sale.log


def test_bare_rules(benchmark, figure):
    seeds = iter(range(10**9))
    benchmark.pedantic(lambda: bare_auction(next(seeds)), rounds=1500, warmup_rounds=50)
    rate = 1 / benchmark.stats.stats.median
    figure("bare rules, auctions a second (one core)", "1000", f"{rate:,.0f} (yardstick 41 to 55: {rate / 55:.0f}x)")


@pytest.mark.parametrize("bidders", [3, 20])
def test_whole_stack_without_latency(benchmark, figure, bidders, tmp_path):
    standard(bidders=bidders).run()
    runs = iter(range(10**9))
    held = []

    def hold():
        run = next(runs)
        held.append(standard(seed=run, bidders=bidders).run(out=tmp_path / str(run)))

    benchmark.pedantic(hold, rounds=8 if bidders == 3 else 3)
    calls = [result.metrics().calls.count for result in held]
    cost = 1000 * sum(benchmark.stats.stats.data) / sum(calls)
    COSTS[bidders] = cost
    figure(f"whole stack, {bidders} bidders, ms a decision", "4" if bidders == 3 else "", f"{cost:.2f}")
    if bidders == 20 and 3 in COSTS:
        figure("cost of a turn, 20 bidders to 3", "1.5x", f"{cost / COSTS[3]:.2f}x")


def test_standard_sale_against_the_yardstick(benchmark, figure):
    standard().run()
    results = []
    benchmark.pedantic(lambda: results.append(standard(latency=LATENCY_SECONDS).run()), rounds=3)
    calls, wall = results[0].metrics().calls, benchmark.stats.stats.median
    measured = dict(zip(YARDSTICK, (calls.count, calls.chain, calls.input_tokens, wall), strict=True))
    aims = dict(zip(YARDSTICK, ("230", "103", "200,000", ""), strict=True))
    for name, value in measured.items():
        ratio = f"(yardstick {YARDSTICK[name]:,}: {value / YARDSTICK[name]:.2f}x)"
        figure(f"standard sale (seed 0), {name}", aims[name], f"{round(value, 1):,} {ratio}")
    ideal = LATENCY_SECONDS * calls.chain
    figure("standard sale, wall clock to latency x chain", "1.05x", f"{wall / ideal:.3f}x")


def test_standard_sale_over_seeds(benchmark, figure):
    made = []
    benchmark.pedantic(lambda: made.extend(standard(seed).run().metrics().calls for seed in range(20)), rounds=1)
    for name in ("chain", "count"):
        values = [getattr(calls, name) for calls in made]
        spread = f"mean {statistics.mean(values):.1f}, from {min(values)} to {max(values)}"
        figure(f"standard sale over seeds 0 to 19, {'calls' if name == 'count' else name}", "", spread)


def test_standard_sale_by_call_fused_and_by_limit(benchmark, figure):
    """Measure the costs of the three ways to bid in the unchanged preset."""
    ways = {
        "by call": {"bidding": "call"},
        "fused": {"strategy": "fused", "bidding": "call"},
        "by limit": {"bidding": "limit"},
    }
    aims = {"by call": ("230", "", "200,000"), "fused": ("190", "", ""), "by limit": ("100", "40", "")}
    models = {"simulated": ModelSettings(simulated=Simulated(latency_seconds=LATENCY_SECONDS))}

    def hold(way):
        bidders = [bidder.model_copy(update=ways[way]) for bidder in STANDARD.bidders]
        return STANDARD.model_copy(update={"bidders": tuple(bidders), "models": models}).run().metrics()

    held = benchmark.pedantic(lambda: {way: hold(way) for way in ways}, rounds=1)
    for way, summary in held.items():
        made = summary.calls
        for aim, name, value in zip(
            aims[way], ("calls", "chain", "input tokens"), (made.count, made.chain, made.input_tokens), strict=True
        ):
            figure(f"preset standard, {way}, {name}", aim, f"{value:,}")
        figure(f"preset standard, {way}, wall clock (s)", "", f"{summary.seconds:.1f}")
        figure(f"preset standard, {way}, profit of all", "", f"${sum(row.profit for row in summary.standings):,.0f}")


def test_cost_of_profiling_strategy_and_prediction(benchmark, figure):
    """Measure the processor time that these add to a decision, without latency."""

    def hold(**switches):
        bidders = [Bidder(f"Bidder {number}", persona=persona, **switches) for number, persona in enumerate(PERSONAS)]
        started = time.process_time()
        log = Auction(seed=1, items=Houses(count=10, matched=2), bidders=bidders).run().log
        return time.process_time() - started, len(of_type(log, Decided))

    full = {"theory_of_mind": "inferred", "strategy": "on"}
    hold(**full)
    plain = [hold() for _ in range(3)]
    rich = benchmark.pedantic(lambda: [hold(**full) for _ in range(3)], rounds=1)
    cost = [1000 * sum(spent for spent, _ in runs) / sum(count for _, count in runs) for runs in (plain, rich)]
    figure("profiling, strategy and prediction, ms a decision", "3", f"{cost[1] - cost[0]:.2f} on top of {cost[0]:.2f}")


def test_six_bidders_that_all_profile(benchmark, figure):
    model = ModelSettings(simulated=Simulated(latency_seconds=LATENCY_SECONDS))
    bidders = [
        Bidder(f"Bidder {number}", persona=persona, theory_of_mind="inferred", strategy="on")
        for number, persona in enumerate((*PERSONAS, *PERSONAS))
    ]

    def hold():
        return Auction(seed=1, items=Houses(count=5), bidders=bidders, models={"simulated": model}).run().metrics()

    summary = benchmark.pedantic(hold, rounds=1, warmup_rounds=1)
    ideal = LATENCY_SECONDS * summary.calls.chain
    figure("six profilers, wall clock to latency x chain", "1.05x", f"{summary.seconds / ideal:.3f}x")


def test_ten_auctions_at_once(benchmark, figure):
    standard().run()
    spent = []

    async def hold_ten():
        started = time.process_time()
        results = await asyncio.gather(*(standard(seed, latency=LATENCY_SECONDS).arun() for seed in range(10)))
        spent.append((time.process_time() - started, [result.metrics().calls for result in results]))

    benchmark.pedantic(lambda: asyncio.run(hold_ten()), rounds=2)
    processor, calls = spent[-1]
    ideal = LATENCY_SECONDS * max(made.chain for made in calls)
    count = sum(made.count for made in calls)
    figure("ten auctions at once, share of the ideal throughput", "0.85", f"{ideal / benchmark.stats.stats.min:.3f}")
    figure("ten auctions at once, processor ms a call", "3", f"{1000 * processor / count:.2f}")


@pytest.mark.parametrize(
    ("name", "aim", "command"),
    [
        ("harbor --help, s", "0.3", ["-m", "harbor", "--help"]),
        ("import harbor, s", "0.15", ["-c", "import harbor"]),
    ],
)
def test_start(benchmark, figure, name, aim, command):
    benchmark.pedantic(
        lambda: subprocess.run([sys.executable, *command], check=True, capture_output=True), rounds=9, warmup_rounds=1
    )
    figure(name, aim, f"{benchmark.stats.stats.median:.3f}")


def test_memory_of_the_demo(benchmark, figure, tmp_path):
    peaks = []

    def demo():
        command = [sys.executable, "-m", "harbor", "auction", "demo", "--json", "--out", str(tmp_path / "run")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
            process = psutil.Process(running.pid)
            while running.poll() is None:
                with suppress(psutil.Error, subprocess.TimeoutExpired):
                    peaks.append(process.memory_info().rss / 2**20)
                    running.wait(timeout=0.01)

    benchmark.pedantic(demo, rounds=1)
    figure("peak memory of the demo, MB", "400", f"{max(peaks):.0f}")
