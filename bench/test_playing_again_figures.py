"""The speed of replaying a run, beside the run itself: both in one process, with the built-in model, in folders."""

from __future__ import annotations

import time
from importlib.resources import files

from harbor import Auction
from harbor._config.auction import read_settings
from harbor._runs.deep_verification import play_again

ROUNDS = 5
DEMO = read_settings(files("harbor._config.presets") / "demo.toml", Auction)


def test_playing_a_run_again(benchmark, figure, tmp_path):
    runs = []
    for number in range(ROUNDS + 1):  # the first round loads the code of both
        began = time.perf_counter()
        DEMO.run(out=tmp_path / str(number))
        runs.append(time.perf_counter() - began)
    folders = iter([tmp_path / "0", *(tmp_path / str(number) for number in range(ROUNDS + 1))])
    verdicts = []
    benchmark.pedantic(lambda: verdicts.append(play_again(next(folders))), rounds=ROUNDS, warmup_rounds=1)
    assert all(verdict.follows for verdict in verdicts)
    run, again = sorted(runs[1:])[ROUNDS // 2], benchmark.stats.stats.median
    figure("verify --deep of the demo, against its run", "3x", f"{run / again:.1f}x ({again:.2f} s for {run:.2f} s)")
