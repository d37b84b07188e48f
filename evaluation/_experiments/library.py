"""The experiments that can be run: those that Harbor brings by name, own ones from a TOML file."""

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
    """Name the experiments that Harbor brings."""
    found = (path.name for path in files("harbor.evaluation._experiments.presets").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def experiment(name: str) -> Experiment:
    """Read an experiment that Harbor brings by name, or an own one from a TOML file.

    Raises:
        ConfigError: no such experiment, or a setting of it is refused.
        MemoryStoreError: an embedding is a model that only the file of a folder names.
    """
    brought = name in presets()
    if not brought and not Path(name).exists() and Path(name).suffix not in (".toml", ".json"):
        raise ConfigError(unknown("experiment", name, presets()))
    from harbor.evaluation._experiments.design import Experiment  # it knows all metrics; a wrong name needs none

    place = files("harbor.evaluation._experiments.presets") / f"{name}.toml" if brought else Path(name)
    with as_file(place) as path:
        found = read_settings(path, Experiment, "experiment")
    if name.endswith(".json"):  # as for the config of a run: it may have been sent
        for settings in (found.auction, *(one.auction for one in (*found.arms, *found.conditions))):
            memory = settings.get("memory")
            check_trusted(str(memory.get("embedding", "")) if isinstance(memory, dict) else "", None)
    return found
