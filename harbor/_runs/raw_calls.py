"""calls.jsonl keeps the model calls of a run word for word; if some are lost, the run steps back.

A call is one JSON line, which ends with a digest of the line. A line is damaged if its digest is wrong or it is no
call. Lines of earlier versions have no digest. A damaged call can't be replayed, though it may have been paid for. A
run steps back to the last turn with all its calls. A power cut causes no such loss, because a reply is on the disk
before the event that follows from it. A disk, an editor, or a sender who omits the private file may cause it.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from harbor._core.basics.errors import LogError, RunFolderError
from harbor._core.files.layout import CALLS, CALLS_DAMAGED, EVENTS, EVENTS_CUT
from harbor._core.files.safe_files import LONGEST_LINE, MOST_RECORDS, read_sent, remedy_of, sync_files, write_whole
from harbor._core.log.events import Answered, ModelCalled, Spent
from harbor._core.log.log import TURN_OPENS, Reading, of_type, read_whole_lines
from harbor._core.log.log_entries import Entry
from harbor._models.replies.replay import RawCall, ReplayCache, lost_calls
from harbor._models.replies.reply_folder import MESSAGE

_DIGEST = b', "digest": "'
"""Bytes between the fields of a call and its digest."""
_LENGTH = 16
"""Hexadecimal digits of a digest."""
_FIELDS = tuple(field.name for field in fields(RawCall))
"""Fields of a call, in the order of a line."""


@dataclass(frozen=True, slots=True)
class RawCalls:
    """Content of a file of raw calls: the calls with their lines, in order, and the damaged lines.

    `damaged` has each damaged line by its number, including a last line that was cut short. `is_open`: the last line
    lacks only its line end.
    """

    calls: tuple[RawCall, ...] = ()
    lines: tuple[bytes, ...] = ()
    damaged: tuple[tuple[int, bytes], ...] = ()
    is_open: bool = False

    def hidden_in(self, damaged: bytes) -> int:
        """Return how many calls damaged bytes may have been: one per line, but zeros may hide line ends."""
        usual = -(-sum(map(len, self.lines)) // len(self.lines)) if self.lines else len(damaged)
        lines = [line for line in damaged.split(b"\n") if line.strip()]
        return sum(-(-len(line) // usual) if b"\0" in line else 1 for line in lines)


def line_of(call: RawCall) -> bytes:
    """Return a call as its line in calls.jsonl, with a digest at the end."""
    told = {name: getattr(call, name) for name in _FIELDS}
    if call.message is None:
        del told["message"]
    body = json.dumps(told, default=asdict).encode()[:-1]
    return body + _DIGEST + _digest(body) + b'"}\n'


def content_of(path: Path) -> bytes:
    """Return the bytes of a file of records; without a file, none.

    Raises:
        LogError: the file can't be read.
    """
    try:
        return read_sent(path, MOST_RECORDS)
    except FileNotFoundError:
        return b""
    except OSError as error:
        remedy = remedy_of(error, "restore the file")
        raise LogError(f"{str(path)!r} can't be read ({error.strerror}); {remedy}") from error


def recorded_calls(path: Path) -> RawCalls:
    """Read a file of raw calls; without a file there are none.

    Raises:
        LogError: the file can't be read.
    """
    content = content_of(path)
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
    calls = [(line, call_in(line)) for _, line in lines]
    readable = [(line, call) for line, call in calls if call is not None]
    return RawCalls(
        tuple(call for _, call in readable),
        tuple(line for line, _ in readable),
        tuple(one for one, (_, call) in zip(lines, calls, strict=True) if call is None),
        is_open=not content.endswith(b"\n") and bool(calls) and calls[-1][1] is not None,
    )


def read_calls(path: Path) -> list[RawCall]:
    """Read raw model calls from a file; skip a last line that was cut short.

    Raises:
        LogError: a line is not a model call; it says which.
    """
    found, last = recorded_calls(path), content_of(path).count(b"\n") + 1
    if wrong := [number for number, _ in found.damaged if number != last]:
        raise LogError(f"{str(path)!r} line {wrong[0]} is not a model call; restore the file")
    return list(found.calls)


def call_in(line: bytes) -> RawCall | None:
    """Return the call in a line; None: the line is damaged."""
    body, _, rest = line.rpartition(_DIGEST)
    if body and rest.rstrip() != _digest(body) + b'"}':
        return None
    try:
        if len(line) > LONGEST_LINE:
            return None
        told = json.loads(line)
        told.pop("digest", None)
        call = RawCall(**told | _nested(told))
        _check_types(call)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return call


def _nested(told: dict[str, Any]) -> dict[str, Any]:
    """Return the nested values of a call, as far as the line has them."""
    read: dict[str, Any] = {"message": MESSAGE.validate_python(told.get("message"))}
    read |= {name: tuple(told[name]) for name in ("marks", "not_taken") if name in told}
    return read | {name: Spent(**told[name]) for name in ("probes", "lost") if name in told}


def _digest(body: bytes) -> bytes:
    return sha256(body).hexdigest()[:_LENGTH].encode()


def _check_types(call: RawCall) -> None:
    """Refuse fields that are no numbers or no texts, before the code adds or compares them.

    Pydantic is not used: it refuses half a character in a reply, which has to be kept.
    """
    tokens = (call.input_tokens, call.cached_tokens, call.output_tokens, call.reasoning_tokens)
    beside = [value or 0 for spent in (call.probes, call.lost) for value in astuple(spent)]
    numbers = (*tokens, *beside, call.retries, call.began, call.seconds, call.cost_dollars or 0)
    noted = (call.key_env, call.fallback, call.reasoning, *call.marks, *call.not_taken)
    texts = (call.bidder, call.purpose, call.model, call.reply, call.error, *call.prompt, *noted)
    if type(call.imported) is not bool:
        raise TypeError
    if not all(isinstance(one, int | float) for one in numbers) or not all(isinstance(one, str) for one in texts):
        raise TypeError


LINES_SHOWN = 5
"""The greatest number of damaged lines that a warning names."""


def read_past(folder: Path) -> tuple[Reading | None, ReplayCache]:
    """Read the log of an interrupted run, up to the first missing call, and the calls to replay.

    Without a log there is no reading. Lines that are cut away are kept in files beside, with a warning.

    Raises:
        RunFolderError: no call is recorded, and paid calls would have to be paid again.
        LogError: the log was edited.
    """
    log, found = folder / EVENTS, recorded_calls(folder / CALLS)
    past = read_whole_lines(log) if log.exists() else None
    entries = past.entries if past else ()
    lost = list(lost_calls(entries, found.calls))
    if lost and not found.calls:
        _refuse_to_pay_again(folder, [call for _, call in lost])
    kept = entries[: lost[0][0] + 1] if lost else entries
    if past is not None:
        past = _cut(log, past, len(kept))
    mend_calls(folder, found)
    sync_files(*(file for file in (log, folder / CALLS) if file.exists()))  # later writes depend on these files
    return past, ReplayCache(kept, found.calls, entries[len(kept) :])


def _cut(log: Path, past: Reading, kept: int) -> Reading:
    """Cut a log after `kept` lines and read it again. The other lines are saved first, and a warning tells it."""
    lines = log.read_bytes().splitlines(keepends=True)
    tail = b"".join(lines[kept:])
    is_aside = b"\n" in tail.strip(b"\0")
    if past.warning:
        rest = f"is kept in {EVENTS_CUT}" if is_aside else "is dropped"
        warnings.warn(f"log {str(log)!r}: {past.warning}, the rest {rest}", stacklevel=5)
    if not is_aside:  # at most a part of a line, which the log overwrites
        return past
    _set_aside(log.with_name(EVENTS_CUT), tail)
    os.truncate(log, len(b"".join(lines[:kept])))
    if kept < len(past.entries):
        _tell_of_cut(log, kept, past.entries[kept:])
    return read_whole_lines(log)


def _refuse_to_pay_again(folder: Path, lost: Sequence[ModelCalled]) -> None:
    paid = sum(call.cost_dollars != 0 for call in lost)
    if paid:
        raise RunFolderError(
            f"{str(folder / CALLS)!r} is missing or has no call, but {paid:,} calls of the run were paid for; restore"
            " it from where the run was made, or begin a new run"
        )


def _tell_of_cut(log: Path, kept: int, cut: Sequence[Entry]) -> None:
    again = sorted({event.bidder for event in of_type(_later(cut), Answered)})
    words = f"; {', '.join(map(repr, again))} will be asked again for words that are cut away" if again else ""
    warnings.warn(
        f"log {str(log)!r}: the run goes on from line {kept}, as {CALLS} lacks calls of the turn that begins there;"
        f" {len(cut):,} lines after it are kept in {EVENTS_CUT}{words}",
        stacklevel=5,
    )


def _later(cut: Sequence[Entry]) -> Sequence[Entry]:
    """Return the entries after the turn that is played again: its words are kept as the answer."""
    return cut[next((place for place, entry in enumerate(cut) if isinstance(entry.event, TURN_OPENS)), len(cut)) :]


def mend_calls(folder: Path, found: RawCalls) -> None:
    """Save damaged lines elsewhere, remove them from the calls of a folder, and warn of them."""
    if found.damaged:
        _set_aside(folder / CALLS_DAMAGED, b"".join(line + b"\n" for _, line in found.damaged))
    if found.damaged or found.is_open:  # else the next call would continue the last line
        write_whole(folder / CALLS, b"".join(line + b"\n" for line in found.lines), synced=True)
    if found.damaged:
        _tell_of_damage(folder / CALLS, [str(number) for number, _ in found.damaged])


def _tell_of_damage(calls: Path, numbers: Sequence[str]) -> None:
    more = f" and {len(numbers) - LINES_SHOWN:,} more" if len(numbers) > LINES_SHOWN else ""
    warnings.warn(
        f"{str(calls)!r} line {', '.join(numbers[:LINES_SHOWN])}{more} can't be read and is kept in {CALLS_DAMAGED};"
        " what was asked there is asked, and paid for, again",
        stacklevel=6,
    )


def _set_aside(file: Path, content: bytes) -> None:
    write_whole(file, content_of(file) + content, synced=True)
