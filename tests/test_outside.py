"""The checks outside CI stand in one list, and an old green run is a warning."""

from __future__ import annotations

import json
import re

from support.folders import ROOT
from support.outside import LIST

LISTED = json.loads(LIST.read_text(encoding="utf-8"))
OF_CI = {"test", "all-tests"}


def test_every_target_of_tests_that_ci_does_not_run_is_in_the_list_and_writes_its_day():
    recipes = re.findall(r"^([a-z-]+):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    writing = {target for target, recipe in recipes if recipe.splitlines()[-1] == "\t$(GREEN)"}
    testing = {target for target, recipe in recipes if re.search(r"pytest|\$\(TESTS\)", recipe)} - OF_CI
    assert writing == set(LISTED)
    assert testing - {"bench", "stores"} <= set(LISTED)  # those measure
