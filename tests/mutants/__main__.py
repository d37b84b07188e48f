"""Report the mutants of a set that the tests kill: `make mutants SET=A`.

A set is drawn once by its seed and kept with its verdicts. A mutant is killed if one of the tests that run its
statement fails, and survives if none fails in the time that it gets. Set A serves while tests change; set B is run
before and after only: `make mutants SET=B BEFORE=commit` also judges, at an earlier commit, the mutants that survive
now, and names those that were killed then.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import Queue
from threading import Lock
from typing import Any

from mutants import trees
from mutants.covering import Covered, at, covered
from mutants.drawing import Mutant, drawn

SEEDS = {"A": 1, "B": 2}
SIZE = 100
MOST_SECONDS = 150.0  # for the tests of one mutant as they were timed without a change
PACE = 4.0  # times as long as tests take without a change; an endless loop takes longer
START = 120.0  # seconds to load and to collect, beside other work
NONE_COLLECTED = (4, 5)  # pytest's codes where it found no test

Set = dict[str, Any]


def main() -> int:
    """Judge the mutants without a verdict at this commit, and print all verdicts.

    The exit code is 1 if a mutant has no verdict, or if it survives and was killed before.
    """
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--set", choices=sorted(SEEDS), default="A")
    parser.add_argument("--before", default="", help="an earlier commit to compare with")
    given = parser.parse_args()
    sets = {name: _kept(name) for name in SEEDS}
    everything, now = sets[given.set]["mutants"], _judge(given.set, sets, "HEAD", lambda _: True)
    _print(everything, now)
    wrong = [one for one in everything if one["verdicts"][now].startswith("no verdict")]
    if given.before:
        before = _judge(given.set, sets, given.before, lambda one: one["verdicts"][now].startswith("survived"))
        for one in everything:
            if one["verdicts"].get(before, "").startswith("killed") and one["verdicts"][now].startswith("survived"):
                print(f"no longer killed: {_changed(one)}; {one['verdicts'][before]}")
                wrong.append(one)
    return int(bool(wrong))


def _judge(name: str, sets: dict[str, Set], revision: str, is_asked: Callable[[dict[str, Any]], bool]) -> str:
    """Give mutants of a set verdicts at a revision, two at a time, and return the key of these verdicts.

    Each verdict is kept at once: the next call goes on from there.
    """
    commit = trees.git("rev-parse", revision).strip()
    told, state = sets[name], commit[:12]
    mutants = [_mutant(one) for one in told["mutants"]]
    known = covered([_mutant(one) for each in sorted(sets) for one in sets[each]["mutants"]], commit)
    clones, lock = Queue[Path](), Lock()
    for number in range(2):
        clones.put(trees.tree(f"clone-{number}", commit))

    def judge(number: int) -> None:
        clone = clones.get()
        try:
            verdict = _verdict(mutants[number], clone, known)
        finally:
            clones.put(clone)
        with lock:
            told["mutants"][number]["verdicts"][state] = verdict
            _keep(name, told)
            print(f"{mutants[number].path}:{mutants[number].line}: {verdict}", flush=True)

    asked = [number for number, one in enumerate(told["mutants"]) if is_asked(one)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(judge, (one for one in asked if state not in told["mutants"][one]["verdicts"])))
    return state


def _verdict(one: Mutant, clone: Path, known: Covered) -> str:
    """Run the tests of a mutant and say which killed it, or how many did not."""
    found = at(one, clone)
    if found is None:
        return "gone: the code has changed since the draw"
    tests, spent = list[str](), 0.0
    for test in known.tests[one]:
        spent += known.seconds[test]
        if tests and spent > MOST_SECONDS:
            break
        tests.append(test)
    if not tests:
        return "survived: no test runs it"
    file, before = clone / one.path, (clone / one.path).read_text(encoding="utf-8")
    chosen = clone / "chosen.txt"
    chosen.write_text("\n".join(tests), encoding="utf-8")
    file.write_text(found[0], encoding="utf-8")
    try:
        code = trees.pytest(clone, "-x", f"@{chosen}", timeout=START + PACE * spent, env=os.environ)
    finally:
        file.write_text(before, encoding="utf-8")
    if code is None:
        return "killed: the tests don't end"
    if code == 0:
        return f"survived: {len(tests)} of {len(known.tests[one])} tests that run it"
    if code in NONE_COLLECTED:
        is_sound = trees.pytest(clone, "--collect-only", f"@{chosen}", env=os.environ) == 0
        return "killed: the tests can't be collected" if is_sound else "no verdict: nor can they without the change"
    lines = (clone / "output.txt").read_text(encoding="utf-8", errors="replace").splitlines()
    failed = (line[:200] for line in reversed(lines) if line.startswith(("FAILED", "ERROR")))
    return "killed: " + next(failed, f"pytest ended with {code}: {''.join(lines[-1:])[:200]}")


def _kept(name: str) -> Set:
    """Return a set with its verdicts; draw it if it is new."""
    file = Path(__file__).with_name(f"{name}.json")
    if not file.exists():
        mutants = [{**asdict(one), "verdicts": {}} for one in drawn(trees.ROOT, SEEDS[name], SIZE)]
        _keep(name, {"seed": SEEDS[name], "mutants": mutants})
    told: Set = json.loads(file.read_text(encoding="utf-8"))
    return told


def _keep(name: str, told: Set) -> None:
    text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    Path(__file__).with_name(f"{name}.json").write_text(text, encoding="utf-8")


def _mutant(told: Set) -> Mutant:
    return Mutant(**{name: value for name, value in told.items() if name != "verdicts"})


def _print(mutants: list[dict[str, Any]], state: str) -> None:
    print(dict(Counter(one["verdicts"][state].partition(":")[0] for one in mutants)))
    for one in mutants:
        if not one["verdicts"][state].startswith("killed"):
            print(f"{_changed(one)}: {one['verdicts'][state]}")


def _changed(one: dict[str, Any]) -> str:
    return f"{one['path']}:{one['line']}: {one['before']} -> {one['after']}"


if __name__ == "__main__":
    sys.exit(main())
