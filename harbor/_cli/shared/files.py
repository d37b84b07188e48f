"""The files from which commands read settings, and the places where they write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harbor._cli.shared import shell
from harbor._cli.shared.arguments import Changes, in_config
from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.files.layout import begun_in
from harbor._core.files.marks import is_in_own

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from harbor._config.auction import AuctionConfig, Bidder
    from harbor.evaluation._experiments.design import Experiment


def chosen_config(config: str | None, preset: str | None) -> AuctionConfig:
    """Read the config that the argument or --preset names; the demo without either."""
    if config is not None and preset is not None:
        raise ConfigError(f"config {config!r} and --preset {preset!r} are both given; drop one")
    return load(config or preset or "demo")


def presets() -> dict[str, Traversable]:
    """Return the files of the presets by name."""
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
        if config in shell.experiments(config):
            raise ConfigError(f"{config!r} is an experiment; run it with: harbor experiment run {config}")
        raise ConfigError(unknown("preset", config, known))
    check_file(config)
    try:
        chosen = read_settings(path, AuctionConfig)
    except ConfigError:
        if is_experiment(path):
            raise ConfigError(f"{config!r} is an experiment; run it with: harbor experiment run {config}") from None
        raise
    if path.suffix == ".json":  # somebody may have sent a run's JSON; users write TOML themselves
        from harbor.memory._store.place import check_trusted

        check_trusted(chosen.memory.embedding, None)
    return chosen


def load_experiment(name: str) -> Experiment:
    """Read a published experiment by name, or the user's own from a TOML file.

    Raises:
        ConfigError: there is none, a setting is refused, or it is an auction.
    """
    from harbor.evaluation._experiments.library import experiment
    from harbor.evaluation._experiments.library import presets as experiments

    auction = name in presets() and name not in experiments()
    check_file(name)
    try:
        return experiment(name)
    except ConfigError:
        if auction or is_auction(Path(name)):
            raise ConfigError(f"{name!r} is an auction; run it with: harbor auction {name}") from None
        raise


def check_file(name: str) -> None:
    """Refuse a folder in place of settings, and name the run or experiment in it.

    Raises:
        ConfigError: it is a folder.
    """
    if Path(name).is_dir():
        raise ConfigError(f"{name!r} {begun_in(Path(name)) or 'is a folder; give a TOML file or a name'}")


def is_auction(path: Path) -> bool:
    """Return whether a file describes an auction; false for a file that can't be read."""
    return {"bidders", "arms"} & _keys(path) == {"bidders"}


def is_experiment(path: Path) -> bool:
    """Return whether a file describes an experiment; false for a file that can't be read."""
    return bool({"arms", "factors"} & _keys(path))


def _keys(path: Path) -> set[str]:
    import json
    import tomllib

    from harbor._core.files.safe_files import parsed

    with suppress(OSError, ValueError):
        return set(parsed(path.read_text(encoding="utf-8"), json.loads if path.suffix == ".json" else tomllib.loads))
    return set()


def seat_person(chosen: AuctionConfig, name: str | None) -> tuple[AuctionConfig, Bidder]:
    """Seat a person as the bidder of this name, by default as the config's person, or as the first bidder.

    Raises:
        ConfigError: no bidder has that name.
    """
    from harbor._config.auction import AuctionConfig, check
    from harbor._config.thinking import reseated

    values = chosen.model_dump(exclude_unset=True)  # so that the timeout default of a person applies
    bidders = {bidder["name"]: bidder for bidder in values["bidders"]}
    name = name or next((bidder.name for bidder in chosen.bidders if bidder.person), chosen.bidders[0].name)
    if name not in bidders:
        raise ConfigError(unknown("bidder", name, bidders))
    bidders[name] = reseated(bidders[name], "person", True)
    seated = check(AuctionConfig, {**values, "bidders": [*bidders.values()]}, "command line")
    return seated, next(bidder for bidder in seated.bidders if bidder.name == name)


def override(chosen: AuctionConfig, changes: Changes, settings: Sequence[str] = ()) -> AuctionConfig:
    """Apply the options of the command line; they are checked like the file's own settings.

    `settings` are those of models, as --set takes them.
    """
    from harbor._config.auction import AuctionConfig, check

    values = chosen.model_dump()
    if changes.seed is not None:
        values["seed"] = changes.seed
    if (model := changes.model) is not None:
        thinking = {bidder.name for bidder in chosen.bidders if bidder.uses_model}
        values["bidders"] = [one | ({"model": model} if one["name"] in thinking else {}) for one in values["bidders"]]
    if (items := changes.items) is not None:
        if isinstance(values["items"], dict):
            values["items"] = _fewer(values["items"], items, chosen)
        elif 1 <= items <= len(values["items"]):
            values["items"] = values["items"][:items]
        else:
            raise ConfigError(f"--items {items}: the config lists {len(values['items'])} items; ask for 1 to that many")
    return in_config(check(AuctionConfig, values, "command line"), settings)


def _fewer(houses: dict[str, Any], count: int, chosen: AuctionConfig) -> dict[str, Any]:
    """Reduce a sample to `count` houses, with no more matched ones than fit in."""
    matched, personas = houses["matched"], {key for bidder in chosen.bidders for key in bidder.persona}
    if matched is not None and personas:
        matched = min(matched, max(0, count) // len(personas))
    return houses | {"count": count, "matched": matched}


def check_ending(out: Path | None, *endings: str) -> None:
    """Refuse an output file with another ending: it would replace an existing file, perhaps a log.

    Raises:
        ConfigError: it has none of these endings, such as ``.html``.
    """
    if out is not None and out.suffix not in endings:
        raise ConfigError(f"--out {str(out)!r} doesn't end in {' or '.join(endings)}; name it so")


def default_place(folder: Path, name: str) -> Path:
    """Return an output path: in the folder if it is the user's, else in the working directory."""
    if is_in_own(folder) and os.access(folder, os.W_OK):
        return folder / name
    return Path(f"{folder.resolve().name or 'harbor'}-{name}")
