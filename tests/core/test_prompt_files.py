"""The file of a prompt: one blank, and parts that are sent only with the fact that they explain."""

from __future__ import annotations

import json
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor._core.prompts.prompts import BLANK, sent, unfillable

TEXT = f"""It is your turn.
[if plan]
`plan` is your plan.
[if profile]
`profile` is what you know
of a rival.

Decide.

{BLANK}
"""


def compact(facts: object) -> str:
    return json.dumps(facts, separators=(",", ":"))


def test_a_part_is_sent_with_the_fact_that_it_explains_and_without_its_mark():
    assert sent(TEXT, compact({"plan": "Wait."})) == f"It is your turn.\n`plan` is your plan.\n\nDecide.\n\n{BLANK}\n"


@given(st.text())
def test_no_text_inside_a_fact_counts_as_a_fact(said):
    facts = compact({"name": f'{said}"plan":{said}', "listing": '"plan":1'})
    assert "`plan`" not in sent(TEXT, facts)


@given(st.sets(st.sampled_from(["plan", "profile", "bids"])))
def test_what_has_no_mark_is_always_sent(names):
    words = sent(TEXT, compact(dict.fromkeys(names, 1)))
    assert Template(words).get_identifiers() == ["facts"]
    assert words.startswith("It is your turn.\n")
    assert "\n\nDecide.\n\n" in words
    assert "[if" not in words


@pytest.mark.parametrize(("line", "complaint"), [
    ("[if plan, bids]", "the unknown mark '[if plan, bids]'"),
    ("[If plan]", "the unknown mark '[If plan]'"),
    ("[if plan] `plan` is your plan.", "the unknown mark '[if plan] `plan` is your plan.'"),
    ("[if not plan]", "the unknown mark '[if not plan]'"),
    ("[if plans]", "the mark '[if plans]'"),
])  # fmt: skip
def test_a_mark_that_is_none_or_is_about_another_fact_is_refused(tmp_path, line, complaint):
    file = tmp_path / "bid.md"
    file.write_text(TEXT)
    assert unfillable(file) == ""
    file.write_text(TEXT.replace("[if plan]", line))
    assert complaint in unfillable(file)
    assert "\n" not in unfillable(file)
