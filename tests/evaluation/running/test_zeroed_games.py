"""What a power cut leaves of games that scripts alone play, which are not synced: they are begun anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harbor._runs.raw_calls import read_calls
from harbor.evaluation._running.trial_folder import begun, clear
from support.commands import harbor, mistake
from support.folders import TINY

SCRIPTED = {"name": "scripts", "title": "Scripts", "question": "?", "source": "nobody", "metrics": ["profit"]}
SALE = {"items": {"count": 2}, "bidders": [{"name": name, "rule": "minimum-raise"} for name in ("Ann", "Ben")]}


def zero(file: Path) -> None:
    file.write_bytes(b"\0" * file.stat().st_size)


@pytest.mark.parametrize("names", [["config.json", "manifest.json"], ["config.json", "events.jsonl"], ["events.jsonl"]])
def test_a_game_of_scripts_whose_files_are_zeroed_is_played_again(tmp_path, names):
    design = SCRIPTED | {"repeats": 2, "auction": SALE, "arms": [{"name": "one"}]}
    (tmp_path / "scripts.json").write_text(json.dumps(design))
    assert harbor("experiment", "run", "scripts.json", "--out", "run", "--quiet", cwd=tmp_path).returncode == 0
    results = (tmp_path / "run" / "results.json").read_bytes()
    for name in names:
        zero(next((tmp_path / "run" / "games").rglob("0001")) / name)
    done = harbor("experiment", "resume", "run", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "results.json").read_bytes() == results


def test_a_game_with_recorded_calls_is_never_removed(tmp_path):
    game = tmp_path / "run" / "games" / "none" / "all" / "0001"
    assert harbor("experiment", "run", TINY, "--out", "run", "--quiet", cwd=tmp_path).returncode == 0
    zero(game / "config.json")
    (game / "record.json").unlink()
    assert begun(game)
    clear(game)
    assert read_calls(game / "calls.jsonl")
    refused = mistake(harbor("experiment", "resume", "run", "--quiet", cwd=tmp_path))
    assert "lacks a config.json that can be read; restore it" in refused
