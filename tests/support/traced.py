"""Runs commands in this process and reports which files each used from the current folder.

Run it as `python -P traced.py < COMMANDS`. The kernel reports every opened file, also from compiled code and other
processes. Python's audit events report programs and connections, but not those of compiled code.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

IN_OPEN, IN_ISDIR = 0x20, 0x40000000
HEAD = struct.Struct("iIII")
PROGRAMS = ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.startfile", "pty.spawn")
CONNECTIONS = ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname")


class Opened:
    """The files that were opened in a folder, at any depth, since the last call of `files`."""

    def __init__(self, folder: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._handle = libc.inotify_init1(os.O_NONBLOCK)
        places = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
        watches = [libc.inotify_add_watch(self._handle, os.fsencode(place), IN_OPEN) for place in places]
        if self._handle < 0 or min(watches) < 0:
            raise OSError(ctypes.get_errno(), "the folder can't be watched")
        self._places = {watch: place.relative_to(folder) for watch, place in zip(watches, places, strict=True)}

    def files(self) -> set[str]:
        return {str(place) for place in self._read()}

    def _read(self) -> Iterator[Path]:
        while True:
            try:
                told = os.read(self._handle, 2**20)
            except BlockingIOError:
                return
            while told:
                watch, kind, _, length = HEAD.unpack_from(told)
                name = os.fsdecode(told[HEAD.size : HEAD.size + length].rstrip(b"\0"))
                told = told[HEAD.size + length :]
                if not kind & IN_ISDIR and name:
                    yield self._places[watch] / name


def traced(commands: dict[str, list[str]]) -> dict[str, dict[str, object]]:
    """Run commands in turn. Return for each its exit code, its output, and the files, programs and hosts it used."""
    from support.commands import harbor

    programs, connections = list[str](), list[str]()

    def hear(event: str, given: tuple[object, ...]) -> None:
        if event in PROGRAMS:
            programs.append(str(given[0]))
        elif event in CONNECTIONS:
            connections.append(repr(given[1:] if event in CONNECTIONS[:2] else given))

    opened = Opened(Path.cwd())
    sys.addaudithook(hear)
    found: dict[str, dict[str, object]] = {}
    for name, words in commands.items():
        done = harbor(*words)
        found[name] = {
            "code": done.returncode,
            "said": done.stderr,
            "opened": sorted(opened.files()),
            "programs": [*programs],
            "connections": [*connections],
        }
        programs.clear()
        connections.clear()
    return found


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    wanted = json.load(sys.stdin)
    json.dump(traced(wanted), sys.stdout)
