"""The required figures of the way to a provider, measured over real sockets: faults, quotas, refusals.

The server runs in its own process where quotas are measured, but shares the machine's processors. If these are never
idle, they limit the rate, and not the quota.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from harbor import Auction, Bidder, ModelSettings
from harbor._config.auction import check
from harbor._core.log.events import ModelCalled, Spent
from harbor._core.log.log import of_type
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._running.runner import RunOptions, run_experiment
from support.commands import HARBOR
from support.folders import calls
from support.formats import ITEMS, SEED, spoken, told
from support.providers import BROKEN, BUSY, HOLLOW, STUCK, Faults, Limits, Provider, provider

HERE = Path(__file__).resolve()
SEEDS = 20
SHARE = 0.2
KINDS: dict[str, tuple[str, ...]] = {kind: (kind,) for kind in (*BUSY, *BROKEN, *HOLLOW, *STUCK)}
FEW = {"429 date": 4}
"""Games for a fault that holds up all calls of the account for up to two seconds, as a date has whole seconds only."""
LATENCY_SECONDS = 0.2
AT_ONCE, PER_SECOND = 4, 60
GAMES = {"asyncio": 100, "processes": 40, "ray": 40}
GIVEN, LEARNED = "0 failed, >= 95 % used, <= 1.02", "0 failed, >= 95 % used, <= 1.10"
QUOTAS = {
    "4 at once, given": ({"at_once": AT_ONCE}, {"max_concurrent": AT_ONCE}, GIVEN),
    "60 a second, given": ({"per_window": PER_SECOND}, {"requests_per_minute": 60 * PER_SECOND}, GIVEN),
    "4 at once, learned": ({"at_once": AT_ONCE}, {}, LEARNED),
    "60 a second, learned": ({"per_window": PER_SECOND}, {}, LEARNED),
}
PLAIN = {"name": "wire", "title": "Bench", "question": "How fast?", "source": "none", "metrics": ["payoff_ratio"]}
QUICK = {
    "rules": {"game": "second-price", "runs": 1},
    "bidders": [{"name": name, "model": "mine"} for name in ("Ann", "Ben", "Cho", "Dan")],
}


# ---------------------------------------------------------------- faults


def game(seed: int, url: str = "", **settings: Any) -> Auction:
    wire = {"use": f"openai:model-{seed}", "base_url": url, **settings} if url else {}
    bidders = [Bidder(name, model="mine") for name in ("Ann", "Ben")]
    return Auction(items=ITEMS, bidders=bidders, models={"mine": ModelSettings(**wire)}, seed=seed)


async def all_of(games: list[Auction]) -> list[Any]:
    return await asyncio.gather(*(one.arun() for one in games), return_exceptions=True)


@pytest.mark.parametrize("kind", [*KINDS, "all mixed"])
def test_a_fifth_of_the_requests_is_faulty(benchmark, figure, kind):
    seeds = range(1, 1 + FEW.get(kind, SEEDS))
    patience = {"timeout_seconds": 1.5} if kind in STUCK or kind == "all mixed" else {}
    faults = Faults(KINDS.get(kind, tuple(KINDS)), share=SHARE, seed=[*KINDS, kind].index(kind), retry_after=0.02)
    offline = asyncio.run(all_of([game(seed) for seed in seeds]))

    def measure() -> None:
        began = time.perf_counter()
        with provider(minds={f"model-{seed}": (seed, "mine") for seed in seeds}, faults=faults) as server:
            runs = asyncio.run(all_of([game(seed, server.openai_url, **patience) for seed in seeds]))
            equal = sum(
                not isinstance(run, BaseException) and run.standings == was.standings and told(run.log) == told(was.log)
                for run, was in zip(runs, offline, strict=True)
            )
            made = sum(len(of_type(was.log, ModelCalled)) for was in offline)
            shown = f"{equal} of {len(runs)}, {len(server.requests) / made:.3f}"
            figure(f"20 % {kind}: equal runs, requests per call", "all, 1.3", shown + since(began))
            figure(f"20 % {kind}: tokens of the ledger", "the server's", ledger(runs, server))
            for run in runs:
                if isinstance(run, BaseException):
                    figure(f"20 % {kind}: a run that stopped", "none", f"{type(run).__name__}: {run}"[:90])

    benchmark.pedantic(measure, rounds=1)


def ledger(runs: list[Any], server: Provider) -> str:
    """Compare the ledgers with the server's counts of delivered and lost answers."""
    answered = [call for run in runs if not isinstance(run, BaseException) for call in of_type(run.log, ModelCalled)]
    own = sum(call.input_tokens + call.output_tokens + tokens(call.probes) for call in answered)
    came = sum(heard.read + heard.written for heard in server.requests if not heard.fault)
    gone = sum(heard.read + heard.written for heard in server.requests if heard.fault)
    return f"{own - came:+d}; lost {sum(tokens(call.lost) for call in answered)} at most of {gone}"


