"""The faults of a trial and their times, drawn from its seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from crash.kinds import PATIENCE, Kind

FAULTS = ("kill", "power", "disk", "handles", "clock", "worker", "stop")
Moment = Literal["time", "bytes", "step", "never"]
Victim = Literal["process", "all", "worker"]
_TURNS = ("kill", "power", "kill", "disk", "power", "kill", "handles", "clock", "power", "kill")
_TURNS_OF_WORKERS = ("kill", "power", "worker", "disk", "power", "kill", "handles", "clock", "worker", "kill")
ONCE = {
    "english": 5, "water": 3, "second-price": 6, "series": 4, "experiment": 7, "experiment-processes": 2, "hasty": 1,
}  # fmt: skip
"""The seed of one trial of each fault, by kind of game."""
DAY = 86_400.0


@dataclass(frozen=True)
class Plan:
    """The faults of one session.

    At a `moment`, a share of its time, of its log bytes, or of its steps (acts on files), signal 9 kills its `victim`.
    From a share of its steps on it can open only `handles` more files. Its clock has `jumps`. Each of its `stops`
    begins at a share of its time, and takes the given seconds.
    """

    moment: Moment = "never"
    share: float = 0.0
    victim: Victim = "process"
    handles: tuple[float, int] | None = None
    jumps: tuple[tuple[int, float, float], ...] = ()
    stops: tuple[tuple[float, float], ...] = ()


def fault_of(kind: Kind, seed: int) -> str:
    """Return the fault of a seed: of ten consecutive seeds about four are kills, and each fault occurs."""
    if kind.hasty:
        return "stop"
    turns = _TURNS_OF_WORKERS if kind.workers else _TURNS
    return turns[seed % len(turns)]


def sessions(fault: str, chance: Random) -> Sequence[Plan]:
    """Draw the disturbed sessions. After them the run is resumed to its end."""
    match fault:
        case "kill":
            return [_kill(chance, "process") for _ in range(chance.choice((1, 1, 2, 3)))]
        case "power":
            return [_kill(chance, "all") for _ in range(chance.choice((1, 1, 2)))]
        case "worker":
            return [Plan("time", chance.random(), "worker")]
        case "handles":
            return [Plan(handles=(chance.random(), chance.choice((0, 0, 1, 2))))]
        case "clock":
            return [Plan(*_kill_at(chance), jumps=_jumps(chance)), Plan(jumps=_jumps(chance))]
        case "stop":
            return [Plan(stops=_stops(chance))]
        case _:  # a full disk, which is no fault of a session
            return [Plan() for _ in range(chance.choice((1, 2)))]


def _kill(chance: Random, victim: Victim) -> Plan:
    return Plan(*_kill_at(chance), victim)


def _kill_at(chance: Random) -> tuple[Moment, float]:
    """Draw a moment in the whole life of a run, including its start and its end."""
    moments: tuple[Moment, ...] = ("time", "bytes", "bytes", "step")
    return chance.choice(moments), chance.random()


def _jumps(chance: Random) -> tuple[tuple[int, float, float], ...]:
    """Draw jumps: the wall clock goes either way, the steady one only forward, as after a machine slept."""
    readings = sorted(int(10 ** chance.uniform(0, 4)) for _ in range(5))
    return tuple((one, chance.uniform(-DAY, DAY), chance.choice((0.0, chance.uniform(0, DAY)))) for one in readings)


def _stops(chance: Random) -> tuple[tuple[float, float], ...]:
    """Draw one or two stops longer than a bidder's time limit, or many that together are longer."""
    if chance.random() < 0.25:
        first = chance.random()
        return tuple((first, 0.25 * PATIENCE) for _ in range(6))
    return tuple((share, 1.5 * PATIENCE) for share in sorted(chance.random() for _ in range(chance.choice((1, 2)))))
