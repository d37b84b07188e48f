"""A clock that can jump, put in place of Python's before anything else is imported.

`time.time` and `time.monotonic` jump, and with the latter the clock of event loops; `datetime.now` does not.
"""

from __future__ import annotations

import time

_wall, _steady = time.time, time.monotonic
true_seconds = _steady
jumps: list[tuple[int, float, float]] = []
"""When to jump, in readings of the clock from now; and by how many seconds, for either clock. Soonest first."""
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
    """Put it in place; it tells the true time as long as there are no `jumps`."""
    time.time, time.monotonic = _time, _monotonic
