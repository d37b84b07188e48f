"""The command line of Harbor, in this process and in one of its own: both give the same.

In this process is the usual way: a new one takes a second or two to import what it needs. A process of its own is for
what ends, streams, signals, terminals or a fresh interpreter do.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import ExitStack, chdir
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess, run
from unittest.mock import patch

from harbor._cli.app import main

Done = CompletedProcess[str]
HARBOR = [sys.executable, "-P", "-m", "harbor"]


def harbor(*words: object, cwd: Path | str = ".", given: str = "") -> Done:
    """Run a command in this process; `given` is its standard input."""
    command = ["harbor", *map(str, words)]
    out, err, read = (TextIOWrapper(BytesIO(text.encode()), "utf-8") for text in ("", "", given))
    with ExitStack() as put_back:
        put_back.enter_context(chdir(cwd))
        put_back.enter_context(patch.multiple(sys, argv=command, stdin=read, stdout=out, stderr=err))
        put_back.enter_context(warnings.catch_warnings())  # the command line changes how they are shown
        warnings.simplefilter("default", UserWarning)  # shown, as for a user, instead of raised
        try:
            main()
        except SystemExit as left:
            code = left.code
    return CompletedProcess(command, code, *map(_written, (out, err)))


def process(*words: object, cwd: Path | str = ".", given: str = "", **how: object) -> Done:
    """Run a command in a process of its own; `how` is what `subprocess.run` takes."""
    return run([*HARBOR, *map(str, words)], cwd=cwd, input=given, capture_output=True, text=True, check=False, **how)


def mistake(done: Done) -> str:
    """Give the one line that a command said of a mistake, without the name of the program."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    [line] = done.stderr.splitlines()
    said, error, complaint = line.partition("harbor: error: ")
    assert (said, error) == ("", "harbor: error: "), line
    return complaint


def _written(stream: TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()
