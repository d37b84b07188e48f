"""Write the numbers of RESULTS.md again: run its studies and fill the text between its markers (`make results`).

A study with an existing folder continues where it stopped, so an interrupted command loses nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import profilers
import result_tables

from harbor.evaluation import load
from harbor.evaluation._report.tabular.loading import Loaded

ROOT = Path(__file__).resolve().parents[1]
PLACE = re.compile(r"(<!-- results: ([\w-]+) -->\n)(?:(?!<!-- results:).)*?(<!-- end of results -->)", re.DOTALL)
"""A pair of markers and the text between them, which the command replaces. No opening marker may be in between."""


class Study(NamedTuple):
    """A design, its seeds, and its tables."""

    design: str
    seeds: tuple[int, ...]
    tables: Callable[[Mapping[int, Loaded]], str]


STUDIES = {
    "theory-of-mind": Study("bench/theory-of-mind.toml", (3000, 8000), result_tables.theory_of_mind),
    "memory": Study("bench/memory.toml", (3000,), result_tables.memory),
    "multiverse": Study("multiverse", (3000,), result_tables.multiverse),
}


def filled(page: str, blocks: Mapping[str, str]) -> str:
    """Put each block between its markers.

    Raises:
        ValueError: the markers and the blocks have different names.
    """
    places = [name for _, name, _ in PLACE.findall(page)]
    if sorted(places) != sorted(blocks):
        raise ValueError(
            f"the page has places for {', '.join(places) or 'nothing'}, and the results are {', '.join(blocks)};"
            " give each one pair of markers"
        )
    return PLACE.sub(lambda place: f"{place[1]}\n{blocks[place[2]]}\n\n{place[3]}", page)


def run(study: Study, seed: int, folder: Path, repeats: int | None) -> Loaded:
    """Run an experiment, or the rest of it, in processes."""
    fewer = ("--repeats", str(repeats)) if repeats else ()
    begun = ("resume", str(folder))
    new = ("run", study.design, "--seed", str(seed), "--out", str(folder), *fewer)
    command = [Path(sys.executable).with_name("harbor"), "experiment", *(begun if folder.exists() else new)]
    subprocess.run([*command, "--executor", "processes", "--quiet"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return load(folder)


def measured(out: Path, repeats: int | None) -> dict[str, str]:
    """Run all studies and write their tables."""
    blocks = {}
    for name, study in STUDIES.items():
        blocks[name] = study.tables({seed: run(study, seed, out / f"{name}-{seed}", repeats) for seed in study.seeds})
    blocks["profilers"] = result_tables.profiles(profilers.TRAINED[:repeats], profilers.JUDGED[:repeats])
    return blocks


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "results", help="where experiments are kept")
    parser.add_argument("--page", type=Path, default=ROOT / "RESULTS.md", help="the page that is written anew")
    parser.add_argument("--repeats", type=int, help="so many games per arm and sales, to try the command")
    asked = parser.parse_args()
    page: Path = asked.page
    places = dict.fromkeys([*STUDIES, "profilers"], "")
    filled(page.read_text(encoding="utf-8"), places)  # reports a missing marker before an hour of games
    blocks = measured(asked.out.resolve(), asked.repeats)
    page.write_text(filled(page.read_text(encoding="utf-8"), blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
