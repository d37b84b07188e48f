"""What an experiment takes in calls, tokens and dollars, in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harbor._cli.display.render import Table
from harbor._core.money import cost_in_words
from harbor._models.prices import price_table

if TYPE_CHECKING:
    from harbor.evaluation._experiments.dry_run import ArmUsage, DryRun, ModelUse, Usage


def estimate_tables(found: DryRun) -> Iterator[Table | str]:
    """Give what an experiment takes by arm, in total and by model, and what the estimate rests on."""
    arms = [
        {"arm": arm.arm, "games": f"{arm.games:,}", **_row(arm.usage), "per game": _range(arm), **_chain(arm.usage)}
        for arm in found.arms
    ]
    whole = {"arm": "total", "games": f"{found.games:,}", **_row(found.usage), "per game": "", **_chain(found.usage)}
    yield Table(f"Estimate of {found.experiment}", [*arms, whole])
    models = [_model(use) for use in found.usage.models]
    yield Table("Models", models)
    yield from _remarks(found)


def auction_tables(name: str, auctions: int, used: Usage) -> Iterator[Table | str]:
    """Give what an auction or a series takes by model and in total, and what the estimate rests on."""
    models = [_model(use) for use in used.models]
    total = {"model": "total", **_row(used), "per million in": "", "per million out": ""}
    yield Table(f"Estimate of {name}", [*models, total])
    played = "The auction was" if auctions == 1 else f"{auctions} auctions were"
    yield (
        f"{played} played, on the built-in model (simulated bidders); {used.chain:,.0f} of its calls are in"
        " sequence: they wait for one another."
    )
    yield from _about_tokens_and_prices()


def _remarks(found: DryRun) -> list[str]:
    return [
        f"{found.played} of {found.games} games were played, on the built-in model (simulated bidders), and stand for"
        " the others of their arm and condition. A game takes as long as its calls in sequence, which wait for one"
        " another.",
        *_about_tokens_and_prices(),
    ]


def _about_tokens_and_prices() -> list[str]:
    table = price_table()
    return [
        "Tokens are counted as the built-in model has them, four characters each: another model counts its own, may"
        " think at length, and may go on for more or fewer rounds.",
        f"Prices are those of {table.package} {table.version}, whose newest change is of {table.date}.",
    ]


def _model(use: ModelUse) -> dict[str, str]:
    prices = {
        "per million in": cost_in_words(use.input_price),
        "per million out": cost_in_words(use.output_price),
    }
    return {"model": use.model, **_row(use), **prices}


def _row(used: Usage | ModelUse) -> dict[str, str]:
    read, written = (f"{tokens / 1000:,.0f}k" for tokens in (used.input_tokens, used.output_tokens))
    return {
        "calls": f"{used.calls:,.0f}",
        "tokens in": read,
        "tokens out": written,
        "dollars": cost_in_words(used.cost),
    }


def _chain(used: Usage) -> dict[str, str]:
    return {"in sequence": f"{used.chain:,.0f}"}


def _range(arm: ArmUsage) -> str:
    """Say what a game costs that was played, from the least to the most."""
    costs = [usage.cost for usage in arm.played if usage.cost is not None]
    ends = dict.fromkeys(cost_in_words(end) for end in (min(costs), max(costs))) if costs else ["unknown"]
    return " to ".join(ends)
