"""One trial: a disturbed run, resumed to its end and compared with an undisturbed one.

A call is paid twice if its prompt is sent to the model although its reply was recorded: the reply was a whole line of
calls.jsonl when the session began, or, at a power cut, such a line with an event in the log. A prompt that was sent but
not yet recorded when its process died may be sent again, because nobody can know its outcome.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from crash import agents, space
from crash.faults import Plan, sessions
from crash.kinds import CONFIG, SERVER, Kind
from crash.leaving import Left, difference, is_begun, left_in, prompts, told_of
from crash.place import Lengths, Place
from crash.power import Disk
from crash.session import Ended, hold

BLOCK = 4096
NOTHING = Plan()


@dataclass(frozen=True)
class Whole:
    """An undisturbed run: its data, its prompts, its length, and its space on disk."""

    left: Left
    needed: Counter[str]
    lengths: Lengths
    space: int


@dataclass
class Outcome:
    """The outcome of a trial. `wrong` is empty if the trial passed.

    `paid_twice` counts calls. `anew` counts restarts with nothing on disk yet. `struck` counts the sessions whose fault
    occurred during the run, with lines on disk and more to come.
    """

    kind: str
    fault: str
    seed: int
    wrong: str = ""
    paid_twice: int = 0
    anew: int = 0
    struck: int = 0
    happened: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """True if no data is lost and no call is paid twice."""
        return not self.wrong and not self.paid_twice


class Trial:
    """A run in its own folder, from its beginning to its end."""

    def __init__(self, kind: Kind, place: Place, chance: Random, whole: Whole | None = None) -> None:
        self.kind, self.place, self.chance, self.whole = kind, place, chance, whole
        self.outcome = Outcome(kind.name, "", 0)
        self._owed = Counter[str]()
        self._read = 0
        shutil.rmtree(place.folder, ignore_errors=True)
        place.disk.mkdir(parents=True)
        (place.folder / CONFIG).write_text(_settings(kind))
        self._disk = Disk(place.disk, place.journal, place.attic)

    def session(self, plan: Plan = NOTHING, words: tuple[str, ...] | None = None) -> Ended:
        """Begin or resume the run, with the planned faults."""
        words = words or (self.kind.again if self.place.out.exists() else self.kind.first)
        recorded, may = prompts(self.place.out) | self._owed, Counter[str]()

        def on_kill() -> None:
            asked = self._asked(so_far=True)
            may.update(asked - (prompts(self.place.out) - recorded))
            self.outcome.struck += 1

        usual = self.whole.lengths if self.whole else None
        ended = hold(self.place, words, plan, usual, self.chance, on_kill)
        self._count(recorded, may)
        self._owed = Counter()
        if plan.jumps or plan.stops or ended.code != 0:
            self.outcome.struck += is_begun(self.place.out)
        if plan.victim == "all" and ended.code < 0:
            self._owed = told_of(self.place.out)
            self._disk.cut(self.chance)
        self.outcome.happened.append(f"{words[0]} {words[1]}, {plan}: exit {ended.code} {_last(ended.err)}".rstrip())
        if ended.hung:
            self._wrong("a session hung, or left processes behind")
        if "Traceback" in ended.err:
            self._wrong(f"a session ended in a traceback: {_last(ended.err)}")
        return ended

    def finish(self) -> None:
        """Resume the run to its end. Begin it again if nothing was on disk yet."""
        ended = self.session()
        if ended.code == 2 and not self._owed and not is_begun(self.place.out):
            self.outcome.anew += 1
            shutil.rmtree(self.place.out, ignore_errors=True)
            ended = self.session()
        if ended.code != 0:
            self._wrong(f"it can't be resumed: exit {ended.code}: {_last(ended.err)}")

    def left(self) -> Left:
        """Read the data that the run has left."""
        memories = self.session(words=("memory", "export", "disk/run")).out if self.kind.remembers else ""
        return left_in(self.place.out, memories)

    def compare(self) -> None:
        """Compare the run's data with the expected data."""
        if not self.outcome.wrong and self.whole:
            self.outcome.wrong = difference(self.whole.left, self.left())

    def steps(self) -> int:
        """Return the steps of the last session that ended normally."""
        return [noted["steps"] for noted in self._notes() if "steps" in noted][-1]

    def _wrong(self, what: str) -> None:
        self.outcome.wrong = self.outcome.wrong or what

    def _count(self, recorded: Counter[str], may: Counter[str]) -> None:
        asked = self._asked()
        if self.whole is None or self.kind.free:
            return
        for prompt, times in asked.items():
            beyond = times + recorded[prompt] - self.whole.needed[prompt] - may[prompt]
            self.outcome.paid_twice += max(0, min(times, beyond))

    def _asked(self, so_far: bool = False) -> Counter[str]:
        """Count the prompts that were sent since the last session, or so far in this one."""
        notes = self._notes()
        new, self._read = notes[self._read :], self._read if so_far else len(notes)
        return Counter(noted["asked"] for noted in new if "asked" in noted)

    def _notes(self) -> list[dict[str, str]]:
        path = self.place.journal
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def _settings(kind: Kind) -> str:
    return kind.settings.replace(SERVER, agents.address()) if kind.hasty else kind.settings


def undisturbed(kind: Kind, folder: Path) -> Whole:
    """Run the kind to its end without faults.

    Raises:
        RuntimeError: the run does not end.
    """
    trial = Trial(kind, Place(folder), Random(0))
    ended = trial.session()
    if ended.code != 0:
        raise RuntimeError(f"{kind.name} ended with {ended.code} though nothing happened to it:\n{ended.err}")
    place, steps = trial.place, trial.steps()
    needed, lengths = prompts(place.out), Lengths(ended.seconds, place.written(), steps)
    taken = sum(-(-path.stat().st_size // BLOCK) * BLOCK for path in place.out.rglob("*"))
    return Whole(trial.left(), needed, lengths, taken)


def hold_trial(kind: Kind, fault: str, seed: int, whole: Whole, folder: Path) -> Outcome:
    """Disturb a run with a fault, resume the run, and return the outcome."""
    chance = Random(f"{kind.name}/{fault}/{seed}")
    trial = Trial(kind, Place(folder), chance, whole)
    trial.outcome.fault, trial.outcome.seed = fault, seed
    with _disk_of(trial, fault):
        for plan in sessions(fault, chance):
            trial.session(plan)
        if fault == "disk":
            space.make_room(trial.place.disk)
        trial.finish()
        trial.compare()
    return trial.outcome


@contextmanager
def _disk_of(trial: Trial, fault: str) -> Iterator[None]:
    if fault != "disk" or trial.whole is None:
        yield
        return
    with space.small(trial.place.disk, max(BLOCK, int(trial.chance.random() * trial.whole.space))):
        yield


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
