"""Reads experiments: Harbor's own by name, others from a TOML file."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.settings import read_settings
from harbor.memory._store.place import check_trusted

if TYPE_CHECKING:
    from harbor.evaluation._experiments.design import Experiment


@cache
def presets() -> tuple[str, ...]:
    """List the names of Harbor's own experiments."""
    found = (path.name for path in files("harbor.evaluation._experiments.presets").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def experiment(name: str) -> Experiment:
    """Read an experiment: one of Harbor's by name, or another from a TOML or JSON file.

    Raises:
        ConfigError: no such experiment, or a setting of it is refused.
        MemoryStoreError: only a JSON file names the embedding, which is a model.
    """
    brought = name in presets()
    if not brought and not Path(name).exists() and Path(name).suffix not in (".toml", ".json"):
        raise ConfigError(unknown("experiment", name, presets()))
    from harbor.evaluation._experiments.design import Experiment  # loads all metrics, which a wrong name does not need

    place = files("harbor.evaluation._experiments.presets") / f"{name}.toml" if brought else Path(name)
    with as_file(place) as path:
        found = read_settings(path, Experiment, "experiment")
    if name.endswith(".json"):  # like the config of a run, it may come from somebody else
        for settings in (found.auction, *(one.auction for one in (*found.arms, *found.conditions))):
            memory = settings.get("memory")
            check_trusted(str(memory.get("embedding", "")) if isinstance(memory, dict) else "", None)
    return found
