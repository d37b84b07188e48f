"""What calls note beside their replies: a public copy has neither a thought nor a name of a key."""

from __future__ import annotations

import json
import zipfile

from langchain_core.messages import AIMessage

from support.commands import harbor
from support.formats import SEED, config, spoken
from support.providers import Asked, provider

NAMES = ["FIRST_KEY_HERE", "SECOND_KEY_HERE"]
THOUGHT = "Quietly, this one is a bargain."


def aloud(_: Asked) -> AIMessage:
    """Answer with a thought, a draft and a decision."""
    bid, out = ({"action": "bid", "amount": 1_000}, {"action": "withdraw"})
    return AIMessage(f"<think>{THOUGHT}</think>First: {json.dumps(bid)}. Final answer: {json.dumps(out)}")


def test_a_public_copy_has_neither_reasoning_nor_names_of_keys(tmp_path, monkeypatch):
    for name in NAMES:
        monkeypatch.setenv(name, f"sk-of-{name}")
    with provider(seed=SEED, answer=aloud) as server:
        values = config(spoken("openai chat", server) | {"api_key_env": NAMES})
        for bidder in values["bidders"]:
            bidder["planning"] = "none"
        (tmp_path / "auction.json").write_text(json.dumps(values))
        done = harbor("auction", "auction.json", "--trust", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "run" / "events.jsonl").read_text()
    assert any(f'"key_env":"{name}"' in log for name in NAMES)
    assert THOUGHT in (tmp_path / "run" / "calls.jsonl").read_text()
    assert harbor("pack", "run", "--public", "--out", "public.zip", cwd=tmp_path).returncode == 0
    with zipfile.ZipFile(tmp_path / "public.zip") as pack:
        assert [name for name in pack.namelist() if name.endswith("calls.jsonl")] == []
        text = b"".join(map(pack.read, pack.namelist())).decode(errors="replace")
    assert [word for word in (THOUGHT, "reasoning", "key_env", *NAMES) if word in text] == []
