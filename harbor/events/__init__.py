"""Everything that can happen in an auction, as frozen events that say who may see them."""

from __future__ import annotations

from harbor._core import acts, events, outcomes, thoughts
from harbor._core.acts import *  # noqa: F403
from harbor._core.events import *  # noqa: F403
from harbor._core.outcomes import *  # noqa: F403
from harbor._core.thoughts import *  # noqa: F403
from harbor._games.english import events as english
from harbor._games.english.events import *  # noqa: F403

__all__ = sorted(
    [
        "HOUSE",
        *(
            name
            for module in (events, thoughts, acts, outcomes, english)
            for name, kind in vars(module).items()
            if isinstance(kind, type) and kind.__module__ == module.__name__ and not name.startswith("_")
        ),
    ]
)
