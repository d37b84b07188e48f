"""A command that the tests run in their own process ends and says what it does in one of its own."""

from __future__ import annotations

import re

import pytest

from support.commands import harbor, process

POOR = '[[items]]\nname="Shed"\nstart=100\ntrue_value=50\n[[bidders]]\nname="Ann"\nrule="truthful"\n'
COMMANDS = {
    "auction ../poor.toml --out run --quiet": 0,  # with a warning
    "verify ../spoilt": 1,
    "memory import new -": 2,  # for what it is given
}


@pytest.mark.slow
def test_a_command_in_this_process_ends_and_says_the_same_as_in_its_own(tmp_path):
    (tmp_path / "poor.toml").write_text(POOR)
    harbor("auction", "poor.toml", "--out", "spoilt", cwd=tmp_path)
    log = tmp_path / "spoilt" / "events.jsonl"
    log.write_text(log.read_text().replace('"increment":10', '"increment":20'))
    said = []
    for run in (harbor, process):
        (place := tmp_path / run.__name__).mkdir()
        done = [run(*words.split(), cwd=place, given="nothing\n") for words in COMMANDS]
        said.append([(one.returncode, re.sub(r"[\d.]+ s\n", "some time\n", one.stdout), one.stderr) for one in done])
    here, there = said
    assert here == there
    assert [code for code, _, _ in here] == [*COMMANDS.values()]
    assert "standard input line 1" in here[2][2]
