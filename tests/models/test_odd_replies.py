"""Replies as real models write them: read as they are meant, or refused and counted, and never misread."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call

from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Ask, Bid, Withdraw
from harbor._core.asking.decisions import BidReply
from harbor._doors.door import answer_in
from harbor._models.calls.messages import as_kept, beyond, in_words, message_of, written
from harbor._models.calls.reply_shapes import Reading, read
from harbor.graphs._context.deciding import _decision_in

ASK = Ask("Ann", "Lamp", 1, Amount(Decimal(1_000), Decimal(9_000)))
GOOD = {"reasons": "It is cheap.", "action": "bid", "amount": 1_200}
JS = json.dumps(GOOD)
DRAFT = json.dumps({**GOOD, "reasons": "DRAFT", "amount": 1_205})
FINAL = json.dumps({"reasons": "FINAL", "action": "withdraw", "amount": None})
BID, OUT = Bid(Decimal(1_200)), Withdraw()
NONE, REFUSED = "unreadable", "refused"

TEXTS: dict[str, tuple[str, Any]] = {
    "a fence": (f"Sure! Here's my decision:\n\n```json\n{JS}\n```\n\nLet me know if you'd like me to adjust.", BID),
    "two fences": (f"First:\n```json\n{DRAFT}\n```\nOn reflection:\n```json\n{JS}\n```", BID),
    "a draft in thoughts": (f"<think>\nDraft: {DRAFT} hmm.\n</think>\nFinal answer:\n{JS}", BID),
    "thoughts with placeholders": (f'<thinking>The facts say {{"least": 3}}, if {{x}}.</thinking>\n\n{JS}', BID),
    "a lone closing tag": (f"Okay, {DRAFT} or so.\n</think>\n\n{JS}", BID),
    "thoughts that never end": ("<think>\nLet me consider " + JS, NONE),
    "a draft in a fence": (f"My idea:\n```json\n{DRAFT}\n```\nToo much. My final answer:\n```json\n{FINAL}\n```", OUT),
    "a draft and a final sentence": (f"{JS}\nNo. My final answer: withdraw.", NONE),
    "a draft and a cut answer": (f"{DRAFT}\nNo, better:\n{FINAL[:30]}", NONE),
    "no reasons": ('{"action": "bid", "amount": 1200}', BID),
    "a raw line break": ('{"reasons":"First.\nSecond.","action":"bid","amount":1200}', BID),
    "a trailing comma": (JS[:-1] + ",}", BID),
    "half of it": (JS[: len(JS) * 2 // 3], NONE),
    "about": (json.dumps({**GOOD, "amount": "about $1,200"}), NONE),
    "an amount in words": (json.dumps({**GOOD, "amount": "$1,200.00"}), BID),
    "German keys": ('{"begruendung": "Es lohnt sich.", "aktion": "bieten", "betrag": 1200}', NONE),
    "too little": (json.dumps({**GOOD, "amount": 1}), Bid(Decimal(1))),
    "reasons only": (json.dumps({"reasons": "I would like to raise a bit, to $1,200."}), NONE),
    "nothing": ("", NONE),
    "a refusal": ("I'm sorry, but I can't take part in gambling or simulated transactions.", REFUSED),
    "prose": ("Given the estimate, I bid $1,200.", BID),
    "prose that withdraws": ("I'm out! I withdraw from this item.", OUT),
    "a withdrawal of zero": (json.dumps({**GOOD, "action": "withdraw", "amount": 0}), OUT),
    "a bid of nothing": (json.dumps({**GOOD, "amount": None}), NONE),
    "fields too many": (json.dumps({**GOOD, "confidence": 0.8, "thinking": "..."}), BID),
    "arguments": (json.dumps({"arguments": GOOD}), BID),
    "the name of the tool": (json.dumps({"BidReply": GOOD}), BID),
    "a call as text": (f'<tool_call>\n{{"name": "BidReply", "arguments": {JS}}}\n</tool_call>', BID),
    "encoded twice": (json.dumps(JS), BID),
    "another verb": (json.dumps({**GOOD, "action": "raise"}), BID),
    "a name twice": ('{"action": "bid", "amount": 1200, "action": "withdraw"}', NONE),
    "an option inside a broken object": ('{"options": [{"action": "withdraw"}], "action": "bid", "amo', NONE),
}  # fmt: skip


as_text = AIMessage


def as_block(text: str) -> AIMessage:
    return AIMessage([{"type": "thinking", "thinking": f"Perhaps {DRAFT}"}, {"type": "text", "text": text}])


def as_item(text: str) -> AIMessage:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": DRAFT}]}
    return AIMessage([thought, {"type": "text", "text": text, "annotations": []}])


def as_call(text: str) -> AIMessage:
    """Make a call of a tool of what is one object, as providers' packages do; other texts stay texts."""
    try:
        values = json.loads(text)
    except ValueError:
        broken = [invalid_tool_call(name="BidReply", args=text, id="1", error="no JSON")]
        return AIMessage("", invalid_tool_calls=broken) if text.startswith("{") else AIMessage(text)
    if not isinstance(values, dict):
        return AIMessage("", invalid_tool_calls=[invalid_tool_call(name="", args=text, id="1", error="no object")])
    return AIMessage("", tool_calls=[tool_call(name="any_tool", args=values, id="1")])


