"""The steps of a long command: a bar in a terminal, silence elsewhere."""

from __future__ import annotations

import sys
from io import StringIO

from harbor._cli.shared.shell import step_bars
from harbor._core.basics.feedback import heard_by, steps
from support.processes import shown_in_terminal
from support.shown_runs import think_much


def test_a_terminal_shows_how_many_steps_are_done_of_how_many_and_what_they_are(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", StringIO())
    sys.stderr.isatty = lambda: True
    with step_bars():
        assert list(steps(["one", "two", "three"], "games read")) == ["one", "two", "three"]
    assert "3/3" in sys.stderr.getvalue()
    assert "games read" in sys.stderr.getvalue()


def test_steps_that_are_stopped_early_end_what_is_heard_of_them():
    heard = []
    with heard_by(lambda *told: heard.append(told)):
        going = steps([1, 2, 3], "games checked")
        next(going)
        going.close()
        list(steps([], "games read"))
    assert heard == [(0, 3, "games checked"), (3, 3, "games checked"), (0, 0, "games read")]


def test_a_step_that_takes_steps_itself_is_told_alone():
    heard = []
    with heard_by(lambda *told: heard.append(told)):
        for _ in steps(["one", "two"], "pages written"):
            assert list(steps([1, 2], "events shown")) == [1, 2]
        list(steps([1], "games read"))
    assert {what for _, _, what in heard[:3]} == {"pages written"}
    assert heard[3:] == [(0, 1, "games read"), (1, 1, "games read")]


def test_of_many_steps_some_are_told_and_the_last():
    heard = []
    with heard_by(lambda done, *_: heard.append(done)):
        list(steps(range(100_000), "events shown"))
    assert len(heard) < 1_100
    assert heard[-1] == 100_000


def test_a_terminal_sees_how_far_a_command_over_a_run_has_come(tmp_path):
    run = think_much(tmp_path / "run")
    shown = shown_in_terminal("view", run, "--no-open", "--out", "out.html", cwd=tmp_path, TERM="xterm")
    assert [what for what in ("events read", "decisions gathered", "events shown") if what not in shown] == []
