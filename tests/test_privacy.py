"""Canaries: a marker stands in every private field, and none is ever seen where it has no business.

Ann is a model bidder with a secret in everything she has; Bea is another; Eve is an agent that keeps all she hears.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult

from harbor import Auction, Bidder, EnglishRules, Item, Result, Simulated, SimulatedChat
from harbor._config.auction import Persona
from harbor._core.basics.errors import ModelError
from harbor._core.log.acts import Tried
from harbor._core.log.events import ANALYST, EVERYONE, ModelCalled, SeatFailed
from harbor._core.log.log import Log, of_type
from harbor._core.log.log_entries import Entry, encode
from harbor._core.log.thoughts import LimitSet
from harbor._games.english import rules as english
from harbor._games.english.events import ItemSold
from harbor._house.auctioneer import Sale
from harbor._view.pages import write_run

TRUE_VALUES = {"Lot A": Decimal("1987.61"), "Lot B": Decimal("2143.83"), "Lot C": Decimal("1871.47")}
BUDGETS = {"Ann": Decimal("7351.19"), "Bea": Decimal("8462.27"), "Eve": Decimal("6293.41")}
OVERESTIMATES = {"Ann": Decimal("0.137"), "Bea": Decimal("0.091"), "Eve": Decimal("0.053")}
KEY = "private-key-value-of-the-owner"
TOKEN = "another-private-token-value"


class Marked(SimulatedChat):
    """Plays like the built-in model, and leaves a marker in all that it thinks."""

    marker: str

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        result = super()._answer(messages, tools)
        for call in result.generations[0].message.tool_calls:  # type: ignore[attr-defined]
            call["args"].update({key: f"{self.marker}-{key}" for key in ("reasons", "plan") if key in call["args"]})
        return result


class Eve(BaseChatAgent):
    """Withdraws from the first item, raises on the second and breaks down on the third, and keeps all she hears."""

    def __init__(self) -> None:
        super().__init__("eve", "An agent.")
        self.heard: list[str] = []

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: Any) -> Response:
        self.heard += [message.model_dump_json() for message in messages]
        last = messages[-1].to_text()
        if "Lot C" in last:
            raise RuntimeError(f"crash-of-eve with {KEY} and {TOKEN}")
        words = (
            "I bid $1,100, words-of-eve!"
            if "Lot B" in last and "at least $1,000 and" in last
            else "I withdraw, words-of-eve!"
        )
        return Response(chat_message=TextMessage(content=words, source=self.name, metadata={"mine": "metadata-of-eve"}))

    async def on_reset(self, cancellation_token: Any) -> None:
        pass


@dataclass(frozen=True)
class Run:
    """A finished run and everything that anybody was told in it."""

    result: Result
    prompts: dict[str, list[str]]
    heard: list[str]
    folder: Path


def amount(dollars: Decimal) -> list[str]:
    """The spellings of an amount in prompts and in words."""
    return [str(dollars.normalize()), f"{dollars:,.2f}"]


def hold(folder: Path, monkeypatch: pytest.MonkeyPatch, reveal: Any) -> Run:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SOME_TOKEN", TOKEN)
    cast = [
        Persona(id=f"id-of-{name.lower()}", name=f"title-of-{name}", text=f"persona-of-{name}")
        for name in ("Ann", "Bea")
    ]
    auction = Auction(
        personas=cast,
        items=[
            Item(name=name, start=1_000, true_value=value, listing="A house.", persona=f"label-of-{name}")
            for name, value in TRUE_VALUES.items()
        ],
        bidders=[
            Bidder(
                name,
                budget=BUDGETS[name],
                overestimate=OVERESTIMATES[name],
                objective=f"objective-of-{name}",
                agent=name == "Eve",
                persona=None if name == "Eve" else f"id-of-{name.lower()}",
                model="simulated" if name == "Eve" else f"model-of-{name}",
                bidding="limit" if name == "Bea" else "call",
            )
            for name in BUDGETS
        ],
        rules=EnglishRules(reveal=reveal),
    )
    eve = Eve()
    models = {
        f"model-of-{name}": Marked(marker=f"thought-of-{name}", settings=Simulated(over_budget_rate=0.2), seed=1)
        for name in ("Ann", "Bea")
    }
    result = auction.run(out=folder / "run", models=models, agents={"Eve": eve})
    prompts = defaultdict(list)
    for line in (folder / "run" / "calls.jsonl").read_text().splitlines():
        call = json.loads(line)
        prompts[call["bidder"]].append("\n".join(call["prompt"]))
    return Run(result, prompts, eve.heard, folder / "run")


@pytest.fixture(params=["price", "true value"])
def run(request, tmp_path, monkeypatch):
    return hold(tmp_path, monkeypatch, request.param)


@pytest.fixture
def silent_run(tmp_path, monkeypatch):
    return hold(tmp_path, monkeypatch, "price")


@pytest.fixture
def telling_run(tmp_path, monkeypatch):
    return hold(tmp_path, monkeypatch, "true value")


def sale_of(entries: Sequence[Entry]) -> Sale[english.EnglishState]:
    """Hold the sale again from its log, to look at it through the eyes of a bidder."""
    sale = Sale(english.English((), BUDGETS), tuple(BUDGETS), Log(), Random(0))
    for entry in entries:
        sale.record(entry.event)
    return sale


def views(run: Run) -> dict[str, str]:
    """Everything that each bidder was shown, in one text each: prompts, chat messages, and its part of the log."""
    sale = sale_of(run.result.log)
    seen = {
        name: "\n".join(encode(Entry(0, 0.0, event), "")[0].decode() for event in sale.seen_by(name))
        for name in BUDGETS
    }
    told = {**{name: "\n".join(prompts) for name, prompts in run.prompts.items()}, "Eve": "\n".join(run.heard)}
    return {name: seen[name] + told[name] for name in BUDGETS}


def secrets_of(name: str) -> list[str]:
    """Markers that stand in the private fields of a bidder."""
    estimates = [
        amount((value * (1 + OVERESTIMATES[name])).quantize(Decimal("0.01"))) for value in TRUE_VALUES.values()
    ]
    words = [f"objective-of-{name}", f"persona-of-{name}", f"thought-of-{name}", f"words-of-{name.lower()}"]
    return [*words, *amount(BUDGETS[name]), *(spelling for found in estimates for spelling in found)]


def secrets_of_the_analyst() -> list[str]:
    """Markers that no bidder may ever see, not even its own."""
    names = [f"{kind}-of-{name}" for kind in ("title", "model") for name in BUDGETS]
    ids = [f"id-of-{name.lower()}" for name in BUDGETS]
    return [
        *names,
        *ids,
        *(f"label-of-{item}" for item in TRUE_VALUES),
        "crash-of-eve",
        "metadata-of-eve",
    ]


# ---------------------------------------------------------------- markers


@pytest.mark.parametrize("owner", ["Ann", "Bea"])
def test_the_markers_are_really_there(silent_run, owner):
    own = views(silent_run)[owner]
    assert [secret for secret in secrets_of(owner)[:3] if secret not in own] == []
    assert amount(BUDGETS[owner])[0] in own


def test_the_markers_of_the_analyst_are_really_in_the_log(silent_run):
    log = (silent_run.folder / "events.jsonl").read_text()
    expected = ["id-of-ann", "model-of-Ann", "label-of-Lot A", "crash-of-eve", str(TRUE_VALUES["Lot A"])]
    assert [marker for marker in expected if marker not in log] == []


def test_the_reasons_of_a_limit_are_really_in_the_log(silent_run):
    limits = of_type(silent_run.result.log, LimitSet)
    assert {(one.bidder, one.reasons) for one in limits} == {("Bea", "thought-of-Bea-reasons")}


def test_bids_really_fail_for_a_budget(silent_run):
    failed = of_type(silent_run.result.log, Tried)
    assert {failure.bidder for failure in failed} >= {"Ann"}
    assert any("above the greatest bid" in failure.reason for failure in failed)


def test_no_bidder_sees_a_secret_of_another(run):
    seen = views(run)
    leaks = [
        (viewer, owner, secret)
        for viewer in BUDGETS
        for owner in BUDGETS
        if viewer != owner
        for secret in secrets_of(owner)
        if secret in seen[viewer]
    ]
    assert leaks == []


def test_the_page_of_a_seat_has_no_secret_of_another_or_of_the_analyst(silent_run, tmp_path):
    for seat in BUDGETS:
        page = write_run(silent_run.folder, tmp_path / "page.html", seat).read_text()
        others = [secret for owner in BUDGETS if owner != seat for secret in secrets_of(owner)]
        assert [secret for secret in (*others, *secrets_of_the_analyst()) if secret in page] == []
        assert seat == "Eve" or f"thought-of-{seat}" in page
    whole = write_run(silent_run.folder, tmp_path / "page.html").read_text()
    assert all(f"thought-of-{seat}" in whole for seat in ("Ann", "Bea"))


def test_no_bidder_sees_a_secret_of_the_analyst(run):
    seen = views(run)
    leaks = [(viewer, secret) for viewer in BUDGETS for secret in secrets_of_the_analyst() if secret in seen[viewer]]
    assert leaks == []


def test_why_a_bid_failed_is_for_its_bidder_alone(run):
    for failure in of_type(run.result.log, Tried):
        budget = failure.reason.rpartition("$")[2]
        others = [text for name, text in views(run).items() if name != failure.bidder]
        assert [text for text in others if f"greatest bid of ${budget}" in text] == []


def test_no_true_value_is_ever_seen_where_only_prices_are_revealed(silent_run):
    seen = views(silent_run)
    leaks = [
        (viewer, item)
        for viewer in BUDGETS
        for item, value in TRUE_VALUES.items()
        for spelling in amount(value)
        if spelling in seen[viewer]
    ]
    assert leaks == []


def test_no_profit_is_ever_seen_where_only_prices_are_revealed(silent_run):
    value = TRUE_VALUES
    profits = [abs(value[sold.item] - sold.price) for sold in of_type(silent_run.result.log, ItemSold)]
    seen = views(silent_run)
    assert profits
    assert [p for p in profits for spelling in amount(p) for text in seen.values() if spelling in text] == []


def test_no_true_value_is_in_a_prompt_before_the_hammer(telling_run):
    leaks, told, calls = [], set(), {name: iter(prompts) for name, prompts in telling_run.prompts.items()}
    hidden = dict(TRUE_VALUES)
    for entry in telling_run.result.log:
        if isinstance(entry.event, ItemSold):
            hidden.pop(entry.event.item)
        if isinstance(entry.event, ModelCalled):
            prompt = next(calls[entry.event.bidder])
            leaks += [item for item, value in hidden.items() if amount(value)[0] in prompt]
            told |= {item for item, value in TRUE_VALUES.items() if amount(value)[0] in prompt}
    assert leaks == []
    assert told == set(list(TRUE_VALUES)[:-1])  # after the last item nothing is asked


def test_no_true_value_is_spoken_before_the_hammer(telling_run):
    for item, value in TRUE_VALUES.items():
        spoken = [message for message in telling_run.heard if amount(value)[1] in message]
        assert all(f"{item} is sold to" in message for message in spoken)


def test_a_bidder_sees_what_is_public_and_what_is_its_own(run):
    sale = sale_of(run.result.log)
    for name in BUDGETS:
        expected = [e.event for e in run.result.log if e.event.audience in (EVERYONE, f"bidder:{name}")]
        assert list(sale.seen_by(name)) == expected


def test_there_are_events_for_every_audience(run):
    assert {entry.event.audience for entry in run.result.log} == {EVERYONE, ANALYST, *(f"bidder:{n}" for n in BUDGETS)}


# ---------------------------------------------------------------- on the disk


def test_raw_calls_are_for_the_owner_of_the_folder_alone(silent_run):
    assert (silent_run.folder / "calls.jsonl").stat().st_mode & 0o777 == 0o600


def test_no_key_of_the_environment_is_in_any_file_of_a_run(run):
    assert of_type(run.result.log, SeatFailed)
    texts = {file.name: file.read_text() for file in run.folder.iterdir()}
    assert set(texts) >= {"config.json", "manifest.json", "events.jsonl", "calls.jsonl"}
    assert [name for name, text in texts.items() if KEY in text or TOKEN in text] == []


def test_no_key_in_the_error_of_a_model_is_in_any_file_of_a_run(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    class Refused(SimulatedChat):
        def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
            raise RuntimeError(f"401: {KEY} and sk-abcdefgh12345678 were refused")

    auction = Auction(
        items=[Item(name="Lot A", start=1_000, true_value=2_000)],
        bidders=[Bidder("Ann", model="mine")],
        failed_calls="play on",
    )
    with pytest.raises(ModelError, match="no model has answered"):
        auction.run(out=tmp_path / "run", models={"mine": Refused()})
    texts = {file.name: file.read_text() for file in (tmp_path / "run").iterdir()}
    assert "[redacted]" in texts["calls.jsonl"]
    assert "[redacted]" in texts["events.jsonl"]
    assert [name for name, text in texts.items() if KEY in text or "sk-abcdefgh" in text] == []
