"""Makes the golden set with the importable Harbor, and compares two such sets.

    python tests/golden/make.py make OUT [--only TEXT]
    python tests/golden/make.py compare OLD NEW [--kind KIND] [--game TEXT] [--most 5]

OUT gets golden.json, counts and digests to be committed, and full.jsonl.gz, the values themselves. Only the metrics
named in tests/golden/golden.json are measured, so that later metrics change nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
Known = dict[str, Any]
if __name__ == "__main__":
    sys.path[0] = str(HERE.parent)


def make(out: Path, only: str = "") -> Counter[str]:
    """Hold all games and write their data. Return the number of values of each kind."""
    out.mkdir(parents=True, exist_ok=True)
    golden, metrics, refused, counts = {}, {}, {}, Counter[str]()
    known = _known_metrics()
    with TemporaryDirectory() as place, gzip.open(out / "full.jsonl.gz", "wt", encoding="utf-8") as full:
        os.environ |= {"HARBOR_CACHE": f"{place}/replies", "HARBOR_STATE": f"{place}/state"}
        for name, game, kept in _held(Path(place), only, known, refused):
            full.write(json.dumps({"game": name, "kept": kept}, ensure_ascii=False) + "\n")
            golden[name] = {kind: _short(value) for kind, value in kept.items()}
            metrics[game] = sorted({*metrics.get(game, ()), *kept["metric"]})
            counts.update({kind: _count(value) for kind, value in kept.items()}, games=1)
    told = {"counts": dict(counts), "games": golden, "metrics": known or metrics, "refused": refused}
    (out / "golden.json").write_text(_written(told), encoding="utf-8")
    return counts


def _known_metrics() -> Known:
    path = HERE / "golden.json"
    return json.loads(path.read_text(encoding="utf-8"))["metrics"] if path.is_file() else {}


def _held(place: Path, only: str, metrics: Known, refused: dict[str, str]) -> Iterator[tuple[str, str, Known]]:
    """Hold the games in turn. Yield the name of each, the name of its rules, and its data."""
    from golden.games import games
    from harbor._core.basics.errors import ConfigError

    for one in games():
        if only not in one.name:
            continue
        try:
            yield from _of_one(one, place / "run", metrics)
        except ConfigError as error:
            refused[one.name.rsplit("/", 2)[0]] = str(error)
        rmtree(place / "run", ignore_errors=True)


def _of_one(one: Any, folder: Path, metrics: Known) -> Iterator[tuple[str, str, Known]]:
    from golden.decisions import witnessing
    from golden.kept import kept_of, kept_of_series
    from harbor._games.game import game_of
    from harbor._runs.inputs import RunInputs
    from harbor._runs.run import start
    from harbor._runs.series import prepare

    with warnings.catch_warnings(), witnessing() as witnesses:
        warnings.simplefilter("ignore")
        result: Any = asyncio.run(start(prepare(one.config, RunInputs(**one.given())), folder))
    auctions = getattr(result, "auctions", (result,))
    for number, auction in enumerate(auctions, start=1):
        witness = next(seen for seen in witnesses if seen.opened == auction.log[0].event)
        name = one.name if auction is result else f"{one.name}/{number}"
        yield name, game_of(auction.log).name, kept_of(auction.folder, auction.log, witness, metrics)
    if result not in auctions:
        yield f"{one.name}/series", "series", kept_of_series(result.log, metrics)


def _short(value: Any) -> str:
    from golden.kept import digest

    return f"{_count(value)} {digest(value)}"


def _count(value: Any) -> int:
    return sum(map(_count, value.values())) if isinstance(value, dict) else len(value) if isinstance(value, list) else 1


def _written(told: dict[str, Any]) -> str:
    """Return JSON with a line for each entry of each table."""
    tables = []
    for name, table in sorted(told.items()):
        rows = ",\n".join(f"{json.dumps(key)}:{_compact(table[key])}" for key in sorted(table))
        tables.append(f"{json.dumps(name)}:{{\n{rows}\n}}")
    return "{" + ",\n".join(tables) + "}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


# ---------------------------------------------------------------- comparing

AROUND = 3
"""Lines that are shown before and after the beginning of the first different one."""


class Difference(NamedTuple):
    """The place of a difference between two sets, and both values."""

    kind: str
    game: str
    where: str
    old: str
    new: str


def differences(old: Path, new: Path) -> Iterator[Difference]:
    """Yield the first difference of each kind in each game, with both values if both sets have them."""
    if (old / "full.jsonl.gz").is_file() and (new / "full.jsonl.gz").is_file():
        yield from _of_sets(_full(old), _full(new))
    else:
        yield from _of_sets(json.loads(_golden(old))["games"], json.loads(_golden(new))["games"])


def _golden(place: Path) -> str:
    return (place / "golden.json").read_text(encoding="utf-8")


def _full(place: Path) -> dict[str, Any]:
    with gzip.open(place / "full.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {one["game"]: one["kept"] for one in map(json.loads, lines)}


def _of_sets(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Difference]:
    for game in sorted(old.keys() | new.keys()):
        if game not in old or game not in new:
            yield Difference("game", game, "", *("is there" if game in one else "is missing" for one in (old, new)))
            continue
        for kind in sorted(old[game].keys() | new[game].keys()):
            found = first(old[game].get(kind), new[game].get(kind))
            if found is not None:
                yield Difference(kind, game, *found)


def first(old: Any, new: Any) -> tuple[str, str, str] | None:
    """Return the first difference of two values: the number of its line, and the lines there in both."""
    if old == new:
        return None
    lines = [json.dumps(one, ensure_ascii=False, indent=1).replace("\\n", "\n").splitlines() for one in (old, new)]
    alike = zip(*lines, strict=False)
    at = next((at for at, (one, other) in enumerate(alike) if one != other), min(map(len, lines)))
    before, behind = ("\n".join(one[max(0, at - AROUND) : at + AROUND]) for one in lines)
    return f"at line {at + 1}", before, behind


def report(found: list[Difference], most: int) -> Iterator[str]:
    """Report the number of different games for each kind, and show the first ones."""
    for kind in sorted({one.kind for one in found}):
        own = [one for one in found if one.kind == kind]
        yield f"{kind}: {len(own)} games differ"
        for one in own[:most]:
            yield f"  {one.game} {one.where}\n    old: {one.old}\n    new: {one.new}"
    yield "" if found else "no difference"


def main() -> None:
    """Make a set, or compare two."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = words.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("out", type=Path)
    making.add_argument("--only", default="")
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    for name, default in (("--kind", ""), ("--game", ""), ("--most", 5)):
        comparing.add_argument(name, default=default, type=type(default))
    given = words.parse_args()
    if given.command == "make":
        print(dict(make(given.out, given.only)), f"{time.process_time():.0f} s of processor")
        return
    found = [one for one in differences(given.old, given.new) if given.kind in one.kind and given.game in one.game]
    print("\n".join(report(found, given.most)))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
