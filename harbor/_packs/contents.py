"""What a pack says of itself in its `pack.json`, and how large it may be."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import Field

from harbor._core.errors import HarborError, RunFolderError
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
