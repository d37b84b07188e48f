"""Harbor's own metrics, in the order in which tables list them: by module, then as they are defined there."""

from __future__ import annotations

from harbor.evaluation._metrics import (
    behaviour,
    beliefs,
    bidding,
    calls,
    plans,
    profiling,
    results,
    series,
    sessions,
    strategy,
    water,
)
from harbor.evaluation._metrics.measurement import Metric

_MODULES = (results, behaviour, bidding, beliefs, profiling, plans, strategy, water, sessions, series, calls)
METRICS = tuple(one for module in _MODULES for one in vars(module).values() if isinstance(one, Metric))
