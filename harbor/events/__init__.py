"""Everything that can happen in an auction, as frozen events that name their audience."""

from __future__ import annotations

from harbor._core.log import acts, events, thoughts
from harbor._core.log.acts import *  # noqa: F403
from harbor._core.log.events import *  # noqa: F403
from harbor._core.log.thoughts import *  # noqa: F403
from harbor._games.english import events as english
from harbor._games.english.events import *  # noqa: F403

__all__ = sorted(
    [
        "HOUSE",
        *(
            name
            for module in (events, thoughts, acts, english)
            for name, kind in vars(module).items()
            if isinstance(kind, type) and kind.__module__ == module.__name__ and not name.startswith("_")
        ),
    ]
)
