"""A game with a call that was never answered has failed; where it is played on, tables say so."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from markupsafe import escape
from pydantic import TypeAdapter

from harbor._cli.display.finding_tables import finding_tables
from harbor._cli.display.result_tables import summary_tables
from harbor._core.log.events import NO_REQUESTS, ModelCalled, SeatFailed, Spent
from harbor._core.log.log_entries import Entry
from harbor._runs.inputs import RunInputs
from harbor._runs.run import start
from harbor._runs.series import prepare
from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trial_records import Results, TrialRecord, record
from harbor.evaluation._experiments.trial_runs import logs_of
from harbor.evaluation._experiments.trials import Trial, trials
from harbor.evaluation._metrics.calls import Refusals
from harbor.evaluation._metrics.summary import summarise
from harbor.evaluation._report.page.page import render
from harbor.evaluation._report.tabular.arm_calls import call_notes, calls_by_arm, days_of, refusals_told
from harbor.evaluation._report.tabular.loading import Loaded
from support.commands import harbor
from support.folders import TINY

METRICS = ("profit",)


@pytest.fixture(scope="module")
def played() -> tuple[Trial, list[list[Entry]]]:
    trial = trials(experiment(str(TINY)), 1)[0]
    return trial, [list(log) for log in logs_of(asyncio.run(start(prepare(trial.config, RunInputs()))))]


def with_calls(logs: list[list[Entry]], *changes: dict[str, object]) -> list[list[Entry]]:
    """Change the calls of a log: the first by the first changes, and so on."""
    left, log = list(changes), []
    for entry in logs[0]:
        is_changed = isinstance(entry.event, ModelCalled) and left
        log.append(entry._replace(event=replace(entry.event, **left.pop(0))) if is_changed else entry)
    return [log]


def playing_on(trial: Trial) -> Trial:
    return replace(trial, config=trial.config.model_copy(update={"failed_calls": "play on"}))


FAILED, UNREADABLE = {"outcome": "failed"}, {"outcome": "unreadable"}


def test_a_game_with_a_failed_call_has_failed_and_says_whose_unless_it_is_to_play_on(played):
    trial, logs = played
    assert record(trial, METRICS, with_calls(logs, UNREADABLE)).status == "finished"
    found = record(trial, METRICS, with_calls(logs, FAILED, FAILED))
    assert (found.status, found.measurements, found.failed_calls) == ("failed", (), 2)
    assert found.detail == "model calls failed for good: Ann (2)"
    on = record(playing_on(trial), METRICS, with_calls(logs, FAILED, FAILED))
    assert (on.status, on.failed_calls) == ("finished", 2)
    assert on.measurements == record(trial, METRICS, logs).measurements
    [log] = with_calls(logs, FAILED)
    late = [*log, Entry(len(log), 1.0, SeatFailed("Ann", "timeout", "no answer within 120 s"))]
    assert record(trial, METRICS, [late]).detail == "model calls failed for good: Ann (1, out of time)"


@pytest.fixture(scope="module")
def results(played) -> Results:
    """One game of each arm: in the first two calls failed, one was cached, and two models answered."""
    trial, logs = played
    spoiled = with_calls(logs, FAILED, FAILED, {"cached": True, "answered_by": "m-2"}, {"answered_by": "m-1"})
    one = record(playing_on(trial), METRICS, spoiled)
    return Results(experiment(str(TINY)), (one, replace(one, arm="none", failed_calls=0)))


def test_tables_say_where_bidders_played_on_and_nothing_of_it_where_every_call_was_answered(played, results):
    said = [one for one in finding_tables(results, analyse(results)) if isinstance(one, str)]
    words = "Bidders played on where a call was never answered, which is no choice of a model: adaptive: 2 calls failed"
    assert said[0] == f"{words} in 1 of 1 games."
    answered = Results(results.experiment, (record(played[0], METRICS, played[1]),))
    for page, is_told in ((render(Loaded(results)), True), (render(Loaded(answered)), False)):
        told = (f"{words} in 1 of 1 games.", "played on", "1 with failed calls", "with failed calls")
        assert [one in page for one in told] == [is_told] * 4


def test_calls_are_counted_by_arm_with_the_share_from_a_cache_and_who_answered(results):
    adaptive, none = calls_by_arm(results, {"none": ("2026-01-02T03:04:05+00:00", "2026-02-03T03:04:05+00:00")})
    assert (adaptive.failed, adaptive.games_with_failed, none.failed) == (2, 1, 0)
    assert adaptive.cached_share == pytest.approx(1 / adaptive.calls)
    assert {"m-1": 1, "m-2": 1}.items() <= adaptive.answered_by.items()
    assert (none.first[:10], none.last[:10]) == ("2026-01-02", "2026-02-03")
    page = render(Loaded(results, days={"none": (none.first, none.last)}))
    assert "m-1 (1), m-2 (1)" in page
    assert "2026-01-02 to 2026-02-03" in page


def test_a_run_gives_its_calls_by_arm_and_when_its_games_began(tmp_path):
    folder = tmp_path / "folder"
    said = json.loads(harbor("experiment", "run", TINY, "--arm", "none", "--out", folder, "--json").stdout)
    [none] = said["arms"]
    assert (none["arm"], none["games"], none["cached_share"], none["failed"]) == ("none", 2, 0.0, 0)
    assert days_of(folder, ["none"])["none"] == (none["first"], none["last"])
    assert none["first"][4] == "-"
    assert days_of(folder, ["unknown"]) == {}


def test_a_single_auction_says_how_many_calls_failed(played):
    for calls, failed in ((), 0), ((FAILED,), 1):
        summary = summarise(with_calls(played[1], *calls)[0])
        assert summary.as_json()["calls"]["total"]["failed"] == failed
        assert any("1 model calls failed for good" in str(one) for one in summary_tables(summary)) == bool(failed)


def test_refusals_and_requests_without_a_reply_are_told_by_arm_and_read_back_as_they_were(played):
    trial, logs = played
    odd = {"outcome": "refused", "lost": Spent(3, 100, 300, 1.0), "key_env": "SECOND_KEY", "fallback": "<b>spare"}
    noted = {"marks": ("drafts",), "probes": Spent(1, 2, 3, None)}
    found, kept = record(trial, METRICS, with_calls(logs, odd, noted)), TypeAdapter(TrialRecord)
    assert kept.validate_json(kept.dump_json(found)) == found
    found = record(trial, METRICS, with_calls(logs, odd))
    results = Results(experiment(str(TINY)), (found, replace(found, arm="none", noted=(), lost=NO_REQUESTS)))
    assert [one.refused for one in calls_by_arm(results, {})] == [1, 1]
    [note] = call_notes(results)
    assert "3 requests lost, without an answer: at most 100 tokens in, 300 out, $1.00" in note
    page, public = render(Loaded(results)), render(Loaded(replace(results, public=True)))
    told = ("by the model", "the key in SECOND_KEY", "&#39;&lt;b&gt;spare&#39;")
    assert [words for words in told if words not in page] == []
    assert [word for word in ("SECOND_KEY", "b&gt;spare", "by the model") if word in public] == []


def test_an_arm_in_which_a_model_refused_to_answer_is_warned_of_with_its_words(played):
    trial, logs = played
    found = record(trial, METRICS, logs)
    shy = Refusals("Ann", 3, 9, 'it is a refusal to answer ("I <can\'t>")', agent=False, by_model=12)
    quiet = Refusals("Ann", 1, 9, "too low", agent=False)
    results = Results(experiment(str(TINY)), (replace(found, refusals=(quiet,)), replace(found, refusals=(shy,))))
    [told] = refusals_told(results)
    assert told == (
        "adaptive: Ann was asked 18 times in 2 games, and its answers were refused 4 times; its model refused to answer"
        ' 12 times; the first time: it is a refusal to answer ("I <can\'t>")'
    )
    assert str(escape(told)) in render(Loaded(results))
    assert list(refusals_told(Results(results.experiment, (replace(found, refusals=(quiet,)),)))) == []
