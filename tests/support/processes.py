"""Processes that tests watch, kill or use as servers, and terminals in which they run."""

from __future__ import annotations

import os
import pty
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psutil

from support.commands import HARBOR

T = TypeVar("T")
LONG = 60


def when(condition: Callable[[], T], running: subprocess.Popen[str] | None = None) -> T:
    """Wait for a condition, and return its value. Fail if a process that has to bring it about ends before."""
    nap = threading.Event()
    while not (found := condition()):
        if running is not None:
            assert running.poll() is None, running.communicate()
        nap.wait(0.01)
    return found


def closed(folder: Path) -> None:
    """Wait until this process has no open file in a folder: Chroma's threads close theirs soon after its client.

    A write-ahead log is no sign: it stays if two connections are closed at the same time.
    """
    when(lambda: not any(Path(one.path).is_relative_to(folder) for one in psutil.Process().open_files()))


def stopped_and_continued(running: subprocess.Popen[Any], seconds: float) -> tuple[int, int]:
    """Continue a process a few seconds after each stop. Return the number of stops, and its exit code."""
    stops = 0
    while os.WIFSTOPPED(status := os.waitpid(running.pid, os.WUNTRACED)[1]):
        stops += 1
        time.sleep(seconds)  # the test is about the length of the stop
        running.send_signal(signal.SIGCONT)
    running.returncode = os.waitstatus_to_exitcode(status)
    return stops, running.returncode


def full_disk(size: int) -> dict[str, Any]:
    """Return `Popen` options for a process that can't write a file of more than `size` bytes."""
    return {
        "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        "env": {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    }


def shown_in_terminal(*words: object, cwd: Path, **environment: str) -> str:
    """Run a command at a terminal and return all its output."""
    leader, follower = pty.openpty()
    command, variables = [*HARBOR, *map(str, words)], {**os.environ, **environment}
    shown = b""
    with subprocess.Popen(command, cwd=cwd, stdout=follower, stderr=follower, env=variables) as running:
        os.close(follower)
        with suppress(OSError):  # the process has ended
            while part := os.read(leader, 65536):
                shown += part
        assert running.wait() == 0
    os.close(leader)
    return shown.decode()


def chroma_server(folder: Path, port: int | None = None) -> tuple[str, subprocess.Popen[bytes]]:
    """Start a real Chroma server on a folder. Return its address once it answers, and its process."""
    if port is None:
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    chroma = str(Path(sys.executable).with_name("chroma"))
    command = [chroma, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder.parent)
    address, nap = f"http://127.0.0.1:{port}", threading.Event()
    while running.poll() is None:
        with suppress(httpx.TransportError):
            if httpx.get(f"{address}/api/v2/heartbeat").is_success:
                return address, running
        nap.wait(0.01)
    raise AssertionError(f"the Chroma server ended at once, with exit code {running.returncode}")


class Terminal:
    """A process at its own terminal, as for a person."""

    def __init__(self, folder: Path, *words: str, columns: int = 200):
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            os.environ["COLUMNS"] = str(columns)
            os.chdir(folder)
            os.execv(sys.executable, [*HARBOR, *words])
        self.shown = ""
        self.read = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        os.close(self.screen)

    def more(self) -> bool:
        ready, _, _ = select.select([self.screen], [], [], LONG)
        assert ready, f"nothing more after: {self.shown[-500:]}"
        try:
            part = os.read(self.screen, 65536)
        except OSError:  # the process has ended
            return False
        self.shown += part.decode(errors="replace").replace("\r\n", "\n")
        return bool(part)

    def expect(self, text: str) -> str:
        """Read until a text appears. Return the new output up to the text."""
        while (found := self.shown.find(text, self.read)) < 0:
            assert self.more(), f"{text!r} never came after: {self.shown[-500:]}"
        before, self.read = self.shown[self.read : found], found + len(text)
        return before

    def type(self, keys: str) -> None:
        os.write(self.screen, keys.encode())

    def answer(self, line: str) -> str:
        """Wait for the prompt and type a line. Return the output before the prompt."""
        before = self.expect("\n> ")
        self.type(line + "\n")
        return before

    def end(self) -> int:
        while self.more():
            pass
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)
