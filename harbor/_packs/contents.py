"""What a pack says of itself in its `pack.json`, how large it may be, and which files it may have."""

from __future__ import annotations

import json
import re
from typing import Annotated, Literal

from pydantic import Field

from harbor._core.basics.errors import HarborError, RunFolderError
from harbor._core.files.layout import (
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
from harbor._core.settings import Settings, check

PACK = "pack.json"
CARD, CITATION = "README.md", "CITATION.cff"
EVENTS_TABLE, MEASUREMENTS_TABLE = "events.parquet", "measurements.parquet"
FORMAT = 1
SUFFIX = ".harbor.zip"
MOST_FILES = 200_000
MOST_BYTES = 32 * 2**30
"""The most bytes of all files of a pack together, unpacked."""
MOST_RATIO = 500
"""The most unpacked bytes per packed byte, once there are more than `SMALL` of them.

JSON lines come to about 30, and to 100 at most, as each has a digest. A bomb comes to 1,000.
"""
SMALL = 2**28
LARGEST_PACK_JSON = 64 * 2**20

Kind = Literal["run", "series", "experiment"]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Contents(Settings):
    """What is in a pack: the SHA-256 of each file by its name; `published` packs are for everyone."""

    format: int = Field(ge=1)
    kind: Kind
    published: bool
    harbor: str = Field(max_length=80)
    files: dict[str, Digest] = Field(max_length=MOST_FILES)


def read_contents(text: bytes, pack: str) -> Contents:
    """Read what a pack says of itself.

    Raises:
        RunFolderError: it is no JSON, of a newer format, or lacks something.
    """
    try:
        values = json.loads(text)
        version = values["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunFolderError(f"pack {pack!r} has a {PACK} that can't be read; ask for the pack again") from error
    if isinstance(version, int) and version > FORMAT:
        raise RunFolderError(f"pack {pack!r} has format {version}, and this Harbor reads {FORMAT}; upgrade Harbor")
    try:
        return check(Contents, values, PACK)
    except HarborError as error:
        raise RunFolderError(f"pack {pack!r} can't be unpacked: {error}") from error


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
