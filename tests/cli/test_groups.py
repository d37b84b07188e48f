"""Help, completion and wrong names: whoever does not know the command is led to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from harbor._cli.shared import shell
from harbor._games.beauty.game import BEAUTY
from harbor._games.english.game import ENGLISH
from support.commands import harbor, mistake, process
from support.folders import TINY

AUCTION = 'items = {count = 1}\n[[bidders]]\nname = "Ann"\nrule = "truthful"\n'


@pytest.mark.parametrize("words", [[], ["-h"], ["experiment", "run", "-h"], ["rate", "-h"], ["cache"]])
def test_h_is_help_as_is_a_group_alone(words):
    done = harbor(*words)
    assert (done.returncode, "Usage:" in done.stdout) == (0, True)


@pytest.mark.parametrize(("words", "said"), [
    (["version"], "use: harbor --version"),
    (["replayy"], "did you mean 'replay'?"),
    (["experiment", "play"], "did you mean 'harbor play'?"),
    (["auction", "tom"], "'tom' is an experiment; run it with: harbor experiment run tom"),
    (["auction", TINY], "is an experiment; run it with: harbor experiment run "),
    (["experiment", "show", "sale.toml"], "'sale.toml' is an auction; run it with: harbor auction sale.toml"),
    (["auction", "demo", "--quiet", "--full"], "--quiet prints less and --full prints more; drop one"),
])  # fmt: skip
def test_a_wrong_name_leads_to_the_command_that_is_meant(words, said, tmp_path):
    (tmp_path / "sale.toml").write_text(AUCTION)
    assert said in mistake(harbor(*words, cwd=tmp_path))


@pytest.mark.parametrize(("file", "words", "said"), [
    ("experiment.json", ["auction", "begun"], "resume it with: harbor experiment resume begun"),
    ("experiment.json", ["experiment", "run", "begun"], "see it with: harbor view begun"),
    ("events.jsonl", ["experiment", "run", "begun"], "is a run; see it with: harbor view begun"),
])  # fmt: skip
def test_a_folder_in_place_of_settings_leads_to_what_goes_on_with_it(file, words, said, tmp_path):
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / file).write_text("{}")
    assert said in mistake(harbor(*words, cwd=tmp_path))


def test_names_of_presets_and_experiments_are_completed():
    assert shell.auctions("wa") == ["water", "water-personas"]
    assert shell.experiments("to") == ["tom", "tom-everywhere"]
    assert {"water", "water-personas"} <= set(shell.either("w"))


@pytest.mark.slow
def test_a_shell_is_offered_names():
    asked = {"COMP_WORDS": "harbor experiment run to", "COMP_CWORD": "3", "_PYTHON _M HARBOR_COMPLETE": "complete_bash"}
    done = process(env={**os.environ, **asked})
    assert done.stdout.split() == ["tom", "tom-everywhere"]


def test_whose_personas_the_built_in_model_does_not_read_is_said_where_it_plays():
    ann = {"Ann": {"downsizing": 1.0}}
    assert BEAUTY.unheeded(ann).endswith("Ann would act the same without one")
    assert BEAUTY.unheeded({}) == BEAUTY.unheeded({"Ann": {}}) == ENGLISH.unheeded(ann) == ""


# ---------------------------------------------------------------- without a framework

FRAMEWORKS = {
    *("autogen_agentchat", "autogen_core", "langgraph", "langchain_core", "chromadb", "sklearn", "trueskill"),
    *("numpy", "scipy", "pandas", "statsmodels", "matplotlib"),
}
COMMANDS = """
experiment run tmo; experiment show x; experiment resume nowhere; experiment power tom --effect 1 --pilot nowhere;
estimate x; report nowhere --format pdf; score nowhere; rate sheets nowhere --out new;
rate judge nowhere --model simulated --out new; rate merge nowhere; memory show nowhere; memory import nowhere nofile;
replay nowhere; resume nowhere; play dmo; graph dmo; auction .; auction --seed many; version; --wrong
"""
REFUSED = [command.strip() for command in COMMANDS.split(";")]
MANY_REFUSALS = """
import json, sys
from contextlib import redirect_stderr
from io import StringIO
from harbor._cli.app import main

told = []
for line in json.load(sys.stdin):
    sys.argv = ["harbor", *line.split()]
    with redirect_stderr(StringIO()) as said:
        try:
            main()
        except SystemExit as end:
            told.append([line, end.code, said.getvalue(), [*FRAMEWORKS & sys.modules.keys()]])
print(json.dumps(told))
"""


def test_a_wrong_name_or_flag_is_refused_in_one_line_and_without_a_framework(tmp_path):
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"FRAMEWORKS = {FRAMEWORKS}\n{MANY_REFUSALS}"],
        cwd=tmp_path,
        input=json.dumps(REFUSED),
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    assert [line for line, *_ in told] == REFUSED
    for line, code, said, imported in told:
        assert (code, said.count("\n"), imported) == (2, 1, []), (line, said)
        assert said.startswith("harbor: error: "), line
    assert not list(tmp_path.iterdir())
