"""The passport of a model at a server: the facts that its answers have shown."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from harbor._config.models import ReplyForm
from harbor._core.files.safe_files import FILE, make_private, read_sent, write_whole

MOST_SNAPSHOTS = 20
LONGEST_NAME = 200
"""Most characters of a name that a server gives itself, so that none fills a disk."""


@dataclass(frozen=True, slots=True)
class Passport:
    """Facts about one model at one server.

    `server` is its address, or the name of the provider; `form` is how it takes a question; `not_taken` are the
    settings that it refuses. `thinks` says where its thoughts are seen: in "tags" of the text, in "blocks" of the
    provider, in a "field" of the message, or by "tokens" alone. Tokens and seconds are added up over `calls` that were
    answered; `slowest` is the longest answer in seconds, be it that it came or was waited for in vain.
    `context_tokens` and `most_output_tokens` are limits as the server or LangChain's table tells them. `snapshots` are
    the names under which it has answered; `first` and `last` are days in UTC.
    """

    server: str
    model: str
    form: ReplyForm | None = None
    not_taken: tuple[str, ...] = ()
    thinks: tuple[str, ...] = ()
    calls: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    context_tokens: int | None = None
    most_output_tokens: int | None = None
    snapshots: tuple[str, ...] = ()
    first: str = ""
    last: str = ""

    @property
    def tokens_per_second(self) -> float | None:
        """Tokens per second, thoughts included; None before the first answer."""
        return self.output_tokens / self.seconds if self.seconds and self.output_tokens else None

    @property
    def reasoning_per_call(self) -> float | None:
        """Mean tokens of thoughts; None before the first answer."""
        return self.reasoning_tokens / self.calls if self.calls else None

    def after(self, answer: Answer) -> Passport:
        """Return the passport with the facts of one more answer."""
        today = datetime.now(UTC).date().isoformat()
        snapshot = answer.snapshot[:LONGEST_NAME]
        named = self.snapshots if not snapshot or snapshot in self.snapshots else (*self.snapshots, snapshot)
        shown: dict[str, Any] = {
            "thinks": tuple(sorted({*self.thinks, *answer.thinks})),
            "snapshots": named[-MOST_SNAPSHOTS:],
            "first": self.first or today,
            "last": today,
        }
        if answer.seconds is not None:
            shown |= {
                "calls": self.calls + 1,
                "output_tokens": self.output_tokens + answer.output_tokens,
                "reasoning_tokens": self.reasoning_tokens + answer.reasoning_tokens,
                "seconds": round(self.seconds + answer.seconds, 3),
                "slowest": round(max(self.slowest, answer.seconds), 3),
            }
        return replace(self, **shown)


@dataclass(frozen=True, slots=True)
class Answer:
    """Facts of one answer: its seconds (None if it waited for others), tokens, thoughts and model."""

    seconds: float | None
    output_tokens: int = 0
    reasoning_tokens: int = 0
    thinks: tuple[str, ...] = ()
    snapshot: str = ""


@dataclass
class Known:
    """The passport of a model as this process knows it; `save` is told of each new fact, and now and then of counts."""

    passport: Passport
    save: Callable[[Passport], None] = field(default=lambda _: None, repr=False)

    def note(self, **facts: Any) -> None:
        """Note a fact about the model before it answers; it is saved with its first answer."""
        self.passport = replace(self.passport, **facts)

    def learn(self, **facts: Any) -> None:
        """Note a new fact."""
        changed = replace(self.passport, **facts)
        if changed != self.passport:
            self.passport = changed
            self.save(changed)

    def answered(self, answer: Answer) -> None:
        """Note the facts of an answer; its counts are saved with the 1st, 2nd, 4th, 8th and so on."""
        before, self.passport = self.passport, self.passport.after(answer)
        calls = self.passport.calls
        if _facts(before) != _facts(self.passport) or (calls > before.calls and calls & (calls - 1) == 0):
            self.save(self.passport)


def _facts(passport: Passport) -> tuple[Any, ...]:
    return passport.thinks, passport.snapshots, passport.last


def unknown() -> Known:
    """Return the passport of an unknown model, which is not kept."""
    return Known(Passport("", ""))


FOLDER = "passports"
"""Its name, beside the replies that are kept."""
VERSION = 1
LONGEST = 2**16
"""The most bytes of a passport."""
LONGEST_LOCK = 5.0
"""Seconds that a process waits for another that writes a passport; that takes milliseconds."""
_LOCK = ".lock"
_PASSPORT = TypeAdapter(Passport)


class NoPassport(ValueError):
    """A file is no passport, or that of another model; the message says why."""


def passports_in(folder: Path) -> Iterator[Passport]:
    """Return the passports of a folder, by server and model; a file that is none is told of and passed over."""
    found = []
    for file in sorted(folder.glob("*.json")):
        try:
            found.append(_read(file))
        except (OSError, NoPassport) as error:
            _warn_once(file, str(error))
    yield from sorted(found, key=lambda one: (one.server, one.model))


def known_of(folder: Path, server: str, model: str) -> Known:
    """Return the passport of a model at a server; games of this process that use it at the same time share it."""
    key = folder, server, model
    if (known := _OPEN.get(key)) is None:
        known = Known(_kept(folder, server, model) or Passport(server, model), lambda one: _keep(folder, one))
        _OPEN[key] = known
    return known


_OPEN: WeakValueDictionary[tuple[Path, str, str], Known] = WeakValueDictionary()


def _kept(folder: Path, server: str, model: str) -> Passport | None:
    file = folder / _name(server, model)
    try:
        return _read(file)
    except FileNotFoundError:
        return None
    except (OSError, NoPassport) as error:
        _warn_once(file, str(error))
        return None


def _read(file: Path) -> Passport:
    """Read a passport.

    Raises:
        OSError: it can't be read.
        NoPassport: it is none, or that of another server or model than its name says.
    """
    try:
        told = json.loads(read_sent(file, LONGEST))
        if told.pop("version") != VERSION:
            raise NoPassport("it was written by another version of Harbor")
        passport = _PASSPORT.validate_python(told, strict=False)
    except NoPassport:
        raise
    except (ValidationError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NoPassport("it is no passport") from error
    numbers = [one for one in asdict(passport).values() if isinstance(one, int | float)]
    if passport.form == "words" or not all(0 <= number < 10**15 for number in numbers):
        raise NoPassport("it is no passport")
    if file.name != _name(passport.server, passport.model):
        raise NoPassport(f"it is the passport of {passport.model!r} at {passport.server!r}, and not what its name says")
    return passport


def _keep(folder: Path, passport: Passport) -> None:
    """Write a passport, with the facts that other processes have learned meanwhile."""
    file = folder / _name(passport.server, passport.model)
    try:
        make_private(folder, exist_ok=True)
        with FileLock(folder / _LOCK, timeout=LONGEST_LOCK, mode=FILE):
            with suppress(OSError, NoPassport):
                passport = _merged(_read(file), passport)
            write_whole(file, json.dumps({"version": VERSION} | asdict(passport), indent=1).encode() + b"\n")
    except OSError as error:
        _warn_once(folder, f"it can't be written: {error.strerror or type(error).__name__}")


def _merged(there: Passport, ours: Passport) -> Passport:
    """Take our facts, with the larger counts of the two."""
    more = max(there, ours, key=lambda one: one.calls)
    return replace(
        ours,
        not_taken=tuple(sorted({*there.not_taken, *ours.not_taken})),
        thinks=tuple(sorted({*there.thinks, *ours.thinks})),
        snapshots=tuple(dict.fromkeys((*there.snapshots, *ours.snapshots)))[-MOST_SNAPSHOTS:],
        form=ours.form or there.form,
        context_tokens=ours.context_tokens or there.context_tokens,
        most_output_tokens=ours.most_output_tokens or there.most_output_tokens,
        calls=more.calls,
        output_tokens=more.output_tokens,
        reasoning_tokens=more.reasoning_tokens,
        seconds=more.seconds,
        slowest=max(there.slowest, ours.slowest),
        first=min(filter(None, (there.first, ours.first)), default=""),
    )


def _name(server: str, model: str) -> str:
    return sha256(f"{server}\0{model}".encode(errors="replace")).hexdigest()[:32] + ".json"


@cache
def _warn_once(path: Path, why: str) -> None:
    warnings.warn(f"facts about a model are not taken from {str(path)!r}: {why}", stacklevel=4)
