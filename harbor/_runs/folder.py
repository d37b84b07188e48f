"""The folder of a run: config.json, manifest.json, events.jsonl, and calls.jsonl with the raw model calls."""

from __future__ import annotations

import json
import os
import platform
import secrets
import shlex
import subprocess
import warnings
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from harbor._config.auction import AuctionConfig, read_settings
from harbor._core.errors import LogError, RunFolderError
from harbor._core.layout import CALLS, CONFIG, EVENTS, MANIFEST, no_run
from harbor._core.log import Log, Reading, read_whole_lines
from harbor._models.replay import RawCall, ReplayCache

_LOCK = ".lock"
_PACKAGES = ("harbor-auctions", "autogen-agentchat", "langgraph", "langchain-core", "scikit-learn", "pydantic")


def run_name(name: str) -> str:
    """Name a run after its start in UTC, its auction and a random id, in characters any file system takes."""
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

    `replay` is what the run has left so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.replay = ReplayCache()
        self._past: Reading | None = None
        self._lock = FileLock(path / _LOCK, timeout=0)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise RunFolderError(f"run {str(path)!r} is being run by another process; wait until it ends") from error
        self._calls = (path / CALLS).open("ab")
        (path / CALLS).chmod(0o600)

    @classmethod
    def make(cls, path: Path, config: AuctionConfig) -> RunFolder:
        """Make a new folder with its config and manifest, when the run is sure to start.

        Raises:
            RunFolderError: it exists, or can't be made.
        """
        try:
            path.mkdir(parents=True)
        except FileExistsError as error:
            raise RunFolderError(f"output folder {str(path)!r} exists; name a new one or remove it") from error
        except OSError as error:
            raise RunFolderError(
                f"output folder {str(path)!r} can't be made ({error.strerror}); name another"
            ) from error
        text = config.model_dump_json(indent=2)
        (path / CONFIG).write_text(text + "\n", encoding="utf-8")
        begun = {**manifest(text), "began": datetime.now(UTC).isoformat(timespec="seconds")}
        (path / MANIFEST).write_text(json.dumps(begun, indent=2) + "\n", encoding="utf-8")
        return cls(path)

    @classmethod
    def reopen(cls, path: Path) -> RunFolder:
        """Lock the folder of an interrupted run, and read what is recorded; warns of a line that was cut short.

        Raises:
            RunFolderError: another process runs it.
            LogError: a file in it was edited.
        """
        folder = cls(path)
        try:
            folder._read()
        except BaseException:
            folder.close()
            raise
        return folder

    def open_log(self) -> Log:
        """Open the log, to go on from what is recorded."""
        return Log(self.path / EVENTS, past=self._past)

    def keep(self, call: RawCall) -> None:
        """Append a raw model call and flush it.

        Raises:
            RunFolderError: it can't be written.
        """
        try:
            self._calls.write(json.dumps(vars(call)).encode() + b"\n")
            self._calls.flush()
        except OSError as error:
            raise RunFolderError(
                f"{str(self.path / CALLS)!r} can't be written ({error.strerror}); make room, then resume with: "
                f"harbor resume {shlex.quote(str(self.path))}"
            ) from error

    def close(self) -> None:
        """Close the file of raw calls and let the folder go."""
        with suppress(OSError):  # what could not be written has been told of
            self._calls.close()
        with suppress(OSError):
            (self.path / _LOCK).unlink()
        self._lock.release()

    def _read(self) -> None:
        if not (self.path / EVENTS).exists():
            (self.path / EVENTS).touch()
        self._past = read_whole_lines(self.path / EVENTS)
        if self._past.warning:
            warnings.warn(f"log {str(self.path / EVENTS)!r}: {self._past.warning}, the rest is dropped", stacklevel=4)
        self.replay = ReplayCache(self._past.entries, read_calls(self.path / CALLS))
        drop_cut_line(self.path / CALLS)


def read_calls(path: Path) -> list[RawCall]:
    """Read raw model calls from a file; a last line that was cut short is passed over.

    Raises:
        LogError: a line is not a model call; it says which.
    """
    return [_call(path, *line) for line in enumerate(_whole_lines(path).splitlines(), start=1)]


def drop_cut_line(path: Path) -> None:
    """Take a last line that was cut short out of a file, so that the next one begins a line."""
    whole = len(_whole_lines(path))
    if whole < path.stat().st_size:  # a file that is whole keeps its time
        os.truncate(path, whole)


def _whole_lines(path: Path) -> bytes:
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1]


def _call(path: Path, number: int, line: bytes) -> RawCall:
    try:
        call = RawCall(**json.loads(line))
        _check_types(call)
        return call
    except (ValueError, TypeError, RecursionError) as error:
        raise LogError(f"{str(path)!r} line {number} is not a model call; restore the file") from error


def _check_types(call: RawCall) -> None:
    """Refuse what is no number where one is added up, and what is no text where one is compared.

    Not by pydantic: half a character in a reply is kept as it came, and pydantic refuses it.
    """
    tokens = (call.input_tokens, call.cached_tokens, call.output_tokens, call.reasoning_tokens)
    numbers = (*tokens, call.retries, call.began, call.seconds, call.cost_dollars or 0)
    texts = (call.bidder, call.purpose, call.model, call.reply, call.error, *call.prompt)
    if not all(isinstance(one, int | float) for one in numbers) or not all(isinstance(one, str) for one in texts):
        raise TypeError


def read_config(path: Path) -> AuctionConfig:
    """Read the settings that a run began with.

    Raises:
        RunFolderError: it is no folder of a run, or its config was changed.
    """
    try:
        text = (path / CONFIG).read_text(encoding="utf-8").removesuffix("\n")
        digest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))["config_digest"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise no_run(path) from error
    if sha256(text.encode()).hexdigest() != digest:
        raise RunFolderError(f"{str(path / CONFIG)!r} was changed since the run began; restore it, or begin a new run")
    return read_settings(path / CONFIG, AuctionConfig)


def manifest(config: str) -> dict[str, Any]:
    """Say what a run is made of: the digest of its settings, the versions at work, and the state of the checkout."""
    return {"config_digest": sha256(config.encode()).hexdigest(), **_made_of(Path.cwd())}


@cache
def _made_of(place: Path) -> dict[str, Any]:
    """Ask once a process and folder: what is loaded stays as it was, whatever changes on disk; git takes 8 ms."""
    return {
        "python": platform.python_version(),
        "versions": {package: _version(package) for package in _PACKAGES},
        "git": _git_state(place),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git_state(place: Path) -> dict[str, Any] | None:
    """Give the commit of the folder the run was started in, and whether it had changes; None outside a checkout."""
    try:
        commit, changes = (
            subprocess.run(  # noqa: S603
                ["git", *words],  # noqa: S607
                cwd=place,
                capture_output=True,
                text=True,
                check=True,
                timeout=10,
            ).stdout.strip()
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "changed": bool(changes)}
