"""Sizes that somebody may have sent: what small numbers make together is refused in one line, before it is listed.

Nothing here is timed: what is not refused before it is listed fills the memory, and never ends.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from shutil import copytree

import pytest

from harbor._core.basics.errors import ConfigError, RatingError
from harbor._core.settings import check
from harbor.evaluation._experiments.draws import MatchedItems
from harbor.evaluation._rating.sheets import draw
from support.commands import harbor, mistake, process
from support.sent import forge

DESIGN = """
name = "sizes"
title = "Sizes"
question = "How many?"
source = "own"
repeats = {repeats}
metrics = ["revenue"]
auction.rules = {{ game = "second-price", runs = 1 }}
auction.bidders = [{{ name = "Ann", rule = "rational" }}, {{ name = "Ben", rule = "rational" }}]
"""
ARMS = """
arms = [{ name = "one" }, { name = "two", auction = { rules = { runs = 2 } } }]
comparisons = [{ metric = "revenue", of = { arm = "two" }, against = { arm = "one" } }]
"""
HUGE = 10**30
GAMES = "games, and at most 100,000 are planned; plan fewer"


def design(folder: Path, repeats: int = 1, more: str = ARMS) -> Path:
    (folder / "sizes.toml").write_text(DESIGN.format(repeats=repeats) + more)
    return folder / "sizes.toml"


def many(kind: str, count: int, told: str = "") -> str:
    return "".join(f'[[{kind}]]\nname = "{kind[0]}{n}"\n{told.format(n + 1)}' for n in range(count))


def crossing(factors: int) -> str:
    level = '[[factors.levels]]\nname = "{1}{0}"\nauction = {{ k{0} = 1 }}\n'
    return "".join(f'[[factors]]\nname = "f{n}"\n{level.format(n, "a")}{level.format(n, "b")}' for n in range(factors))


MANY_ARMS = many("arms", 40, "auction = {{ rules = {{ runs = {} }} }}\n") + many("conditions", 40)


@pytest.mark.parametrize(("repeats", "more", "complaint"), [
    (HUGE, ARMS, f"2.0e+30 {GAMES}"),
    (50_001, ARMS, f"100,002 {GAMES}"),
    (1, f'[[arms]]\nname = "one"\nrepeats = {HUGE}\n', f"1.0e+30 {GAMES}"),
    (1, MANY_ARMS, "1,600 arms under conditions, and at most 1,000 are planned; plan fewer"),
    (1, crossing(40), "1,099,511,627,776 arms, and at most 2,000 are planned; plan fewer"),
], ids=["repeats", "one too many", "repeats of an arm", "arms under conditions", "factors"])  # fmt: skip
def test_a_design_of_too_many_games_is_refused_before_they_are_listed(repeats, more, complaint, tmp_path):
    file = design(tmp_path, repeats, more)
    for command in (["experiment", "run"], ["estimate"], ["experiment", "show"]):
        assert f"the design makes {complaint}" in mistake(harbor(*command, file, cwd=tmp_path))


@pytest.mark.parametrize("command", ["experiment run", "estimate", "experiment power --effect 1"])
def test_so_are_too_many_repeats_of_the_command_line(command, tmp_path):
    said = "repeats 1000000000000: ask for 1 to 50,000; a design has at most 100,000 games"
    done = harbor(*command.split(), design(tmp_path), "--repeats", 10**12, cwd=tmp_path)
    assert (done.returncode, said in done.stderr.splitlines()[-1]) == (2, True)


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sizes")
    assert harbor("experiment", "run", design(folder), "--out", folder / "run").returncode == 0
    return folder / "run"


READERS = [
    "verify SENT", "report SENT", "report SENT --format csv", "figure SENT", "compare SENT PLAYED", "view SENT",
    "pack SENT --public", "estimate SENT/experiment.json", "experiment power DESIGN --effect 1 --pilot SENT",
    "experiment run SENT/experiment.json --trust", "experiment resume SENT --trust",
]  # fmt: skip
DEEP: object = "x"
for _ in range(300):
    DEEP = [DEEP]
SENT = {"repeats": ({"repeats": HUGE}, GAMES), "nested": ({"note": DEEP}, "sizes")}


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("size", SENT)
def test_a_folder_with_such_a_design_is_refused_in_one_line_by_whoever_reads_it(size, command, played, tmp_path):
    changes, complaint = SENT[size]
    folder = tmp_path / "sizes"  # as a stranger could send it: without a mark, and with digests that fit
    copytree(played, folder)
    (folder / "mark").unlink()
    forge(folder, changes, "experiment.json")
    places = {"SENT": folder, "PLAYED": played, "DESIGN": design(tmp_path)}
    done = harbor(*re.sub("|".join(places), lambda found: str(places[found[0]]), command).split(), cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stdout
    assert complaint in done.stderr.splitlines()[-1]


SESSION = '[rules]\ngame = "second-price"\nruns = {}\n'
RATIONAL = 'rule = "rational"\n'


@pytest.mark.parametrize(("settings", "complaint"), [
    (SESSION.format(1) + many("bidders", 1_001, RATIONAL), "bidders: has 1001, and may have at most 1000"),
    (SESSION.format(10_000) + many("bidders", 1_000, RATIONAL),
     "1,000 bidders have 10,000,000 values in them, and at most 1,000,000 are drawn"),
    ("items = { count = 2_000 }\n" + many("bidders", 600),
     "600 bidders of 2,000 items have 1,200,000 estimates, and at most 1,000,000 are drawn"),
], ids=["bidders", "values", "estimates"])  # fmt: skip
def test_so_are_too_many_bidders_values_and_estimates(settings, complaint, tmp_path):
    (tmp_path / "auction.toml").write_text(settings)
    assert complaint in mistake(harbor("auction", tmp_path / "auction.toml", cwd=tmp_path))
    assert not (tmp_path / "runs").exists()


def test_so_are_too_many_items_for_personas():
    with pytest.raises(ConfigError, match=r"matched\.Ann 1000000000000000000000000000000: must be 10000 or less"):
        check(MatchedItems, {"count": 5, "matched": {"Ann": HUGE}}, "items")


@pytest.mark.parametrize("each", [None, 10**8])
def test_so_are_too_many_transcripts_for_raters(each):
    with pytest.raises(RatingError, match="at most 100,000 are written; ask for fewer raters, or fewer records"):
        draw([], None, 10**9, each, 1)


@pytest.mark.parametrize("command", ["auction", "experiment run", "estimate", "audit"])
def test_settings_nested_too_deep_are_one_line(command, tmp_path):
    for deep in (f"name = {'[' * 150}{']' * 150}\n", f"name = {'[' * 3_000}{']' * 3_000}\n", f"{'a.' * 3_000}a = 1\n"):
        (tmp_path / "deep.toml").write_text(deep)
        complaint = mistake(harbor(*command.split(), tmp_path / "deep.toml", cwd=tmp_path))
        assert "(it has lists or tables nested more than 100 deep); mend it" in complaint
    assert not (tmp_path / "runs").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is one of Linux")
def test_what_needs_more_memory_than_there_is_is_one_line(tmp_path):
    import resource

    (tmp_path / "wide.json").write_text(f'{{"bidders": [{"[]," * 10_000_000}[]]}}')
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (400 * 2**20,) * 2)  # noqa: E731 - in the child, before it runs
    complaint = mistake(process("auction", tmp_path / "wide.json", cwd=tmp_path, preexec_fn=limit))
    assert complaint == "the input is too large, or nested too deep, for this machine (MemoryError); give less"
