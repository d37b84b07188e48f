"""A clock that can jump. It replaces Python's before anything else is imported.

`time.time` and `time.monotonic` jump, and so does the clock of event loops. `datetime.now` does not.
"""

from __future__ import annotations

import time

_wall, _steady = time.time, time.monotonic
true_seconds = _steady
jumps: list[tuple[int, float, float]] = []
"""Jumps: the clock's reading in seconds from now, and the seconds that each clock jumps. The earliest is first."""
_off = [0.0, 0.0]
_read = 0


def _tick() -> None:
    global _read
    _read += 1
    while jumps and _read >= jumps[0][0]:
        _, wall, steady = jumps.pop(0)
        _off[0] += wall
        _off[1] += steady


def _time() -> float:
    _tick()
    return _wall() + _off[0]


def _monotonic() -> float:
    _tick()
    return _steady() + _off[1]


def install() -> None:
    """Install the clock. It tells the true time while there are no `jumps`."""
    time.time, time.monotonic = _time, _monotonic
