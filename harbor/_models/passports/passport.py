"""The passport of a model at a server records the known facts about it, most of them from its answers."""

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

MOST_SNAPSHOTS = 20  # names that a passport keeps
LONGEST_NAME = 200
"""Characters that are kept from a name that a server gives itself, so that no name fills a disk."""


@dataclass(frozen=True, slots=True)
class Passport:
    """The known facts about one model at one server.

    `server` is its address, or the name of the provider. `form` is the form of replies that it takes, and `not_taken`
    the settings that it refuses. `thinks` names the places of its thoughts: "tags" in the text, "blocks" of the
    provider, a "field" of the message, or "tokens" alone. Tokens and seconds are sums over the answered `calls`.
    `slowest` is the longest wait for an answer in seconds, also in vain. `context_tokens` and `most_output_tokens` are
    limits from the server or LangChain's table. `snapshots` are the names under which the model has answered. `first`
    and `last` are days in UTC.
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
        """The speed in output tokens per second, including thoughts; None before the first answer."""
        return self.output_tokens / self.seconds if self.seconds and self.output_tokens else None

    @property
    def reasoning_per_call(self) -> float | None:
        """The mean of thinking tokens per call; None before the first answer."""
        return self.reasoning_tokens / self.calls if self.calls else None

    def after(self, answer: Answer) -> Passport:
        """Return the passport with the facts from one answer."""
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
    """The facts from one answer: seconds (None: it waited for others), tokens, places of thoughts, answering model."""

    seconds: float | None
    output_tokens: int = 0
    reasoning_tokens: int = 0
    thinks: tuple[str, ...] = ()
    snapshot: str = ""


@dataclass
class Known:
    """This process's passport of a model; `save` is called with each new fact, and now and then with new counts."""

    passport: Passport
    save: Callable[[Passport], None] = field(default=lambda _: None, repr=False)

    def note(self, **facts: Any) -> None:
        """Note facts that are known before the model answers; they are saved with its first answer."""
        self.passport = replace(self.passport, **facts)

    def learn(self, **facts: Any) -> None:
        """Note new facts, and save them if they change the passport."""
        changed = replace(self.passport, **facts)
        if changed != self.passport:
            self.passport = changed
            self.save(changed)

    def answered(self, answer: Answer) -> None:
        """Note the facts from an answer; counts are saved with the 1st, 2nd, 4th, 8th answer and so on."""
        before, self.passport = self.passport, self.passport.after(answer)
        calls = self.passport.calls
        if _facts(before) != _facts(self.passport) or (calls > before.calls and calls & (calls - 1) == 0):
            self.save(self.passport)


def _facts(passport: Passport) -> tuple[Any, ...]:
    return passport.thinks, passport.snapshots, passport.last


def unknown() -> Known:
    """Return an empty passport that is never saved."""
    return Known(Passport("", ""))


FOLDER = "passports"
"""Name of the folder of passports, beside the kept replies."""
VERSION = 1  # of the format of a passport
LONGEST = 2**16
"""Limit of bytes for a passport."""
LONGEST_LOCK = 5.0
"""Seconds that a process waits for another that writes a passport; writing takes milliseconds."""
_LOCK = ".lock"  # file that processes lock before they write
_PASSPORT = TypeAdapter(Passport)


class NoPassport(ValueError):
    """A file is no passport, or is another model's; the message says why."""


def passports_in(folder: Path) -> Iterator[Passport]:
    """Return the passports of a folder, sorted by server and model. Warn of a file that is no passport, and skip it."""
    found = []
    for file in sorted(folder.glob("*.json")):
        try:
            found.append(_read(file))
        except (OSError, NoPassport) as error:
            _warn_once(file, str(error))
    yield from sorted(found, key=lambda one: (one.server, one.model))


def known_of(folder: Path, server: str, model: str) -> Known:
    """Return the passport of a model at a server; concurrent games of this process share it."""
    key = folder, server, model
    if (known := _OPEN.get(key)) is None:
        known = Known(_kept(folder, server, model) or Passport(server, model), lambda one: _keep(folder, one))
        _OPEN[key] = known
    return known


_OPEN: WeakValueDictionary[tuple[Path, str, str], Known] = WeakValueDictionary()
"""Passports in use, by folder, server and model."""


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
        OSError: the file can't be read.
        NoPassport: the file is no passport, or its server or model does not match its name.
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
    """Merge two passports: our facts, and the counts from the passport with more calls."""
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
