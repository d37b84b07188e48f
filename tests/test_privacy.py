"""Canaries: a marker stands in every private field, and none is ever seen where it has no business.

Ann is a model bidder with a secret in everything she has; Bea is another; Eve is an agent that keeps all she hears.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
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
from support.folders import calls, contents, shared

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
        act = "bid $1,100" if "Lot B" in last and "at least $1,000 and" in last else "withdraw"
        told = {"mine": "metadata-of-eve"}
        return Response(chat_message=TextMessage(content=f"I {act}, words-of-eve!", source=self.name, metadata=told))

    async def on_reset(self, cancellation_token: Any) -> None:
        pass


@dataclass(frozen=True)
class Run:
    """A finished run and everything that anybody was told in it."""

    result: Result
    prompts: dict[str, list[str]]
    heard: list[str]
    folder: Path


def private(name: str) -> dict[str, Any]:
    return {"budget": BUDGETS[name], "overestimate": OVERESTIMATES[name], "objective": f"objective-of-{name}"}


def amount(dollars: Decimal) -> list[str]:
    """The spellings of an amount in prompts and in words."""
    return [str(dollars.normalize()), f"{dollars:,.2f}"]


def hold(folder: Path, reveal: Any) -> Run:
    eve, faults = Eve(), Simulated(over_budget_rate=0.2)
    personas, models, bidders = [], {}, [Bidder("Eve", agent=True, **private("Eve"))]
    for name, bidding in (("Bea", "limit"), ("Ann", "call")):
        persona = Persona(id=f"id-of-{name.lower()}", name=f"title-of-{name}", text=f"persona-of-{name}")
        mind = {"persona": persona.id, "model": f"model-of-{name}", "bidding": bidding}
        personas.append(persona)
        bidders.insert(0, Bidder(name, **mind, **private(name)))
        models[f"model-of-{name}"] = Marked(marker=f"thought-of-{name}", settings=faults, seed=1)
    items = [
        Item(name=name, start=1_000, true_value=value, listing="A house.", persona=f"label-of-{name}")
        for name, value in TRUE_VALUES.items()
    ]
    auction = Auction(personas=personas, items=items, bidders=bidders, rules=EnglishRules(reveal=reveal))
    result = auction.run(out=folder, models=models, agents={"Eve": eve})
    prompts = defaultdict(list)
    for call in calls(folder):
        prompts[call["bidder"]].append("\n".join(call["prompt"]))
    return Run(result, prompts, eve.heard, folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Iterator[dict[str, Run]]:
    """A run in which prices alone are revealed, and one in which true values are."""
    place = tmp_path_factory.mktemp("canaries")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("SOME_TOKEN", TOKEN)
        held = {reveal: hold(place / reveal, reveal) for reveal in ("price", "true value")}
    with shared(place):
        yield held


@pytest.fixture(params=["price", "true value"])
def run(request, runs) -> Run:
    return runs[request.param]


@pytest.fixture
def silent_run(runs) -> Run:
    return runs["price"]


def sale_of(entries: Sequence[Entry]) -> Sale[english.EnglishState]:
    """Hold the sale again from its log, to look at it through the eyes of a bidder."""
    sale = Sale(english.English((), BUDGETS), tuple(BUDGETS), Log(), Random(0))
    for entry in entries:
        sale.record(entry.event)
    return sale


def views(run: Run) -> dict[str, str]:
    """Everything that each bidder was shown, in one text each: prompts, chat messages, and its part of the log."""
    sale, told = sale_of(run.result.log), {**run.prompts, "Eve": run.heard}
    return {
        name: "\n".join([*(encode(Entry(0, 0.0, one), "")[0].decode() for one in sale.seen_by(name)), *told[name]])
        for name in BUDGETS
    }


def secrets_of(name: str) -> list[str]:
    """Markers that stand in the private fields of a bidder."""
    estimates = [(value * (1 + OVERESTIMATES[name])).quantize(Decimal("0.01")) for value in TRUE_VALUES.values()]
    words = [f"objective-of-{name}", f"persona-of-{name}", f"thought-of-{name}", f"words-of-{name.lower()}"]
    return [*words, *(spelling for number in (BUDGETS[name], *estimates) for spelling in amount(number))]


ANALYST_ONLY = [
    *(f"{kind}-of-{name}" for kind in ("title", "model") for name in BUDGETS),
    *(f"id-of-{name.lower()}" for name in BUDGETS),
    *(f"label-of-{item}" for item in TRUE_VALUES), "crash-of-eve", "metadata-of-eve",
]  # fmt: skip
"""Markers that no bidder may ever see, not even its own."""


def test_the_markers_are_really_there(silent_run):
    seen, log = views(silent_run), silent_run.result.log
    for owner in ("Ann", "Bea"):
        expected = [*secrets_of(owner)[:3], amount(BUDGETS[owner])[0]]
        assert [secret for secret in expected if secret not in seen[owner]] == []
    text = (silent_run.folder / "events.jsonl").read_text()
    expected = ["id-of-ann", "model-of-Ann", "label-of-Lot A", "crash-of-eve", str(TRUE_VALUES["Lot A"])]
    assert [marker for marker in expected if marker not in text] == []
    assert {(one.bidder, one.reasons) for one in of_type(log, LimitSet)} == {("Bea", "thought-of-Bea-reasons")}
    assert any(one.bidder == "Ann" and "above the greatest bid" in one.reason for one in of_type(log, Tried))
    assert {entry.event.audience for entry in log} == {EVERYONE, ANALYST, *(f"bidder:{name}" for name in BUDGETS)}


def test_no_bidder_sees_a_secret_of_another_or_of_the_analyst(run):
    for viewer, seen in views(run).items():
        secrets = [secret for owner in BUDGETS if owner != viewer for secret in secrets_of(owner)]
        assert [secret for secret in (*secrets, *ANALYST_ONLY) if secret in seen] == [], viewer


def test_the_page_of_a_seat_has_no_secret_of_another_or_of_the_analyst(silent_run, tmp_path):
    for seat in BUDGETS:
        page = write_run(silent_run.folder, tmp_path / "page.html", seat).read_text()
        others = [secret for owner in BUDGETS if owner != seat for secret in secrets_of(owner)]
        assert [secret for secret in (*others, *ANALYST_ONLY) if secret in page] == []
        assert seat == "Eve" or f"thought-of-{seat}" in page
    whole = write_run(silent_run.folder, tmp_path / "page.html").read_text()
    assert all(f"thought-of-{seat}" in whole for seat in ("Ann", "Bea"))


def test_why_a_bid_failed_is_for_its_bidder_alone(run):
    for failure in of_type(run.result.log, Tried):
        budget = failure.reason.rpartition("$")[2]
        others = [text for name, text in views(run).items() if name != failure.bidder]
        assert [text for text in others if f"greatest bid of ${budget}" in text] == []


def test_no_true_value_and_no_profit_is_ever_seen_where_only_prices_are_revealed(silent_run):
    profits = [abs(TRUE_VALUES[sold.item] - sold.price) for sold in of_type(silent_run.result.log, ItemSold)]
    assert profits
    hidden = [spelling for number in (*TRUE_VALUES.values(), *profits) for spelling in amount(number)]
    assert [(viewer, one) for viewer, seen in views(silent_run).items() for one in hidden if one in seen] == []


def test_no_true_value_is_in_a_prompt_or_spoken_before_the_hammer(runs):
    run = runs["true value"]
    leaks, told, prompts = [], set(), {name: iter(prompts) for name, prompts in run.prompts.items()}
    hidden = dict(TRUE_VALUES)
    for entry in run.result.log:
        if isinstance(entry.event, ItemSold):
            hidden.pop(entry.event.item)
        if isinstance(entry.event, ModelCalled):
            prompt = next(prompts[entry.event.bidder])
            leaks += [item for item, value in hidden.items() if amount(value)[0] in prompt]
            told |= {item for item, value in TRUE_VALUES.items() if amount(value)[0] in prompt}
    assert leaks == []
    assert told == set(list(TRUE_VALUES)[:-1])  # after the last item nothing is asked
    for item, value in TRUE_VALUES.items():
        assert all(f"{item} is sold to" in message for message in run.heard if amount(value)[1] in message)


def test_a_bidder_sees_what_is_public_and_what_is_its_own(run):
    sale = sale_of(run.result.log)
    for name in BUDGETS:
        expected = [e.event for e in run.result.log if e.event.audience in (EVERYONE, f"bidder:{name}")]
        assert list(sale.seen_by(name)) == expected


# ---------------------------------------------------------------- on the disk


def test_no_key_of_the_environment_is_in_any_file_of_a_run_and_raw_calls_are_for_its_owner_alone(run):
    assert of_type(run.result.log, SeatFailed)
    texts = contents(run.folder)
    assert set(texts) >= {"config.json", "manifest.json", "events.jsonl", "calls.jsonl"}
    assert [name for name, text in texts.items() if KEY.encode() in text or TOKEN.encode() in text] == []
    assert (run.folder / "calls.jsonl").stat().st_mode & 0o777 == 0o600


def test_no_key_in_the_error_of_a_model_is_in_any_file_of_a_run(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    class Refused(SimulatedChat):
        def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
            raise RuntimeError(f"401: {KEY} and sk-abcdefgh12345678 were refused")

    lot, ann = Item(name="Lot A", start=1_000, true_value=2_000), Bidder("Ann", model="mine")
    with pytest.raises(ModelError, match="no model has answered"):
        Auction(items=[lot], bidders=[ann], failed_calls="play on").run(tmp_path / "run", models={"mine": Refused()})
    texts = contents(tmp_path / "run")
    assert [name for name in ("calls.jsonl", "events.jsonl") if b"[redacted]" not in texts[name]] == []
    assert [name for name, text in texts.items() if KEY.encode() in text or b"sk-abcdefgh" in text] == []