def heard(message: AIMessage) -> Reading[BidReply]:
    return read(message, BidReply, lambda words: _decision_in(words, ASK, BidReply))


def meaning(found: Reading[BidReply]) -> Any:
    if found.reply is None or found.reply.missing():
        return REFUSED if found.refused else NONE
    return found.reply.taken()


PHRASES: dict[str, Any] = {
    "I choose to withdraw.": OUT, "Final answer: withdraw": OUT, "I'll raise my bid to $1,200.": BID, "USD 1,200": BID,
    "Final answer: $1,200": BID, "The margin is thin.\nThe lamp is worth more.\nI bid $1,200.": BID,
    "I bid between $1,200 and $1,300.": NONE, "My final answer is $1,200. My final answer is to withdraw.": NONE,
    "I raise my bid by $1,200.": NONE,
    "Ben bids $1,200": NONE, "I bid $1,200 for Ben.": NONE, "I won't withdraw.": NONE,
}  # fmt: skip


@pytest.mark.parametrize(("text", "meant"), [*TEXTS.values(), *PHRASES.items()], ids=[*TEXTS, *PHRASES])
def test_an_odd_reply_is_read_as_it_is_meant_or_refused_of_models_in_any_form_and_of_agents_at_doors(text, meant):
    for form in (as_text, as_block, as_item, as_call):
        live = as_kept(form(text))
        if text != TEXTS["a name twice"][0] or form is not as_call:  # the package has dropped one of them before
            assert (form, meaning(heard(live))) == (form, meant)
            assert heard(message_of(written(live), beyond(live))) == heard(live)
    answer = answer_in(text, ASK).answer
    action = ASK.space.read(answer, "Lamp") if isinstance(answer, str) else answer
    assert action == meant if not isinstance(meant, str) else not isinstance(action, Bid | Withdraw)


def test_what_is_odd_about_a_reply_is_marked_and_a_complaint_names_the_field_its_value_and_what_to_send():
    marks = {"two fences": ("drafts",), "a trailing comma": ("mended",), "prose": ("words",)}
    for kind, marked in (marks | {"a draft in thoughts": ()}).items():
        assert heard(AIMessage(TEXTS[kind][0])).marks == marked
    complaint = heard(AIMessage(TEXTS["about"][0])).complaint
    assert complaint == "'amount' is \"about $1,200\"; give a plain number, such as 1200"


@pytest.mark.parametrize(
    ("text", "calls", "meant", "marks"),
    [
        ("I have decided.", [GOOD], BID, ()), (FINAL, [GOOD], BID, ("contradicted",)), (JS, [{}], BID, ()),
        ("I withdraw.", [GOOD], BID, ("contradicted",)), ("", [GOOD, GOOD], BID, ()),
        ("", [json.loads(FINAL), GOOD], BID, ("drafts",)),
    ],
)  # fmt: skip
def test_a_tool_call_goes_before_text_and_the_last_call_before_others(text, calls, meant, marks):
    found = heard(AIMessage(text, tool_calls=[tool_call(name="BidReply", args=one, id="1") for one in calls]))
    assert (meaning(found), found.marks) == (meant, marks)


def test_a_refusal_is_told_as_one_with_its_words():
    ends = [{"finish_reason": "content_filter"}, {"stop_reason": "refusal"}, {"finish_reason": "SAFETY"}]
    for message in (
        AIMessage("", additional_kwargs={"refusal": "I can't help with that."}),
        AIMessage([{"type": "refusal", "refusal": "I can't help with that."}]),
        *(AIMessage("", response_metadata=end) for end in ends),
    ):
        found = heard(as_kept(message))
        assert found.refused
        assert "I can't help" in found.complaint or "it stopped for" in found.complaint


def test_thoughts_are_kept_as_reasoning_and_shown_to_no_repair():
    for form in (as_text, as_block, as_item):
        message = as_kept(form(TEXTS["a draft in thoughts"][0]))
        assert "DRAFT" in message.additional_kwargs["reasoning"]
        assert "DRAFT" not in in_words(message)


@given(st.text(st.characters(codec="utf-8", exclude_characters="<>")))
def test_whatever_is_thought_changes_no_answer(thought):
    assert meaning(heard(AIMessage(f"<think>{thought}</think>{JS}"))) == BID


@given(st.text(st.characters(exclude_characters='{}"<>')), st.text(st.characters(exclude_characters='{}"<>0123456789')))
def test_an_object_is_read_in_any_prose_without_braces(before, after):
    assert read(AIMessage(before + JS + after), BidReply).reply is not None


@given(st.text('{}[]",:\\ \n<>/thinkabdmou12$', max_size=200))
def test_reading_never_raises(text):
    heard(AIMessage(text))
    answer_in(text, ASK)
