"""Stop runs in every way and check that no data is lost: ``make crash TRIALS=100 KIND=water SEED=1 FAULT=power``.

Trials of a kind have the seeds SEED, SEED + 1, ...; TRIALS=1 repeats the one with that seed. `--once` runs one trial
of each fault, as CI does. Passed trials are kept in a file named after the code, so that the next call runs only the
others. The exit code is 1 if any run differs from an undisturbed one, if any call is paid twice, or if nothing could
be run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from crash.inside import clock

if __name__ == "__main__":
    clock.install()  # before any module binds the clock

from crash import space
from crash.faults import FAULTS, ONCE, fault_of
from crash.kinds import KINDS, Kind, chosen
from crash.session import ROOT, prepare
from crash.trial import Outcome, hold_trial, undisturbed

CODE = ("harbor", "graphs", "memory", "personas", "evaluation", "tests/crash")


def main() -> int:
    """Run the requested trials that have not passed yet, and print the outcomes of all."""
    asked = _arguments()
    kept = ROOT / "build" / "crash" / f"{_fingerprint()}.jsonl"
    passed = {} if asked.trials == 1 or asked.once else {_key(one): one for one in _read(kept)}
    prepare()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="harbor-crash-") as folder:
        for kind, seeds in _asked_seeds(asked):
            for outcome in _trials(kind, seeds, asked, passed, Path(folder)):
                outcomes.append(outcome)
                if outcome.equal and _key(outcome) not in passed:
                    _keep(kept, outcome)
    _tell(outcomes)
    return int(not outcomes or not all(one.equal for one in outcomes))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make crash", description=__doc__)
    parser.add_argument("--trials", type=int, default=10, help="of each kind")
    parser.add_argument("--seed", type=int, default=1, help="of the first one")
    parser.add_argument("--kind", action="append", default=[], choices=KINDS)
    parser.add_argument("--once", action="store_true", help="one trial of each fault")
    parser.add_argument("--fault", choices=FAULTS, help="instead of each in turn")
    return parser.parse_args()


def _asked_seeds(asked: argparse.Namespace) -> Iterator[tuple[Kind, Iterable[int]]]:
    if asked.once:
        yield from ((KINDS[name], [seed]) for name, seed in ONCE.items())
    else:
        yield from ((kind, range(asked.seed, asked.seed + asked.trials)) for kind in chosen(asked.kind))


def _trials(
    kind: Kind, seeds: Iterable[int], asked: argparse.Namespace, passed: dict[str, Outcome], folder: Path
) -> Iterator[Outcome]:
    """Run the trials of a kind. Report and skip a fault whose requirements are missing."""
    whole = None
    for seed in seeds:
        fault = asked.fault or fault_of(kind, seed)
        if not _possible(kind, fault):
            continue
        outcome = passed.get(_key(Outcome(kind.name, fault, seed)))
        if outcome is None:
            whole = whole or undisturbed(kind, folder / "whole")
            outcome = hold_trial(kind, fault, seed, whole, folder / "trial")
            _say(outcome, in_full=asked.trials == 1)
        yield outcome


def _possible(kind: Kind, fault: str) -> bool:
    reasons = {
        "has no workers that could die": fault == "worker" and not kind.workers,
        "only hasty bidders are stopped for a while, and nothing else": (fault == "stop") != kind.hasty,
        "a small file system can't be mounted here (run as root)": fault == "disk" and not space.permitted(),
    }
    why = next((reason for reason, holds in reasons.items() if holds), "")
    if why:
        print(f"{kind.name}: {why}; skipped", flush=True)
    return not why


def _say(one: Outcome, in_full: bool) -> None:
    """Print the progress. Print all details of a trial that differs or is repeated."""
    print(f"{one.kind} {one.seed} {one.fault}: {'equal' if one.equal else 'DIFFERS'}, struck {one.struck}", flush=True)
    if in_full or not one.equal:
        told = [*one.happened, one.wrong or "nothing differs", f"{one.paid_twice} calls paid twice"]
        print(*(f"    {line}" for line in told), sep="\n")
    if not one.equal:
        print(f"    again: make crash KIND={one.kind} FAULT={one.fault} SEED={one.seed} TRIALS=1", flush=True)


def _tell(outcomes: Iterable[Outcome]) -> None:
    """Print a table: kinds by faults."""
    cells = defaultdict[tuple[str, str], list[Outcome]](list)
    for one in outcomes:
        cells[one.kind, one.fault].append(one)
    row = "{:22}{:10}{:>12}{:>8}{:>12}{:>12}  {}"
    print("\n" + row.format("kind", "fault", "equal", "struck", "paid twice", "begun anew", "first that differs"))
    for (kind, fault), found in cells.items():
        equal, failed = f"{sum(one.equal for one in found)} of {len(found)}", [one for one in found if not one.equal]
        said = f"SEED={failed[0].seed}: {failed[0].wrong or 'calls paid twice'}"[:100] if failed else ""
        counts = sum(one.struck > 0 for one in found), sum(one.paid_twice for one in found), sum(o.anew for o in found)
        print(row.format(kind, fault, equal, *counts, said))


def _key(one: Outcome) -> str:
    return f"{one.kind}/{one.fault}/{one.seed}"


def _read(kept: Path) -> list[Outcome]:
    return [Outcome(**json.loads(line)) for line in kept.read_text().splitlines()] if kept.exists() else []


def _keep(kept: Path, outcome: Outcome) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("a") as file:
        file.write(json.dumps(asdict(outcome)) + "\n")


def _fingerprint() -> str:
    """Return an ID of the code. Trials that passed with other code prove nothing for this one."""
    files = sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py"))
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main())
