"""Every wire format: the name of a model in the format, and an auction of two bidders over it."""

from __future__ import annotations

from typing import Any

from harbor import Auction, Bidder, Item, ModelSettings
from harbor._config.auction import check
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import Log, of_type
from harbor.evaluation._experiments.design import Experiment
from support.providers import Provider

SEED = 5
ITEMS = [Item(name="Lot A", start=1_000, true_value=2_000)]
FORMATS = ("openai chat", "openai responses", "anthropic", "google", "ollama")
Settings = dict[str, Any]


def spoken(form: str, server: Provider) -> Settings:
    """Return the settings of a model that uses a format at a server."""
    openai = {"use": "openai:gpt-4o-mini", "base_url": server.openai_url}
    return {
        "openai chat": openai,
        "openai responses": openai | {"extra": {"use_responses_api": True}},
        "anthropic": {"use": "anthropic:claude-haiku-4-5", "base_url": server.anthropic_url},
        "google": {"use": "google_genai:gemini-2.5-flash", "base_url": server.google_url},
        "ollama": {"use": "ollama:llama3.1", "base_url": server.ollama_url},
    }[form]


def config(models: Settings, seed: int = SEED, **auction: Any) -> Settings:
    """Return the settings of an auction of two bidders with one model, as in a file."""
    items = [item.model_dump(mode="json", exclude_none=True) for item in ITEMS]
    bidders = [{"name": name, "model": "mine", "bidding": "call"} for name in ("Ann", "Ben")]
    return {"items": items, "bidders": bidders, "models": {"mine": models}, "seed": seed, **auction}


def experiment_of(auction: Settings, **more: Any) -> Experiment:
    """Return an experiment of equal games of an auction, whose settings are as in a file."""
    design = {"name": "wire", "title": "Wire", "question": "?", "source": "nobody", "metrics": ["profit"]}
    design |= {"arms": [{"name": "all"}], "same_seed": True}
    sale = {name: part for name, part in auction.items() if name != "seed"}
    return check(Experiment, design | {"auction": sale} | more, "design")


def auction(settings: Settings, **more: Any) -> Auction:
    """Return an auction of two bidders with one model. Without any settings it is the built-in model."""
    bidders = [Bidder(name, model="mine", bidding="call") for name in ("Ann", "Ben")]
    return Auction(items=ITEMS, bidders=bidders, models={"mine": ModelSettings(**settings, **more)}, seed=SEED)


def told(log: Log) -> list[Any]:
    """Return all events except the opening, which names the run, the events that name the model, and the calls."""
    without = ("LogOpened", "BidderLabelled", "ModelCalled")
    return [entry.event for entry in log if type(entry.event).__name__ not in without]


def asked(log: Log) -> list[tuple[Any, ...]]:
    """Return the parts of the calls that do not depend on the provider's clock, name and token count."""
    return [(call.bidder, call.purpose, call.attempt, call.outcome) for call in of_type(log, ModelCalled)]


def retries(log: Log) -> int:
    """Count the requests that failed before their call was answered."""
    return sum(call.retries for call in of_type(log, ModelCalled))
