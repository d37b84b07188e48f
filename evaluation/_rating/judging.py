"""A judge model rates the transcripts of a folder of ratings and fills the same sheet as people do.

The model reads the same text as people, as JSON inside its prompt, so that no transcript can pose as an instruction.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, BeforeValidator, Field

from harbor._config.auction import ModelSettings
from harbor._core.asking.decisions import Text
from harbor._core.basics.errors import NoReply, RatingError, RunFolderError
from harbor._core.files.layout import CALLS
from harbor._core.files.safe_files import MOST_SETTINGS, SyncedFile, make_private, open_private, read_sent
from harbor._core.log.events import Event, ModelCalled
from harbor._models.calls.client import ModelClient
from harbor._models.calls.prompt import Prompt
from harbor._models.connections import connected
from harbor._models.prices import with_price
from harbor._models.providers import open_chat, settings_of
from harbor._models.replies.replay import RawCall, ReplayCache
from harbor._runs.raw_calls import line_of, mend_calls, recorded_calls
from harbor.evaluation._rating.sheets import (
    JUDGE,
    JUDGES,
    NOT_RATED,
    SHEET,
    TRANSCRIPTS,
    Key,
    read_key,
    rubric,
    write_sheet,
)
from harbor.graphs._context.prompting import fill

PROMPTS = files("harbor.evaluation._rating.prompts")
AT_ONCE = 8
"""The greatest number of transcripts that are rated at the same time."""


def _level(value: Any) -> Any:
    """Return the number of a score such as "4", "4/5" or "4: flexible"; models write scores in these ways."""
    found = re.match(r"\s*([0-9]+)\s*(?:[/:].*)?$", value) if isinstance(value, str) else None
    return found[1] if found else value


class Score(BaseModel):
    """A score from 1 to 5, and why."""

    reasons: Text
    score: Annotated[int, BeforeValidator(_level), Field(ge=1, le=5)]


class Verdict(BaseModel):
    """Scores for each criterion; `identity_alignment` is null for a player without a persona."""

    information_utilisation: Score
    logical_reasoning: Score
    strategic_effectiveness: Score
    adaptability: Score
    long_term_planning: Score
    identity_alignment: Score | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """The work of a judge: its sheet, its calls, and the reasons by record for missing verdicts."""

    rater: str
    sheet: Path
    records: int
    calls: tuple[ModelCalled, ...]
    failed: dict[str, str]

    @property
    def cost(self) -> float | None:
        """Cost in dollars; None if unknown."""
        costs = [call.cost_dollars for call in self.calls]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


async def judge(
    folder: Path,
    model: str,
    settings: ModelSettings | None = None,
    chat: BaseChatModel | None = None,
) -> Judged:
    """Let a model rate every record of a folder of ratings.

    Its calls are written to ``judges/<model>/calls.jsonl``. An interrupted judge resumes from there: no recorded call
    is paid again.

    Args:
        folder: the folder of ratings.
        model: "simulated" or "provider:name".
        settings: settings of the model; by default with known prices.
        chat: your own chat model, under the name `model`.

    Raises:
        RatingError: the folder has no key, or that judge has filled its sheet already.
        ConfigError: the model is unknown or can't be made.
        RunFolderError: the folder can't be written.
    """
    key = read_key(folder)
    given = settings or with_price(ModelSettings(use=model) if chat else settings_of(model, {}))
    talker = chat or open_chat(model, given, seed=1)
    rater = f"{JUDGE}:{model}"
    own = folder / JUDGES / "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in rater)
    if (own / SHEET).exists():
        raise RatingError(f"{rater} has filled {str(own / SHEET)!r} already; remove it to have it filled anew")
    with _written(own):
        async with connected([] if chat else [talker]):
            return await _judge(key, folder, own, rater, ModelClient(rater, model, talker, given))


@contextmanager
def _written(own: Path) -> Iterator[None]:
    try:
        make_private(own, exist_ok=True)
        yield
    except OSError as error:
        raise RunFolderError(f"{str(own)!r} can't be written ({error.strerror}); make room, and judge again") from error


async def _judge(key: Key, folder: Path, own: Path, rater: str, model: ModelClient) -> Judged:
    made: list[Event] = []
    at_once = asyncio.Semaphore(AT_ONCE)
    recorded = recorded_calls(own / CALLS)
    mend_calls(own, recorded)
    model.sink, model.replay = made.append, ReplayCache(calls=recorded.calls)
    with closing(SyncedFile(open_private(own / CALLS, "ab"))) as calls:

        def keep(call: RawCall) -> None:
            calls.append(line_of(call))
            calls.sync_soon()

        model.keep = keep
        found = await asyncio.gather(
            *(_rate(key, id_, folder / TRANSCRIPTS / f"{id_}.txt", model, at_once) for id_ in key.records)
        )
    verdicts = dict(zip(key.records, found, strict=True))
    failed = {id_: verdict for id_, verdict in verdicts.items() if isinstance(verdict, str)}
    rows = [_row(rater, id_, verdict) for id_, verdict in verdicts.items() if isinstance(verdict, Verdict)]
    write_sheet(own / SHEET, rows)
    called = tuple(event for event in made if isinstance(event, ModelCalled))
    return Judged(rater, own / SHEET, len(rows), called, failed)


async def _rate(key: Key, id_: str, path: Path, model: ModelClient, at_once: asyncio.Semaphore) -> Verdict | str:
    """Return a model's verdict on a record, or the error if the model fails."""
    persona = key.records[id_].persona
    try:
        lines = read_sent(path, MOST_SETTINGS).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise RatingError(f"transcript {str(path)!r} can't be read ({why}); restore it") from error
    async with at_once:
        try:
            return await model.ask(question(lines, persona), Verdict, lambda verdict: _complaint(verdict, persona))
        except NoReply as error:
            return str(error)


def question(lines: list[str], persona: bool) -> Prompt:
    """Return the prompt of a judge."""
    criteria = [criterion.model_dump(exclude={"persona_only"}) for criterion in rubric().criteria]
    facts = {"persona": persona, "transcript": lines}
    return fill(PROMPTS / "judge.md", {"criteria": criteria}, facts, PROMPTS / "judge_system.md")


def _complaint(verdict: Verdict, persona: bool) -> str:
    if persona and verdict.identity_alignment is None:
        return "identity_alignment: is missing, though the player has a persona"
    return ""


def _row(rater: str, id_: str, verdict: Verdict) -> dict[str, str]:
    scores = {criterion.id: getattr(verdict, criterion.id) for criterion in rubric().criteria}
    given = {name: score for name, score in scores.items() if score is not None}
    remarks = " ".join(f"{name}: {' '.join(score.reasons.split())}" for name, score in given.items())
    row = {name: str(score.score) if score else NOT_RATED for name, score in scores.items()}
    return {"rater": rater, "record": id_, **row, "remarks": remarks}
