"""What everyone may be told of settings, events and players: only what is listed, so that what is new stays private."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harbor._config.auction import AuctionConfig
from harbor._config.dialects import PROVIDERS
from harbor._core.events import EVERYONE, Event, LogOpened, PublicEvent
from harbor._core.extensions import HARBOR, NAME, WITH_EVENTS, Part
from harbor._core.finding import of_part
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.settings import Settings
from harbor.evaluation._metrics.lineup import any_simulated, players

MODEL = re.compile(r"(?!ft:)[A-Za-z0-9][\w.-]{0,80}(/[A-Za-z0-9][\w.-]{0,80})?(:[A-Za-z0-9][\w.-]{0,40})?", re.ASCII)
"""A name of a model that a provider lists: no path, no address, and none that was trained for somebody."""
UNNAMED = "a model"
VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,40}")


def told(settings: Settings) -> dict[str, Any]:
    """Give of settings, as JSON, what their classes list as `public`; of settings inside them too."""
    plain = settings.model_dump(mode="json", include=set(type(settings).public))
    return {name: _told(getattr(settings, name), plain[name]) for name in sorted(type(settings).public)}


def _told(value: Any, plain: Any) -> Any:
    if isinstance(value, Settings):
        return told(value)
    if isinstance(value, dict):
        return {key: _told(inner, shown) for (key, inner), shown in zip(value.items(), plain.values(), strict=True)}
    if isinstance(value, list | tuple):
        return [_told(inner, shown) for inner, shown in zip(value, plain, strict=True)]
    return plain


def told_config(config: AuctionConfig) -> dict[str, Any]:
    """Give the public settings of a game, with the personas of its bidders if it says that they are published."""
    settings = told(config)
    if config.publish_personas:
        texts = {persona.id: persona.text for persona in config.personas}
        for bidder, shown in zip(config.bidders, settings["bidders"], strict=True):
            shown["persona"] = dict(bidder.persona)
            shown["persona_texts"] = {key: texts[key] for key in bidder.persona if key in texts}
    return settings


def told_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Give versions, and the options that tell of the data: no digest, no day, no checkout, no address."""
    versions = manifest.get("versions")
    named = versions.items() if isinstance(versions, dict) else ()
    return {
        "public": True,
        "python": version_of(manifest.get("python")),
        "versions": {name: version_of(one) for name, one in named if NAME.fullmatch(name)},
        **({"options": _told_options(manifest["options"])} if "options" in manifest else {}),
    }


def _told_options(history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give whether replies could come from a cache and how calls went out, at first and after each change of that."""
    found: list[dict[str, Any]] = []
    for one in history:
        shown: dict[str, Any] = {"cache": bool(one.get("cache"))}
        if "lane" in one:
            shown["lane"] = "batch" if one["lane"] == "batch" else "live"
        if found[-1:] != [shown]:
            found.append(shown)
    return found


def version_of(given: object) -> str:
    """Give a version; empty for what is none."""
    return given if isinstance(given, str) and VERSION.fullmatch(given) else ""


def told_player(player: str) -> str:
    """Give what plays a bidder, as a log names it: a rule, an agent, a person, or a model of a provider by its name.

    A name that is the user's own, a path or an address is left out.
    """
    use = player.partition(" (")[0]
    provider, _, model = use.partition(":")
    if not model:
        return use if NAME.fullmatch(use) else UNNAMED
    if provider not in PROVIDERS:
        return UNNAMED
    return use if MODEL.fullmatch(model) else f"{provider}: {UNNAMED}"


def told_players(entries: Sequence[Entry]) -> dict[str, str]:
    """Tell what plays each bidder."""
    return {bidder: told_player(player) for bidder, player in players(entries).items()}


def told_entries(entries: Sequence[Entry], run: str) -> list[Entry]:
    """Give the public events of a log under a new opening, numbered anew and without times.

    The opening is made field by field, from what is listed here. `run` is the name that it gives the run.
    """
    events = [entry.event for entry in entries if is_for_everyone(entry.event)]
    opened = of_type(entries, LogOpened)[0]
    parts = tuple(part for part in opened.parts if part.kind == "game" or _brings(part, events))
    if any_simulated(players(entries).values()):
        parts = (*parts, Part("model", "simulated", HARBOR, version_of(opened.harbor)))
    opening = LogOpened(
        schema=opened.schema, harbor=version_of(opened.harbor), run=run, seed=None, parts=parts, rules=opened.rules
    )
    return [Entry(place, 0.0, event) for place, event in enumerate((opening, *events))]


def is_for_everyone(event: Event) -> bool:
    """Tell whether everyone may see an event, by its class and by what it says itself."""
    return isinstance(event, PublicEvent) and event.audience == EVERYONE


def _brings(part: Part, events: Sequence[Event]) -> bool:
    """Tell whether one of these events is of a part, so that they can't be read without it."""
    return part.kind in WITH_EVENTS and any(type(event) in of_part(part).events for event in events)
