"""The experiments of Harbor as parameters: CI runs one of each game, `make studies` runs all."""

from __future__ import annotations

import pytest

from harbor.evaluation._experiments.library import presets

ONE_A_GAME = ("rationality", "water", "second-price", "beauty", "english-private")
EACH = [pytest.param(name, marks=() if name in ONE_A_GAME else pytest.mark.studies) for name in sorted(presets())]
