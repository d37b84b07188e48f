"""A model of which no answer can be used: the run says so, whatever else is done with its folder."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from harbor._config.auction import check
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import run_experiment
from support.commands import harbor
from support.formats import SEED, config, spoken
from support.providers import Faults, provider
from support.providers.faults import REFUSAL

PRICES = {"input_price": 1.0, "output_price": 2.0, "repairs": 0}


WAYS: dict[str, tuple[dict[str, Any], str, str]] = {
    # in plain words, which no field and no finish reason tells
    "a refusal in words": ({"answer": lambda _: AIMessage(REFUSAL)}, " (10 refused)", REFUSAL),
    "a refusal in its field": ({"faults": Faults("refusal")}, " (10 refused)", REFUSAL),
    "prose": ({"faults": Faults("prose")}, "", "it is not a JSON object"),
}


def error(done):
    """Give what the last line of a command's error says."""
    assert done.returncode == 2, done.stderr
    *_, last = done.stderr.splitlines()
    return last.removeprefix("harbor: error: ")


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


@pytest.mark.parametrize(("way", "beside"), [(way, False) for way in WAYS] + [("prose", True)])
def test_an_auction_of_a_model_that_never_answers_to_the_point_is_an_error_in_each_command(way, beside, tmp_path):
    how, count, reason = WAYS[way]
    with provider(seed=SEED, **how) as server:
        values = config(spoken("openai chat", server) | PRICES)
        values["bidders"] += [{"name": "Cho", "model": "simulated"}] if beside else []
        (tmp_path / "auction.json").write_text(json.dumps(values))
        told = error(harbor("auction", "auction.json", "--trust", "--out", "out", cwd=tmp_path))
    assert re.match(f"none of 10 answers of model 'mine' could be used{re.escape(count)}, so", told)
    assert (reason in told, "resume" in told) == (True, False)
    for command in ("resume", "replay"):
        assert error(harbor(command, "out", cwd=tmp_path)) == told
    for command in (["verify"], ["view"], ["score"], ["verify", "--deep"]):
        assert harbor(*command, "out", cwd=tmp_path).returncode == 0


def test_a_game_of_a_model_that_never_answers_to_the_point_has_failed_and_the_others_go_on(tmp_path):
    auction = config({"use": "simulated"})
    with provider(seed=SEED, faults=Faults("prose")) as server:
        auction["models"]["bad"] = spoken("openai chat", server) | PRICES
        bad = {"auction": {"bidders": {"Ann": {"model": "bad"}}}}
        about = {"name": "two", "title": "Two", "question": "?", "source": "nobody", "metrics": ["profit"]}
        about |= {"arms": [{"name": "good"}, {"name": "beside", **bad}], "auction": auction, "repeats": 2}
        asyncio.run(run_experiment(check(Experiment, about, "design"), tmp_path / "out"))
        asked = len(server.requests)
        resumed = harbor("experiment", "resume", "out", cwd=tmp_path)
        assert len(server.requests) == asked > 0
    games = json.loads((tmp_path / "out" / "results.json").read_text())["games"]
    ends = Counter((game["arm"], game["status"]) for game in games)
    assert ends == {("good", "finished"): 2, ("beside", "failed"): 2}
    failed, _ = (game["detail"] for game in games if game["status"] == "failed")
    assert re.match(r"none of \d+ answers of model 'bad' could be used.*it is not a JSON object", failed)
    assert (resumed.returncode, "Traceback" in resumed.stderr) == (1, False)
    assert [f"harbor: failed: beside all {number}: {failed}" in resumed.stderr for number in (1, 2)] == [True, True]
    for command in ("verify", "report"):
        done = harbor(command, "out", cwd=tmp_path)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
