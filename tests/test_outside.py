"""The checks outside CI stand in one list, and an old green run is a warning."""

from __future__ import annotations

import json
import re
from datetime import date

from support.folders import ROOT
from support.outside import LIST, greened, lines

LISTED = json.loads(LIST.read_text(encoding="utf-8"))
OF_CI = {"test", "all-tests"}


def test_every_target_of_tests_that_ci_does_not_run_is_in_the_list_and_writes_its_day():
    recipes = re.findall(r"^([a-z-]+):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    writing = {target for target, recipe in recipes if recipe.splitlines()[-1] == "\t$(GREEN)"}
    testing = {target for target, recipe in recipes if re.search(r"pytest|\$\(TESTS\)", recipe)} - OF_CI
    assert writing == set(LISTED)
    assert testing - {"bench", "stores"} <= set(LISTED)  # those measure


def test_a_check_without_a_green_run_for_ninety_days_is_a_warning():
    listed = {"fuzz": {"proves": "properties hold", "green": "2026-01-01"}, "load": {"proves": "it holds", "green": ""}}
    fresh, stale = date(2026, 4, 1), date(2026, 4, 2)
    unknown = "warning: make load: it holds; no green run is on record; run it"
    assert lines(listed, fresh) == ["make fuzz: properties hold; green on 2026-01-01", unknown]
    assert lines(listed, stale) == ["warning: make fuzz: properties hold; green on 2026-01-01; run it", unknown]
    assert lines(greened(listed, "load", stale), stale)[1] == "make load: it holds; green on 2026-04-02"
