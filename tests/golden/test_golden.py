"""The golden set made again: what was decided, told, shown and measured before the schema changed is so after it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from golden.comparing import Difference, differences

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
KINDS = ("game", "decision", "ask", "standing", "result", "metric", "prompt", "told", "board", "page", "words")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The set as this Harbor makes it; in a process of its own, as it uses what strangers bring."""
    out = tmp_path_factory.mktemp("golden")
    words = [sys.executable, str(HERE / "make.py"), "make", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def found(made) -> list[Difference]:
    return list(differences(HERE, made))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_of_every_game_is_what_it_was_before(kind, found):
    assert not [one.game for one in found if one.kind == kind], "see what differs: golden/make.py compare OLD NEW"


def test_what_is_refused_is_what_was_refused_before(made):
    before, now = (json.loads((place / "golden.json").read_text())["refused"] for place in (HERE, made))
    assert now == before
