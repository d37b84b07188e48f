"""The command line of Harbor, in this process or in a new one, with the same result.

This process is the default, because a new one takes a second or two for imports. A new process is for
tests of exits, streams, signals, terminals or a fresh interpreter.
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
        put_back.enter_context(warnings.catch_warnings())  # the command line changes how warnings are shown
        warnings.simplefilter("default", UserWarning)  # show warnings, as for a user, instead of raising them
        try:
            main()
        except SystemExit as left:
            code = left.code
    return CompletedProcess(command, code, *map(_written, (out, err)))


def process(*words: object, cwd: Path | str = ".", given: str = "", **how: object) -> Done:
    """Run a command in a new process. `how` holds options of `subprocess.run`."""
    return run([*HARBOR, *map(str, words)], cwd=cwd, input=given, capture_output=True, text=True, check=False, **how)


def mistake(done: Done) -> str:
    """Return the one line of a command's error message, without the name of the program."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    [line] = done.stderr.splitlines()
    said, error, complaint = line.partition("harbor: error: ")
    assert (said, error) == ("", "harbor: error: "), line
    return complaint


def _written(stream: TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()
