"""What the README, the tutorials, the pages on using Harbor and the examples say, done."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from runpy import run_path

import pytest
import yaml

from harbor import ModelSettings
from harbor._core.faces import __version__
from harbor._models.providers import open_chats
from support.cases import some
from support.commands import harbor
from support.folders import ROOT
from support.guide import PAGES, Block, blocks, commands, parse, spoken, unknown

DONE = [page for page in PAGES if page.parent == ROOT or page.parent.name in ("tutorials", "using")]
"""The pages whose blocks are done in order, in one folder; those of the guide are done by sections (test_guide.py)."""
CI_DOES = ("README", "app-developers", "teaching", "install")
"""The stems of pages that CI does; `make studies` does all."""


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def do(block: Block, folder: Path) -> None:
    if block.file:
        (folder / block.file).write_text(block.text, encoding="utf-8")
    elif block.language == "python":
        assert subprocess.run([sys.executable, "-c", block.text], cwd=folder, capture_output=True, check=True).stdout
    elif block.language == "toml":
        tomllib.loads(block.text)
    for line in block.lines if block.language == "sh" else ():
        program, *words = shlex.split(re.sub(r"--items \d+", "--items 2", line))  # more of them show nothing more
        words += ["--repeats", "3"] if words[:2] == ["experiment", "run"] and "--repeats" not in words else []
        if program == "harbor":
            assert (done := harbor(*words, cwd=folder)).returncode == 0, (line, done.stderr)
        else:
            make(line)


def make(line: str) -> None:
    """Ask make what it would do; it knows the target."""
    assert line.startswith("make "), line
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    subprocess.run([*line.split(), "-n"], cwd=ROOT, env=environment, capture_output=True, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", some(DONE, [page for page in DONE if page.stem in CI_DOES]), ids=name)
def test_what_a_page_shows_is_done_in_order_as_it_stands(page, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for block in blocks(page.read_text(encoding="utf-8")):
        do(block, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_of_a_page_is_one_that_the_command_line_takes(page):
    for words in commands(page):
        parse(words)
    assert [words for words in spoken(page) if unknown(words)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_file_that_a_page_links_to_exists(page):
    links = re.findall(r"\]\(((?!http)[^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def shown(page: str, language: str) -> list[Block]:
    return [block for block in blocks((ROOT / page).read_text(encoding="utf-8")) if block.language == language]


@pytest.mark.parametrize("block", shown("docs/using/models.md", "toml"))
def test_the_models_of_the_guide_are_settings_of_models(block, monkeypatch):
    for provider in ("OPENAI", "ANTHROPIC", "GOOGLE", "OPENROUTER", "AZURE_OPENAI"):
        monkeypatch.setenv(f"{provider}_API_KEY", "nobody's")
    monkeypatch.setenv("OPENAI_API_KEY_2", "nobody's other")
    for model, settings in tomllib.loads(block.text)["models"].items():
        assert open_chats(model, ModelSettings(**settings), seed=0)


def test_the_way_without_make_is_the_way_of_make():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = [line for block in shown("docs/using/install.md", "console") for line in block.lines]
    for command in ("harbor auction demo", "pytest -n auto --dist worksteal -m proof"):
        assert f"$(BIN)/{command}" in makefile
        assert f".venv/bin/{command}" in lines


def test_the_citation_has_what_its_format_requires_and_the_version_of_the_package():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert (cited["cff-version"], cited["version"], cited["license"]) == ("1.2.0", __version__, "Apache-2.0")
    assert all({"type", "title", "authors"} <= one.keys() for one in cited["references"])
    assert len(cited["references"]) == 4


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_examples_run(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_path(str(ROOT / "examples" / example), run_name="__main__")
    assert capsys.readouterr().out


def test_every_module_named_in_the_architecture_exists():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for module in re.findall(r"`((?:harbor|graphs|memory|personas|evaluation|tests)/[\w/.]+)`", page):
        assert any((ROOT / f"{module}{ending}").exists() for ending in ("", ".py")), module
