"""A stop between any two writes of a run, a series or an experiment: resumed, it leaves what it would have left."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from crash.inside import steps
from crash.leaving import difference, left_in

from harbor import Auction, resume, run_series
from harbor._core.files.safe_files import SyncedFile
from harbor._core.log.log import Log
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import resume_experiment, run_experiment
from support.commands import harbor

LOTS = [{"name": "Lot A", "start": 1_000, "true_value": 2_000}]
RULES = [{"name": "Zoe", "rule": "minimum-raise", "max_bids": 1}, {"name": "Ann", "rule": "minimum-raise"}]
MODELS = [{"name": "Zoe"}, {"name": "Ann", "rule": "minimum-raise", "max_bids": 1}]
REMEMBERING = [{"name": "Zoe", "memory": "list", "learning": True}, RULES[0] | {"name": "Ann"}]
Kind = tuple[Callable[[Path], object], Callable[[Path], object]]


def _run(bidders: list[dict[str, Any]]) -> Kind:
    return lambda out: Auction(items=LOTS, bidders=bidders, seed=3).run(out=out), resume


def _series(bidders: list[dict[str, Any]]) -> Kind:
    config = Auction(items=LOTS, bidders=bidders, seed=3, series={"auctions": 2})
    return lambda out: run_series(config, out=out), resume


def _experiment(bidders: list[dict[str, Any]]) -> Kind:
    design = Experiment(
        name="small", title="Small", question="Does it go on?", source="made up", repeats=2,
        auction={"items": LOTS, "bidders": bidders}, arms=[{"name": "plain"}], metrics=("profit",),
    )  # fmt: skip
    return lambda out: asyncio.run(run_experiment(design, out)), lambda out: asyncio.run(resume_experiment(out))


@contextmanager
def before_each_write(look: Callable[[], None], root: Path) -> Iterator[None]:
    """Call `look` before a folder or a file is made, renamed or removed in `root`, and before each line of a log."""

    def line(cls: type, name: str) -> Any:
        kept = getattr(cls, name)

        def written(self: Any, *given: Any) -> Any:
            look()
            return kept(self, *given)

        return patch.object(cls, name, written)

    with patch.multiple(steps, _inside="", step=look), line(Log, "_write"), line(SyncedFile, "append"):
        steps.begin(str(root))
        yield


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def states_of(begin: Callable[[Path], object], place: Path) -> list[Path]:
    """Run without a stop, and keep what is there before each write, as a sudden end would leave it."""
    states, last = list[Path](), dict[str, bytes]()

    def look() -> None:
        nonlocal last
        if (place / "work" / "run" / "memory" / "chroma.sqlite3").exists():
            return  # SQLite writes when it will, so there is nothing between two writes; the crash lab kills it
        if (now := contents(place / "work")) != last:
            last = now
            states.append(place / f"state-{len(states)}")
            shutil.copytree(place / "work", states[-1])

    (place / "work").mkdir()
    with before_each_write(look, place / "work"):
        begin(place / "work" / "run")
    return states


def settings_in(run: Path) -> dict[str, object]:
    """The names of all files but drafts that a stop left, and what settings and manifests hold but for the clock."""
    found: dict[str, object] = {}
    for path in filter(Path.is_file, run.rglob("*")):
        name = path.relative_to(run)
        if path.suffix != ".draft" and path.name != ".lock" and "memory" not in name.parts:
            is_settings = path.name in ("config.json", "manifest.json", "experiment.json")
            told = json.loads(path.read_bytes()) if is_settings else {}
            told["options"] = [{**one, "at": None} for one in told.get("options", [])]
            found[str(name)] = {key: told[key] for key in told if key not in ("began", "token")}
    return found


KINDS = {"run": _run(RULES), "series": _series(RULES)}
SLOW = {
    "experiment": _experiment(RULES), "run of a model": _run(MODELS), "series with memories": _series(REMEMBERING),
}  # fmt: skip


@pytest.mark.parametrize(("begin", "go_on"), [
    *(pytest.param(*kind, id=name) for name, kind in KINDS.items()),
    *(pytest.param(*kind, id=name, marks=pytest.mark.slow) for name, kind in SLOW.items()),
])  # fmt: skip
def test_whatever_write_comes_last_what_is_resumed_is_what_was_never_stopped(begin, go_on, tmp_path):
    states, run = states_of(begin, tmp_path), tmp_path / "work" / "run"
    whole, settings = left_in(run), settings_in(run)
    for state in states:  # each where it is: Chroma may still be closing its files in the folder before
        run = state / "run"
        (go_on if run.exists() else begin)(run)
        assert difference(whole, left_in(run)) == "", state
        assert settings_in(run) == settings, state
    assert harbor("verify", run).returncode == 0
    assert harbor("pack", run, "--public", "--out", tmp_path / "public.harbor.zip").returncode == 0


SETTINGS = ("config.json", "manifest.json")
LOST: dict[str, Callable[[Path], object]] = {
    "all": lambda inner: [path.unlink() for path in inner.iterdir() if path.name != "mark"],
    "manifest": lambda inner: (inner / "manifest.json").unlink(missing_ok=True),
    "config": lambda inner: (inner / "config.json").unlink(missing_ok=True),
    "settings": lambda inner: [(inner / name).unlink(missing_ok=True) for name in SETTINGS],
    "what settings hold": lambda inner: [(inner / name).write_bytes(b"") for name in SETTINGS],
    "what settings hold, for zeros": lambda inner: [(inner / name).write_bytes(b"\0" * 900) for name in SETTINGS],
    "the end of settings": lambda inner: [os.truncate(inner / name, 150) for name in SETTINGS],
}
"""What a power cut may take from a game that scripts play: it costs nothing, so its files are not synced."""


@pytest.mark.parametrize("auction", ["1", "2"])
def test_an_auction_of_a_series_of_scripts_that_lost_its_settings_is_held_anew(auction, tmp_path):
    begin, go_on = KINDS["series"]
    states, work = states_of(begin, tmp_path), tmp_path / "work"
    whole, settings = left_in(work / "run"), settings_in(work / "run")
    begun = [state for state in states if (state / "run" / "2" / "events.jsonl").is_file()]
    for lost, lose in LOST.items():
        shutil.rmtree(work)
        shutil.copytree(begun[len(begun) // 2], work)
        lose(work / "run" / auction)
        go_on(work / "run")
        assert difference(whole, left_in(work / "run")) == "", lost
        assert settings_in(work / "run") == settings, lost


def test_an_auction_of_a_series_that_called_a_model_is_not_held_anew_whatever_is_lost(tmp_path):
    begin, go_on = _series(MODELS)
    begin(tmp_path / "run")
    calls = (tmp_path / "run" / "1" / "calls.jsonl").read_bytes()
    LOST["settings"](tmp_path / "run" / "1")
    go_on(tmp_path / "run")
    assert (tmp_path / "run" / "1" / "calls.jsonl").read_bytes() == calls != b""
