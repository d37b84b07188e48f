"""The designs behind RESULTS.md."""

from __future__ import annotations

import pytest

from harbor.evaluation._analysis.levels import unreachable
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trials import trial_count, trials
from support.folders import ROOT

DESIGNS = sorted((ROOT / "bench").glob("*.toml"))


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_every_design_of_the_results_can_be_run_and_can_find_something(path):
    design = experiment(str(path))
    assert len(trials(design, 1)) == trial_count(design) / design.repeats
    assert unreachable(design) == ""
    assert f"bench/{path.name}" in (ROOT / "RESULTS.md").read_text(encoding="utf-8")
