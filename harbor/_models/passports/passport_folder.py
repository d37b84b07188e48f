"""The folder of passports: one small file for each model at each server, shared by all processes of a user."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from weakref import WeakValueDictionary

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from harbor._core.files.safe_files import FILE, make_private, read_sent, write_whole
from harbor._models.passports.passport import MOST_SNAPSHOTS, Known, Passport

FOLDER = "passports"
"""Its name, beside the replies that are kept."""
VERSION = 1
LONGEST = 2**16
"""The most bytes of a passport."""
LONGEST_LOCK = 5.0
"""How many seconds a process waits for another that writes one; that takes milliseconds."""
_LOCK = ".lock"
_PASSPORT = TypeAdapter(Passport)


class NoPassport(ValueError):
    """A file is no passport, or that of another model; the message says why."""


def passports_in(folder: Path) -> Iterator[Passport]:
    """Give the passports of a folder, by server and model; a file that is none is told of and passed over."""
    found = []
    for file in sorted(folder.glob("*.json")):
        try:
            found.append(_read(file))
        except (OSError, NoPassport) as error:
            _warn_once(file, str(error))
    yield from sorted(found, key=lambda one: (one.server, one.model))


def known_of(folder: Path, server: str, model: str) -> Known:
    """Give what is known of a model at a server; games of this process that use it at the same time share it."""
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
    """Write a passport, with what other processes have learned meanwhile."""
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
    """Take our facts, with the counts of whoever has counted more."""
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
    warnings.warn(f"what is known of a model is not taken from {str(path)!r}: {why}", stacklevel=4)
