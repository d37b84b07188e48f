"""Nothing is taken from the folder that a command is started in: it may be a stranger's, unpacked a minute ago."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from harbor._cli.app import all_commands
from support import traced
from support.commands import harbor
from support.folders import TINY
from support.sent import SCRIPTED, listening

SERIES = """
items = { count = 1 }
series = { auctions = 2 }
seed = 3
bidders = [{ name = "Ann", memory = "list", learning = true }, { name = "Ben", rule = "minimum-raise" }]
"""
COMPARISON = '[[comparisons]]\nmetric = "profit"\nof = { arm = "adaptive" }\nagainst = { arm = "none" }\n'
COMMANDS = {
    "auction": "MADE/series.toml --out OUT/auction", "play": "MADE/sale.toml --as Ben --out OUT/play", "mcp": "",
    "resume": "MADE/series", "replay": "MADE/sale", "view": "MADE/exp --no-open --out OUT/view.html",
    "verify": "MADE/series --deep", "audit": "MADE/sale.toml", "score": "MADE/sale", "estimate": "MADE/tiny.toml",
    "report": "MADE/exp --out OUT/report.html", "figure": "MADE/exp means-profit --out OUT/figure.png",
    "compare": "MADE/exp MADE/other --out OUT/compare.html", "export": "MADE/sale --out OUT/sale.eval",
    "graph": "MADE/series.toml", "personas": "", "houses": "", "models": "",
    "new": "game lowest-unique", "pack": "MADE/exp --public --out OUT/exp.harbor.zip",
    "unpack": "OUT/exp.harbor.zip --out OUT/exp", "list": "figures", "memory show": "MADE/series",
    "memory search": "MADE/series price", "memory export": "MADE/series --out OUT/memory.jsonl",
    "memory import": "OUT/memory OUT/memory.jsonl", "memory forget": "OUT/memory --bidder Ann --yes",
    "rate sheets": "MADE/exp --out OUT/ratings", "rate judge": "OUT/ratings --model simulated",
    "rate merge": "OUT/ratings", "experiment list": "", "experiment show": "MADE/tiny.toml",
    "experiment run": "MADE/tiny.toml --out OUT/run --quiet", "experiment resume": "MADE/exp --quiet",
    "experiment power": "MADE/tiny.toml --effect 0.5 --pilot MADE/exp", "cache list": "",
    "cache prune": "--older-than 1", "cache export": "OUT/replies", "cache import": "OUT/replies",
}  # fmt: skip
"""The words after each command: MADE has what was made before, and OUT is where things are written."""
NAMED = {"auction ": "harbor.toml", "memory show ": "http://127.0.0.1:1"}
"""Commands that open a file and call a server because their words name it."""
FAILS = {"play": 130, "export": 0 if find_spec("inspect_ai") else 2}
"""The exit codes that are not 0."""
CODE = "open({folder!r} + '/started', 'w')"
BAITS = {
    ".env": """
CHROMA_API_IMPL=chromadb.api.fastapi.FastAPI
CHROMA_SERVER_HOST=127.0.0.1
CHROMA_SERVER_HTTP_PORT={port}
OPENAI_BASE_URL=http://127.0.0.1:{port}
LANGCHAIN_TRACING_V2=true
LANGCHAIN_ENDPOINT=http://127.0.0.1:{port}
HTTPS_PROXY=http://127.0.0.1:{port}
HARBOR_STATE={folder}
""",
    ".git/config": "[core]\n\tfsmonitor = touch {folder}/started\n\thooksPath = {folder}\n",
    ".git/index": "DIRC",
    ".git/hooks/post-checkout": "#!/bin/sh\ntouch {folder}/started\n",
    "matplotlibrc": "text.usetex: True\nbackend: module://yaml\naxes.facecolor: red\n",
    "memory/chroma.sqlite3": "no database",
    "personas/personas.toml": "no = 'personas'",
    **dict.fromkeys((".netrc", "_netrc"), "machine 127.0.0.1 login me password mine"),
    **dict.fromkeys(("setup.cfg", "pyproject.toml", "tox.ini", "logging.conf", "pyvenv.cfg", "harbor.toml"), "[tool]"),
    **dict.fromkeys((".condarc", ".duckdbrc", "chroma.log", "chroma_server.yaml", "langgraph.json"), "x"),
    **dict.fromkeys(
        ("sitecustomize.py", "usercustomize.py", "conftest.py", ".pythonrc.py", "harbor/__init__.py"), CODE
    ),
    **dict.fromkeys(("json.py", "yaml.py", "numpy.py", "torch.py", "multiprocessing.py", "chromadb.py"), CODE),
}
"""What programs and packages look for where they are started; to follow it is to start something or call somebody."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def found_commands(command: Any, *before: str) -> Iterator[str]:
    """Give every command that runs something, as it is typed."""
    for name, one in getattr(command, "commands", {}).items():
        yield from found_commands(one, *before, name)
    if not hasattr(command, "commands"):
        yield " ".join(before)


def test_every_command_is_traced():
    assert sorted(COMMANDS) == sorted(found_commands(all_commands()))


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A sale, a series with memories, and an experiment, made in a folder without a bait."""
    place = tmp_path_factory.mktemp("made")
    (place / "tiny.toml").write_text(TINY.read_text() + COMPARISON)
    for name, text in (("sale", "seed = 3\n" + SCRIPTED), ("series", SERIES)):
        (place / f"{name}.toml").write_text(text)
        assert harbor("auction", f"{name}.toml", "--out", name, cwd=place).returncode == 0
    assert harbor("experiment", "run", "tiny.toml", "--out", "exp", "--quiet", cwd=place).returncode == 0
    shutil.copytree(place / "exp", place / "other")
    return place


@pytest.fixture(scope="module")
def trace(made, tmp_path_factory) -> dict[str, dict[str, Any]]:
    """What each command opened, started and called in a folder full of baits, and what came of the baits."""
    folder, out = tmp_path_factory.mktemp("baits"), tmp_path_factory.mktemp("out")
    commands = {
        name: [word.replace("MADE", str(made)).replace("OUT", str(out)) for word in f"{name} {words}".split()]
        for name, words in (COMMANDS | NAMED).items()
    }
    with listening() as (address, visitors):
        for name, text in BAITS.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text.format(port=urlsplit(address).port, folder=str(folder)))
        done = subprocess.run(
            [sys.executable, "-P", traced.__file__],
            cwd=folder,
            input=json.dumps(commands),
            env=os.environ | {"BROWSER": "true"},
            capture_output=True,
            text=True,
            check=True,
        )
    followed = {"called": visitors, "started": (folder / "started").exists()}
    found: dict[str, dict[str, Any]] = {"all": followed, **json.loads(done.stdout)}
    return found


@pytest.mark.slow
def test_no_command_opens_a_bait_starts_a_program_or_calls_anybody_but_whom_the_user_names(trace):
    assert trace["all"] == {"called": [], "started": False}
    for command in COMMANDS:
        found = trace[command]
        assert [name for name in found["opened"] if name in BAITS] == found["programs"] == [], command
        assert [one for one in found["connections"] if not any(repr(host) in one for host in LOOPBACK)] == [], command
        assert found["code"] == FAILS.get(command, 0), (command, found["said"])
    assert "harbor.toml" in trace["auction "]["opened"]
    assert "127.0.0.1" in trace["memory show "]["connections"][0]
