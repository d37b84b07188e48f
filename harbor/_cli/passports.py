"""The command that shows what Harbor has learned of models."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from harbor._cli.output import Json

if TYPE_CHECKING:
    from harbor._models.passports.passport import Passport


def models(as_json: Json = False) -> None:
    """Show what has been learned of each model at its server: how it is asked, what it takes, its speed and price."""
    from harbor._models.passports.passport_folder import FOLDER, passports_in
    from harbor._models.replies.reply_folder import own_folder

    folder = own_folder() / FOLDER
    found = [(one, _prices(one)) for one in passports_in(folder)]
    if as_json:
        typer.echo(json.dumps({"folder": str(folder), "models": [asdict(one) | prices for one, prices in found]}))
        return
    from harbor._cli.display.render import Table, render

    if not found:
        typer.echo("Nothing is known of any model yet: it is learned at the first calls of each, and kept.")
        return
    asking = [_asking(one) for one, _ in found]
    running = [_running(one, prices) for one, prices in found]
    where = f"Kept in {folder}; remove a file there, and its model is learned anew."
    render([Table("Models", asking), Table("Speed and price", running), where])


def _prices(passport: Passport) -> dict[str, float | None]:
    """Give today's prices of a model, in dollars per million tokens; None where they are unknown."""
    from harbor._config.dialects import PROVIDERS
    from harbor._config.models import ModelSettings
    from harbor._models.prices import price_of

    is_provider = passport.server in PROVIDERS
    use = f"{passport.server if is_provider else 'openai'}:{passport.model}"
    url = passport.server if passport.server.startswith("http") else None
    price = price_of(ModelSettings(use=use, base_url=url)) if is_provider or url else None
    return {
        "input_price": price.input_price if price else None,
        "output_price": price.output_price if price else None,
    }


def _asking(one: Passport) -> dict[str, str]:
    return {
        "model": one.model,
        "server": one.server,
        "form": one.form or "unknown",
        "not taken": ", ".join(one.not_taken) or "nothing",
        "thinks in": ", ".join(one.thinks) or "nothing",
        "answers as": ", ".join(one.snapshots),
    }


def _running(one: Passport, prices: dict[str, float | None]) -> dict[str, str]:
    from harbor._core.money import cost_in_words

    return {
        "model": one.model,
        "calls": f"{one.calls:,}",
        "tokens per s": f"{one.tokens_per_second:,.0f}" if one.tokens_per_second else "unknown",
        "slowest": f"{one.slowest:,.1f} s",
        "context": f"{one.context_tokens:,}" if one.context_tokens else "unknown",
        "in": cost_in_words(prices["input_price"]),
        "out": cost_in_words(prices["output_price"]),
        "days": f"{one.first} to {one.last}" if one.first != one.last else one.first,
    }
