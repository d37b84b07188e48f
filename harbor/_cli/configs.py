"""Settings on the command line: a preset or a file, with options in place of some of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harbor._core.errors import ConfigError, unknown

if TYPE_CHECKING:
    from harbor._config.auction import Bidder
    from harbor._runs.run import Auction


def chosen_config(config: str | None, preset: str | None) -> Auction:
    """Read what is named as an argument or with --preset; the demo without either."""
    if config is not None and preset is not None:
        raise ConfigError(f"config {config!r} and --preset {preset!r} are both given; drop one")
    return load(config or preset or "demo")


def load(config: str) -> Auction:
    """Read a preset by name, or a TOML file."""
    from importlib.resources import as_file, files

    from harbor._config.auction import read_settings
    from harbor._runs.run import Auction

    presets = {
        path.name.removesuffix(".toml"): path
        for path in files("harbor._config.presets").iterdir()
        if path.name.endswith(".toml")
    }
    if config in presets:
        with as_file(presets[config]) as path:
            return read_settings(path, Auction)
    path = Path(config)
    if not path.exists() and path.suffix not in (".toml", ".json"):
        raise ConfigError(unknown("preset", config, presets))
    return read_settings(path, Auction)


def seat_person(chosen: Auction, name: str | None) -> tuple[Auction, Bidder]:
    """Have a person play the bidder of this name, or the one whom the config has a person play, or the first.

    Raises:
        ConfigError: no bidder has that name.
    """
    from harbor._config.auction import check

    values = chosen.model_dump(exclude_unset=True)  # a person has another default for its time
    bidders = {bidder["name"]: bidder for bidder in values["bidders"]}
    name = name or next((bidder.name for bidder in chosen.bidders if bidder.person), chosen.bidders[0].name)
    if name not in bidders:
        raise ConfigError(unknown("bidder", name, bidders))
    bidders[name] |= {"rule": None, "agent": False, "person": True}
    seated = check(type(chosen), values, "command line")
    return seated, next(bidder for bidder in seated.bidders if bidder.name == name)


def override(chosen: Auction, seed: int | None, model: str | None, items: int | None) -> Auction:
    """Apply the options of the command line; they are checked like the file's own settings."""
    from harbor._config.auction import check

    values = chosen.model_dump()
    if seed is not None:
        values["seed"] = seed
    if model is not None:
        values["bidders"] = [{**bidder, "model": model} for bidder in values["bidders"]]
    if items is not None:
        if isinstance(values["items"], dict):
            values["items"] = _fewer(values["items"], items, chosen)
        elif 1 <= items <= len(values["items"]):
            values["items"] = values["items"][:items]
        else:
            raise ConfigError(f"--items {items}: the config lists {len(values['items'])} items; ask for 1 to that many")
    return check(type(chosen), values, "command line")


def _fewer(houses: dict[str, int | None], count: int, chosen: Auction) -> dict[str, int | None]:
    """Ask for this many houses, and for no more matched ones than fit in."""
    matched, personas = houses["matched"], {key for bidder in chosen.bidders for key in bidder.persona}
    if matched is not None and personas:
        matched = min(matched, max(0, count) // len(personas))
    return {"count": count, "matched": matched}
