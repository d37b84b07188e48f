"""What the pages for developers and on models show, done as it stands, and messages that pages quote.

A section begins with the files of those before it, and runs where its packages are.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from subprocess import run

import pytest

from harbor._core.log.log import read_log
from support.adapters import hosted, needs
from support.cases import some
from support.commands import process
from support.folders import ROOT, calls
from support.formats import ITEMS, SEED, auction, told
from support.guide import Block, blocks
from support.providers import provider

PAGES = sorted((ROOT / "docs").glob("*.md"))
TESTED = ("mcp.md", "protocol.md")
"""What these pages show is done by tests of their own."""
NOT_RUN = (
    "cd ", "claude ", "export ", "harbor mcp", "inspect view", "langgraph ", "mkdir ", "npm ", "npx ", "pip ",
    "python3 -m venv",
)  # fmt: skip
"""How commands begin that install, set, or serve until somebody stops them."""


def sections() -> dict[str, tuple[list[Block], list[Block]]]:
    """The blocks of each section by its name, and those before it on its page."""
    found = {}
    for page in [page for page in PAGES if page.name not in TESTED]:
        earlier: list[Block] = []
        for part in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
            if shown := blocks(part):
                title = part.partition("\n")[0].strip("# ")
                found[f"{page.stem}: {title}"] = shown, list(earlier)
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


SECTIONS = sections()
DEAR = {
    "autogen: A bidder in your team", "something-else: A check", "something-else: A function",
    "something-else: An experiment", "something-else: Another language", "something-else: LangChain",
    "tables: Tables", "view: Look at a run", "view: Send a page",
}  # fmt: skip
"""Sections that `make studies` does."""
assert SECTIONS.keys() >= DEAR


@pytest.mark.slow
@pytest.mark.parametrize("section", some(SECTIONS, SECTIONS.keys() - DEAR))
def test_a_section_of_the_guide_does_what_it_says(section, shell, tmp_path):
    shown, earlier = SECTIONS[section]
    needs(*packages(shown))
    if any(block.language == "js" for block in shown) and shutil.which("node") is None:
        pytest.skip("node is not installed here")
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    for block in earlier:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    for block in shown:
        do(block, folder)


# ---------------------------------------------------------------- what the page on models shows for each provider

PAGE = (ROOT / "docs" / "using" / "models.md").read_text(encoding="utf-8")
KEY = "key-of-a-new-user-0123456789"
ADDRESSES = {
    "OpenAI": {"OPENAI_BASE_URL": "/v1"}, "Azure": {}, "Anthropic": {"ANTHROPIC_BASE_URL": ""},
    "Google": {"GOOGLE_GEMINI_BASE_URL": ""}, "Ollama": {"OLLAMA_HOST": ""}, "vLLM": {}, "OpenRouter": {},
}  # fmt: skip
"""Where the package of a provider looks for another address, and the path there; the others have one in the page."""
GAME = "".join(f'\n[[bidders]]\nname = "{name}"\nmodel = "mine"\nbidding = "call"\n' for name in ("Ann", "Ben"))
GAME += "".join(
    f'\n[[items]]\nname = "{one.name}"\nstart = {one.start}\ntrue_value = {one.true_value}\n' for one in ITEMS
)


def shown(name: str) -> tuple[list[str], str]:
    """What the page says of a provider: which variables to export, and the settings."""
    _, _, rest = PAGE.partition(f"**{name}**")
    own = re.split(r"^\*\*|^## ", rest, flags=re.MULTILINE)[0]
    [settings] = [block.text for block in blocks(own) if block.language == "toml"]
    return re.findall(r"`export (\w+)=", own), settings


def at(server, text: str) -> str:
    """Put the address of a server in place of the one that the page has, with the path of that."""
    return re.sub(r'base_url = ".*?(/v1)?"', lambda found: f'base_url = "{server.url}{found[1] or ""}"', text)


@pytest.fixture
def newcomer(monkeypatch):
    """Nothing in the environment of any provider."""
    for name in list(os.environ):
        if re.match("OPENAI|AZURE|ANTHROPIC|GOOGLE|GEMINI|OLLAMA|OPENROUTER", name):
            monkeypatch.delenv(name)
    return monkeypatch


def test_every_provider_of_the_page_is_followed():
    sections = PAGE.partition("## The first real run")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\*\*(\w+)\*\*", sections, re.MULTILINE)) == sorted(ADDRESSES)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(ADDRESSES, ("OpenAI",)))
def test_a_new_user_who_follows_the_page_plays_and_pays_what_the_server_counts(name, newcomer, tmp_path):
    variables, settings = shown(name)
    with provider(seed=SEED, key=KEY if variables else None) as server:
        for variable in variables:
            newcomer.setenv(variable, KEY)
        for variable, path in ADDRESSES[name].items():
            newcomer.setenv(variable, f"{server.url}{path}")
        (tmp_path / "auction.toml").write_text(f"seed = {SEED}\n\n{GAME}\n{at(server, settings)}")
        done = process("auction", "auction.toml", "--out", "run", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        made = calls(tmp_path / "run")
        assert {call["outcome"] for call in made} == {"ok"}
        assert len(made) == len(server.requests) == sum(heard.status == 200 for heard in server.requests)
        entries = read_log(tmp_path / "run" / "events.jsonl").entries
        assert told(entries) == told(auction({}).run().log)
        assert sum(call["input_tokens"] + call["output_tokens"] for call in made) == server.charged
        assert KEY not in json.dumps(made) + done.stdout + done.stderr


# ---------------------------------------------------------------- messages that are quoted

TROUBLES = ROOT / "docs" / "troubleshooting.md"
FOLDERS = ("harbor", "graphs", "memory", "personas", "evaluation")
QUOTED = re.findall(r"^\| \"(.*?)\"[^|]*\|", TROUBLES.read_text(encoding="utf-8"), re.MULTILINE)


@cache
def texts() -> str:
    """Give every text of the code, with nothing in place of what is filled in."""
    files = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return "\n".join(text for file in files for text in _texts(ast.parse(file.read_text(encoding="utf-8"))))


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "\0".join(one.value for one in node.values if isinstance(one, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("message", QUOTED)
def test_a_message_that_is_quoted_is_one_of_the_code(message):
    pieces = [piece.strip(" .;,()'`") for piece in message.split("...")]
    assert any(pieces)
    assert [piece for piece in pieces if piece not in texts()] == []
