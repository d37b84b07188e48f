"""The number of batch jobs of a thousand sessions with one model seat. Nothing here fails for being slow."""

from __future__ import annotations

import asyncio
import resource
import time

from harbor._config.auction import check
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import RunOptions, run_experiment
from support.providers import provider

SESSIONS = 200
"""Concurrent sessions: a thousand take some minutes (17 jobs, 13 ms CPU per call with the provider, 1 MB per game)."""
BIDDERS = [{"name": "Model", "model": "openai:gpt-4o-mini"}, *({"name": f"R{n}", "rule": "rational"} for n in (1, 2))]
DESIGN = {
    "name": "batches",
    "title": "Batches",
    "question": "?",
    "source": "nobody",
    "repeats": SESSIONS,
    "metrics": ["payoff"],
    "auction": {"rules": {"game": "second-price"}, "bidders": BIDDERS},
    "arms": [{"name": "all"}],
}


def test_jobs_of_second_price_sessions_with_one_model_seat(benchmark, figure, tmp_path, monkeypatch):
    with provider(seed=5) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "nobody")
        began, cpu = time.perf_counter(), time.process_time()
        design = check(Experiment, DESIGN, "design")
        options = RunOptions(lane="batch", cache=False)
        results = benchmark.pedantic(lambda: asyncio.run(run_experiment(design, tmp_path / "run", options)), rounds=1)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        jobs, calls = len(server.batches.jobs), sum(record.calls for record in results.records)
    assert {record.status for record in results.records} == {"finished"}
    name = f"{SESSIONS} second-price sessions with one model seat in the batch lane"
    figure(f"{name}: jobs", "17", f"{jobs} (of {calls} calls)")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figure(
        f"{name}: seconds; CPU per call; memory", "", f"{seconds:.0f} s; {cpu / calls * 1e3:.1f} ms; {memory:.0f} MB"
    )
    assert jobs <= 17
