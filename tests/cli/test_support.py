"""A command that the tests run in their own process ends and says what it does in one of its own."""

from __future__ import annotations

import re

import pytest

from support.commands import harbor, process

POOR = '[[items]]\nname="Shed"\nstart=100\ntrue_value=50\n[[bidders]]\nname="Ann"\nrule="truthful"\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "given", "code"),
    [
        (["houses", "--json"], "", 0),
        (["auction", "poor.toml", "--out", "run", "--quiet"], "", 0),  # with a warning
        (["auction", "dmo"], "", 2),
        (["auction", "--sed", "1"], "", 2),
        (["memory", "import", "new", "-"], "nothing\n", 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_in_this_process_ends_and_says_the_same_as_in_its_own(words, given, code, tmp_path):
    ends = []
    for run in (harbor, process):
        place = tmp_path / run.__name__
        place.mkdir()
        (place / "poor.toml").write_text(POOR)
        done = run(*words, cwd=place, given=given)
        ends.append((done.returncode, re.sub(r"[\d.]+ s\n", "some time\n", done.stdout), done.stderr))
    here, there = ends
    assert here == there
    assert here[0] == code
