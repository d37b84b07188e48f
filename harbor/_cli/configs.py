"""Settings on the command line: a preset or a file, with options in place of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from harbor._cli.model_settings import in_config
from harbor._core.errors import ConfigError, unknown

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from harbor._config.auction import AuctionConfig, Bidder


def chosen_config(config: str | None, preset: str | None) -> AuctionConfig:
    """Read what is named as an argument or with --preset; the demo without either."""
    if config is not None and preset is not None:
        raise ConfigError(f"config {config!r} and --preset {preset!r} are both given; drop one")
    return load(config or preset or "demo")


def presets() -> dict[str, Traversable]:
    """Give the files of the presets by name."""
    from importlib.resources import files

    found = sorted(files("harbor._config.presets").iterdir(), key=lambda one: one.name)
    return {one.name.removesuffix(".toml"): one for one in found if one.name.endswith(".toml")}


def load(config: str) -> AuctionConfig:
    """Read a preset by name, or a TOML file."""
    from importlib.resources import as_file

    from harbor._config.auction import AuctionConfig, read_settings

    known = presets()
    if config in known:
        with as_file(known[config]) as path:
            return read_settings(path, AuctionConfig)
    path = Path(config)
    if not path.exists() and path.suffix not in (".toml", ".json"):
        raise ConfigError(unknown("preset", config, known))
    if path.is_dir():
        raise ConfigError(f"{config!r} is a folder; give a TOML file or a preset")
    try:
        chosen = read_settings(path, AuctionConfig)
    except ConfigError:
        if is_experiment(path):
            raise ConfigError(f"{config!r} is an experiment; run it with: harbor experiment run {config}") from None
        raise
    if path.suffix == ".json":  # what a run has written may have been sent; a TOML file is its user's own word
        from harbor.memory._store.trust import check_trusted

        check_trusted(chosen.memory.embedding, None)
    return chosen


def is_experiment(path: Path) -> bool:
    """Tell whether a file is that of an experiment; a file that can't be read is none."""
    import json
    import tomllib

    read = json.loads if path.suffix == ".json" else tomllib.loads
    with suppress(OSError, ValueError):
        return "arms" in read(path.read_text(encoding="utf-8"))
    return False


def seat_person(chosen: AuctionConfig, name: str | None) -> tuple[AuctionConfig, Bidder]:
    """Have a person play the bidder of this name, or the one whom the config has a person play, or the first.

    Raises:
        ConfigError: no bidder has that name.
    """
    from harbor._config.auction import AuctionConfig, MindSettings, check

    values = chosen.model_dump(exclude_unset=True)  # a person has another default for its time
    bidders = {bidder["name"]: bidder for bidder in values["bidders"]}
    name = name or next((bidder.name for bidder in chosen.bidders if bidder.person), chosen.bidders[0].name)
    if name not in bidders:
        raise ConfigError(unknown("bidder", name, bidders))
    for setting in ("rule", "agent", "model", "max_bids", *MindSettings.model_fields):
        bidders[name].pop(setting, None)
    bidders[name]["person"] = True
    seated = check(AuctionConfig, values, "command line")
    return seated, next(bidder for bidder in seated.bidders if bidder.name == name)


def override(
    chosen: AuctionConfig, seed: int | None, model: str | None, items: int | None, settings: Sequence[str] = ()
) -> AuctionConfig:
    """Apply the options of the command line; they are checked like the file's own settings.

    `settings` are those of models, as --set takes them.
    """
    from harbor._config.auction import AuctionConfig, check

    values = chosen.model_dump()
    if seed is not None:
        values["seed"] = seed
    if model is not None:
        thinking = {bidder.name for bidder in chosen.bidders if bidder.uses_model}
        values["bidders"] = [one | ({"model": model} if one["name"] in thinking else {}) for one in values["bidders"]]
    if items is not None:
        if isinstance(values["items"], dict):
            values["items"] = _fewer(values["items"], items, chosen)
        elif 1 <= items <= len(values["items"]):
            values["items"] = values["items"][:items]
        else:
            raise ConfigError(f"--items {items}: the config lists {len(values['items'])} items; ask for 1 to that many")
    return in_config(check(AuctionConfig, values, "command line"), settings)


def _fewer(houses: dict[str, int | None], count: int, chosen: AuctionConfig) -> dict[str, int | None]:
    """Ask for this many houses, and for no more matched ones than fit in."""
    matched, personas = houses["matched"], {key for bidder in chosen.bidders for key in bidder.persona}
    if matched is not None and personas:
        matched = min(matched, max(0, count) // len(personas))
    return {"count": count, "matched": matched}
