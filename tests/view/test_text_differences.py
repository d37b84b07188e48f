"""What differs between two texts, as the page of a run marks it."""

from __future__ import annotations

from importlib.resources import files

import pytest

from support.browser import browser, needs_browser

pytestmark = [pytest.mark.slow, needs_browser]
LONG = [f"line {number} of the text\n" for number in range(900)]
MANY = "".join(f"{number}\n" for number in range(3000))
CASES = [
    ("", "", []),
    ("the same", "the same", [["", "the same"]]),
    ("Go for A, B.", "Go for A, C.", [["", "Go for A, "], ["del", "B."], ["ins", "C."]]),
    ("", "all new", [["ins", "all new"]]),
    ("all gone", "", [["del", "all gone"]]),
    ("a b c d", "b c x d", [["del", "a "], ["", "b c "], ["ins", "x "], ["", "d"]]),
    ("<b>1</b>", "<b>2</b>", [["del", "<b>1</b>"], ["ins", "<b>2</b>"]]),
]


@pytest.fixture(scope="module")
def differ():
    """Compare all pairs of texts at once, in one page, with neighbours of a kind joined."""
    script = (files("harbor._view") / "calls.js").read_text()
    joined = """pairs.map(([before, after]) => differences(before, after).reduce((all, [tag, text]) => {
      if (all.at(-1)?.[0] === tag) all.at(-1)[1] += text; else all.push([tag, text]);
      return all;
    }, []))"""
    with browser() as look:
        yield lambda pairs: look(
            "data:text/html,", lambda page: page.evaluate(f"(pairs) => {{ {script}\nreturn {joined}; }}", pairs)
        )


def test_words_that_went_and_came_are_told_apart(differ):
    assert differ([[before, after] for before, after, _ in CASES]) == [told for _, _, told in CASES]


def test_both_texts_can_be_read_from_their_differences_however_long_they_are(differ):
    changed = "".join([*LONG[:400], "another line\n", *LONG[401:]])
    pairs = [["".join(LONG), changed], [MANY, MANY.replace("1", "one\n2")]]
    by_line, capped = told = differ(pairs)
    assert ["del", LONG[400]] in by_line
    assert {tag for tag, _ in capped} >= {"del", "ins"}
    for (before, after), parts in zip(pairs, told, strict=True):
        assert "".join(text for tag, text in parts if tag != "ins") == before
        assert "".join(text for tag, text in parts if tag != "del") == after
