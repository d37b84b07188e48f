"""Studies that can't be what they say: a temperature that a design states, and a model does not take."""

from __future__ import annotations

import asyncio
import json

import pytest

from harbor._config.auction import check
from harbor._core.basics.errors import ConfigError, ModelError
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.experiment_folder import read_results
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from support.folders import calls
from support.providers import Provider, provider

REMEDY = r"leave it out with --set models\.mine\.temperature="


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "nobody")


def design(server: Provider, model: str = "local", own: dict | None = None, **stated: float) -> Experiment:
    auction = {
        "items": [{"name": "Lot A", "start": 1_000, "true_value": 2_000}],
        "bidders": [{"name": name, "model": "mine"} for name in ("Ann", "Ben")],
        "models": {"mine": {"use": f"openai:{model}", "base_url": server.openai_url} | (own or {})},
    }
    told = {"name": "wire", "title": "Wire", "question": "?", "source": "nobody", "metrics": ["profit"], "repeats": 1}
    return check(Experiment, {**told, "auction": auction, "arms": [{"name": "one"}], **stated}, "design")


def run(experiment: Experiment, out) -> None:
    asyncio.run(run_experiment(experiment, out, RunOptions(cache=False)))


STATED = pytest.mark.parametrize("stated", [{"temperature": 0.0}, {"own": {"temperature": 0.5}}])


@STATED
def test_a_first_refusal_of_a_stated_temperature_stops_the_study_and_its_resume_at_one_request_each(tmp_path, stated):
    with provider(seed=5, refuses=["temperature"]) as server:
        with pytest.raises(ModelError, match=REMEDY):
            run(design(server, **stated), tmp_path / "run")
        asked = len(server.requests)
        assert asked <= 2
        with pytest.raises(ModelError, match=REMEDY):
            asyncio.run(resume_experiment(tmp_path / "run", RunOptions()))
        assert {heard.status for heard in server.requests} == {400}
        asked = len(server.requests)
        for model in ("local", "gpt-5-mini"):  # now it is known; and the package of the provider leaves it out
            with pytest.raises(ConfigError, match=REMEDY):
                run(design(server, model=model, **stated), tmp_path / "again")
        assert len(server.requests) == asked
        assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    ("model", "refuses", "stated", "left_out"),
    [
        ("local", ["temperature"], {}, ("temperature",)),
        ("gpt-5-mini", [], {}, ("temperature",)),
        ("local", [], {"temperature": 0.0}, ()),
        ("local", ["temperature"], {"temperature": 0.7, "own": {"temperature": None}}, ()),
    ],
    ids=["refused", "left out by the package", "taken", "left out by the user"],
)
def test_a_temperature_that_nobody_wrote_is_left_out_and_logged_and_one_that_is_taken_is_sent(
    tmp_path, model, refuses, stated, left_out
):
    with provider(seed=5, refuses=refuses) as server:
        run(design(server, model=model, **stated), tmp_path / "run")
        assert {heard.status for heard in server.requests} - ({400} if left_out else set()) == {200}
    assert {tuple(call["not_taken"]) for call in calls(tmp_path / "run")} == {left_out}


def test_a_game_of_an_earlier_version_whose_settings_lack_what_must_be_taken_is_of_its_experiment(tmp_path):
    with provider(seed=5) as server:
        run(design(server, temperature=0.0), tmp_path / "run")
    config = tmp_path / "run" / "games" / "one" / "all" / "0001" / "config.json"
    told = json.loads(config.read_text())
    assert told["models"]["mine"].pop("must_take") == ["temperature"]
    config.write_text(json.dumps(told, indent=2) + "\n")
    assert [record.status for record in read_results(tmp_path / "run").records] == ["finished"]
