"""The speed of verifying a log, against the run that wrote it, in one process: the demo with the built-in model."""

from __future__ import annotations

from time import perf_counter

from harbor import Auction
from harbor._cli.shared.files import load
from harbor._runs.verification import logs_checked


def test_verifying_the_demo_takes_a_fraction_of_running_it(tmp_path, figure):
    demo = load("demo")
    Auction(**dict(demo)).run(out=tmp_path / "warm")  # imports and compiles before the measurement
    began = perf_counter()
    Auction(**dict(demo)).run(out=tmp_path / "run")
    ran = perf_counter() - began
    times = []
    for _ in range(5):
        began = perf_counter()
        [one] = logs_checked(tmp_path / "run")
        times.append(perf_counter() - began)
        assert one.verdict.follows
    verified = sorted(times)[len(times) // 2]
    figure("verifying the demo, against running it", "20 times as fast", f"{ran / verified:.0f} ({verified:.3f} s)")
