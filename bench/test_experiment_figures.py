"""The overhead of the runner of experiments over its games. Nothing here fails for being slow.

All figures use the built-in model: with 100 ms a call where games wait, and without latency where processors work.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import psutil
import pytest

from harbor import Auction
from harbor._config.auction import AuctionConfig, read_settings
from harbor._core.log.log import read_log
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._metrics.calls import calls
from harbor.evaluation._running.experiment_folder import read_results, trial_path
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment

LATENCY_SECONDS = 0.1
AT_ONCE = 10
STANDARD = read_settings(files("harbor._config.presets") / "standard.toml", AuctionConfig).model_dump(mode="json")
PLAIN = {"title": "Bench", "question": "How fast?", "source": "none", "metrics": ["profit"]}
QUICK = {"rules": {"game": "second-price", "runs": 1}}


def standard(repeats: int, latency: float = 0.0) -> Experiment:
    """The standard sale, under the policy of `bench/test_figures.py`."""
    bidders = [{"name": f"Bidder {number}", "budget": 20_000} for number in (1, 2, 3)]
    model = {"policy": "minimum", "latency_seconds": latency}
    auction = {"items": STANDARD["items"], "bidders": bidders, "models": {"simulated": {"simulated": model}}}
    return Experiment(name="standard", repeats=repeats, auction=auction, arms=[{"name": "one"}], **PLAIN)


def quick(repeats: int) -> Experiment:
    """A sealed auction of one run between a model and two rules: the shortest game."""
    bidders = [{"name": "Ann"}, {"name": "Ben", "rule": "rational"}, {"name": "Cho", "rule": "rational"}]
    plain = PLAIN | {"metrics": ["payoff_ratio"]}
    return Experiment(
        name="quick", repeats=repeats, auction=QUICK | {"bidders": bidders}, arms=[{"name": "a"}], **plain
    )


def hold(experiment: Experiment, folder: Path, **running: object) -> float:
    began = time.perf_counter()
    asyncio.run(run_experiment(experiment, folder, RunOptions(**running)))
    return time.perf_counter() - began


def makespan(chains: list[int], places: int) -> int:
    """Return the least time for games of these lengths, in this order, on `places` places, without any overhead."""
    busy = [0] * places
    for chain in chains:
        busy[busy.index(min(busy))] += chain
    return max(busy)


def test_sixty_standard_sales_that_wait(benchmark, figure, tmp_path):
    hold(standard(1), tmp_path / "warm")
    experiment, spent = standard(60, LATENCY_SECONDS), time.process_time()
    wall = benchmark.pedantic(lambda: hold(experiment, tmp_path / "run", jobs=AT_ONCE), rounds=1)
    spent = time.process_time() - spent
    held = [read_log(trial_path(tmp_path / "run", game) / "events.jsonl").entries for game in trials(experiment)]
    chains = [calls(log).chain for log in held]
    figure("60 standard sales, 10 at once: wall clock and processor, s", "", f"{wall:.1f} and {spent:.1f}")
    for name, chain in (("sum of chains / 10", sum(chains) / AT_ONCE), ("makespan", makespan(chains, AT_ONCE))):
        figure(f"the same, {name} x latency to wall clock", "0.85", f"{LATENCY_SECONDS * chain / wall:.3f}")


@pytest.mark.parametrize("executor", ["processes", "ray"])
def test_two_workers_without_latency(benchmark, figure, tmp_path, executor):
    """Measure games per second over the last two thirds, when all workers have long begun."""
    experiment = standard(45)
    rates = {}

    def pace(places: int) -> float:
        ends: list[float] = []
        hear = lambda _, record: ends.append(time.perf_counter()) if record else None  # noqa: E731
        asyncio.run(run_experiment(experiment, tmp_path / str(places), RunOptions(executor, places), hear))
        late = ends[len(ends) // 3 :]
        return (len(late) - 1) / (late[-1] - late[0])

    benchmark.pedantic(lambda: rates.update({places: pace(places) for places in (1, 2)}), rounds=1)
    shown = f"{rates[2] / rates[1]:.2f} ({rates[1]:.1f} and {rates[2]:.1f} games a second)"
    figure(f"{executor}, two workers to one, no latency", "1.7x", shown)


@pytest.mark.parametrize(("name", "made", "count"), [("a quick game", quick, 100), ("a standard sale", standard, 6)])
def test_overhead_of_a_game(benchmark, figure, tmp_path, name, made, count):
    """Measure the processor time of a game in its folder, with all its files, minus that of the same one in memory."""
    experiment = made(count)
    configs = [Auction.model_validate(game.config.model_dump()) for game in trials(experiment)]
    spent = {"memory": [], "folder": []}

    async def bare() -> None:
        for config in configs:
            await config.arun()

    def both() -> None:
        folder = tmp_path / str(len(spent["folder"]))
        for kind, work in (
            ("memory", lambda: asyncio.run(bare())),
            ("folder", lambda: hold(experiment, folder, jobs=1)),
        ):
            began = time.process_time()
            work()
            spent[kind].append(1000 * (time.process_time() - began) / count)

    benchmark.pedantic(both, rounds=5, warmup_rounds=1)
    plain, kept = (min(times) for times in spent.values())
    figure(f"runner, folder and log, ms {name}", "20", f"{kept - plain:.1f} on top of {plain:.1f}")


WATCHED = """
import asyncio, sys
from pathlib import Path
from harbor._config.auction import read_settings
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import run_experiment
experiment = read_settings(Path(sys.argv[1]), Experiment)
show = lambda tally, _: print(tally.finished, flush=True)
asyncio.run(run_experiment(experiment, Path(sys.argv[2]), on_progress=show))
"""


def test_memory_and_reading_of_a_thousand_games(benchmark, figure, tmp_path):
    (tmp_path / "quick.json").write_text(quick(1000).model_dump_json())
    memory: dict[int, float] = {}

    def held() -> None:
        command = [sys.executable, "-P", "-c", WATCHED, tmp_path / "quick.json", tmp_path / "run"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            for line in running.stdout:
                memory[int(line)] = psutil.Process(running.pid).memory_info().rss / 2**20

    benchmark.pedantic(held, rounds=1)
    figure("memory after 100 and 1,000 games, MB", "600", f"{memory[100]:.0f} and {memory[1000]:.0f}")
    began = time.perf_counter()
    found = read_results(tmp_path / "run")
    figure("reading the records of 1,000 games, s", "", f"{time.perf_counter() - began:.2f}")
    for path in (tmp_path / "run").rglob("record.json"):
        path.unlink()
    began = time.perf_counter()
    assert read_results(tmp_path / "run") == found
    figure("measuring 1,000 games anew, s", "", f"{time.perf_counter() - began:.2f}")
    began = time.perf_counter()
    asyncio.run(resume_experiment(tmp_path / "run"))
    figure("resuming 1,000 finished games, s", "", f"{time.perf_counter() - began:.2f}")
