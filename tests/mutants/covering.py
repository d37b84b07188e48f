"""Finds the tests that run the statement of each mutant, by probes in a run of all tests.

A statement outside functions runs before the first test of a process. So only tests whose own processes import it are
found; a survivor there can be one that other tests kill.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants import trees
from mutants.drawing import Mutant, changed, mutated

PROBE = Path(__file__).with_name("mutant_probe.py")
STUDIES = "studies"
"""The mark of the tests that CI leaves out. Earlier commits don't know it: CI ran all their tests."""
WRITTEN = {"HARBOR_PROBE": "hits", "HARBOR_SHARED": "shared", "HARBOR_TIMES": "times"}
"""The variables that name the files of the probe, and their names."""


@dataclass(frozen=True)
class Covered:
    """The tests of each mutant, quickest first, and the seconds of all tests without a change."""

    tests: Mapping[Mutant, Sequence[str]]
    seconds: Mapping[str, float]


def covered(mutants: Sequence[Mutant], commit: str) -> Covered:
    """Return the tests of CI that run each mutant; run all tests of CI first if no run is kept for this commit."""
    place = trees.BUILD / f"covered-{commit[:12]}"
    if not (place / "done").exists():
        place.mkdir(parents=True, exist_ok=True)
        clone, lines = trees.tree("probed", commit), defaultdict[str, dict[int, int]](dict)
        for number, one in enumerate(mutants):
            if found := at(one, clone):
                lines[one.path][number] = found[1]
        for path, numbers in lines.items():
            trees.probe(clone / path, numbers)
        packages = trees.packages(clone)
        packages.joinpath(PROBE.name).write_bytes(PROBE.read_bytes())
        packages.joinpath(f"{PROBE.stem}.pth").write_text(f"import {PROBE.stem}\n", encoding="utf-8")  # in time
        files = {name: str(place / file) for name, file in WRITTEN.items()}
        loaded = ("-p", PROBE.stem, "-W", "ignore::pytest.PytestAssertRewriteWarning")
        is_marked = f'"{STUDIES}:' in clone.joinpath("pyproject.toml").read_text(encoding="utf-8")
        marks = ("-m", f"not {STUDIES}") if is_marked else ()
        code = trees.pytest(clone, "-n", "2", "--dist", "worksteal", *loaded, *marks, env={**os.environ, **files})
        if code not in (0, 1):
            sys.exit(f"the tests can't be run: see {clone / 'output.txt'}")
        (place / "done").touch()
    return _read(place, mutants)


def at(one: Mutant, clone: Path) -> tuple[str, int] | None:
    """Return the changed source and the first line that differs; None if the code has changed since the draw."""
    file = clone / one.path
    source = file.read_text(encoding="utf-8") if file.exists() else ""
    after = mutated(source, one.operator, one.occurrence)
    if after is None or changed(source, after) != (one.before, one.after):
        return None
    pairs = zip(source.splitlines(), after.splitlines(), strict=False)
    return after, next(line for line, pair in enumerate(pairs, start=1) if pair[0] != pair[1])


def _read(place: Path, mutants: Sequence[Mutant]) -> Covered:
    hits, shared, times = (
        [line.split("\t") for line in (place / name).read_text(encoding="utf-8").splitlines()]
        for name in WRITTEN.values()
    )
    seconds = {test: float(told) for test, told in times if told != "failed"}
    for test, told in times:
        if told == "failed":
            seconds.pop(test, None)
    fixtures, users = {test: names for test, *names in shared}, defaultdict[str, set[str]](set)
    for test, names in fixtures.items():
        for name in names:
            users[name].add(test)
    found = {one: set[str]() for one in mutants}
    for number, phase, test in hits:
        found[mutants[int(number)]].add(test)
        if phase == "(setup)":
            found[mutants[int(number)]].update(*(users[name] for name in fixtures.get(test, ())))
    known = {one: sorted(tests & set(seconds), key=seconds.__getitem__) for one, tests in found.items()}
    return Covered(known, seconds)
