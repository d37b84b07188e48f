"""The checks outside CI, with the day of the last green run of each: `outside_ci.json`.

`make check` prints it and warns of old entries. A target that ends well writes its day.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

LIST = Path(__file__).with_name("outside_ci.json")
OLD = timedelta(days=90)

Listed = dict[str, dict[str, str]]


def lines(listed: Listed, today: date) -> list[str]:
    """Return a line for each target: its proof and its last green day; an old or unknown day is a warning."""
    return [_line(target, one["proves"], one["green"], today) for target, one in listed.items()]


def _line(target: str, proves: str, green: str, today: date) -> str:
    told = f"make {target}: {proves}; " + (f"green on {green}" if green else "no green run is on record")
    is_old = not green or today - date.fromisoformat(green) > OLD
    return f"warning: {told}; run it" if is_old else told


def greened(listed: Listed, target: str, today: date) -> Listed:
    """Write the day of a green run into the list."""
    return {**listed, target: {**listed[target], "green": today.isoformat()}}


if __name__ == "__main__":
    known, now = json.loads(LIST.read_text(encoding="utf-8")), datetime.now(UTC).date()
    for name in sys.argv[1:]:
        known = greened(known, name, now)
        LIST.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    if not sys.argv[1:]:
        print("Checks outside CI; a warning tells of no green run in 90 days, and fails nothing:")
        print(*(f"  {line}" for line in lines(known, now)), sep="\n")
