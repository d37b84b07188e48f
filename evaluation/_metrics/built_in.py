"""Harbor's own metrics, in the order in which tables list them: by module, then as they are defined there."""

from __future__ import annotations

from harbor.evaluation._metrics import (
    behaviour,
    beliefs,
    bidding,
    calls,
    forecasts,
    legality,
    outcomes,
    paid_prices,
    plans,
    profiling,
    reliability,
    results,
    series,
    sessions,
    strategy,
    water,
)
from harbor.evaluation._metrics.measurement import Metric

_MODULES = (
    results, outcomes, paid_prices, legality, behaviour, bidding, beliefs, profiling, reliability, plans, strategy,
    water, sessions, forecasts, series, calls,
)  # fmt: skip
METRICS = tuple(one for module in _MODULES for one in vars(module).values() if isinstance(one, Metric))
