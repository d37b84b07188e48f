"""What the pages for developers of agents and apps show, done as it stands.

A section begins with the files of those before it, and runs where its packages are.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path
from subprocess import run
from typing import NamedTuple

import pytest

from support.adapters import hosted, needs
from support.cases import some
from support.folders import ROOT
from support.guide import Block, blocks

PAGES = sorted((ROOT / "docs").glob("*.md"))
TESTED = ("mcp.md", "protocol.md")
"""What these pages show is done by tests of their own."""
NOT_RUN = (
    "cd ", "claude ", "export ", "harbor mcp", "inspect view", "langgraph ", "mkdir ", "npm ", "npx ", "pip ",
    "python3 -m venv",
)  # fmt: skip
"""How commands begin that install, set, or serve until somebody stops them."""


class Section(NamedTuple):
    page: Path
    title: str
    blocks: list[Block]
    earlier: list[Block]

    def __str__(self) -> str:
        return f"{self.page.stem}: {self.title}"


def sections() -> list[Section]:
    found = []
    for page in [page for page in PAGES if page.name not in TESTED]:
        earlier: list[Block] = []
        for part in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
            if shown := blocks(part):
                found.append(Section(page, part.partition("\n")[0].strip("# "), shown, list(earlier)))
            earlier += shown
    return found


def packages(blocks: list[Block]) -> list[str]:
    """The packages that the Python of a section imports, but for files of the page itself."""
    imported = [re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE) for kind, text in blocks if kind == "python"]
    files = {Path(block.file).stem for block in blocks if block.file}
    return sorted({name for names in imported for name in names} - files - {"__future__"})


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Have this Harbor and this Python as commands, and a model that is hosted on this machine."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, words in (("harbor", "-P -m harbor"), ("python", "")):
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    with hosted(monkeypatch):
        yield


def do(block: Block, folder: Path) -> None:
    if block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "json":
        json.loads(block.text)
    if block.file:
        (folder / block.file).write_text(block.text, encoding="utf-8")
    elif block.language == "python":
        finish([sys.executable, "-c", block.text], folder)
    elif block.language == "sh":
        for line in block.lines:
            if not line.startswith(NOT_RUN):
                finish(["sh", "-c", line], folder)


def finish(command: list[str], folder: Path) -> None:
    done = run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "gave no answer" not in done.stderr
    assert "answers were refused" not in done.stderr


SECTIONS = [*sections()]
DEAR = {
    "autogen: A bidder in your team", "something-else: A check", "something-else: A function",
    "something-else: An experiment", "something-else: Another language", "something-else: LangChain",
    "tables: Tables", "view: Look at a run", "view: Send a page",
}  # fmt: skip
"""Sections that `make studies` does."""
assert {str(one) for one in SECTIONS} >= DEAR


@pytest.mark.slow
@pytest.mark.parametrize("section", some(SECTIONS, [one for one in SECTIONS if str(one) not in DEAR]), ids=str)
def test_a_section_of_the_guide_does_what_it_says(section, shell, tmp_path):
    needs(*packages(section.blocks))
    if any(block.language == "js" for block in section.blocks) and shutil.which("node") is None:
        pytest.skip("node is not installed here")
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    for block in section.earlier:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    for block in section.blocks:
        do(block, folder)
