"""Which files a pack may have: those that Harbor writes and reads, by the names that they have on every system."""

from __future__ import annotations

import re

from harbor._core.layout import (
    BATCHES,
    CALLS,
    CALLS_DAMAGED,
    CONFIG,
    DESIGN,
    DEVICE,
    EVENTS,
    EVENTS_CUT,
    FAILURE,
    GAMES,
    MANIFEST,
    MEMORY_LINES,
    RECORD,
    RESULTS,
)
from harbor._packs.contents import CARD, CITATION, EVENTS_TABLE, MEASUREMENTS_TABLE, PACK

OF_A_RUN = (CONFIG, MANIFEST, EVENTS, CALLS, EVENTS_CUT, CALLS_DAMAGED, MEMORY_LINES, RECORD, FAILURE)
OF_THE_WHOLE = (DESIGN, RESULTS, BATCHES, CARD, CITATION, EVENTS_TABLE, MEASUREMENTS_TABLE)
_SLUG, _REPEAT, _AUCTION = "[a-z0-9-]{1,60}", "[0-9]{4,9}(-failed-[0-9]{1,9})?", "[0-9]{1,9}"
_PACKED = re.compile(
    f"({GAMES}/{_SLUG}/{_SLUG}/{_REPEAT}/)?({_AUCTION}/)?({'|'.join(map(re.escape, OF_A_RUN))})"
    f"|{'|'.join(map(re.escape, OF_THE_WHOLE))}"
)


def is_packed(name: str) -> bool:
    """Tell whether a file of this name, in the folder of a run, a series or an experiment, belongs into a pack."""
    return _PACKED.fullmatch(name) is not None


def fault_of(name: str) -> str:
    """Say what is wrong with the name of a file in a pack; empty if nothing is."""
    if name != PACK and not is_packed(name):
        return "is no file that Harbor packs"
    return "is that of a device" if any(map(DEVICE.fullmatch, name.split("/"))) else ""
