"""The experiments that can be run: published ones by name, own ones from a TOML file."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from harbor._config.auction import read_settings
from harbor._core.errors import ConfigError, unknown
from harbor.evaluation._experiments.design import Experiment


@cache
def presets() -> tuple[str, ...]:
    """Name the published experiments."""
    found = (path.name for path in files("harbor.evaluation._experiments.presets").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def experiment(name: str) -> Experiment:
    """Read a published experiment by name, or an own one from a TOML file.

    Raises:
        ConfigError: no such experiment, or a setting of it is refused.
    """
    if name in presets():
        with as_file(files("harbor.evaluation._experiments.presets") / f"{name}.toml") as path:
            return read_settings(path, Experiment, "experiment")
    path = Path(name)
    if not path.exists() and path.suffix not in (".toml", ".json"):
        raise ConfigError(unknown("experiment", name, presets()))
    return read_settings(path, Experiment, "experiment")
