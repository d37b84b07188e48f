"""Harbor's own metrics, in the order in which tables show them: by module, then by position in the module."""

from __future__ import annotations

from harbor.evaluation._metrics import behaviour, calls, plans, profiling, results, sessions, strategy, summary, water
from harbor.evaluation._metrics.measurement import Metric

_MODULES = (results, behaviour, profiling, plans, strategy, water, sessions, summary, calls)
METRICS = tuple(one for module in _MODULES for one in vars(module).values() if isinstance(one, Metric))
