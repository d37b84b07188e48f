"""What the command line refuses, before it imports what only the work itself needs."""

from __future__ import annotations

import json
import subprocess
import sys

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
