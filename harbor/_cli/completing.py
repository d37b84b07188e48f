"""What a shell offers when names are completed: from the names of files alone, so that nothing else is imported."""

from __future__ import annotations

from importlib.resources import files

AUCTIONS = "harbor._config.presets"
EXPERIMENTS = "harbor.evaluation._experiments"


def auctions(incomplete: str) -> list[str]:
    """Name the presets of auctions that begin with what is typed."""
    return _begin(incomplete, _names(AUCTIONS))


def experiments(incomplete: str) -> list[str]:
    """Name the published experiments that begin with what is typed."""
    return _begin(incomplete, _names(EXPERIMENTS, "presets"))


def either(incomplete: str) -> list[str]:
    """Name presets and published experiments that begin with what is typed."""
    return _begin(incomplete, {*_names(AUCTIONS), *_names(EXPERIMENTS, "presets")})


def _names(package: str, *folders: str) -> set[str]:
    found = files(package).joinpath(*folders).iterdir()
    return {one.name.removesuffix(".toml") for one in found if one.name.endswith(".toml")}


def _begin(incomplete: str, names: set[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