def tokens(spent: Spent) -> int:
    return spent.input_tokens + spent.output_tokens


def since(began: float) -> str:
    return f" ({time.perf_counter() - began:.0f} s)"


# ---------------------------------------------------------------- quotas


@contextmanager
def elsewhere(**given: Any) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve in a new process and yield its address. The process reports its counts when its input is closed."""
    command, paths = [sys.executable, str(HERE), json.dumps(given)], os.pathsep.join(filter(None, sys.path))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=os.environ | {"PYTHONPATH": paths}, **pipes) as serving:
        assert serving.stdout
        yield serving.stdout.readline().strip(), serving
        if serving.poll() is None:
            serving.kill()


def seen_by(serving: subprocess.Popen[str]) -> dict[str, float]:
    seen: dict[str, float] = json.loads(serving.communicate()[0])
    return seen


def quick(games: int, settings: dict[str, Any]) -> Experiment:
    """Sealed bids of four seats at the same time, in equal games, so that one server can answer all of them."""
    more = {"arms": [{"name": "all"}], "repeats": games, "same_seed": True}
    return check(Experiment, PLAIN | more | {"auction": QUICK | {"models": {"mine": settings}}}, "design")


def idle() -> float:
    """Return the idle time of this machine's processors, in seconds."""
    return float(psutil.cpu_times().idle)


@pytest.mark.parametrize("quota", QUOTAS)
@pytest.mark.parametrize("executor", GAMES)
def test_a_quota_is_used_and_not_exceeded(benchmark, figure, tmp_path, executor, quota):
    limits, settings, aim = QUOTAS[quota]
    games = GAMES[executor]
    seed = trials(quick(1, {}))[0].config.seed

    def measure() -> None:
        with elsewhere(seed=seed, latency=LATENCY_SECONDS, limits=limits) as (url, serving):
            design = quick(games, {"use": "openai:model", "base_url": url, **settings})
            jobs = games if executor == "asyncio" else 2
            free, began = idle(), time.perf_counter()
            asyncio.run(run_experiment(design, tmp_path / "run", RunOptions(executor, jobs)))
            wall, free = time.perf_counter() - began, idle() - free
            seen = seen_by(serving)
        made = calls(tmp_path / "run")
        failed = sum(call["outcome"] == "failed" for call in made)
        used = seen["inside"] / AT_ONCE if "at_once" in limits else (seen["accepted"] - 1) / PER_SECOND
        share, per_call = used / seen["span"], seen["requests"] / len(made)
        figure(f"{quota}; {executor}, {games} games", aim, f"{failed}, {100 * share:.1f} %, {per_call:.3f}")
        idleness = f"{100 * free / wall / (os.cpu_count() or 1):.0f} %, {wall:.0f} s"
        figure(f"the same: processors idle, time of {len(made)} calls", "> 10 %", idleness)

    benchmark.pedantic(measure, rounds=1)


# ---------------------------------------------------------------- refusals


def test_a_wrong_key(benchmark, figure):
    def measure() -> None:
        with provider(seed=SEED, key="another") as server:
            flags = [f"--set=models.mine.{name}={value}" for name, value in spoken("openai chat", server).items()]
            began = time.perf_counter()
            done = subprocess.run(
                [*HARBOR, "auction", "demo", "--model", "mine", *flags], capture_output=True, check=False
            )
            wall = time.perf_counter() - began
            shown = f"{len(server.requests)}, {done.returncode}, {wall:.1f} s"
            figure("a wrong key: requests, exit code, time to exit", "1, 2, 2 s", shown)

    benchmark.pedantic(measure, rounds=1)


def serve(given: dict[str, Any]) -> None:
    """Serve until the input is closed, and then report the counts. Times are in seconds."""
    given["limits"] = Limits(**given["limits"])
    with provider(**given) as server:
        print(server.openai_url, flush=True)
        sys.stdin.read()
        let_in = [heard for heard in server.requests if heard.status == 200]
        seen = {
            "requests": len(server.requests),
            "accepted": len(let_in),
            "inside": sum(heard.ended - heard.began for heard in let_in),
            "span": max(heard.ended for heard in let_in) - let_in[0].began,
        }
    print(json.dumps(seen), flush=True)


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
