"""The costs of prompts: calls, tokens, and the part of each prompt that a provider's prefix cache could reuse.

A provider's cache sees the schemas of replies first, which are the same in all calls of these bidders, then the system
prompt, then the rest. A token is four characters, as in the built-in model. Prices are in uncached tokens, and assume
that the cache finds every prefix of an earlier call.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from pathlib import Path
from typing import Any

import pytest

from harbor import Auction, Bidder, Item
from harbor._cli.shared.files import load
from harbor._config.auction import AuctionConfig
from harbor._models.simulated.chat_model import CHARACTERS_PER_TOKEN

CACHED_FROM, STEP = 1024, 128
"""Least tokens of a prefix in OpenAI's cache, and its step. Anthropic has the same minimum, or more in small models."""
WRITE, READ = 1.25, 0.1
"""Anthropic's prices for writing a token to its cache and for reading it, relative to an uncached token."""
OPENAI = {"gpt-4o": 0.5, "gpt-5": 0.1}
"""OpenAI's price for a cached token relative to an uncached one, by kind of model."""
NAMES = ("Ann", "Ben", "Cho")
Call = dict[str, Any]


def seated(bidders: int, **mind: Any) -> AuctionConfig:
    """The standard sale with another number of bidders."""
    standard = load("standard")
    seats = [standard.bidders[0].model_copy(update={"name": f"Bidder {n}", **mind}) for n in range(1, bidders + 1)]
    return standard.model_copy(update={"bidders": seats})


def sale_of(items: int, **mind: Any) -> AuctionConfig:
    """A sale to bidders whose money covers a part of it."""
    lots = [
        Item(name=f"Lot {n}", start=1_000 + 500 * (n % 5), true_value=2_000 + 1_000 * (n % 5)) for n in range(items)
    ]
    return AuctionConfig(seed=3, items=lots, bidders=[Bidder(name, budget=700 * items, **mind) for name in NAMES])


def minded(**mind: Any) -> AuctionConfig:
    demo = load("demo")
    return demo.model_copy(update={"bidders": [one.model_copy(update=mind) for one in demo.bidders]})


SALES: dict[str, Any] = {
    "standard, 2 bidders": lambda: seated(2),
    "standard, 3 bidders": lambda: seated(3),
    "standard, 3 bidders, limits": lambda: seated(3, bidding="limit"),
    "standard, 6 bidders": lambda: seated(6),
    "demo": lambda: load("demo"),
    "demo, inferred, strategy": lambda: minded(theory_of_mind="inferred", strategy="on"),
    "demo, second, together": lambda: minded(theory_of_mind="second", rivals="together"),
    "10 items": lambda: sale_of(10),
    "160 items": lambda: sale_of(160),
}
AIMS = {
    "standard, 3 bidders": {"calls": "230", "price in tokens, OpenAI, gpt-5": "80,000"},
    "standard, 3 bidders, limits": {"calls": "100", "price in tokens, OpenAI, gpt-5": "35,000"},
}


def shape(call: Call) -> int:
    """Return the tokens of a reply's schema, which the recorded words lack."""
    return int(call["input_tokens"]) - len("\n".join(call["prompt"])) // CHARACTERS_PER_TOKEN


def shared(calls: list[Call], alike: tuple[str, ...]) -> list[int]:
    """Return for each call the tokens of the longest prefix that it shares with an earlier call of equal `alike`."""
    earlier: dict[tuple[Any, ...], set[str]] = {}
    found = []
    for call in calls:
        text = "\n".join(call["prompt"])
        before = earlier.setdefault(tuple(call[name] for name in alike), set())
        most = max((common(text, other) for other in before), default=None)
        found.append(0 if most is None else most // CHARACTERS_PER_TOKEN + shape(call))
        before.add(text)
    return found


def common(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts, in characters."""
    return bisect_left(range(1, min(len(one), len(other)) + 1), True, key=lambda size: one[:size] != other[:size])


def openai(calls: list[Call], price: float) -> float:
    """Return the price of calls at OpenAI, which caches without marks."""
    prefixes = shared(calls, ())
    cached = sum(prefix // STEP * STEP for prefix in prefixes if prefix >= CACHED_FROM)
    return sum(call["input_tokens"] for call in calls) - (1 - price) * cached


def anthropic(calls: list[Call], own: bool) -> float:
    """Return the price of calls at Anthropic, with the mark after the part stable for all seats or the `own` one."""
    written: set[str] = set()
    total = 0.0
    for call in calls:
        system = call["prompt"][0]
        prefix = system if own else system.partition("<facts>")[0]
        size = len(prefix) // CHARACTERS_PER_TOKEN + shape(call)
        charged = READ if prefix in written else WRITE
        written.add(prefix)
        total += call["input_tokens"] + (size * (charged - 1) if size >= CACHED_FROM else 0)
    return total


@pytest.mark.parametrize("sale", SALES)
def test_what_prompts_cost(benchmark, figure, sale, tmp_path):
    auction = Auction(**dict(SALES[sale]()))
    result = benchmark.pedantic(lambda: auction.run(out=tmp_path / "run"), rounds=1)
    calls = [json.loads(line) for line in Path(tmp_path, "run", "calls.jsonl").read_text().splitlines()]
    made = result.metrics().calls
    measured = {"calls": made.count, "chain": made.chain, "input tokens": made.input_tokens}
    for name, value in (measured | {"input tokens a call": made.input_tokens / made.count}).items():
        figure(f"{sale}: {name}", AIMS.get(sale, {}).get(name, ""), f"{value:,.0f}")
    if len(calls) > 1000:
        return  # comparing so many prompts takes minutes
    for who, alike in {"same bidder": ("bidder",), "any bidder": ()}.items():
        prefixes = shared(calls, alike)
        share = sum(prefixes) / made.input_tokens
        long = sum(tokens >= CACHED_FROM for tokens in prefixes) / len(prefixes)
        figure(f"{sale}: prefix of an earlier call, {who}", "", f"{share:.0%}, >= 1,024 in {long:.0%} of calls")
    prices = {f"OpenAI, {kind}": openai(calls, price) for kind, price in OPENAI.items()}
    prices |= {"Anthropic, all seats": anthropic(calls, own=False), "Anthropic, own seat": anthropic(calls, own=True)}
    for name, price in prices.items():
        aim = AIMS.get(sale, {}).get(f"price in tokens, {name}", "")
        figure(f"{sale}: price in tokens, {name}", aim, f"{price:,.0f} ({price / made.input_tokens:.2f}x)")
