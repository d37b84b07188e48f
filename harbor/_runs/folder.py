"""The folder of a run: config.json, manifest.json, events.jsonl, and calls.jsonl with the raw model calls."""

from __future__ import annotations

import json
import platform
import secrets
import shlex
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from harbor._config.auction import AuctionConfig, read_settings
from harbor._core.basics.errors import RunFolderError
from harbor._core.files.layout import CALLS, CONFIG, EVENTS, MANIFEST, check_run, no_run
from harbor._core.files.marks import read_as_data, write_settings
from harbor._core.files.safe_files import (
    FILE,
    MOST_SETTINGS,
    SyncedFile,
    new_folder,
    open_private,
    read_sent,
    remedy_of,
    sync_folder,
)
from harbor._core.log.events import Event, SaleClosed, SeriesClosed
from harbor._core.log.log import Log, Reading, read_whole_lines
from harbor._models.replies.replay import RawCall
from harbor._runs.manifest import AuctionOptions, commit_of, noted
from harbor._runs.raw_calls import line_of, read_past

_LOCK = ".lock"
"""File that the process of a run locks."""
_PACKAGES = ("harbor-auctions", "autogen-agentchat", "langgraph", "langchain-core", "scikit-learn", "pydantic")
"""Packages whose versions a manifest lists."""


def run_name(name: str) -> str:
    """Return a name from the start in UTC, the auction and a random id, in characters that any file system takes."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower()).strip("-")
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{plain or 'auction'}-{secrets.token_hex(3)}"


def complete(path: Path) -> Reading | None:
    """Read the log of a run if its sale closed; None if not, or if there is no log.

    Raises:
        LogError: the log was edited.
    """
    if not (path / EVENTS).is_file():
        return None
    reading = read_whole_lines(path / EVENTS)
    return reading if reading.complete else None


class RunFolder:
    """The folder of a run, locked by one process; `make` a new one, or `reopen` that of an interrupted run.

    `replay` has the recorded calls.
    """

    def __init__(self, path: Path, safe: bool = True) -> None:
        self.path = path
        self._safe = safe
        self._paid = False
        self._lock = FileLock(path / _LOCK, timeout=0, mode=FILE)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise RunFolderError(f"run {str(path)!r} is being run by another process; wait until it ends") from error
        try:
            self._past, self.replay = read_past(path)
            self._calls = SyncedFile(open_private(path / CALLS, "ab"))
        except BaseException:
            self._let_go()
            raise

    @classmethod
    def make(cls, path: Path, config: AuctionConfig, options: AuctionOptions | None = None) -> RunFolder:
        """Make a new folder with its config and manifest, once the run is ready to start.

        With `options`, the folder is marked as the user's own and keeps them. Without them, the folder of the series or
        experiment above has both.

        Raises:
            RunFolderError: the folder exists, or can't be made.
            ConfigError: there is no place for the key that makes marks.
        """
        text = config.model_dump_json(indent=2)
        safe = not all(bidder.rule for bidder in config.bidders)
        try:
            with new_folder(path, safe) as draft:
                begun = {**manifest(text), "began": datetime.now(UTC).isoformat(timespec="seconds")}
                begun |= {"options": [noted(options)]} if options else {}
                files = {CONFIG: text.encode() + b"\n", MANIFEST: json.dumps(begun, indent=2).encode() + b"\n"}
                write_settings(draft, files, marked=options is not None)
        except FileExistsError as error:
            raise RunFolderError(f"output folder {str(path)!r} exists; name a new one or remove it") from error
        except OSError as error:
            raise RunFolderError(
                f"output folder {str(path)!r} can't be made ({error.strerror}); {remedy_of(error, 'name another')}"
            ) from error
        return cls(path, safe)

    @classmethod
    def reopen(cls, path: Path) -> RunFolder:
        """Lock the folder of an interrupted run, and read its records, with a warning of losses.

        Raises:
            RunFolderError: another process runs it, or its paid calls are lost.
            LogError: the log was edited.
        """
        return cls(path)

    def open_log(self) -> Log:
        """Open the log after its recorded entries."""
        log = Log(self.path / EVENTS, past=self._past, sync_first=self._sync_calls if self._safe else None)
        if self._safe:
            sync_folder(self.path)
        return log

    def keep(self, call: RawCall) -> None:
        """Append a raw model call and flush it; one that may have cost money is also synced to disk in the background.

        Raises:
            RunFolderError: the file can't be written.
        """
        try:
            self._calls.append(line_of(call))
            if call.dollars != 0:
                self._paid = True
                self._calls.sync_soon()
        except OSError as error:
            raise RunFolderError(
                f"{str(self.path / CALLS)!r} can't be written ({error.strerror}); {remedy_of(error, 'make room')}, then"
                f" resume with: harbor resume {shlex.quote(str(self.path))}"
            ) from error

    def close(self) -> None:
        """Close the file of raw calls and unlock the folder."""
        with suppress(OSError):  # write errors have been reported already
            self._calls.close()
        self._let_go()

    def _let_go(self) -> None:
        with suppress(OSError):
            (self.path / _LOCK).unlink()
        self._lock.release()

    def _sync_calls(self, event: Event) -> None:
        """Sync paid calls before each event; sync free calls, which can be made again, before the last event."""
        if self._paid or isinstance(event, SaleClosed | SeriesClosed):
            self._calls.sync()
            self._paid = False


def read_config(path: Path) -> AuctionConfig:
    """Read the settings that a run began with.

    Raises:
        RunFolderError: it is no folder of a run, or its config was changed.
    """
    check_unchanged(path)
    with read_as_data(path):
        return read_settings(path / CONFIG, AuctionConfig)


def check_unchanged(path: Path) -> None:
    """Refuse a folder of no run, and a run whose settings have changed since it began.

    Raises:
        RunFolderError: it says which.
    """
    check_run(path)
    try:
        text = read_sent(path / CONFIG, MOST_SETTINGS).decode().removesuffix("\n")
        begun_with = json.loads(read_sent(path / MANIFEST, MOST_SETTINGS))
        digest = begun_with.get("public") or begun_with["config_digest"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise no_run(path) from error
    if digest is True:
        raise RunFolderError(
            f"{str(path)!r} is a public copy, without the private part: it can be read, replayed and verified, but not"
            " resumed, packed, audited or played again; take the original for that"
        )
    if sha256(text.encode()).hexdigest() != digest:
        raise RunFolderError(f"{str(path / CONFIG)!r} was changed since the run began; restore it, or begin a new run")


def manifest(config: str) -> dict[str, Any]:
    """Return the parts of a run: the digest of its settings, the versions of packages, and the commit at its start."""
    return {"config_digest": sha256(config.encode()).hexdigest(), **_made_of(Path.cwd())}


@cache
def _made_of(place: Path) -> dict[str, Any]:
    """Cache the versions per process and folder: loaded code does not change."""
    commit = commit_of(place)
    return {
        "python": platform.python_version(),
        "versions": {package: _version(package) for package in _PACKAGES},
        "git": commit and {"commit": commit},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
