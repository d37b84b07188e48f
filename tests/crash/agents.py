"""Slow agents, so that stops hit their turns: a function, a program and a server."""

from __future__ import annotations

import asyncio
import atexit
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import steady

SECONDS = 0.1
PROGRAM = [sys.executable, str(Path(__file__).resolve())]
_decide = steady.decide


async def function(turn: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a turn."""
    await asyncio.sleep(SECONDS)
    return _decide(turn)


@cache
def address() -> str:
    """Start the server once and return its address. It ends with this process."""
    server = subprocess.Popen([*PROGRAM, "serve"], stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    assert server.stdout is not None
    return f"http://127.0.0.1:{server.stdout.readline().strip()}/"


def _slowly(turn: Mapping[str, Any]) -> dict[str, Any]:
    time.sleep(SECONDS)
    return _decide(turn)


if __name__ == "__main__":
    steady.decide = _slowly
    (steady.serve if "serve" in sys.argv else steady.answer_lines)()
