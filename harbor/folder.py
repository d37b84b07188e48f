"""The folder of a run: config.json, manifest.json, events.jsonl, and calls.jsonl with the raw model calls."""

from __future__ import annotations

import json
import platform
import secrets
import subprocess
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harbor.config import AuctionConfig
from harbor.errors import RunFolderError
from harbor.models import RawCall

EVENTS = "events.jsonl"
MEMORY = "memory"
_PACKAGES = ("harbor-auctions", "autogen-agentchat", "langgraph", "langchain-core", "scikit-learn", "pydantic")


def run_name(name: str) -> str:
    """Name a run after its start in UTC, its auction and a random id, in characters any file system takes."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower()).strip("-")
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{plain or 'auction'}-{secrets.token_hex(3)}"


class RunFolder:
    """A new folder; it is made, with its config and manifest, when the run is sure to start."""

    def __init__(self, path: Path, config: AuctionConfig) -> None:
        """Make the folder.

        Raises:
            RunFolderError: it exists, or can't be made.
        """
        self.path = path
        try:
            path.mkdir(parents=True)
        except FileExistsError as error:
            raise RunFolderError(f"output folder {str(path)!r} exists; name a new one or remove it") from error
        except OSError as error:
            raise RunFolderError(
                f"output folder {str(path)!r} can't be made ({error.strerror}); name another"
            ) from error
        text = config.model_dump_json(indent=2)
        (path / "config.json").write_text(text + "\n", encoding="utf-8")
        (path / "manifest.json").write_text(json.dumps(_manifest(text), indent=2) + "\n", encoding="utf-8")
        self._calls = (path / "calls.jsonl").open("x", encoding="utf-8")
        (path / "calls.jsonl").chmod(0o600)

    @property
    def events(self) -> Path:
        """Where the log goes."""
        return self.path / EVENTS

    def keep(self, call: RawCall) -> None:
        """Append a raw model call and flush it."""
        self._calls.write(json.dumps(asdict(call)) + "\n")
        self._calls.flush()

    def close(self) -> None:
        """Close the file of raw calls."""
        self._calls.close()


def _manifest(config: str) -> dict[str, Any]:
    return {
        "config_digest": sha256(config.encode()).hexdigest(),
        "python": platform.python_version(),
        "versions": {package: _version(package) for package in _PACKAGES},
        "git": _git_state(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git_state() -> dict[str, Any] | None:
    """Give the commit of the folder the run was started in, and whether it had changes; None outside a checkout."""
    try:
        commit, changes = (
            subprocess.run(["git", *words], capture_output=True, text=True, check=True, timeout=10).stdout.strip()  # noqa: S603, S607
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "changed": bool(changes)}
