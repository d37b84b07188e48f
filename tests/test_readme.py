"""What the README and the examples say, done."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from harbor import ModelSettings
from harbor._models.providers import open_chat
from support.folders import ROOT

PAGES = ("README.md", "EXPERIMENTS.md", "MODELS.md")


def blocks(page: str, wanted: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        block
        for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        if language == wanted
    ]


SHELL = [line for block in blocks("README.md", "sh") for line in block.splitlines()]


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_harbor_command_runs_in_order_and_python_reads_what_they_left(page, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    commands = [shlex.split(line) for line in lines if line.startswith("harbor ")]
    assert len(commands) >= 3
    for _, *words in commands:
        run(sys.executable, "-P", "-m", "harbor", *words, cwd=tmp_path)
    if page != "README.md":
        for block in blocks(page, "python"):
            assert run(sys.executable, "-P", "-c", block, cwd=tmp_path).stdout


@pytest.mark.parametrize("block", blocks("MODELS.md", "toml"))
def test_the_models_of_the_guide_are_settings_of_models(block, monkeypatch):
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.setenv(key, "nobody's")
    for name, settings in tomllib.loads(block)["models"].items():
        assert open_chat(name, ModelSettings(**settings), seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks("README.md", "python"))
def test_python_blocks_run(block, tmp_path):
    assert "Ann" in run(sys.executable, "-P", "-c", block, cwd=tmp_path).stdout


@pytest.mark.parametrize("line", [line for line in SHELL if line.startswith("make ")])
def test_make_knows_the_targets(line):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    subprocess.run([*line.split(), "-n"], cwd=ROOT, env=environment, capture_output=True, check=True)


def test_the_way_without_make_is_the_way_of_make():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "$(BIN)/harbor auction demo" in makefile
    assert ".venv/bin/harbor auction demo" in SHELL
    assert '$(BIN)/pytest -n auto --dist worksteal -m "not slow"' in makefile
    assert '.venv/bin/pytest -n auto --dist worksteal -m "not slow"' in SHELL


def test_every_file_that_is_linked_exists():
    for page in (*PAGES, "CONTRIBUTING.md"):
        links = re.findall(r"\]\(((?!http)[^)]+)\)", (ROOT / page).read_text(encoding="utf-8"))
        assert all((ROOT / link).exists() for link in links)


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_examples_run(example, tmp_path):
    assert run(sys.executable, "-P", str(ROOT / "examples" / example), cwd=tmp_path).stdout


def test_every_module_named_in_the_architecture_exists():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:harbor|graphs|memory|personas|evaluation|tests)/[\w/.]+)`", page):
        assert any((ROOT / f"{name}{ending}").exists() for ending in ("", ".py")), name
