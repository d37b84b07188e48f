"""Runs as Inspect logs: one log for a run or a series, and one for each arm of an experiment.

Inspect's viewer lists logs, and the samples in a log by epoch. So a seat is a sample, a repeat (or an auction of a
series) is an epoch, and an arm is a log. The list then shows arms side by side, each with its mean scores. A sample
holds no data of another seat: no call, thought or budget, and no true value that only the analyst knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean
from typing import Any

from inspect_ai.event import Event, InfoEvent, ModelEvent
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
)
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score

from harbor._core.faces import __version__
from harbor._core.log.events import BidderLabelled, LogOpened
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry, is_seen_by
from harbor._house.auctioneer import told_to
from harbor._models.replies.replay import RawCall
from harbor.evaluation._metrics.calls import any_simulated, players
from harbor.evaluation._metrics.summary import score

TOLD = ("purpose", "attempt", "outcome", "form", "marks", "not_taken", "fallback", "reasoning")
"""Fields of a call that go into the metadata. The name of the API key is left out because it is private."""


@dataclass(frozen=True, slots=True)
class Game:
    """A run for Inspect: its log, its raw calls (none in a public copy), and its start time.

    `condition` is the condition of an experiment or empty. `epoch` is the repeat, or an auction's number in a series.
    """

    entries: Sequence[Entry]
    calls: Sequence[RawCall]
    began: datetime
    epoch: int = 1
    condition: str = ""

    @property
    def seats(self) -> list[str]:
        """The names of the bidders."""
        return [*players(self.entries)] or sorted(
            {one.bidder for one in score(self.entries).measurements if one.bidder}
        )


def samples(game: Game) -> Iterator[EvalSample]:
    """Yield a sample for each seat of a game, in the order of the seats."""
    told = score(game.entries).measurements
    whole = {one.metric: one.value for one in told if not one.bidder and one.at is None and one.value is not None}
    for seat in game.seats:
        values: dict[str, list[float]] = {}
        for one in told:
            if one.bidder == seat and one.at is None and not one.about and one.value is not None:
                values.setdefault(one.metric, []).append(one.value)
        calls = [call for call in game.calls if call.bidder == seat]
        about = _about(game.entries, seat, game)
        yield EvalSample(
            id=f"{seat} ({game.condition})" if game.condition else seat,
            epoch=game.epoch,
            input=f"{seat}, played by {about['player']}",
            target="",
            messages=list(_messages(calls)),
            output=_output(calls[-1]) if calls else ModelOutput(),
            scores={name: Score(value=fmean(found)) for name, found in values.items()},
            metadata={**about, "game": whole},
            events=_events(game, seat, calls),
            model_usage=_usage_by_model(calls),
            total_time=game.entries[-1].at,
            started_at=game.began.isoformat(),
            completed_at=_moment(game, game.entries[-1].at).isoformat(),
        )


def _about(entries: Sequence[Entry], seat: str, game: Game) -> dict[str, Any]:
    opened = of_type(entries, LogOpened)[0]
    label = next((one for one in of_type(entries, BidderLabelled) if one.bidder == seat), None)
    player = players(entries).get(seat, "unknown, as this log is public")
    return {
        "seat": seat,
        "player": player,
        "persona": {kind: weight for kind, weight in label.personas.items() if weight > 0} if label else {},
        "seed": opened.seed,
        "simulated": any_simulated([player]),
        "run": opened.run,
        "condition": game.condition,
    }


def _messages(calls: Iterable[RawCall]) -> Iterator[ChatMessage]:
    """Yield prompts and replies in turn. Repeat the system prompt only when it changes."""
    system = None
    for call in calls:
        first, *rest = _prompt(call)
        if first.text != system:
            yield first
            system = first.text
        yield from rest[-1:]
        yield ChatMessageAssistant(content=call.reply or call.error, model=call.model, source="generate")


def _prompt(call: RawCall) -> list[ChatMessage]:
    """Return a prompt as messages: the system prompt, and then the dialogue, which ends with the current ask."""
    by_turns = (ChatMessageUser, ChatMessageAssistant)
    rest = [by_turns[number % 2](content=text) for number, text in enumerate(call.prompt[1:])]
    return [ChatMessageSystem(content=call.prompt[0]), *rest] if call.prompt else [ChatMessageSystem(content="")]


def _events(game: Game, seat: str, calls: Iterable[RawCall]) -> list[Event]:
    """Return the seat's calls and the auctioneer's words to the seat, in order of time."""
    found: list[tuple[float, Event]] = []
    for entry in game.entries:
        if is_seen_by(seat, entry.event) and (said := " ".join(told_to(seat, entry.event))):
            found.append((entry.at, InfoEvent(source="auctioneer", data=said, **_when(game, entry.at))))
    found += [(call.began, _called(game, call)) for call in calls]
    return [event for _, event in sorted(found, key=lambda one: one[0])]


def _called(game: Game, call: RawCall) -> ModelEvent:
    return ModelEvent(
        model=call.model,
        role=call.purpose,
        input=_prompt(call),
        tools=[],
        tool_choice="none",
        config=GenerateConfig(),
        output=_output(call),
        retries=call.retries or None,
        error=call.error or None,
        cache="read" if call.cached else None,
        completed=_moment(game, call.began + call.seconds),
        working_time=call.seconds,
        metadata={name: getattr(call, name) for name in TOLD},
        **_when(game, call.began),
    )


def _when(game: Game, at: float) -> dict[str, Any]:
    return {"timestamp": _moment(game, at), "working_start": at}


def _moment(game: Game, at: float) -> datetime:
    return game.began + timedelta(seconds=at)


def _output(call: RawCall) -> ModelOutput:
    found = ModelOutput.from_content(call.answered_by or call.model, call.reply, error=call.error or None)
    found.usage, found.time = _usage(call), call.seconds
    return found


def _usage(call: RawCall) -> ModelUsage:
    return ModelUsage(
        input_tokens=call.input_tokens - call.cached_tokens,
        output_tokens=call.output_tokens,
        total_tokens=call.input_tokens + call.output_tokens,
        input_tokens_cache_read=call.cached_tokens or None,
        reasoning_tokens=call.reasoning_tokens or None,
        total_cost=call.cost_dollars,
    )


def _usage_by_model(calls: Iterable[RawCall]) -> dict[str, ModelUsage]:
    used: dict[str, ModelUsage] = {}
    for call in calls:
        used[call.model] = used.get(call.model, ModelUsage()) + _usage(call)
    return used


def inspect_log(task: str, games: Sequence[Game], complete: bool) -> EvalLog:
    """Return the log of one task's games.

    Args:
        task: the name in the viewer.
        games: one or more games.
        complete: True if all games ended. Otherwise the log's status is "cancelled".
    """
    seats = [sample for game in games for sample in samples(game)]
    began = min(game.began for game in games)
    models = dict.fromkeys(player for game in games for player in players(game.entries).values())
    ids: list[int | str] = list(dict.fromkeys(sample.id for sample in seats))
    return EvalLog(
        status="success" if complete else "cancelled",
        eval=EvalSpec(
            created=began.isoformat(),
            task=task,
            dataset=EvalDataset(name=task, samples=len(ids), sample_ids=[str(one) for one in ids]),
            model=", ".join(models) or "unknown",
            config=EvalConfig(epochs=max(game.epoch for game in games)),
            packages={"harbor-auctions": __version__},
            metadata={"simulated": any((sample.metadata or {})["simulated"] for sample in seats)},
        ),
        results=EvalResults(
            total_samples=len(seats), completed_samples=len(seats), scores=list(_means(seats)), metadata=None
        ),
        stats=_stats(seats, began),
        samples=seats,
    )


def _means(seats: Sequence[EvalSample]) -> Iterator[EvalScore]:
    """Yield the mean of each metric over all samples with that metric."""
    names = dict.fromkeys(name for sample in seats for name in sample.scores or {})
    for name in names:
        values = [(sample.scores or {})[name].as_float() for sample in seats if name in (sample.scores or {})]
        mean = EvalMetric(name="mean", value=fmean(values))
        yield EvalScore(name=name, scorer=name, scored_samples=len(values), metrics={"mean": mean})


def _stats(seats: Sequence[EvalSample], began: datetime) -> EvalStats:
    used: dict[str, ModelUsage] = {}
    for sample in seats:
        for model, usage in sample.model_usage.items():
            used[model] = used.get(model, ModelUsage()) + usage
    ended = max((sample.completed_at or "" for sample in seats), default="")
    return EvalStats(started_at=began.isoformat(), completed_at=ended, model_usage=used)
