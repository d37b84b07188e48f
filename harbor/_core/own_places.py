"""Where Harbor keeps what belongs to its user and to no run: kept replies, and the key of marks."""

from __future__ import annotations

import os
from pathlib import Path

from harbor._core.errors import ConfigError


def own_place(variable: str, kind: str, usual: str, folder: str) -> Path:
    """Give the folder that a variable of the environment names, or Harbor's own where files of a kind go.

    Args:
        variable: such as ``HARBOR_CACHE``.
        kind: the variable of the XDG base directories, such as ``XDG_CACHE_HOME``.
        usual: where such files go without it, in the home folder, such as ``.cache``.
        folder: Harbor's own there.

    Raises:
        ConfigError: there is no home folder.
    """
    try:
        if named := os.environ.get(variable):
            return Path(named).expanduser().absolute()
        common = Path(os.environ.get(kind, ""))
        return (common if common.is_absolute() else Path.home() / usual) / folder
    except RuntimeError as error:
        raise ConfigError(f"there is no home for {folder!r} ({error}); name a folder in {variable}") from error
