"""What prompts cost: calls, tokens, and how much of each prompt a provider's prefix cache could find again.

A provider's cache sees the shapes of the replies first, then the system prompt, then the rest. Tokens are four
characters, as the built-in model counts them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from harbor import Auction, Bidder, houses
from harbor._cli.configs import load
from harbor._models.simulated.chat_model import CHARACTERS_PER_TOKEN

CACHED_FROM = 1024
"""The least prefix in tokens that OpenAI and Anthropic cache; some small models of Anthropic need 2,048 or 4,096."""
NAMES = ("Ann", "Ben", "Cho")


def seated(preset: str, bidders: int) -> Auction:
    config = load(preset)
    first = config.bidders[0]
    return Auction(
        **config.model_dump()
        | {"bidders": [first.model_copy(update={"name": f"Bidder {n}"}) for n in range(1, bidders + 1)]}
    )


SALES: dict[str, Any] = {
    "standard, 2 bidders": lambda: seated("standard", 2),
    "standard, 3 bidders": lambda: seated("standard", 3),
    "standard, 6 bidders": lambda: seated("standard", 6),
    "demo": lambda: load("demo"),
    "10 items": lambda: long_sale(10),
    "160 items": lambda: long_sale(160),
}
AIMS = {"standard, 3 bidders": {"calls": "230", "input tokens": "200,000"}}


def long_sale(items: int) -> Auction:
    """A sale of many items to bidders with budgets for a fifth of them."""
    return Auction(items=houses(items, 1), bidders=[Bidder(name, budget=items * 100_000) for name in NAMES], seed=1)


def common(one: str, other: str) -> int:
    """Count the characters that two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def shared(calls: Iterable[dict[str, Any]], alike: tuple[str, ...]) -> list[tuple[int, int]]:
    """Give for each call the tokens of its longest prefix that an earlier call had too, and all its input tokens.

    Args:
        calls: in their order.
        alike: the fields in which the earlier call must be equal. One of another purpose has another shape of reply,
            which comes first, so it shares nothing.
    """
    earlier: dict[tuple[Any, ...], list[str]] = {}
    found = []
    for call in calls:
        text = "\n".join(call["prompt"])
        shape = call["input_tokens"] * CHARACTERS_PER_TOKEN - len(text)
        before = earlier.setdefault(tuple(call[name] for name in alike), [])
        most = max((common(text, other) for other in before), default=None)
        found.append((0 if most is None else (most + shape) // CHARACTERS_PER_TOKEN, call["input_tokens"]))
        before.append(text)
    return found


@pytest.mark.parametrize("sale", SALES)
def test_what_prompts_cost(benchmark, figure, sale, tmp_path):
    auction = SALES[sale]()
    result = benchmark.pedantic(lambda: auction.run(out=tmp_path / "run"), rounds=1)
    calls = [json.loads(line) for line in (Path(tmp_path) / "run" / "calls.jsonl").read_text().splitlines()]
    made = result.metrics().calls
    measured = {
        "calls": made.count,
        "chain": made.chain,
        "input tokens": made.input_tokens,
        "input tokens a call": made.input_tokens / made.count,
    }
    for name, value in measured.items():
        figure(f"{sale}: {name}", AIMS.get(sale, {}).get(name, ""), f"{value:,.0f}")
    for who, alike in {"own of the purpose": ("bidder", "purpose"), "any of the purpose": ("purpose",)}.items():
        prefixes = shared(calls, alike)
        share = sum(tokens for tokens, _ in prefixes) / sum(all_ for _, all_ in prefixes)
        long = sum(tokens >= CACHED_FROM for tokens, _ in prefixes) / len(prefixes)
        figure(f"{sale}: prefix equal to an earlier call, {who}", "", f"{share:.1%}, {long:.1%} of calls >= 1,024")
