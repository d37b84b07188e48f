"""What docs/using/models.md shows for each provider, done as a new user would: its lines with a server on loopback."""

from __future__ import annotations

import json
import os
import re

import pytest

from harbor._core.log.log import read_log
from support.cases import some
from support.commands import process
from support.folders import ROOT, calls
from support.formats import ITEMS, SEED, auction, told
from support.guide import blocks
from support.providers import provider

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
