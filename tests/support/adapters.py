"""The examples of agents from other frameworks, and the model that they call: one policy in every form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest
from langchain_core.messages import AIMessage

from support.folders import ROOT
from support.providers import Asked, Provider, as_openai

DOORS = ROOT / "examples" / "doors"
NODE = ROOT / "build" / "doors"
"""The folder in which `make check-doors` installs the packages of the Node examples."""
TOKENS = {"input_tokens": 11, "output_tokens": 3, "total_tokens": 14}


def needs(*packages: str) -> None:
    """Skip a test if a package is missing that only `make check-doors` installs."""
    if missing := next((name for name in packages if find_spec(name) is None), ""):
        pytest.skip(f"{missing} is not installed here; run make check-doors")


@contextmanager
def hosted(patch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """Serve as OpenAI on loopback, under the address that OpenAI's package uses. No request leaves this machine."""
    with as_openai(patch, answer=_bid) as server:
        patch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
        yield server


def _bid(asked: Asked) -> AIMessage:
    """Play as the examples without a model: bid the minimum while this leaves a tenth of the item's value.

    The answer is in words or by a tool. A tool that returns the limit is called first.
    """
    told = " ".join(message.text for message in asked.messages)
    item, least = re.findall(r"your call on (.+?): at least \$([\d,.]+)", told)[-1]
    worth = _number(re.findall(rf"{re.escape(item)} \$([\d,.]+)", told)[0])
    tool = asked.tools[0]["function"]["name"] if asked.tools else ""
    if tool == "highest_sensible_bid" and not asked.messages[-1].text.strip().isdecimal():
        return _call(tool, {"estimate": worth, "houses_left": 5})
    goes = _number(least) <= 0.9 * worth
    if tool and tool != "highest_sensible_bid":
        return _call(tool, {"action": "bid", "amount": _number(least)} if goes else {"action": "withdraw"})
    return AIMessage(f"I bid ${_number(least)}." if goes else "I withdraw.", usage_metadata=TOKENS)


def _call(tool: str, arguments: dict[str, object]) -> AIMessage:
    call = {"name": tool, "args": arguments, "id": "1"}
    return AIMessage("", tool_calls=[call], usage_metadata=TOKENS)


def _number(text: str) -> int:
    return int(float(text.rstrip(".,").replace(",", "")))
