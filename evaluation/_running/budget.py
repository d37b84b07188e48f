"""What an experiment may cost: each trial gets a budget before it starts, and makes no call beyond it.

Money is reserved before it is spent, so no executor can overdraw the limit by more than one call per trial.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from harbor.evaluation._experiments.trials import Trial

ROOM = 1.5
"""A trial is stopped once it costs this many times the dearest so far; it resumes by replay, which is free."""
NOTHING = 1e-6
"""No trial is started with less than this many dollars: rounding errors of sums stay below it."""


class ExperimentBudget:
    """The budget of an experiment: its limit, the cost of each trial so far, and the amounts reserved for running ones.

    The cost of a trial is unknown before it ends; the dearest trial so far is the estimate. The first trial runs alone,
    and after n finished trials at most n + 1 run at once. So if trials turn out dearer than the first, few are under
    way, and the money finishes those. For example, $40 and trials of $11.50 finish three trials, whatever `jobs` is.

    Args:
        limit: in dollars; None: no limit.
        paid: the cost of each trial so far, in dollars, by its path.
    """

    def __init__(self, limit: float | None = None, paid: Mapping[str, float] | None = None) -> None:
        self._limit = limit
        self._paid = dict(paid or {})
        self._reserved: dict[str, float] = {}

    @property
    def left(self) -> float:
        """What is neither spent nor reserved, in dollars."""
        if self._limit is None:
            return math.inf
        bound = {trial: max(dollars, self._reserved.get(trial, 0.0)) for trial, dollars in self._paid.items()}
        return self._limit - sum(bound.values())

    def may_start(self, trial: Trial, running: int, finished: int) -> bool:
        """Tell whether a trial may start beside `running` others: what is left must cover the dearest trial so far.

        Beside others it must get the whole of what is reserved: with less it may stop, and those after it overtake it.
        """
        if self._limit is None:
            return True
        needed = (ROOM if running else 1) * self._dearest - self._paid.get(trial.path, 0.0)
        return running <= finished and self.left >= max(needed, NOTHING)

    def reserve(self, trial: Trial) -> float | None:
        """Reserve more for a trial than the dearest so far has cost; returns the total cost at which it is stopped."""
        if self._limit is None:
            return None
        paid = self._paid.setdefault(trial.path, 0.0)
        # While no trial has cost anything, half: if this one costs nothing either, others can run beside the next.
        wanted = ROOM * self._dearest - paid if self._dearest else self.left / 2
        self._reserved[trial.path] = paid + min(self.left, wanted)
        return self._reserved[trial.path]

    @property
    def _dearest(self) -> float:
        return max(self._paid.values(), default=0.0)

    def settle(self, trial: Trial, paid: float) -> None:
        """Record the total cost of a trial that has ended or stopped, and release the rest of its reservation."""
        self._reserved.pop(trial.path, None)
        self._paid[trial.path] = paid
